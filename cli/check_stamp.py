# SPDX-License-Identifier: BSD-2-Clause
"""Whether the oracle that was built is still current, told without starting make.

The stamp beside it holds size and time of every source and product of the last
build, and the checksum of the tool. Whatever differs is make's to judge.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from roceproof.common.paths import REPOSITORY

STAMP = "current"
_SOURCES = REPOSITORY / "pcap"
_TABLE = REPOSITORY / "conformance" / "rules" / "rules.tsv"
_NO_PRODUCTS = (STAMP, ".lock", "checked")
_KINDS = (".c", ".h", ".awk", "Makefile")


def is_current(build: Path, tool: str) -> bool:
    """Whether nothing has changed since `stamp`."""
    try:
        return (build / STAMP).read_text() == source_state() + _product_state(build, tool)
    except (OSError, UnicodeDecodeError):
        return False


def stamp(build: Path, tool: str, *, sources: str) -> None:
    """Remember a build that went well; `sources` is what they were before it."""
    (build / STAMP).write_text(sources + _product_state(build, tool))


def source_state() -> str:
    """Everything that make would look at."""
    sources = sorted(path for path in _SOURCES.iterdir() if path.name.endswith(_KINDS))
    return "\n".join(_states([_TABLE, *sources]))


def _product_state(build: Path, tool: str) -> str:
    products = sorted(path for path in build.iterdir() if path.name not in _NO_PRODUCTS)
    crc = zlib.crc32((build / tool).read_bytes())
    return "\n".join(["", *_states(products), f"{crc:08x}"])


def _states(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        status = path.stat()
        yield f"{path.name} {status.st_size} {status.st_mtime_ns} {status.st_mode:o}"
