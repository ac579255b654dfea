# SPDX-License-Identifier: BSD-2-Clause
"""The S faults planted in frames: `corrupt` and what there is to choose for each.

`corrupt` turns healthy frames into what the chosen stations would have sent with
the fault in them; with several static faults, with all of them in one design.
What the design of a fault leaves open is here the first that could be drawn, but
for the variants.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations
from random import Random
from typing import Any, NamedTuple
from zlib import crc32

from roceproof.common.errors import RoceproofError
from roceproof.conformance.faults.conversation.network import TimedFrame
from roceproof.conformance.faults.icrc import beats, queue, stages
from roceproof.conformance.faults.icrc.engine import Engine, Outgoing, SentBy, through
from roceproof.conformance.faults.icrc.packet import Packet, packet_of
from roceproof.conformance.faults.icrc.unit import IcrcUnit
from roceproof.conformance.faults.icrc.wirings import CLASHES, OFFSETS_OF_IPV4, UNITS, WIRINGS
from roceproof.conformance.wire.opcodes import OPCODES, Position

_ALIKE = {"S27": "S25"}
_WIRINGS = {**WIRINGS, "S48": OFFSETS_OF_IPV4}
STATIC = tuple(sorted((*WIRINGS, *UNITS, *_ALIKE)))
"""The faults that show in a single packet."""
_SWALLOWS = {"S06": {"S02", "S03", "S04", "S10"}, "S07": {"S04"}, "S18": {"S32", "S33"}}
"""What cannot be seen beside a fault."""
_MASKS = frozenset({"S01", "S02", "S03"})
"""Each changes fields of its own, though a device is drawn with one of them at most."""
_NOT_LAST = frozenset(row.value for row in OPCODES.values() if not row.position & Position.LAST)


class FaultError(RoceproofError):
    """Faults that cannot be planted together, or an id that does not exist."""


class _FirstChoice(Random):
    def random(self) -> float:
        return 0.0


class _Planted(Engine):
    """A unit with a stage behind it, which may be wrong for one length of the last beat."""

    def __init__(self, unit: IcrcUnit, stage: stages.Stage, *, of_residue: bool = False) -> None:
        self._unit, self._stage, self._of_residue = unit, stage, of_residue

    def prepare(self, packets: Iterable[Outgoing]) -> None:
        """Choose the length that is most frequent in the stream."""
        if isinstance(self._stage, beats.Beats) and self._of_residue:
            tails = Counter(out.body_end % self._stage.width for out in packets)
            self.residue = max(sorted(tails), key=lambda tail: tails[tail])

    def value(self, out: Outgoing) -> bytes:
        return self._sealed(out).icrc

    def frame(self, out: Outgoing) -> bytes:
        return self._sealed(out).frame()

    def _sealed(self, out: Outgoing) -> Packet:
        packet = packet_of(out.frame, out.layout)
        if isinstance(self._stage, beats.Beats):
            if self._of_residue:
                self._stage.place = self.residue
            if isinstance(self._stage, beats.Stalls) and not self.stalls:
                return packet
        packet.icrc = self._stage.value(self._unit, packet)
        self._stage.leave(packet)
        return packet


class _MisplacedTail(beats.WrongLastTable):
    """The first byte of the last beat is in the table one place too far up."""

    def value(self, unit: IcrcUnit, packet: Packet) -> bytes:
        if not self.place:
            return unit.compute(packet)
        self.behind = self.place - 1
        self.columns = [_one_place_up(1 << bit, self.behind) for bit in range(8)]
        return super().value(unit, packet)


def _one_place_up(byte: int, behind: int) -> int:
    """What it adds to a CRC there and one place further up, both with zeros behind it."""
    data = bytes((byte,)) + bytes(behind)
    return crc32(data) ^ crc32(bytes(behind + 1)) ^ crc32(data + b"\0") ^ crc32(bytes(behind + 2))


class StreamFault(NamedTuple):
    """A dynamic row: its variants, and for each capture whether the device meets back-pressure."""

    engines: tuple[Callable[[], Engine], ...]
    runs: tuple[bool, ...] = (False,)


def _with(
    stage: type[stages.Stage], /, of_residue: bool = False, **design: Any
) -> Callable[[], Engine]:
    return lambda: _Planted(IcrcUnit(), stage(_FirstChoice(), **design), of_residue=of_residue)


def _tails(kind: type[stages.Stage], *widths: int) -> tuple[Callable[[], Engine], ...]:
    return tuple(_with(kind, of_residue=True, width=width) for width in widths)


def _next_beat(kind: str, width: int) -> Callable[[], Engine]:
    return _with(beats.NextBeat, kind=kind, width=width, whole_too=True)


_HOPS, _BTH_BYTE = frozenset({("ip", 7), ("ip", 8)}), frozenset({("bth", 4)})
STREAM_FAULTS: dict[str, StreamFault] = {
    "S53": StreamFault((_with(stages.Late),)),
    "S54": StreamFault((_with(stages.NotSeeded, dummy=False),)),
    "S55": StreamFault(
        (
            _with(stages.LaterEdit, kind="ackreq"),
            _with(stages.LaterEdit, kind="id", per_flow=True),
            _with(stages.LaterEdit, kind="psn", per_flow=True),
            _with(stages.LaterEdit, kind="udp length"),
            _with(stages.LaterEdit, kind="pkey"),
        )
    ),
    "S56": StreamFault(
        (
            _with(stages.MaskLeaks),
            _with(stages.MaskLeaks, only=_HOPS),
            _with(stages.MaskLeaks, only=_BTH_BYTE),
        )
    ),
    "S57": StreamFault(_tails(beats.WrongEnables, 8, 16, 32, 64)),
    "S58": StreamFault(
        (
            _with(beats.DeadLane, width=8, place=5, stuck=0),
            _with(beats.DeadLane, width=64, place=51, stuck=255),
        )
    ),
    "S59": StreamFault((_with(beats.Stalls, every=3),), runs=(False, True)),
    "S60": StreamFault((queue.MixesEngines,)),
    "S61": StreamFault((_with(stages.MaskAgain, window=512), _with(stages.MaskAgain, window=256))),
    "S62": StreamFault(
        (
            _with(stages.OnlyLast, opcodes=_NOT_LAST),
            _with(stages.OnlyLast, opcodes=_NOT_LAST, counts_it=True),
        )
    ),
    "S63": StreamFault(
        (
            _with(stages.PartLatched, places=(2, 3), wired=True),
            _with(stages.PartLatched, places=(3,), wired=False),
        )
    ),
    "S64": StreamFault(_tails(_MisplacedTail, 8, 64)),
    "S65": StreamFault(
        (
            queue.DoublesResults,
            queue.LosesResults,
            queue.LosesResultsOften,
            queue.OverwritesRing,
            queue.SlipsBothWays,
            queue.SwapsResults,
        )
    ),
    "S66": StreamFault(
        (
            _next_beat("inverted", 8),
            _next_beat("inverted", 32),
            _next_beat("stale", 16),
            _next_beat("zero", 64),
            _next_beat("shifted", 8),
            _next_beat("lanes", 8),
        )
    ),
}
_NO_STREAM_FAULT = StreamFault((Engine,))


def stream_fault(fault: str) -> StreamFault:
    """The row of a dynamic fault; one variant and one run for any other."""
    return STREAM_FAULTS.get(fault, _NO_STREAM_FAULT)


def compose(*faults: str) -> IcrcUnit | None:
    """All the static faults in one design; None where they exclude or swallow each other."""
    chosen = {_ALIKE.get(fault, fault) for fault in faults}
    pairs = [{*pair} for pair in combinations(chosen, 2) if not {*pair} <= _MASKS]
    clash = any(pair <= group for pair in pairs for group in CLASHES)
    clash |= any(chosen & _SWALLOWS.get(fault, set()) for fault in chosen)
    if len(chosen) < len(faults) or clash or (len(chosen) > 1 and chosen & UNITS.keys()):
        return None
    unit = next((UNITS[fault]() for fault in chosen if fault in UNITS), IcrcUnit())
    for fault in sorted(chosen & _WIRINGS.keys()):
        _WIRINGS[fault](unit, _FirstChoice())
    return unit


def corrupt(
    faults: str | tuple[str, ...],
    frames: Iterable[TimedFrame],
    sent_by: SentBy,
    *,
    variant: int = 0,
    stalls: bool = False,
) -> list[TimedFrame]:
    """The capture with the fault, or several static ones, in the stations that `sent_by` picks.

    Nobody reacts: the peer goes on as if all were right.
    """
    return through(engine_of(faults, variant=variant, stalls=stalls), frames, sent_by)


def engine_of(faults: str | tuple[str, ...], *, variant: int = 0, stalls: bool = False) -> Engine:
    """An engine with the fault, or with several static ones."""
    engine = _engine(faults, variant)
    engine.stalls = stalls
    return engine


def _engine(faults: str | tuple[str, ...], variant: int) -> Engine:
    ids = (faults,) if isinstance(faults, str) else faults
    known = (*STATIC, *STREAM_FAULTS)
    unknown = [fault for fault in ids if fault not in known]
    if unknown:
        raise FaultError(
            f"no ICRC fault is called {unknown[0]}; the ids are {known[0]} to {known[-1]}"
        )
    if len(ids) == 1 and ids[0] in STREAM_FAULTS:
        return STREAM_FAULTS[ids[0]].engines[variant]()
    unit = None if STREAM_FAULTS.keys() & {*ids} else compose(*ids)
    if unit is None:
        raise FaultError(f"{' and '.join(ids)} do not compose; ask `compose` for pairs that do")
    return _Planted(unit, stages.Stage(_FirstChoice()))


def sent_from(*macs: bytes) -> SentBy:
    """Picks the frames that come from one of these stations."""
    return lambda frame: frame[6:12] in macs
