# SPDX-License-Identifier: BSD-2-Clause
"""The S faults planted in frames: `corrupt` and what there is to choose for each.

`corrupt` turns healthy frames into what the chosen stations would have sent with
the fault in them; with several static faults, with all of them in one design.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from roceproof.common.errors import RoceproofError
from roceproof.conformance.faults.conversation.network import TimedFrame
from roceproof.conformance.faults.icrc import dynamic, queue, structural
from roceproof.conformance.faults.icrc.engine import Engine, Outgoing, SentBy, through
from roceproof.conformance.faults.icrc.recipe import Recipe
from roceproof.conformance.faults.icrc.static import SLIPS, compose


class FaultError(RoceproofError):
    """Faults that cannot be planted together, or an id that does not exist."""


class StreamFault(NamedTuple):
    """A dynamic row: its variants, and for each capture whether the device meets back-pressure."""

    engines: tuple[type[Engine], ...]
    runs: tuple[bool, ...] = (False,)


STREAM_FAULTS: dict[str, StreamFault] = {
    "S53": StreamFault((dynamic.SendsPrevious,)),
    "S54": StreamFault((dynamic.KeepsRegister,)),
    "S55": StreamFault(
        (
            dynamic.SeesNoAckReq,
            dynamic.SeesPreviousId,
            dynamic.SeesPreviousPsn,
            dynamic.SeesPreviousUdpLength,
            dynamic.SeesNoPkey,
        )
    ),
    "S56": StreamFault((structural.LeaksMask, structural.LeaksHops, structural.LeaksBthByte)),
    "S57": StreamFault(
        (
            dynamic.DropsTailByte,
            dynamic.DropsTailByteOf16,
            dynamic.DropsTailByteOf32,
            dynamic.DropsTailByteOf64,
        )
    ),
    "S58": StreamFault((dynamic.LosesLane, dynamic.LosesLaneOf64)),
    "S59": StreamFault((dynamic.RepeatsStalledBeat,), runs=(False, True)),
    "S60": StreamFault((structural.MixesEngines,)),
    "S61": StreamFault((structural.MasksAgain, structural.MasksAgainEvery256)),
    "S62": StreamFault((structural.LacksIcrc, structural.LacksIcrcButCountsIt)),
    "S63": StreamFault((dynamic.LatchesHalf, dynamic.Truncates)),
    "S64": StreamFault((structural.MisplacesTail, structural.MisplacesTailOf64)),
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
            queue.InvertsNextBeat,
            queue.InvertsNextBeatOf32,
            queue.KeepsNextBeat,
            queue.EmptiesNextBeat,
            queue.RepeatsFirstLanes,
            queue.KeepsLanes,
        )
    ),
}
_NO_STREAM_FAULT = StreamFault((Engine,))


def stream_fault(fault: str) -> StreamFault:
    """The row of a dynamic fault; one variant and one run for any other."""
    return STREAM_FAULTS.get(fault, _NO_STREAM_FAULT)


class _Computes(Engine):
    """An engine with a static fault."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe

    def value(self, out: Outgoing) -> bytes:
        return self._recipe.compute(out.frame)


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
    unknown = [fault for fault in ids if fault not in SLIPS and fault not in STREAM_FAULTS]
    if unknown:
        first, *_, last = sorted(SLIPS.keys() | STREAM_FAULTS.keys())
        raise FaultError(f"no ICRC fault is called {unknown[0]}; the ids are {first} to {last}")
    if len(ids) == 1 and ids[0] in STREAM_FAULTS:
        return STREAM_FAULTS[ids[0]].engines[variant]()
    recipe = None if STREAM_FAULTS.keys() & set(ids) else compose(*ids)
    if recipe is None:
        raise FaultError(f"{' and '.join(ids)} do not compose; ask `compose` for pairs that do")
    return _Computes(recipe)


def sent_from(*macs: bytes) -> SentBy:
    """Picks the frames that come from one of these stations."""
    return lambda frame: frame[6:12] in macs
