# SPDX-License-Identifier: BSD-2-Clause
"""A bench that breaks a rule without saying so is told, and no device is accused of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from own_cases import Suite

from roceproof.conformance.runner.judging.bench_law import CaseBreaks
from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE, WRONG_LENGTHS
from roceproof.conformance.suite.pattern import (
    ACK,
    NAK,
    SEND_FIRST,
    SEQUENCE_ERROR,
    WRITE_FIRST,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Pattern,
    opcode,
)
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.codec import parse
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

UNSAID: dict[str, tuple[Service, Pattern]] = {
    "MTU-01": (Service.RC, WRITE_FIRST(psn=0, payload=700, dmalen=1100)),
    "MTU-07": (Service.RC, WRITE_ONLY(psn=0, payload=8, dmalen=9)),
    "PSN-02": (Service.RC, WRITE_ONLY(psn=5, a=1)),
    "PSN-18": (Service.UC, WRITE_ONLY(psn=2)),
    "UC-02": (Service.UC, WRITE_ONLY(psn=1, a=1)),
    "BTH-02": (Service.RC, WRITE_ONLY(psn=1, se=1)),
    "OPC-03": (Service.RC, SEND_FIRST(psn=1, payload=1024)),
}
"""What a case might send behind a first request, and the rule it breaks."""
SAID = {
    "a field": WRITE_ONLY(psn=1, resv7=5),
    "an edit": WRITE_ONLY(psn=1).corrupted(edits.bad_icrc()),
    "a number": opcode(0x1F, psn=1),
}


@pytest.fixture
def bench() -> Iterator[Bench]:
    source = ModelFactory()
    with source.device(CasePlace(name="law", seed=1)) as target:
        yield Bench(target, source.claims, seed=1)


def opened(bench: Bench, service: Service = Service.RC) -> Connection:
    return bench.connect(service, path_mtu=1024)


@pytest.mark.parametrize("rule", UNSAID)
def test_a_rule_broken_by_a_request_is_an_error_of_the_case(bench: Bench, rule: str) -> None:
    service, broken = UNSAID[rule]
    qp = opened(bench, service)
    if rule == "OPC-03":
        qp.send(WRITE_FIRST(psn=0, payload=1024, dmalen=2000))
    elif broken.said["psn"]:
        qp.send(WRITE_ONLY(psn=0))
    qp.send(broken)
    bench.settle()
    with pytest.raises(CaseBreaks, match=f"the case itself breaks {rule} at"):
        judge(bench)


@pytest.mark.parametrize("kind", SAID)
def test_what_a_packet_says_is_meant(bench: Bench, kind: str) -> None:
    qp = opened(bench)
    qp.send(WRITE_ONLY(psn=0, a=1), SAID[kind])
    bench.settle()
    judge(bench)


def test_what_is_declared_is_meant_by_the_packet_or_by_the_case(bench: Bench) -> None:
    qp = opened(bench)
    qp.send(WRITE_FIRST(psn=0, payload=700, dmalen=1100), breaks=WRONG_LENGTHS)
    bench.settle()
    assert judge(bench) == []
    swapped = WRITE_ONLY_IMM(psn=0, payload=0, dmalen=6, imm=0)
    opened(bench).send(swapped, breaks=WRONG_LENGTHS)
    bench.settle()
    assert judge(bench) == []
    other = opened(bench)
    other.send(WRITE_ONLY(psn=0), WRITE_ONLY(psn=5))
    bench.settle()
    assert judge(bench, breaks=OUT_OF_SEQUENCE) == []


def test_a_response_that_nobody_asked_for_counts_where_the_device_is_right(bench: Bench) -> None:
    qp = opened(bench)
    message = qp.post(Op.WRITE, 5)
    qp.expect_message(message)
    qp.send(ACK(psn=7))
    bench.settle()
    with pytest.raises(CaseBreaks, match="breaks ACK-06"):
        judge(bench)


def test_a_response_that_says_no_msn_has_the_right_one(bench: Bench) -> None:
    qp = opened(bench)
    messages = [qp.post(Op.WRITE, length) for length in (5, 3000, 8)]
    qp.expect_message(*messages)
    qp.send(ACK(psn=0), NAK(SEQUENCE_ERROR, psn=2), ACK(psn=3))
    bench.settle()
    assert judge(bench) == []
    sent = [parse(entry.frame) for entry in bench.transcript.entries() if not entry.is_sent]
    assert [packet.aeth.msn for packet in sent if packet and packet.aeth] == [1, 1, 2]


def test_a_random_plan_is_judged_until_it_goes_astray(bench: Bench) -> None:
    play = Asking(bench)
    play.connect(0)
    play.region(0)
    play.request(0, size=300)
    play.request(0, size=8, skip=3)
    play.finish()
    assert judge(bench) == []


BREAKING = """
from roceproof.conformance.suite.case import case
from roceproof.conformance.suite.pattern import NAK, INVALID_REQUEST, WRITE_FIRST

@case("RETH-11"{said})
def test_one(bench):
    qp = bench.connect(path_mtu=1024)
    qp.send(WRITE_FIRST(psn=0, payload=700, dmalen=1100, a=1))
    qp.expect({expected})
"""


def test_it_comes_before_what_the_device_is_accused_of(suite: Callable[[str], Suite]) -> None:
    mine = suite(BREAKING.format(said="", expected="NAK(INVALID_REQUEST, psn=9)"))
    done = mine.run("--target", "model", "-j1")
    (case,) = mine.results()
    assert case["outcome"] == "error"
    assert case["case_broke"].startswith("the case itself breaks MTU-01 at ")
    assert 'say breaks=["MTU-01"] in @case' in case["case_broke"]
    assert "whatever the device: the case itself breaks MTU-01" in done.stdout
    assert done.returncode != 0


def test_a_case_that_says_so_may_break_a_rule(suite: Callable[[str], Suite]) -> None:
    said = ', breaks=["MTU-01"]'
    mine = suite(BREAKING.format(said=said, expected="NAK(INVALID_REQUEST, psn=0)"))
    assert mine.run("--target", "model", "-j1").returncode == 0
