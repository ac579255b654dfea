# SPDX-License-Identifier: BSD-2-Clause
"""Payloads that the simulation makes itself, so that huge messages cross no channel.

The pattern is a run of 64-bit little-endian words. Word k is
(seed * 0x9E3779B97F4A7C15 mod 2**64) // 2 + k * 0x9E3779B1.
"""

import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

_SEED_FACTOR = 0x9E3779B97F4A7C15
_STEP = 0x9E3779B1
_WORD = 8


@dataclass(frozen=True, kw_only=True)
class PatternPayload:
    """`length` bytes of the pattern of `seed`."""

    seed: int
    length: int

    def read(self, start: int, size: int) -> bytes:
        """Bytes [start, start + size) of the message, cut at its end."""
        stop = min(start + size, self.length)
        if start >= stop:
            return b""
        first = start // _WORD
        base = self.seed * _SEED_FACTOR % 2**64 // 2
        words = array("Q", range(base + first * _STEP, base + -(-stop // _WORD) * _STEP, _STEP))
        if sys.byteorder == "big":
            words.byteswap()
        return words.tobytes()[start - first * _WORD : stop - first * _WORD]

    def chunks(self, size: int = 1 << 20) -> Iterator[bytes]:
        """The whole message in pieces, for hashing or comparing."""
        for start in range(0, self.length, size):
            yield self.read(start, size)

    def __bytes__(self) -> bytes:
        return self.read(0, self.length)
