# SPDX-License-Identifier: BSD-2-Clause
"""The ICRC half of the diagnosis: transmitter by transmitter, in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.icrc.answer import Answer, borne_out
from roceproof.conformance.diagnosis.icrc.bare import without_icrc
from roceproof.conformance.diagnosis.icrc.parts.crc_input import crc_inputs
from roceproof.conformance.diagnosis.icrc.parts.signs import CONFIGURED, leaking
from roceproof.conformance.diagnosis.icrc.search import explain_wrong
from roceproof.conformance.diagnosis.icrc.wording import advice, text
from roceproof.conformance.diagnosis.observation import Observation, Station, by_mac
from roceproof.conformance.diagnosis.result import UNDECIDED, Diagnosis

_MOST_UNSEARCHED = 100


def explain_icrcs(
    observations: list[Observation], facts: Mapping[str, Any] | None, budget: Budget | None = None
) -> list[Diagnosis]:
    """Explain the wrong ICRCs of every transmitter; the facts serve to see a mask leak (S56).

    Those with the most wrong ICRCs come first where the budget is short.
    """
    budget = budget or Budget()
    stations = by_mac(observations)
    found: dict[Station, list[Diagnosis]] = {station: [] for station in stations}
    order = sorted(stations, key=lambda each: -sum(seen.wrong for seen in stations[each]))
    for place, station in enumerate(order):
        if budget.exhausted and len(order) - place > _MOST_UNSEARCHED:
            rest = [seen for other in order[place:] for seen in stations[other] if seen.wrong]
            return [*chain(*found.values()), *_unsearched(rest, budget)]
        others = chain.from_iterable(stations[each] for each in stations if each != station)
        found[station] = [*_explain(station, stations[station], facts, others, budget)]
    return [*chain(*found.values())]


def _unsearched(wrong: Sequence[Observation], budget: Budget) -> Iterator[Diagnosis]:
    """All transmitters together that are too many to look at each."""
    if wrong:
        count = len({(seen.interface, seen.frame[6:12]) for seen in wrong})
        budget.leave_out("everything", f"{count} more transmitters")
        numbers = tuple(sorted(seen.number for seen in wrong))
        words = f"{count} more transmitters: not searched, for there are too many"
        yield Diagnosis(UNDECIDED, (), numbers, 0, len(wrong), f"{words}.", advice(UNDECIDED, ()))


def _explain(
    station: Station,
    seen: Sequence[Observation],
    facts: Mapping[str, Any] | None,
    others: Iterable[Observation],
    budget: Budget,
) -> Iterator[Diagnosis]:
    bare = without_icrc([each for each in seen if not each.is_beside], budget)
    missing = {each.number for each in bare.packets}
    if missing:
        numbers = tuple(each.number for each in bare.packets)
        words = f"{station}: FIRST and MIDDLE packets are four bytes short"
        yield _sign("S62", numbers, words, bare.doubt)
    whole = crc_inputs(each for each in seen if each.number not in missing)
    leak = leaking(whole, facts, others)
    if leak.packets:
        numbers = tuple(packet.seen.number for packet in leak.packets)
        words = f"{station}: on the wire {', '.join(leak.fields)} are all ones"
        if set(leak.fields) <= CONFIGURED:
            words += ", as where they are fixed so"
        yield _sign("S56", numbers, words, leak.doubt)
    for answer in explain_wrong(whole, budget, str(station)):
        yield _diagnosis(station, answer)


def _sign(name: str, numbers: tuple[int, ...], words: str, doubt: str) -> Diagnosis:
    """What shows in the packets themselves; a candidate only while there is doubt."""
    count = len(numbers)
    if doubt:
        words, candidates = f"{words}. {doubt}.", (name,)
        return Diagnosis(
            UNDECIDED, candidates, numbers, 0, count, words, advice(UNDECIDED, candidates)
        )
    words += "."
    return Diagnosis(name, (), numbers, count, count, words, advice(name, ()), frozenset(numbers))


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
        frozenset(packet.seen.number for packet in borne_out(answer)),
    )
