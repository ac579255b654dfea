# SPDX-License-Identifier: BSD-2-Clause
"""All faults in one list, and one way to plant any of them in a conversation.

The first station is the faulty one. A static ICRC fault needs one packet, a
dynamic one a stream, a PSN fault a conversation with a peer that reacts.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from roceproof.conformance.faults.conversation.traffic import Capture, Conversation
from roceproof.conformance.faults.icrc.catalogue import (
    STATIC,
    STREAM_FAULTS,
    FaultError,
    engine_of,
    sent_from,
    stream_fault,
)
from roceproof.conformance.faults.icrc.engine import Engine, Outgoing, outgoing, through
from roceproof.conformance.faults.psn_catalogue import PSN_FAULTS, captures
from roceproof.conformance.rules.signatures import SIGNATURES, Signature


class Kind(StrEnum):
    """What it takes to see a fault."""

    STATIC = "static"
    DYNAMIC = "dynamic"
    PSN = "psn"


class Fault(NamedTuple):
    """One row; its title and the traffic that shows it are those of the signature.

    `equivalent` names what the wire cannot tell it from, `limits` what a capture
    cannot show of it; `runs` is the number of captures that it takes.
    """

    id: str
    kind: Kind
    variants: int = 1
    runs: int = 1
    equivalent: tuple[str, ...] = ()
    limits: str = ""

    @property
    def signature(self) -> Signature:
        """Title, place in RTL, and separating traffic."""
        return SIGNATURES[self.id]


_EQUIVALENT = {"S13": ("init 0 without a prefix",), "S25": ("S27",), "S27": ("S25",)}
_LIMITS = {
    "S56": "TTL and hop limit of 255 are legal: alone they show against the configured ones only",
    "S59": "one capture shows wrong values only; the cause takes the same run without stalls",
}

FAULTS: dict[str, Fault] = {
    **{fault: Fault(fault, Kind.STATIC, equivalent=_EQUIVALENT.get(fault, ())) for fault in STATIC},
    **{
        fault: Fault(
            fault, Kind.DYNAMIC, len(row.engines), len(row.runs), limits=_LIMITS.get(fault, "")
        )
        for fault, row in STREAM_FAULTS.items()
    },
    **{
        row.id: Fault(row.id, Kind.PSN, len(row.variants), len(row.runs), limits=row.limits)
        for row in PSN_FAULTS.values()
    },
}


def plant(
    faults: str | tuple[str, ...], conversation: Conversation, *, variant: int = 0
) -> list[Capture]:
    """The captures of a conversation whose first station has the fault, or several at once.

    The peer is correct: it drops what has a wrong ICRC, so RC queue pairs
    retransmit and die. (S60 alone looks ahead and is planted afterwards.)
    Several means: static ICRC faults that compose, or one ICRC fault, with at
    most one PSN fault beside; `variant` is then that of the PSN fault.
    """
    ids = (faults,) if isinstance(faults, str) else faults
    of_psn = [fault for fault in ids if fault in PSN_FAULTS]
    of_icrc = tuple(fault for fault in ids if fault not in PSN_FAULTS)
    if len(of_psn) > 1:
        raise FaultError(f"{' and '.join(of_psn)} do not compose; plant one PSN fault at a time")
    if not of_icrc:
        return captures(of_psn[0], conversation, variant=variant)
    chosen = 0 if of_psn else variant
    return [
        made
        for stalls in stream_fault(of_icrc[0]).runs
        for engine in [engine_of(of_icrc, variant=chosen, stalls=stalls)]
        for made in _played(engine, of_psn, conversation, variant)
    ]


def _played(
    engine: Engine, of_psn: list[str], conversation: Conversation, variant: int
) -> list[Capture]:
    sent_by = sent_from(conversation.stations[0].mac)

    def right() -> Iterator[Outgoing]:
        for timed in conversation.frames():
            if sent_by(timed.frame) and (out := outgoing(*timed)) is not None:
                yield out

    engine.prepare(right())  # few look at it, and only for them is it played
    transmit = None if engine.looks_ahead else engine.transmit
    if of_psn:
        made = captures(of_psn[0], conversation, variant=variant, transmit=transmit)
    else:
        made = [conversation.capture(transmit=transmit)]
    if transmit is not None:
        return made
    return [Capture(through(engine, frames, sent_by), facts) for frames, facts in made]
