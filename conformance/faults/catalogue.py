# SPDX-License-Identifier: BSD-2-Clause
"""All faults in one list, and one way to plant any of them in a conversation.

The first station is the faulty one. A static ICRC fault needs one packet, a
dynamic one a stream, a PSN fault a conversation with a peer that reacts.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from roceproof.conformance.faults.icrc_catalogue import (
    ICRC_FAULTS,
    FaultError,
    sent_from,
    spoil,
)
from roceproof.conformance.faults.psn_catalogue import PSN_FAULTS, captures
from roceproof.conformance.faults.traffic import Capture, Conversation


class Kind(StrEnum):
    """What it takes to see a fault."""

    STATIC = "static"
    DYNAMIC = "dynamic"
    PSN = "psn"


class Fault(NamedTuple):
    """One row; `shows` is the traffic that separates it, `runs` how many captures it takes."""

    id: str
    title: str
    kind: Kind
    shows: str
    equivalent: tuple[str, ...]
    variants: int
    runs: int


FAULTS: dict[str, Fault] = {
    row.id: Fault(
        row.id,
        row.title,
        Kind.STATIC if row.is_static else Kind.DYNAMIC,
        row.shows,
        row.equivalent,
        max(1, len(row.engines)),
        len(row.runs),
    )
    for row in ICRC_FAULTS.values()
} | {
    row.id: Fault(row.id, row.title, Kind.PSN, row.note, (), len(row.variants), len(row.runs))
    for row in PSN_FAULTS.values()
}


def plant(
    faults: str | tuple[str, ...], conversation: Conversation, *, variant: int = 0
) -> list[Capture]:
    """The captures of a conversation whose first station has the fault, or several at once.

    Several means: static ICRC faults that compose, or one ICRC fault, with at
    most one PSN fault beside; `variant` is then that of the PSN fault.
    """
    ids = (faults,) if isinstance(faults, str) else faults
    of_psn = [fault for fault in ids if fault in PSN_FAULTS]
    of_icrc = tuple(fault for fault in ids if fault not in PSN_FAULTS)
    if len(of_psn) > 1:
        raise FaultError(f"{' and '.join(of_psn)} do not compose; plant one PSN fault at a time")
    sent_by = sent_from(conversation.stations[0].mac)
    made = [conversation.capture()]
    if of_psn:
        made = captures(of_psn[0], conversation, variant=variant)
        variant = 0
    if not of_icrc:
        return made
    runs = ICRC_FAULTS[of_icrc[0]].runs if of_icrc[0] in ICRC_FAULTS else (False,)
    return [
        Capture(spoil(of_icrc, frames, sent_by, variant=variant, stalls=stalls), facts)
        for frames, facts in made
        for stalls in runs
    ]
