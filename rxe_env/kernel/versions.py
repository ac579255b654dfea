# SPDX-License-Identifier: BSD-2-Clause
"""Kernels for the guest beside the distribution's: by version, the newest, or from disk.

Each is kept in the cache under its own name and has its own saved machine. One that is kept is
used without asking the network; only `newest` asks, once a day, whether there is a newer one.
"""

import hashlib
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from roceproof.common.checksum_stamp import flaw
from roceproof.common.notice import notice
from roceproof.common.paths import cache_dir
from roceproof.rxe_env import cache
from roceproof.rxe_env.errors import Unavailable
from roceproof.rxe_env.kernel import apt, archives, distribution, unpacked
from roceproof.rxe_env.kernel.distribution import KEPT, Kernel

DISTRIBUTION, NEWEST = "distribution", "newest"
_VERSION = re.compile(r"\d+\.\d+[\w.+~-]*")
_CHUNK = 1 << 20
KIND = "kernels"

Progress = Callable[[str], None]


def find(wanted: str | None, progress: Progress = lambda text: None) -> Kernel:
    """Return the kernel that `wanted` names, fetched first where it is not kept.

    `wanted` is "distribution" (or None), a version such as 6.12, "newest", or paths separated by
    commas: packages, a folder of them or of an unpacked kernel, or a boot image and the folder
    of its modules.
    """
    if wanted in (None, DISTRIBUTION):
        return distribution.fetch(progress)
    assert wanted
    if wanted == NEWEST:
        return _newest(progress)
    if paths := _paths(wanted):
        return _from_disk(paths, progress)
    if not _VERSION.fullmatch(wanted):
        raise Unavailable(
            f"--kernel {shlex.quote(wanted)} is neither distribution, newest, a version such as "
            "6.12, nor a path that exists"
        )
    return kept(wanted) or _of_version(wanted, progress)


def kept(wanted: str | None) -> Kernel | None:
    """Return the kernel that `wanted` names if a whole one is in the cache; nobody is asked."""
    own = distribution.cached()
    if wanted in (None, DISTRIBUTION):
        return own
    assert wanted
    if paths := _paths(wanted):
        place = _place_of([file for path in paths for file in _files(path)])
        return None if flaw(place) else distribution.load(place)
    known = [each for each in (own, *others()) if each]
    fitting = [each for each in known if wanted == NEWEST or is_of(each.release, wanted)]
    return max(fitting, key=lambda each: apt.age_key(each.release), default=None)


def pinned(wanted: str) -> str:
    """Return words for the same kernel, kept by now, that mean no other one tomorrow."""
    if paths := _paths(wanted):
        return ",".join(str(path.resolve()) for path in paths)
    have = kept(wanted)
    return have.release if have else wanted


def others() -> list[Kernel]:
    """Return the whole kernels in the cache that apt had, beside the distribution's."""
    places = (cache_dir() / KIND).glob(f"{apt.IMAGE}*.{KEPT}")
    return [distribution.load(place) for place in sorted(places) if not flaw(place)]


def is_of(release: str, version: str) -> bool:
    """Whether a release is one of that version: 6.1.0-56-amd64 is 6.1, and not 6.12."""
    return re.match(rf"{re.escape(version)}(?![\w])", release) is not None


def _of_version(version: str, progress: Progress) -> Kernel:
    here = apt.Apt()
    fitting = [release for release in here.releases() if is_of(release, version)]
    if fitting:
        return _fetched(here, fitting[0], progress)
    known: list[str] = []
    for refresh in (False, True):
        with archives.opened(progress, refresh=refresh) as archive:
            known = archive.releases()
            fitting = [release for release in known if is_of(release, version)]
            if fitting:
                return _fetched(archive, fitting[0], progress)
    there = ", ".join(dict.fromkeys(".".join(release.split(".")[:2]) for release in known))
    raise Unavailable(f"apt has no kernel {version}; it has {there}: take one of them, or a path")


def _newest(progress: Progress) -> Kernel:
    try:
        with archives.opened(progress, refresh=True) as archive:
            releases = archive.releases()
            if not releases:
                raise Unavailable(
                    "the lists of Debian's archive have no kernel: connect to the network, or name"
                    " packages on disk with --kernel"
                )
            return _fetched(archive, releases[0], progress)
    except Unavailable as error:
        have = max(others(), key=lambda each: apt.age_key(each.release), default=None)
        if not have:
            raise
        notice(f"{error}; taking {have.release}, which is kept")
        return have


def _fetched(source: apt.Apt, release: str, progress: Progress) -> Kernel:
    own = distribution.cached()
    if own and own.release == release:
        return own
    image = f"{apt.IMAGE}{release}"

    def build(place: Path) -> None:
        packages = source.packages_of(image)
        progress(f"fetching {image} through apt")
        distribution.keep_packages(lambda folder: source.download(packages, folder), place)

    return distribution.load(cache.entry(KIND, f"{image}.{KEPT}", build))


def _from_disk(paths: list[Path], progress: Progress) -> Kernel:
    missing = next((path for path in paths if not path.exists()), None)
    if missing:
        raise Unavailable(f"--kernel: {missing} does not exist")
    files = [file for path in paths for file in _files(path)]

    def build(place: Path) -> None:
        progress(f"keeping the kernel of {paths[0]}")
        _keep(paths, files, place)

    return distribution.load(cache.entry(KIND, _place_of(files).name, build))


def _paths(wanted: str) -> list[Path]:
    """The paths of a word that names some; a version names none, whatever lies here."""
    if _VERSION.fullmatch(wanted) and not Path(wanted).is_file():
        return []
    paths = [Path(word) for word in wanted.split(",")]
    return paths if "/" in wanted or any(path.exists() for path in paths) else []


def _place_of(files: list[Path]) -> Path:
    return cache_dir() / KIND / f"disk-{_digest(files)}.{KEPT}"


def _keep(paths: list[Path], files: list[Path], place: Path) -> None:
    packages = [file for file in files if file.suffix == ".deb"]
    folders = [path for path in paths if path.is_dir()]
    images = [path for path in paths if path.is_file() and path.suffix != ".deb"]
    if packages and not images:
        distribution.keep_packages(lambda folder: packages, place)
    elif len(images) == 1 and len(folders) == 1:
        unpacked.keep_tree(images[0], folders[0], place)
    elif len(folders) == 1 and not images:
        unpacked.keep(folders[0], place)
    else:
        raise Unavailable(
            "--kernel takes packages, a folder that holds them or an unpacked kernel, or a boot "
            "image and the folder of its modules, separated by a comma"
        )


def _files(path: Path) -> list[Path]:
    """A file itself; of a folder its packages, or what decides which kernel it holds."""
    if path.is_file():
        return [path]
    packages = sorted(path.glob("*.deb"))
    wanted = {*unpacked.IMAGE_NAMES, "modules.builtin"}
    return packages or sorted(
        file
        for file in path.rglob("*")
        if file.is_file() and (".ko" in file.name or file.name.split("-")[0] in wanted)
    )


def _digest(files: list[Path]) -> str:
    """A name for the content of packages and images, and for the names and dates of modules."""
    parts: list[str | bytes] = []
    for file in files:
        if ".ko" in file.name:
            fact = file.stat()
            parts.append(f"{file.resolve()} {fact.st_size} {fact.st_mtime_ns}")
        else:
            parts.append(_sum(file))
    return cache.digest(*parts)


def _sum(file: Path) -> bytes:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()
