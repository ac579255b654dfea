# SPDX-License-Identifier: BSD-2-Clause
"""Whether the oracle that was built is still current, told without starting make.

The stamp beside it holds size and time of every source and product of the last
build, and the checksum of the tool. Whatever differs is make's to judge.
"""

import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REPOSITORY

TOOL = "roce-check"
CHECKSUMS = f"{TOOL}.sha256"
STAMP = "current"
_SOURCES = REPOSITORY / "pcap"
_TABLE = REPOSITORY / "conformance" / "rules" / "rules.tsv"
_NO_PRODUCTS = (STAMP, ".lock", "checked")
_KINDS = (".c", ".h", ".awk", "Makefile")


class ToolError(RoceproofError):
    """The oracle could not be built, or ended in a way that it should not."""


def is_current(build: Path) -> bool:
    """Whether nothing has changed since `stamp`."""
    try:
        return (build / STAMP).read_text() == source_state() + _product_state(build)
    except (OSError, UnicodeDecodeError):
        return False


def stamp(build: Path, *, sources: str) -> None:
    """Remember a build that went well; `sources` is what they were before it."""
    (build / STAMP).write_text(sources + _product_state(build))


def source_state() -> str:
    """Everything that make would look at."""
    sources = [entry for entry in _files(_SOURCES) if entry.name.endswith(_KINDS)]
    return "\n".join([_state(_TABLE.name, _TABLE.stat()), *_states(sources)])


def _product_state(build: Path) -> str:
    crc = zlib.crc32((build / TOOL).read_bytes())
    return "\n".join(["", *_states(_files(build, without=_NO_PRODUCTS)), f"{crc:08x}"])


def _files(folder: str | Path, *, without: Sequence[str] = ()) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False) and entry.name not in without:
                yield from _files(entry.path)
            elif entry.name not in without:
                yield entry


def _states(entries: Iterable[os.DirEntry[str]]) -> Iterator[str]:
    for entry in sorted(entries, key=attrgetter("path")):
        yield _state(entry.name, entry.stat())


def _state(name: str, status: os.stat_result) -> str:
    return f"{name} {status.st_size} {status.st_mtime_ns} {status.st_mode:o}"
