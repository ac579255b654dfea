# SPDX-License-Identifier: BSD-2-Clause
"""The records of the bench's captures: pcap of little-endian machines, as `make_capture` writes."""

from collections.abc import Iterator
from pathlib import Path
from struct import Struct

from roceproof.common.paths import BUILD

BENCH = BUILD / "bench"
"""Where the captures lie."""
FILE_HEADER_BYTES = 24
_RECORD = Struct("<IIII")


def records(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """The headers of a capture's records and the frames behind them."""
    with path.open("rb") as file:
        file.seek(FILE_HEADER_BYTES)
        while header := file.read(_RECORD.size):
            yield header, file.read(_RECORD.unpack(header)[2])
