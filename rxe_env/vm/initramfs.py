# SPDX-License-Identifier: BSD-2-Clause
"""The guest's root: busybox, `rdma`, libibverbs' rxe provider, the agent, modules, an init script.

Programs and their libraries come from this machine at the paths they have here.
The image is not compressed: unpacking would cost more, emulated, than it saves.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from roceproof.rxe_env import cache
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.errors import Unavailable
from roceproof.rxe_env.kernel.distribution import Kernel
from roceproof.rxe_env.vm import cpio

GUEST_DIR = Path(__file__).parent / "guest"
PROVIDER_DIRS = ("/usr/lib/x86_64-linux-gnu/libibverbs", "/usr/lib/libibverbs")
DRIVER_FILE = Path("/etc/libibverbs.d/rxe.driver")
_LIBRARY = re.compile(r"(?:=> )?(/\S+) \(0x")


def build_image(
    kernel: Kernel,
    *,
    modules: Iterable[str],
    init: str,
    programs: Iterable[Path] = (),
    files: dict[str, bytes] | None = None,
) -> Path:
    """Return an initramfs that runs guest script `init`, with `programs` in /bin."""
    scripts = {"/init": init, "/boot.sh": "boot.sh"}
    contents = {path: (GUEST_DIR / script).read_bytes() for path, script in scripts.items()}
    for program in (Path(tool("busybox")), Path(tool("rdma")), *programs):
        _add_program(contents, f"/bin/{program.name}", program)
    _add_provider(contents)
    executable = frozenset(contents)
    contents.update(files or {})
    ordered = kernel.modules(modules)
    for path in ordered:
        contents[f"/modules/{path.name}"] = path.read_bytes()
    contents["/modules/order"] = "".join(f"{path.name}\n" for path in ordered).encode()
    image = cpio.archive(contents, executable=executable)

    def build(place: Path) -> None:
        (place / "initramfs.cpio").write_bytes(image)

    return cache.entry("initramfs", cache.digest(image), build) / "initramfs.cpio"


def _add_program(contents: dict[str, bytes], path: str, source: Path) -> None:
    contents[path] = source.read_bytes()
    for library in _libraries(source):
        contents[library] = Path(library).read_bytes()


def _libraries(program: Path) -> list[str]:
    try:
        listing = run([tool("ldd"), program])
    except Unavailable:  # how ldd says that a program is static
        return []
    return _LIBRARY.findall(listing)


def _add_provider(contents: dict[str, bytes]) -> None:
    found = [path for place in PROVIDER_DIRS for path in Path(place).glob("librxe-rdmav*.so")]
    if not found or not DRIVER_FILE.exists():
        raise Unavailable("libibverbs has no rxe provider: apt-get install ibverbs-providers")
    for path in found:
        _add_program(contents, str(path), path)
    contents[str(DRIVER_FILE)] = DRIVER_FILE.read_bytes()
