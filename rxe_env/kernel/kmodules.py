# SPDX-License-Identifier: BSD-2-Clause
"""Kernel modules as files: which others each one needs, and the order to load them in."""

import lzma
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.errors import Unavailable

RXE = "rdma_rxe"
_DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")


def module_name(path: Path | str) -> str:
    """Return a module's name: the file name up to .ko, with underscores for hyphens."""
    return Path(path).name.split(".ko")[0].replace("-", "_")


def plain(path: Path) -> bytes:
    """Return a module's ELF image, decompressed."""
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes())
    if path.suffix == ".zst":
        raw = path.with_suffix("")
        run([tool("zstd"), "-q", "-d", path, "-o", raw])
        return raw.read_bytes()
    return path.read_bytes()


def depends(image: bytes) -> list[str]:
    """Return the names of the modules that a module's own .modinfo says it needs."""
    match = _DEPENDS.search(image)
    names = match.group(1).decode().split(",") if match else []
    return [name.replace("-", "_") for name in names if name]


def closure(tree: Path, wanted: Iterable[str], optional: Iterable[str]) -> dict[str, bytes]:
    """Return the images of the wanted modules of a /lib/modules/RELEASE tree and all they need.

    Names built into the kernel are left out. An optional name may be missing altogether. Where
    nothing says what is built in, all that is no file is taken for it, but for rxe: the guest
    says what it lacks.
    """
    files = {module_name(path): path for path in tree.rglob("*.ko*")}
    listed = tree / "modules.builtin"
    is_told = listed.is_file()
    built_in = {module_name(line) for line in listed.read_text().split()} if is_told else set()
    images: dict[str, bytes] = {}
    missing_allowed = set(optional)
    pending = [*wanted, *missing_allowed]
    while pending:
        name = pending.pop()
        if name in images or name in built_in:
            continue
        if name in files:
            images[name] = plain(files[name])
            pending += depends(images[name])
        elif name not in missing_allowed and (is_told or name == RXE):
            raise Unavailable(f"kernel {tree.name} has no module {name}: use another kernel")
    return images


def load_order(needs: Mapping[str, list[str]], wanted: Iterable[str]) -> list[str]:
    """Return the wanted modules and all they need, each after what it needs."""
    order: list[str] = []

    def visit(name: str) -> None:
        if name in needs and name not in order:
            for needed in needs[name]:
                visit(needed)
            order.append(name)

    for name in wanted:
        visit(name)
    return order
