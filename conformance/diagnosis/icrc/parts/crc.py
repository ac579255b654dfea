# SPDX-License-Identifier: BSD-2-Clause
"""CRC-32 as linear algebra: registers without inversions, moved forwards and backwards in time.

A register is reflected (the coefficient of the highest power is bit 0), as in
zlib. `shift` clocks zero bytes; because that is a product with a power of x,
any distance costs the same, and a negative one runs the register backwards.
"""

from functools import cached_property, lru_cache
from zlib import crc32

ONES = 0xFFFFFFFF
_ONE = 1 << 31  # the polynomial 1
_CASTAGNOLI = 0x82F63B78
_ETHERNET = 0xEDB88320
_STEP = 1024
_WORTH_KEEPING = 64
_POWERS = 64


class Crc:
    """One polynomial of degree 32."""

    def __init__(self, polynomial: int) -> None:
        self.polynomial = polynomial

    def run(self, data: bytes, register: int) -> int:
        """The register after some bytes."""
        if self.polynomial == _ETHERNET:
            return crc32(data, register ^ ONES) ^ ONES
        table = self._table
        if len(data) > _WORTH_KEEPING:
            return self.shift(register, len(data)) ^ self._remainder(data)
        for byte in data:
            register = register >> 8 ^ table[(register ^ byte) & 255]
        return register

    @lru_cache(maxsize=256)  # noqa: B019 - there are two instances, for good
    def _remainder(self, data: bytes) -> int:
        table, register = self._table, 0
        for byte in data:
            register = register >> 8 ^ table[(register ^ byte) & 255]
        return register

    def shift(self, register: int, count: int) -> int:
        """The register after `count` zero bytes, or that many before."""
        return self.times(register, self._power(8 * count)) if register else 0

    @lru_cache(maxsize=1024)  # noqa: B019 - there are two instances, for good
    def shifter(self, count: int) -> tuple[tuple[int, ...], ...]:
        """`shift` by that many bytes as one table per byte of the register, to be XORed."""
        columns = [self._power(8 * count)]  # what becomes of the polynomial 1, then of x, ...
        for _ in range(31):
            columns.append(self._forth(columns[-1]))
        columns.reverse()
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

    def _forth(self, register: int) -> int:
        return register >> 1 ^ self.polynomial if register & 1 else register >> 1

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
        squares = self._squares(exponent < 0)
        exponent, power = abs(exponent), _ONE
        for place in range(exponent.bit_length()):
            if exponent >> place & 1:
                power = self.times(power, squares[place])
        return power

    @lru_cache(maxsize=4)  # noqa: B019 - there are two instances, for good
    def _squares(self, backwards: bool) -> list[int]:
        """Return x (or its inverse) to the powers 1, 2, 4, ..."""
        found = [self.back(_ONE) if backwards else _ONE >> 1]
        while len(found) < _POWERS:
            found.append(self.times(found[-1], found[-1]))
        return found


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
    a, b, c, d = ETHERNET.shifter(-_STEP)
    for begin in range(0, limit, _STEP):
        near = _places().get(error)
        if near is not None:
            return divmod(8 * begin + near, 8) if 8 * begin + near < 8 * limit else None
        error = a[error & 255] ^ b[error >> 8 & 255] ^ c[error >> 16 & 255] ^ d[error >> 24]
    return None


@lru_cache(maxsize=1)
def _places() -> dict[int, int]:
    """Return the effect of every bit up to `_STEP` bytes from the end."""
    places = {}
    effects = [ETHERNET.run(bytes([1 << bit]), 0) for bit in range(8)]
    for distance in range(_STEP):
        for bit in range(8):
            places[effects[bit]] = 8 * distance + bit
        effects = [ETHERNET.run(b"\0", effect) for effect in effects]
    return places
