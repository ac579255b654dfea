# SPDX-License-Identifier: BSD-2-Clause
"""Every diagnosis of a capture: how packets are built first, then their ICRCs, then their PSNs."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from roceproof.conformance.capture.record import Record
from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.copies import without_copies
from roceproof.conformance.diagnosis.excerpt import Excerpt
from roceproof.conformance.diagnosis.icrc.answer import OF_OTHERS
from roceproof.conformance.diagnosis.icrc.diagnosis import explain_icrcs
from roceproof.conformance.diagnosis.observation import Observation
from roceproof.conformance.diagnosis.psn.diagnosis import explain_psns
from roceproof.conformance.diagnosis.psn.timeline import Suffered
from roceproof.conformance.diagnosis.result import COPIES, CORRUPT, LOST, UNDECIDED, Diagnosis
from roceproof.conformance.diagnosis.structure.diagnosis import Structure, explain_structure

_NO_BLAME = frozenset({CORRUPT, LOST, COPIES})
_NO_CLAIM = frozenset({UNDECIDED, CORRUPT, COPIES})
"""What is no name, and what each frame tells by itself."""
_VOUCHING_FOR_NONE = OF_OTHERS | {"S62"}
"""Whose packets hold no ICRC of their own."""
_OWN, _ENOUGH = 3, 8
"""Frames for each other thing that is wrong: untouched by any of them, or all, that tell a name."""
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
    is_open = any(found.id == CORRUPT and found.equivalent for found in icrcs)
    suffered = Suffered(changed, as_sent, is_open=is_open)
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
    told = told_findings(built, icrcs + psns, excerpt.all_seen())
    return Explanation(copies + told, for_icrcs.notes + for_psns.notes)


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


def told_findings(
    built: Sequence[Diagnosis], others: Sequence[Diagnosis], observations: Iterable[Observation]
) -> list[Diagnosis]:
    """Every name that has evidence of its own; in doubt what the other faults may have drawn.

    One fault makes others seem to be there, at the sender and at who talks with it. So the more
    is wrong there, or unexplained, the more frames a name takes that nothing else is held against.
    An ICRC that is recomputed needs none: its value has no other reason. Nor does it make its
    sender seem to have another fault, but who talks with it; nor does what is built wrongly
    there in other frames than in those that such an ICRC vouches for.
    """
    diagnoses = [*built, *others]
    vouched = {n for found in others for n in {*found.frames} - _touched(found)}
    shapes = {id(found) for found in built}
    told = {number for found in diagnoses for number in found.frames}
    hosts = {s.number: (s.frame[:6], s.frame[6:12]) for s in observations if s.number in told}
    parties = {
        id(found): {h for n in found.frames for h in hosts.get(n, ())} for found in diagnoses
    }
    senders = {id(found): {hosts[n][1] for n in found.frames if n in hosts} for found in diagnoses}
    blaming = [found for found in diagnoses if found.id not in _NO_BLAME]

    def stands(found: Diagnosis) -> bool:
        near, sender = parties[id(found)], senders[id(found)]
        certain = vouched.issuperset(found.frames)

        def rivals_it(each: Diagnosis) -> bool:
            if each is found or not parties[id(each)] & near:
                return False
            apart = certain and id(each) in shapes and not {*each.frames} & {*found.frames}
            return senders[id(each)] != sender or (bool(_touched(each)) and not apart)

        rivals = [each for each in blaming if rivals_it(each)]
        touched = {number for each in rivals for number in _touched(each)}
        own = sum(number not in touched for number in found.frames)
        return own >= _OWN * len(rivals) or len(found.frames) >= _ENOUGH * len(rivals)

    words = "What else is wrong may have drawn it."
    return [
        found
        if found.id in _NO_CLAIM or not _touched(found) or stands(found)
        else _possible(found, f"{found.text} {words}")
        for found in diagnoses
    ]


def _touched(found: Diagnosis) -> Set[int]:
    """The frames of which it leaves open how they left."""
    if _VOUCHING_FOR_NONE & {*found.id.split("+")}:
        return {*found.frames}
    return {*found.frames} - found.as_sent


def _possible(found: Diagnosis, words: str) -> Diagnosis:
    """The same as no more than possible."""
    possible = (found.id, *found.equivalent)
    return replace(found, id=UNDECIDED, equivalent=possible, explained=0, text=words)


def _without_end(found: Diagnosis) -> Diagnosis:
    words = f"{found.text} No ICRC tells whether the packets end there."
    return _possible(found, words)


def _rests_on(found: Diagnosis, unsettled: Set[int]) -> bool:
    """Whether how the packets are built may be all that was found, or one of several faults."""
    if "+" in found.id:
        return not unsettled.isdisjoint(found.frames)
    return bool(found.frames) and {*found.frames} <= unsettled


def _in_doubt(found: Diagnosis) -> Diagnosis:
    """What was found in packets of which no premise tells over what their ICRC was taken."""
    words = f"{found.text} This, or one of several, may be how the packets are built, for the "
    words += "ICRC may be that of other bytes than were sent."
    return _possible(found, words)
