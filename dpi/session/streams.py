# SPDX-License-Identifier: BSD-2-Clause
"""The streams of a port at one moment: what has moved on each, and who waits for whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import NamedTuple


class Signals(IntFlag):
    """What is seen on a stream in a cycle."""

    VALID = 1
    READY = 2
    AMID = 4  # a frame or message has begun and not ended


@dataclass(frozen=True)
class Stream:
    """One stream; `moved` is the cycle of its last beat."""

    beats: int
    moved: int
    signals: Signals


class Standing(NamedTuple):
    """A stream at one moment, in a few words: `waits` is for the device, `amid` in a frame.

    `moved` is the cycle of its last beat.
    """

    beats: int
    waits: bool = False
    amid: bool = False
    moved: int = 0


STREAMS = "streams in cycle "
"""Begins what is told of them."""
_INTO_THE_DEVICE = {
    "rx": "rx_tready_o",
    "pl": "pl_tready_o",
    "qpc": "qpc_ready_o",
    "wr": "wr_ready_o",
}
_OUT_OF_IT = {"tx": "tx_tvalid_o", "cpl": "cpl_valid_o"}
PORTS = {
    **_INTO_THE_DEVICE,
    **_OUT_OF_IT,
    **{"reg": "mr_ready_o", "rcv": "rcv_ready_o", "rcp": "rcp_valid_o"},
}
"""By stream the port with which the device holds it; those of a responder are no `Stream`."""


def told_streams(streams: Sequence[Stream], cycle: int) -> list[str]:
    """A line for each, as they are in that cycle."""
    inward = zip(_INTO_THE_DEVICE.items(), streams, strict=False)
    outward = zip(_OUT_OF_IT.items(), streams[len(_INTO_THE_DEVICE) :], strict=True)
    return [
        f"{STREAMS}{cycle:,}:",
        *(_told(name, stream, _inward(stream, ready)) for (name, ready), stream in inward),
        *(_told(name, stream, _outward(stream, valid)) for (name, valid), stream in outward),
    ]


def standing(streams: Sequence[Stream]) -> dict[str, Standing]:
    """How each stands, by its name."""
    return {
        name: Standing(
            stream.beats,
            waits=stream.signals & (Signals.VALID | Signals.READY) == Signals.VALID
            and name in _INTO_THE_DEVICE,
            amid=Signals.AMID in stream.signals,
            moved=stream.moved,
        )
        for name, stream in zip((*_INTO_THE_DEVICE, *_OUT_OF_IT), streams, strict=True)
    }


def _told(name: str, stream: Stream, what: str) -> str:
    last = f"last in cycle {stream.moved:,}" if stream.beats else "never moved"
    amid = ", amid a frame" if Signals.AMID in stream.signals else ""
    return f"  {name:<4}{stream.beats:>9,} beats, {last}{amid}: {what}"


def _inward(stream: Stream, ready: str) -> str:
    if Signals.VALID not in stream.signals:
        return "nothing is offered to the device"
    if Signals.READY in stream.signals:
        return "moves"
    return f"WAITS for the device: {ready} is low"


def _outward(stream: Stream, valid: str) -> str:
    if Signals.VALID not in stream.signals:
        return f"the device offers nothing: {valid} is low"
    if Signals.READY in stream.signals:
        return "moves"
    return "the device WAITS for the other end, or is stalled"
