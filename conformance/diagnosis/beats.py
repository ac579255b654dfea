# SPDX-License-Identifier: BSD-2-Clause
"""Faults that follow the beats of the data path: S57, S58, S61 and S64."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from roceproof.conformance.diagnosis.case import MASKED, Case
from roceproof.conformance.diagnosis.crc import CASTAGNOLI, ETHERNET, ONES, Crc
from roceproof.conformance.diagnosis.engine import Engine
from roceproof.conformance.diagnosis.hypothesis import Hypothesis

WIDTHS = (4, 8, 16, 32, 64)
_DUMMY = 8


@dataclass(frozen=True)
class Origin:
    """Where the beats are counted from: that many bytes stand before the IP header."""

    words: str
    lead: Callable[[Case], int]


ORIGINS = (
    Origin("", lambda case: case.seen.ip),
    Origin(", counted from the IP header", lambda case: 0),
    Origin(", counted from the dummy bytes", lambda case: _DUMMY),
)


@dataclass(frozen=True)
class Tail:
    """The packets whose last beat is partial in one way."""

    width: int
    remainder: int
    origin: Origin

    def holds(self, case: Case) -> bool:
        """Whether the packet is one of them."""
        return self.size(case) == self.remainder

    def size(self, case: Case) -> int:
        """Bytes in the last, partial beat."""
        return (len(case.head) + len(case.seen.body) + self.origin.lead(case)) % self.width

    def __str__(self) -> str:
        return f"{self.remainder} bytes in the last beat of {self.width}{self.origin.words}"


@dataclass(frozen=True)
class WrongCount:
    """S57: with one kind of last beat, too few or too many bytes are taken."""

    tail: Tail
    surplus: int
    ids: tuple[str, ...] = ("S57",)

    @property
    def note(self) -> str:
        """Which beat, and how many bytes."""
        kind = "more (zeros)" if self.surplus > 0 else "fewer"
        return f"with {self.tail} the CRC takes {abs(self.surplus)} {kind}"

    def predict(self, case: Case) -> int | None:
        """Take so many bytes more or fewer."""
        if not self.tail.holds(case):
            return case.right
        data = case.masked + case.seen.body
        data = data + bytes(self.surplus) if self.surplus > 0 else data[: self.surplus]
        return ETHERNET.run(data, Engine().start) ^ ONES


@dataclass(frozen=True)
class WrongTable:
    """S64: with one kind of last beat, its bytes go through a wrong table."""

    tail: Tail
    kind: str
    bend: Callable[[bytes], bytes]
    crc: Crc = ETHERNET
    ids: tuple[str, ...] = ("S64",)

    @property
    def note(self) -> str:
        """Which beat, and which table."""
        return f"with {self.tail} they go through {self.kind}"

    def predict(self, case: Case) -> int | None:
        """Clock the body rightly, then the tail wrongly."""
        if not self.tail.holds(case):
            return case.right
        data = case.masked + case.seen.body
        cut = len(data) - self.tail.remainder
        register = ETHERNET.run(data[:cut], Engine().start)
        return self.crc.run(self.bend(data[cut:]), register) ^ ONES


@dataclass(frozen=True)
class DeadLane:
    """S58: one byte of each beat is a constant to the CRC."""

    width: int
    lane: int
    value: int
    origin: Origin
    masks_last: bool
    ids: tuple[str, ...] = ("S58",)

    @property
    def note(self) -> str:
        """Which lane."""
        place = f"byte {self.lane} of each {self.width}{self.origin.words}"
        return f"{place} is seen as {self.value:02x}"

    def predict(self, case: Case) -> int | None:
        """Overwrite the lane."""
        dummy = _DUMMY if self.origin.lead(case) == _DUMMY else 0
        data = bytearray(b"\xff" * dummy + case.masked + case.seen.body)
        first = (self.lane - self.origin.lead(case) + dummy) % self.width
        count = len(range(first, len(data), self.width))
        data[first :: self.width] = bytes([self.value]) * count
        if self.masks_last:
            for at, (seen, raw) in enumerate(zip(case.masked, case.head, strict=True)):
                data[dummy + at] |= seen & ~raw
        register = ONES if dummy else Engine().start
        return ETHERNET.run(bytes(data), register) ^ ONES


@dataclass(frozen=True)
class MaskAgain:
    """S61: the header mask is applied again at each multiple of a window."""

    window: int
    ids: tuple[str, ...] = ("S61",)

    @property
    def note(self) -> str:
        """Which window."""
        return f"each {self.window} bytes"

    def predict(self, case: Case) -> int | None:
        """Mask the payload as if it were a header."""
        data = bytearray(case.masked + case.seen.body)
        places = [span for field in MASKED for span in case.spans(field)]
        for base in range(self.window, len(data), self.window):
            for at, bits in places:
                if base + at < len(data):
                    data[base + at] |= bits
        return ETHERNET.run(bytes(data), Engine().start) ^ ONES


def tails(wrong: Sequence[Case], right: Sequence[Case]) -> Iterator[Tail]:
    """The kinds of last beat that all of the wrong packets have, and none of the right ones."""
    for width in WIDTHS[1:]:
        for origin in ORIGINS:
            kinds = {Tail(width, 0, origin).size(case) for case in wrong}
            if len(kinds) == 1:
                tail = Tail(width, kinds.pop(), origin)
                if not any(map(tail.holds, right)):
                    yield tail


def tail_faults(tail: Tail) -> Iterator[Hypothesis]:
    """What can be wrong with one kind of last beat."""
    for size in range(1, tail.width + 1):
        yield WrongCount(tail, -size)
        yield WrongCount(tail, size)
    mirrored = Engine(mirrored=True)
    yield WrongTable(tail, "a table with the bits of each byte reversed", mirrored.order)
    yield WrongTable(tail, "a table with the bytes in reversed order", lambda data: data[::-1])
    yield WrongTable(tail, "a table of CRC-32C", lambda data: data, CASTAGNOLI)
    yield WrongTable(tail, "a table of nothing but shifts", lambda data: bytes(len(data)))


def dead_lanes() -> Iterator[DeadLane]:
    """Every lane of every width, stuck at zeros or ones."""
    for width in WIDTHS:
        for lane in range(width):
            for origin in ORIGINS:
                yield DeadLane(width, lane, 0, origin, masks_last=False)
                yield DeadLane(width, lane, 0, origin, masks_last=True)
                yield DeadLane(width, lane, 0xFF, origin, masks_last=False)


def masks_again(longest: int) -> Iterator[MaskAgain]:
    """Every window that fits in a packet of that length."""
    return (MaskAgain(window) for window in range(36, longest, 4))
