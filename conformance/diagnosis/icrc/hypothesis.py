# SPDX-License-Identifier: BSD-2-Clause
"""A hypothesis: what a device does, precisely enough to predict the field of any packet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable
from zlib import crc32

from roceproof.conformance.diagnosis.icrc.parts.changes import Change
from roceproof.conformance.diagnosis.icrc.parts.coverage import Coverage
from roceproof.conformance.diagnosis.icrc.parts.crc import ONES
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.engine import Engine, Reordering


class Hypothesis(Protocol):
    """Predicts what stands in the ICRC's place."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The signatures that it is made of, sorted."""

    @property
    def note(self) -> str:
        """What it is more precisely than its signatures say; empty for the catalogue's own."""

    def predict(self, packet: CrcInput) -> int | None:
        """The field's value; None where the hypothesis has no say."""


@runtime_checkable
class Contrasting(Protocol):
    """A hypothesis that blames a property which right packets have to lack."""

    def contrasts(self, packet: CrcInput) -> bool:
        """Whether the packet lacks it."""


@runtime_checkable
class Demanding(Protocol):
    """A hypothesis that packets may fit without showing what tells it from others."""

    def lacks(self, packets: Sequence[CrcInput]) -> str:
        """What these, which fit, do not show of it, in words; empty if they show it."""


_TOGETHER = {"S19", "S20"}  # by definition S21


@dataclass(frozen=True)
class Recipe:
    """A faulty computation, put together from independent parts."""

    engine: Engine
    engine_ids: tuple[str, ...]
    coverage: Coverage
    reordering: Reordering
    implied: Reordering
    """The order of result bits that belongs to the engine."""
    changes: tuple[Change, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The signatures of its parts."""
        names = [option.id for option in self.coverage.options]
        names += [change.id for change in self.changes]
        parts = [part for name in names for part in name.split("+")]
        found = {*self.engine_ids, *self.reordering.ids, *parts}
        if found >= _TOGETHER:
            found = found - _TOGETHER | {"S21"}
        return tuple(sorted(found))

    @property
    def note(self) -> str:
        """The notes of its parts."""
        notes = [option.note for option in self.coverage.options]
        notes += [change.note for change in self.changes]
        return "; ".join(note for note in notes if note)

    def without_one(self) -> Iterator[Recipe]:
        """The recipes that lack one of its parts."""
        options, none = self.coverage.options, Reordering()
        if self.engine_ids:
            yield replace(self, engine=Engine(), engine_ids=(), implied=none)
        if self.reordering.ids:
            yield replace(self, reordering=none)
        for at in range(len(options)):
            yield replace(self, coverage=Coverage(options[:at] + options[at + 1 :]))
        for at in range(len(self.changes)):
            yield replace(self, changes=self.changes[:at] + self.changes[at + 1 :])

    def predict(self, packet: CrcInput) -> int | None:
        """Compute the field as the device would."""
        feed = self.coverage.feed(packet)
        register = self.engine.start if feed.start is None else feed.start
        head = packet.masked
        final = ONES
        for change in self.changes:
            if change.edit is not None:
                altered = change.head(packet)
                head = _added(head, _added(altered, packet.masked))
            if change.start is not None:
                register = change.start(self.engine)
            if change.inverted:
                final ^= ONES
        value = self.engine.run_parts(feed.over(head), register) ^ final
        return self.reordering.apply(self.implied.apply(value))


@dataclass(frozen=True)
class Constant:
    """S46 and S47: the field is never filled."""

    ids: tuple[str, ...]
    value: int
    note: str = ""

    def predict(self, packet: CrcInput) -> int | None:
        return self.value


@dataclass(frozen=True)
class FrameCheck:
    """S45: the field holds the Ethernet CRC of what stands before it."""

    ids: tuple[str, ...] = ("S45",)
    note: str = ""

    def predict(self, packet: CrcInput) -> int | None:
        """Compute the FCS that the frame would have without its last four bytes."""
        return crc32(packet.seen.frame[: packet.covered_end])


def _added(a: bytes, b: bytes) -> bytes:
    size = len(a)
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).to_bytes(size, "big")


WHOLE_VALUES: tuple[Hypothesis, ...] = (
    FrameCheck(),
    Constant(("S46",), 0),
    Constant(("S47",), ONES),
)
