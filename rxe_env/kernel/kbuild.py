# SPDX-License-Identifier: BSD-2-Clause
"""Builds rdma_rxe and the RDMA core of a Debian kernel with patches, out of its tree.

Headers and sources are those of the release; the compiler is Debian 13's. All of it is kept in
the cache as one root, which is unpacked for each use: nothing is installed, and the build sees
nothing of this machine. It wants a mount namespace of its own, so root or user namespaces.
"""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from roceproof.common.paths import cache_dir
from roceproof.rxe_env import cache
from roceproof.rxe_env.commands import run, tool
from roceproof.rxe_env.errors import Unavailable
from roceproof.rxe_env.kernel import apt, archives

KIND = "kbuild"
INFINIBAND = Path("drivers/infiniband")
SELFTESTS = Path("tools/testing/selftests")
# By folder of the source the modules that are built there.
MODULES = {"core": ("ib_core",), "sw/rxe": ("rdma_rxe",)}
_COMPILER_SUITE, _COMPILER = "trixie", "gcc-14"
_PROGRAMS = (
    *("make", "bash", "coreutils", "sed", "grep", "mawk", "findutils", "perl-base"),
    *("libelf1t64", "libssl3t64", "base-files", _COMPILER),
)
# Of the source; older kernels have no selftests of RDMA, but of something else with an R.
_KEPT = (
    *(f"{INFINIBAND}/{folder}" for folder in MODULES),
    *(f"{SELFTESTS}/{name}" for name in ("lib.mk", "kselftest*.h", "r*")),
)
_LINKS = {"sh": "bash", "awk": "mawk"}
_SECONDS = 900.0
_NAMESPACE = ("--mount", "--map-root-user")
# Every tree is built at one place, or make would take what is built for that of another.
_INSIDE = (
    'mount --rbind /proc "$0/proc" && mount --bind "$1" "$0/tree" && shift && '
    'exec chroot "$0" /usr/bin/make "$@"'
)

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Workshop:
    """An unpacked root with the headers of a release; `work` in it holds trees that were built."""

    root: Path
    release: str

    def build(self, name: str, patches: Sequence[Path] = ()) -> dict[str, Path]:
        """Return by name the modules that differ by `patches`; without any, rdma_rxe as it is."""
        tree = self._patched(name, "work/base" if patches else "source", patches)
        touched = "".join(patch.read_text(encoding="utf-8") for patch in patches)
        built: dict[str, Path] = {}
        for folder, modules in MODULES.items():
            place = INFINIBAND / folder
            if f"+++ b/{place}/" in touched or (not patches and "rdma_rxe" in modules):
                self._make(tree, place)
                built |= {module: tree / place / f"{module}.ko" for module in modules}
        return built

    def build_selftest(self, name: str, patch: Path) -> Path | None:
        """Return the program that a patch adds to the selftests of RDMA; None if there are none."""
        if not (self.root / "source" / SELFTESTS / "rdma").is_dir():
            return None
        folder = self._patched("selftest", "source", [patch]) / SELFTESTS / "rdma"
        run([tool("make"), "-s", "-C", folder, "USERCFLAGS=-Werror"], timeout=_SECONDS)
        if not (folder / name).is_file():
            raise Unavailable(
                f"the selftests leave {name} out where pkg-config does not know libibverbs: "
                "apt-get install pkg-config libibverbs-dev"
            )
        return folder / name

    def _patched(self, name: str, base: str, patches: Sequence[Path]) -> Path:
        tree = self.root / "work" / name
        shutil.rmtree(tree, ignore_errors=True)
        run([tool("cp"), "-a", self.root / base, tree], timeout=_SECONDS)
        # Inside a repository, git would pass over paths that are not of this folder.
        alone = ("env", f"GIT_CEILING_DIRECTORIES={tree.parent.resolve()}")
        for patch in patches:
            run([*alone, tool("git"), "apply", str(patch.resolve())], cwd=tree)
        return tree

    def _make(self, tree: Path, place: Path) -> None:
        # What ib_core exports is known by checksums, which are computed from debug information.
        flags = "" if place.name == "core" else "-g0"
        words = [
            *("-s", "-C", f"/usr/src/linux-headers-{self.release}", f"M=/tree/{place}", "modules"),
            *(f"CC=x86_64-linux-gnu-{_COMPILER}", "CONFIG_DEBUG_INFO_BTF_MODULES="),
            f"KCFLAGS={flags}",
        ]
        places = (str(self.root), str(tree))
        command = [tool("unshare"), *_NAMESPACE, "sh", "-c", _INSIDE, *places, *words]
        run(command, timeout=_SECONDS)


