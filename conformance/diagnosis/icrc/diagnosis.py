# SPDX-License-Identifier: BSD-2-Clause
"""The ICRC half of the diagnosis: transmitter by transmitter, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from roceproof.conformance.diagnosis.icrc.answer import Answer
from roceproof.conformance.diagnosis.icrc.crc_input import crc_inputs
from roceproof.conformance.diagnosis.icrc.search import explain_wrong
from roceproof.conformance.diagnosis.icrc.signs import leaking, without_icrc
from roceproof.conformance.diagnosis.icrc.wording import advice, text
from roceproof.conformance.diagnosis.observation import Observation, Station, by_mac
from roceproof.conformance.diagnosis.result import UNDECIDED, Diagnosis


def explain_icrcs(
    observations: list[Observation], facts: Mapping[str, Any] | None
) -> list[Diagnosis]:
    """Explain the wrong ICRCs of every transmitter; the facts serve to see a mask leak (S56)."""
    return [
        found
        for station, seen in by_mac(observations).items()
        for found in _explain(station, seen, facts)
    ]


def _explain(
    station: Station, seen: Sequence[Observation], facts: Mapping[str, Any] | None
) -> Iterator[Diagnosis]:
    bare = without_icrc(seen)
    if bare:
        numbers = tuple(each.number for each in bare)
        words = f"{station}: FIRST and MIDDLE packets are four bytes short"
        yield Diagnosis("S62", (), numbers, len(bare), len(bare), f"{words}.", advice("S62", ()))
    missing = {each.number for each in bare}
    whole = crc_inputs(each for each in seen if each.number not in missing)
    leaks, fields = leaking(whole, facts)
    if leaks:
        numbers = tuple(packet.seen.number for packet in leaks)
        words = f"{station}: on the wire {', '.join(fields)} are all ones"
        yield Diagnosis("S56", (), numbers, len(leaks), len(leaks), f"{words}.", advice("S56", ()))
    for answer in explain_wrong(whole):
        yield _diagnosis(station, answer)


def _diagnosis(station: Station, answer: Answer) -> Diagnosis:
    decided = answer.name != UNDECIDED
    return Diagnosis(
        answer.name,
        answer.equivalent,
        tuple(packet.seen.number for packet in answer.explained),
        len(answer.explained) if decided else 0,
        len(answer.scope.wrong),
        text(station, answer),
        advice(answer.name, answer.equivalent),
    )
