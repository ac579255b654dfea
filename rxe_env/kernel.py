# SPDX-License-Identifier: BSD-2-Clause
"""The guest's kernel: the distribution's own, fetched through apt once and kept.

Only the boot image and the modules that Soft-RoCE needs stay in the cache. A
kernel that is there is used without asking the network.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from roceproof.common.paths import cache_dir
from roceproof.common.seal import flaw
from roceproof.rxe_env import apt, cache, kmodules
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.errors import Unavailable

_BASE_MODULES = (
    "virtio_pci",
    "virtio_net",
    "virtio_console",
    "crc32_generic",
    "8021q",
    "rdma_rxe",
)
INSIDE_MODULES = (*_BASE_MODULES, "tun", "9p", "9pnet_virtio")
PEER_MODULES = STOCK_MODULES = (*_BASE_MODULES, "rdma_ucm")
KEPT_MODULES = (*INSIDE_MODULES, *PEER_MODULES)
# Newer kernels compute CRC-32 without the crypto API.
OPTIONAL_MODULES = ("crc32_generic",)
# A kernel that was kept with other modules is not the one to use.
KEPT = cache.digest(*KEPT_MODULES)[:8]


@dataclass(frozen=True)
class Kernel:
    """A kernel in the cache."""

    directory: Path
    release: str
    needs: dict[str, list[str]]

    @property
    def image(self) -> Path:
        """The boot image."""
        return self.directory / "vmlinuz"

    def modules(self, wanted: Iterable[str]) -> list[Path]:
        """Return the module files for `wanted`, in the order to load them."""
        names = kmodules.load_order(self.needs, wanted)
        return [self.directory / "modules" / f"{name}.ko" for name in names]


def cached() -> Kernel | None:
    """Return the kernel used last, if a whole one is in the cache."""
    for place in _places():
        if not flaw(place):
            return _load(place)
    return None


def fetch(progress: Callable[[str], None] = lambda text: None) -> Kernel:
    """Return the guest's kernel, downloaded first when no whole one is in the cache."""
    have = cached()
    if have:
        return have

    def build(place: Path) -> None:
        progress(f"fetching {packages[0]} through apt")
        _build(place, packages)

    packages = apt.kernel_packages()
    key = f"{packages[0]}.{KEPT}"
    for place in _places():
        if place.name != key:
            cache.discard_damaged("kernel", place)
    return _load(cache.entry("kernel", key, build))


def _places() -> list[Path]:
    places = (cache_dir() / "kernel").glob(f"*.{KEPT}")
    return sorted(places, key=lambda path: path.lstat().st_mtime, reverse=True)


def _load(directory: Path) -> Kernel:
    facts = json.loads((directory / "kernel.json").read_text())
    return Kernel(directory, facts["release"], facts["needs"])


def _build(place: Path, packages: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="unpacked-", dir=place) as name:
        scratch = Path(name)
        for package in apt.download(packages, scratch):
            run([tool("dpkg-deb"), "-x", package, scratch / "root"], timeout=120)
        _keep(scratch / "root", place)


def _keep(root: Path, place: Path) -> None:
    image = next(root.glob("boot/vmlinuz-*"), None)
    if not image:
        raise Unavailable("the kernel package holds no boot image: run `apt-get update`")
    release = image.name.removeprefix("vmlinuz-")
    tree = next(path for path in root.glob(f"**/lib/modules/{release}") if path.is_dir())
    wanted = [name for name in KEPT_MODULES if name not in OPTIONAL_MODULES]
    images = kmodules.closure(tree, wanted, OPTIONAL_MODULES)
    shutil.copyfile(image, place / "vmlinuz")
    (place / "modules").mkdir()
    for name, content in images.items():
        (place / "modules" / f"{name}.ko").write_bytes(content)
    needs = {name: kmodules.depends(content) for name, content in sorted(images.items())}
    facts = {"release": release, "needs": needs}
    (place / "kernel.json").write_text(json.dumps(facts, indent=1))
