# SPDX-License-Identifier: BSD-2-Clause
"""CRC-32 with each of its parameters open to mistakes, at the speed of the library's CRC.

The most-significant-bit-first register is the reflected one fed with reflected
bytes and read backwards, so both run on zlib; only the Castagnoli polynomial
needs a table of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

_ONES = 0xFFFFFFFF
_REFLECTED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_CASTAGNOLI = 0x82F63B78


def _table(polynomial: int) -> tuple[int, ...]:
    rows = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (polynomial if value & 1 else 0)
        rows.append(value)
    return tuple(rows)


_CASTAGNOLI_TABLE = _table(_CASTAGNOLI)


def reflect(value: int) -> int:
    """A 32-bit value with its bits in the opposite order."""
    return int.from_bytes(value.to_bytes(4, "little").translate(_REFLECTED), "big")


@dataclass(frozen=True, slots=True)
class Crc:
    """A 32-bit CRC; the defaults are those of IEEE 802.3."""

    init: int = _ONES
    final_xor: int = _ONES
    reflected: bool = True
    castagnoli: bool = False
    reflect_result: bool = False

    def over(self, data: bytes) -> int:
        """The CRC of `data`."""
        register = self._register(data)
        if not self.reflected or self.reflect_result:
            register = reflect(register)
        return register ^ self.final_xor

    def _register(self, data: bytes) -> int:
        if self.castagnoli:
            register = self.init
            for byte in data:
                register = register >> 8 ^ _CASTAGNOLI_TABLE[register & 0xFF ^ byte]
            return register
        if not self.reflected:
            data = data.translate(_REFLECTED)
        return crc32(data, self.init ^ _ONES) ^ _ONES


RIGHT_CRC = Crc()
