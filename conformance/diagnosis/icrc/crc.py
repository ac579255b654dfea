# SPDX-License-Identifier: BSD-2-Clause
"""CRC-32 as linear algebra: registers without inversions, moved forwards and backwards in time.

A register is reflected (the coefficient of the highest power is bit 0), as in
zlib. `shift` clocks zero bytes; because that is a product with a power of x,
any distance costs the same, and a negative one runs the register backwards.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from zlib import crc32

ONES = 0xFFFFFFFF
_ONE = 1 << 31  # the polynomial 1
_CASTAGNOLI = 0x82F63B78
_ETHERNET = 0xEDB88320
_STEP = 1024


class Crc:
    """One polynomial of degree 32."""

    def __init__(self, polynomial: int) -> None:
        self.polynomial = polynomial

    def run(self, data: bytes, register: int) -> int:
        """The register after some bytes."""
        if self.polynomial == _ETHERNET:
            return crc32(data, register ^ ONES) ^ ONES
        table = self._table
        for byte in data:
            register = register >> 8 ^ table[(register ^ byte) & 255]
        return register

    def shift(self, register: int, count: int) -> int:
        """The register after `count` zero bytes, or that many before."""
        return self.times(register, self._power(8 * count)) if register else 0

    @lru_cache(maxsize=1024)  # noqa: B019 - there are two instances, for good
    def shifter(self, count: int) -> tuple[tuple[int, ...], ...]:
        """`shift` by that many bytes as one table per byte of the register, to be XORed."""
        columns = [self.shift(1 << bit, count) for bit in range(32)]
        return tuple(_span(columns[place : place + 8]) for place in range(0, 32, 8))

    def times(self, a: int, b: int) -> int:
        """The product of two registers as polynomials."""
        polynomial, product, bit = self.polynomial, 0, _ONE
        while a:
            if a & bit:
                product ^= b
                a ^= bit
            bit >>= 1
            b = b >> 1 ^ polynomial if b & 1 else b >> 1
        return product

    def back(self, register: int) -> int:
        """The register one bit before."""
        if register & _ONE:
            return (register ^ self.polynomial) << 1 & ONES | 1
        return register << 1

    @cached_property
    def _table(self) -> list[int]:
        return [self.shift(byte, 1) for byte in range(256)]

    @lru_cache(maxsize=65536)  # noqa: B019 - there are two instances, for good
    def _power(self, exponent: int) -> int:
        """Return x to that power."""
        base = _ONE >> 1 if exponent >= 0 else self.back(_ONE)
        exponent, power = abs(exponent), _ONE
        while exponent:
            if exponent & 1:
                power = self.times(power, base)
            base = self.times(base, base)
            exponent >>= 1
        return power


def _span(columns: list[int]) -> tuple[int, ...]:
    """Return all sums of the columns, in the order of their selections read as numbers."""
    sums = [0]
    for column in columns:
        sums += [each ^ column for each in sums]
    return tuple(sums)


ETHERNET = Crc(_ETHERNET)
CASTAGNOLI = Crc(_CASTAGNOLI)


def locate_bit(error: int, limit: int) -> tuple[int, int] | None:
    """Where one wrong bit is: bytes before the end of the covered data (below `limit`), and bit.

    A bit of the ICRC itself counts -4 for the first byte to -1 for the last.
    """
    if error.bit_count() == 1:
        place = error.bit_length() - 1
        return place // 8 - 4, place % 8
    place = _places(-(-limit // _STEP) * _STEP).get(error, 8 * limit)
    return divmod(place, 8) if place < 8 * limit else None


@lru_cache(maxsize=4)
def _places(limit: int) -> dict[int, int]:
    """Return the effect of every bit up to a distance from the end."""
    places = {}
    effects = [ETHERNET.run(bytes([1 << bit]), 0) for bit in range(8)]
    for distance in range(limit):
        for bit in range(8):
            places[effects[bit]] = 8 * distance + bit
        effects = [ETHERNET.run(b"\0", effect) for effect in effects]
    return places
