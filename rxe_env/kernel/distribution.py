# SPDX-License-Identifier: BSD-2-Clause
"""The guest's kernel: the distribution's own, fetched through apt once and kept.

Only the boot image and the modules that Soft-RoCE needs stay in the cache. A
kernel that is there is used without asking the network.
"""

import json
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from roceproof.common.checksum_stamp import flaw
from roceproof.common.paths import cache_dir
from roceproof.rxe_env import cache
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.kernel import apt, kmodules, unpacked

# A kernel that was kept with other modules is not the one to use.
KEPT = cache.digest(*unpacked.KEPT_MODULES)[:8]


@dataclass(frozen=True)
class Kernel:
    directory: Path
    release: str
    needs: dict[str, list[str]]

    @property
    def image(self) -> Path:
        return self.directory / "vmlinuz"

    def modules(self, wanted: Iterable[str]) -> list[Path]:
        """Return the module files for `wanted`, in the order to load them."""
        names = kmodules.load_order(self.needs, wanted)
        return [self.directory / "modules" / f"{name}.ko" for name in names]


def cached() -> Kernel | None:
    """Return the kernel used last, if a whole one is in the cache."""
    for place in _places():
        if not flaw(place):
            return load(place)
    return None


def fetch(progress: Callable[[str], None] = lambda text: None) -> Kernel:
    """Return the guest's kernel, downloaded first when no whole one is in the cache."""
    have = cached()
    if have:
        return have

    def build(place: Path) -> None:
        progress(f"fetching {packages[0]} through apt")
        keep_packages(lambda folder: apt.download(packages, folder), place)

    packages = apt.kernel_packages()
    key = f"{packages[0]}.{KEPT}"
    for place in _places():
        if place.name != key:
            cache.discard_damaged("kernel", place)
    return load(cache.entry("kernel", key, build))


def _places() -> list[Path]:
    places = (cache_dir() / "kernel").glob(f"*.{KEPT}")
    return sorted(places, key=lambda path: path.lstat().st_mtime, reverse=True)


def load(directory: Path) -> Kernel:
    """Return the kernel of a folder that has been kept."""
    facts = json.loads((directory / "kernel.json").read_text())
    return Kernel(directory, facts["release"], facts["needs"])


def keep_packages(get: Callable[[Path], Iterable[Path]], place: Path) -> None:
    """Keep in `place` what a guest needs of the packages that `get` puts into a folder, or has."""
    with tempfile.TemporaryDirectory(prefix="unpacked-", dir=place) as name:
        root = Path(name) / "root"
        for package in get(root.parent):
            run([tool("dpkg-deb"), "-x", package, root], timeout=120)
        unpacked.keep(root, place)
