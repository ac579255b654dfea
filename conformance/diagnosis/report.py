# SPDX-License-Identifier: BSD-2-Clause
"""Every diagnosis of a capture: how packets are built first, then their ICRCs, then their PSNs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from roceproof.conformance.capture.record import Record
from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.copies import without_copies
from roceproof.conformance.diagnosis.excerpt import Excerpt
from roceproof.conformance.diagnosis.icrc.diagnosis import explain_icrcs
from roceproof.conformance.diagnosis.observation import Observation
from roceproof.conformance.diagnosis.psn.diagnosis import explain_psns
from roceproof.conformance.diagnosis.psn.timeline import Suffered
from roceproof.conformance.diagnosis.result import COPIES, CORRUPT, LOST, UNDECIDED, Diagnosis
from roceproof.conformance.diagnosis.structure.diagnosis import Structure, explain_structure

_NO_BLAME = frozenset({CORRUPT, LOST, COPIES})
_LEAST_SECOND, _MANY = 3, 8
"""Frames that tell a fault beside another one, and such as are enough whatever that shows in."""
_OF_FIRST = 1 / 3
"""Of the frames of the other one, what tells a fault beside it."""
Facts = Mapping[str, Any]
"""What `--qps` gives: the document that docs/observer.md describes in section 6."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is wrong in a capture; nothing if nothing is."""

    diagnoses: list[Diagnosis]
    notes: list[str]
    """In words, what was not searched for because the budget was used up."""


def explain(records: Iterable[Record], facts: Facts | None = None) -> list[Diagnosis]:
    """Explain what is wrong in a capture; an empty list if nothing is."""
    return explain_with_notes(records, facts).diagnoses


def explain_with_notes(records: Iterable[Record], facts: Facts | None = None) -> Explanation:
    """Explain what is wrong in a capture, and say what was left untried."""
    return explain_excerpt(Excerpt.whole(records), facts)


def explain_excerpt(excerpt: Excerpt, facts: Facts | None = None) -> Explanation:
    """The same for what is looked at of a capture."""
    excerpt, copies = without_copies(excerpt)
    size = excerpt.bytes
    for_icrcs, for_psns = Budget.for_bytes(size), Budget.for_bytes(size)
    structure = explain_structure(excerpt.all_seen(), for_icrcs)
    icrcs = [
        _in_doubt(found) if _rests_on(found, structure.unsettled) else found
        for found in explain_icrcs(structure.for_icrcs(excerpt.chosen), facts, for_icrcs)
    ]
    changed = frozenset(n for found in icrcs if found.id == CORRUPT for n in found.frames)
    as_sent = frozenset(n for found in icrcs if found.id != UNDECIDED for n in found.as_sent)
    suffered = Suffered(changed, as_sent)
    odd = frozenset(structure.odd_messages)
    psns: list[Diagnosis] = []
    for stretch in excerpt.stretches:
        seen, start = structure.for_psns(stretch.seen), stretch.from_start
        psns = explain_psns(
            seen,
            facts,
            for_psns,
            from_start=start,
            suffered=suffered,
            odd=odd,
            deaf=any(each.id != CORRUPT for each in icrcs),
        )
        if psns:
            break  # a device is judged as a whole, and never twice
    built = _built(structure, icrcs, excerpt.all_seen())
    psns = _in_turn(psns, built + icrcs, excerpt.all_seen())
    return Explanation(copies + built + icrcs + psns, for_icrcs.notes + for_psns.notes)


def _built(
    structure: Structure, icrcs: Iterable[Diagnosis], observations: Iterable[Observation]
) -> list[Diagnosis]:
    """What is built wrongly, in doubt where no ICRC tells that the packets end where they seem to.

    That is where all of them are wrong, and nothing explains any, nor others of that transmitter.
    """
    if not structure.of_ends:
        return structure.diagnoses
    unexplained = {n for found in icrcs if found.id == UNDECIDED for n in found.frames}
    telling = {n for found in icrcs if found.id not in (UNDECIDED, CORRUPT) for n in found.frames}
    senders = {}
    for seen in observations:
        senders[seen.number] = seen.interface, seen.frame[6:12]
        read = structure.read.get(seen.number, seen)
        if read.sound and not read.wrong:
            telling.add(seen.number)
    in_doubt = {senders[number] for number in unexplained if number in senders}
    return [
        _without_end(found)
        if found in structure.of_ends
        and telling.isdisjoint(found.frames)
        and any(senders.get(number) in in_doubt for number in found.frames)
        else found
        for found in structure.diagnoses
    ]


def _in_turn(
    psns: Sequence[Diagnosis], others: Iterable[Diagnosis], observations: Iterable[Observation]
) -> list[Diagnosis]:
    """What PSNs tell, in doubt where little tells it, and what tells more may have drawn it.

    One wrong way of counting makes recoveries look wrong, and any fault the answers of the peer.
    """
    senders = {seen.number: (seen.interface, seen.frame[6:12]) for seen in observations}
    blaming = [found for found in (*psns, *others) if found.frames and found.id not in _NO_BLAME]
    blaming.sort(key=lambda found: -len(found.frames))
    of_psns = {id(found) for found in psns}

    def follows(found: Diagnosis) -> bool:
        count, sender = len(found.frames), senders.get(found.frames[0])
        return count < _MANY and any(
            count < max(_LEAST_SECOND, _OF_FIRST * len(other.frames))
            and (id(other) in of_psns or senders.get(other.frames[0]) != sender)
            for other in takewhile(lambda each: len(each.frames) >= count, blaming)
            if other is not found
        )

    words = "What else is wrong may have drawn it."
    return [
        _possible(found, f"{found.text} {words}")
        if found.id != UNDECIDED and follows(found)
        else found
        for found in psns
    ]


def _possible(found: Diagnosis, words: str) -> Diagnosis:
    """The same as no more than possible."""
    possible = (found.id, *found.equivalent)
    return replace(found, id=UNDECIDED, equivalent=possible, explained=0, text=words)


def _without_end(found: Diagnosis) -> Diagnosis:
    words = f"{found.text} No ICRC tells whether the packets end there."
    return _possible(found, words)


def _rests_on(found: Diagnosis, unsettled: Set[int]) -> bool:
    """Whether several faults at once were found in packets of which one may be the structure's."""
    return "+" in found.id and not unsettled.isdisjoint(found.frames)


def _in_doubt(found: Diagnosis) -> Diagnosis:
    """What was found in packets of which no premise tells over what their ICRC was taken."""
    words = f"{found.text} One of these may be how the packets are built, for the ICRC may be "
    words += "that of other bytes than were sent."
    return _possible(found, words)