@contextmanager
def workshop(release: str, progress: Progress = lambda text: None) -> Iterator[Workshop]:
    """Yield a workshop for a release of Debian's, fetched first where it is not kept."""

    def build(place: Path) -> None:
        progress(f"fetching headers, source and compiler for Linux {release}")
        _assemble(release, place)

    kept = cache.entry(KIND, f"{release}.{cache.digest(*_KEPT)[:8]}", build)
    with tempfile.TemporaryDirectory(prefix="kbuild-", dir=cache_dir()) as place:
        run([tool("tar"), "xf", kept / "root.tar", "-C", place], timeout=_SECONDS)
        yield Workshop(Path(place), release)


def _assemble(release: str, place: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="kbuild-", dir=cache_dir()) as scratch:
        packages, root = Path(scratch, "packages"), Path(scratch, "root")
        packages.mkdir()
        root.mkdir()
        fetch_source(release, packages)
        source = next(packages.glob("linux-source-*.deb"))
        for package in packages.glob("*.deb"):
            target = scratch if package == source else root
            run([tool("dpkg-deb"), "-x", package, target], timeout=_SECONDS)
        for link, target in _LINKS.items():
            path = root / "usr/bin" / link
            path.unlink(missing_ok=True)
            path.symlink_to(target)
        for name in ("work", "tree"):
            (root / name).mkdir()
        (common,) = root.glob("usr/src/linux-headers-*-common")
        # Headers of traces are looked for in the kernel's own tree.
        (common / INFINIBAND).mkdir(parents=True, exist_ok=True)
        (common / INFINIBAND / "core").symlink_to(Path("/tree", INFINIBAND, "core"))
        _keep_source(next(Path(scratch, "usr/src").glob("linux-source-*.tar.xz")), root / "source")
        run([tool("tar"), "cf", place / "root.tar", "-C", root, "."], timeout=_SECONDS)


def fetch_source(release: str, folder: Path) -> None:
    """Download the release's parts from where apt here has them, else from Debian's archive."""
    version = re.match(r"\d+\.\d+", release)
    headers = f"linux-headers-{release}"
    wanted = [headers, f"linux-source-{version[0] if version else release}"]
    here = apt.Apt()
    with archives.opened(lambda text: None) as archive:
        source = here if headers in here.known(wanted) else archive
        parts = [
            name
            for name in source.depends(headers)
            if name.startswith(("linux-headers-", "linux-kbuild-"))
        ]
        source.download([*wanted, *parts], folder)
        archive.download(archive.closure(_PROGRAMS, _COMPILER_SUITE), folder)
    number = re.match(r"[\d.]+", release)
    if not list(folder.glob(f"linux-source-*_{number[0] if number else release}-*")):
        raise Unavailable(f"apt has no source of Linux {release} any more: take its newest release")


def _keep_source(archive: Path, place: Path) -> None:
    place.mkdir()
    name = archive.name.removesuffix(".tar.xz")
    options = ("-C", str(place), "--strip-components=1", "--wildcards")
    kept = [f"{name}/{pattern}" for pattern in _KEPT]
    run([tool("tar"), "xf", str(archive), *options, *kept], timeout=_SECONDS)
