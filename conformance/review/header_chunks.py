# SPDX-License-Identifier: BSD-2-Clause
"""The headers of all packets, compressed in chunks, so that a reader unpacks only what is shown.

Of each packet everything up to the payload is kept, some of the payload, and the
last TAIL bytes up to the end of the packet, where pad and ICRC stand; of a packet
that is hardly longer, all. A chunk holds of each of its packets the bytes captured,
then of each those on the wire (32 bits), then of each those kept (16 bits, all
little-endian), and then what was kept, one packet behind the other.
"""

import zlib
from array import array

CHUNK_ROWS = 4096
TAIL = 8
_LEVEL = 1  # within two percent of what more work gives
_MOST_KEPT = 0xFFFF


class HeaderChunks:
    """Takes packets one after the other; `chunks` are complete after `close`."""

    def __init__(self, *, payload: int = 0) -> None:
        self.chunks: list[bytes] = []
        self.payload = payload
        self._kept: list[bytes] = []
        self._sizes = array("I")
        self._full_sizes = array("I")

    def add(self, frame: bytes, payload: int, end: int, full_size: int) -> None:
        """Keep a frame whose payload begins and whose packet ends there."""
        size = len(frame)
        head = payload + self.payload
        tail = min(end, size) - TAIL
        whole = tail <= head and size <= _MOST_KEPT
        self._kept.append(frame if whole else frame[:head] + frame[tail : tail + TAIL])
        self._sizes.append(size)
        self._full_sizes.append(full_size)
        if len(self._kept) == CHUNK_ROWS:
            self.close()

    def close(self) -> None:
        if not self._kept:
            return
        lengths = array("H", map(len, self._kept))
        sizes = (self._sizes.tobytes(), self._full_sizes.tobytes(), lengths.tobytes())
        self.chunks.append(zlib.compress(b"".join((*sizes, *self._kept)), _LEVEL))
        self._kept.clear()
        del self._sizes[:], self._full_sizes[:]
