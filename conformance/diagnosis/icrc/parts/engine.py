# SPDX-License-Identifier: BSD-2-Clause
"""CRC engines: polynomial, order of input bits, order of the result's bits."""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from roceproof.conformance.diagnosis.icrc.parts.crc import CASTAGNOLI, ETHERNET, ONES, Crc

_MIRROR = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


@dataclass(frozen=True)
class Engine:
    """A CRC with the order in which it takes the bits and bytes of its input."""

    crc: Crc = ETHERNET
    mirrored: bool = False
    """Most significant bit of each byte first; the result comes out reversed as a whole."""
    swapped: bool = False
    """The bytes of each 32-bit word reversed."""

    def order(self, data: bytes) -> bytes:
        """The bytes as the division sees them."""
        if self.mirrored:
            data = data.translate(_MIRROR)
        if self.swapped:
            whole = len(data) // 4 * 4
            words = array("I", data[:whole])
            words.byteswap()
            data = words.tobytes() + data[whole:][::-1]
        return data

    def run(self, data: bytes, register: int) -> int:
        """The register after some bytes of input."""
        return self.crc.run(self.order(data), register)

    def run_parts(self, parts: Sequence[bytes], register: int) -> int:
        """The register after several pieces of input, one behind the other."""
        if self.swapped:
            return self.run(b"".join(parts), register)
        for part in parts:
            register = self.run(part, register)
        return register

    @cached_property
    def start(self) -> int:
        """The register behind the dummy bytes."""
        return self.crc.run(b"\xff" * 8, ONES)


def bytes_reversed(value: int) -> int:
    """S26."""
    return int.from_bytes(value.to_bytes(4, "little"), "big")


def halves_swapped(value: int) -> int:
    """S28."""
    return value >> 16 | (value & 0xFFFF) << 16


def bits_reversed(value: int) -> int:
    """S25 and S27."""
    return int.from_bytes(value.to_bytes(4, "little").translate(_MIRROR), "little")


@dataclass(frozen=True)
class Reordering:
    """A rearrangement of the result's bits; each is its own inverse."""

    ids: tuple[str, ...] = ()
    steps: tuple[Callable[[int], int], ...] = ()

    def apply(self, value: int) -> int:
        for step in self.steps:
            value = step(value)
        return value


_STEPS: tuple[tuple[str, Callable[[int], int]], ...] = (
    ("S25", bits_reversed),
    ("S26", bytes_reversed),
    ("S27", bits_reversed),
    ("S28", halves_swapped),
)


def _reorderings() -> list[Reordering]:
    chosen = [c for count in range(3) for c in combinations(_STEPS, count)]
    return [
        Reordering(tuple(name for name, _ in steps), tuple(step for _, step in steps))
        for steps in chosen
        if len({step for _, step in steps}) == len(steps)
    ]


REORDERINGS = _reorderings()
"""None at all first; two mistakes at most."""

_MSB_FIRST = Engine(mirrored=True)
_BIG, _LITTLE = (bits_reversed,), (bits_reversed, bytes_reversed)
ENGINES: tuple[tuple[tuple[str, ...], Engine, tuple[Callable[[int], int], ...]], ...] = (
    (("S23",), _MSB_FIRST, _BIG),
    (("S24",), _MSB_FIRST, _LITTLE),
    (("S29",), Engine(crc=CASTAGNOLI), ()),
    (("S43",), Engine(swapped=True), ()),
    (("S23", "S29"), replace(_MSB_FIRST, crc=CASTAGNOLI), _BIG),
    (("S23", "S43"), replace(_MSB_FIRST, swapped=True), _BIG),
    (("S24", "S29"), replace(_MSB_FIRST, crc=CASTAGNOLI), _LITTLE),
    (("S24", "S43"), replace(_MSB_FIRST, swapped=True), _LITTLE),
    (("S29", "S43"), Engine(crc=CASTAGNOLI, swapped=True), ()),
)
"""Signatures, engine, and the rearrangement that belongs to it."""
