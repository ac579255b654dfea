# SPDX-License-Identifier: BSD-2-Clause
"""Answers of every kind at every PSN of requests of every kind, alone and among others."""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.traffic.crossed_answers import DATA, SYNDROMES, play, trials
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.WRITE)]

FAR = 1000
ANY = [*SYNDROMES.values(), *DATA.values()]
KINDS = {
    Op.SEND: [Capability.SEND],
    Op.WRITE: [],
    Op.READ: [Capability.READ, Capability.MEMORY],
    Op.CMP_SWAP: [Capability.ATOMIC, Capability.MEMORY],
    Op.FETCH_ADD: [Capability.ATOMIC, Capability.MEMORY],
}
over_kinds = pytest.mark.parametrize(
    "op", [pytest.param(op, id=op.name, marks=needs(*wants)) for op, wants in KINDS.items()]
)


@case("FUZZ-11", "ACK-08", "ACK-13", "RTX-18", "AETH-05", breaks=WRONG_ANSWERS)
@over_kinds
@over("kind", [pytest.param("ack", marks=pytest.mark.smoke), *list(SYNDROMES)[1:]])
def test_what_a_syndrome_does_to_what_it_names(bench: Bench, op: Op, kind: str) -> None:
    play(bench, trials(bench, op, [SYNDROMES[kind]], range))


@case("FUZZ-12", "FUZZ-13", "READ-07", "ACK-13", breaks=WRONG_ANSWERS)
@over_kinds
@over("kind", DATA)
def test_what_an_answer_with_data_does_to_what_it_names(bench: Bench, op: Op, kind: str) -> None:
    play(bench, trials(bench, op, [DATA[kind]], range))


@case("FUZZ-11", "FUZZ-12", "ACK-10", "RTX-10", breaks=WRONG_ANSWERS)
@over_kinds
def test_an_answer_of_the_past_does_nothing(bench: Bench, op: Op) -> None:
    play(bench, trials(bench, op, ANY, lambda _: [-1]))


@case("FUZZ-11", "FUZZ-12", "ACK-09", "NAK-13", breaks=WRONG_ANSWERS)
@over_kinds
def test_an_answer_to_what_was_not_sent_does_nothing(bench: Bench, op: Op) -> None:
    play(bench, trials(bench, op, ANY, lambda end: [end, end + FAR]))
