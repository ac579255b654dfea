# SPDX-License-Identifier: BSD-2-Clause
"""What answers that a device does not heed have in common is told, if no other answer has it."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import pytest

from roceproof.conformance.runner.attribution.first_difference import first_difference
from roceproof.conformance.runner.findings import received
from roceproof.conformance.runner.findings.observations import observed
from roceproof.conformance.runner.findings.observed_shape import is_observed
from roceproof.conformance.runner.findings.received import FACTS, Row, row_of
from roceproof.conformance.runner.findings.unheeded import (
    ANSWERS,
    ASKED,
    answers_of,
    in_common,
    requests_of,
)
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    NAK,
    OPERATIONAL_ERROR,
    READ_REQUEST,
    RNR,
    SEND_ONLY,
    SEQUENCE_ERROR,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.codec import parse
from roceproof.verbs.addresses import Host
from roceproof.verbs.work import Op


def frame_of(draw: Random, **fields: int) -> bytes:
    flow = FlowCodec(
        src=Host(draw.randbytes(6), draw.randbytes(4)),
        dst=Host(draw.randbytes(6), draw.randbytes(4)),
        dest_qpn=draw.getrandbits(24),
        src_qpn=0,
        service=0,
        request_start=0,
        response_start=0,
        sport=draw.getrandbits(16),
    )
    said = {"psn": draw.getrandbits(24), "ttl": draw.randrange(2, 256), "tos": draw.getrandbits(8)}
    said |= {"ident": draw.getrandbits(16), "credits": draw.getrandbits(5)}
    return flow.build(ACK(**said | fields))


def facts_of(frame: bytes) -> Row:
    packet = parse(frame)
    assert packet is not None
    return row_of(frame, packet)


def answer(draw: Random, **fields: int) -> Row:
    return facts_of(frame_of(draw, **fields))


def case(what: str, *answers: Row) -> dict[str, Any]:
    return {ANSWERS: {what: answers}}


def told(
    what: str, cases: list[dict[str, Any]], others: list[dict[str, Any]]
) -> tuple[str, str] | None:
    found = in_common(what, cases, others)
    return found and (found.words, found.rule)


def test_the_one_thing_that_no_heeded_answer_has_is_told_with_its_rule() -> None:
    draw = Random(1)
    heeded = [case("heeded", answer(draw), answer(draw)) for _ in range(200)]
    missed = [case("unheeded", answer(draw, ttl=1)) for _ in range(4)]
    assert told(ANSWERS, missed, [*heeded, *missed]) == ("a TTL of 1", "IP-09")


def test_where_one_syndrome_alone_is_heeded_any_other_is_why() -> None:
    draw = Random(3)
    heeded = [case("heeded", answer(draw, credits=31)) for _ in range(200)]
    missed = [case("unheeded", answer(draw, credits=credits)) for credits in (1, 2, 3, 30)]
    said = ("another value than the syndrome 0x1f", "AETH-04")
    assert told(ANSWERS, missed, heeded) == said
    assert told(ANSWERS, [*missed, case("unheeded", answer(draw, credits=31))], heeded) is None
    assert told(ANSWERS, missed, [*heeded, case("heeded", answer(draw, credits=4))]) is None


def test_over_ipv6_nothing_is_told_of_an_ipv4_header() -> None:
    flow = FlowCodec(
        src=Host(bytes(6), bytes(16)), dst=Host(bytes(6), bytes(16)), dest_qpn=7, service=0
    )
    facts = {f.words: value for f, value in zip(FACTS, facts_of(flow.build(ACK())), strict=True)}
    assert [value for words, value in facts.items() if "IPv4" in words] == [None, None]


def test_too_few_answers_have_nothing_in_common_and_a_heeded_one_contradicts() -> None:
    draw = Random(2)
    heeded = [case("heeded", answer(draw), answer(draw)) for _ in range(200)]
    missed = [case("unheeded", answer(draw, ttl=1)) for _ in range(4)]
    assert in_common(ANSWERS, missed[:2], heeded) is None
    assert in_common(ANSWERS, missed, heeded[:9]) is None
    assert in_common(ANSWERS, missed, [*heeded, case("heeded", answer(draw, ttl=1))]) is None


def test_of_a_case_the_answers_are_kept_that_ended_work_and_the_one_that_did_not() -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="answers", seed=1)) as target:
        bench = Bench(target, source.claims, seed=1)
        qp = bench.connect()
        qp.transfer(Op.WRITE, 5)
        message = qp.post(Op.WRITE, 5)
        qp.expect_message(message)
        qp.send(ACK(psn=message.last_psn), NAK(OPERATIONAL_ERROR, psn=message.last_psn))
        told = answers_of(bench, Stop(Kind.NO_COMPLETION, qp, message))
    assert [len(told[what]) for what in ("heeded", "unheeded")] == [0, 1]


def requests(bench: Bench) -> list[Entry]:
    """A WRITE that asks for no answer, and one behind it; what the device has sent."""
    qp = bench.connect()
    place = at(qp.region(8))
    qp.send(WRITE_ONLY(psn=0, payload=8, a=0, **place))
    qp.send(WRITE_ONLY(psn=1, payload=8, a=1, ttl=1, **place))
    qp.expect(ACK(psn=1))
    return [entry for entry in bench.transcript.entries() if entry.is_sent]


def test_requests_are_told_apart_by_what_was_in_front_of_them() -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="requests", seed=1)) as target:
        bench = Bench(target, source.claims, seed=1)
        against = requests(bench)
        failed = {ASKED: requests_of(bench, against)}
        right = {ASKED: requests_of(bench, None)}
        silent = {ASKED: requests_of(bench, [])}
    assert len(right[ASKED]["heeded"]) == 2
    assert failed == silent
    [missed], first = failed[ASKED]["unheeded"], right[ASKED]["heeded"][0]
    others = {ASKED: {"heeded": [[*missed[:2], *first[2:]]] * 40}}
    assert told(ASKED, [failed] * 3, [others]) == ("a TTL of 1", "IP-09")
    others[ASKED]["heeded"] += [[*missed[:3], *first[3:]]]
    assert told(ASKED, [failed] * 3, [others]) == ("AckReq 1", "")
    assert in_common(ASKED, [failed] * 2, [others]) is None


@pytest.mark.parametrize(("answer", "psn"), [(ACK(psn=0), 0), (NAK(SEQUENCE_ERROR, psn=0), 1)])
def test_a_nak_of_what_is_missing_is_drawn_by_the_request_behind_it(
    answer: Pattern, psn: int
) -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="requests", seed=1)) as target:
        bench = Bench(target, source.claims, seed=1)
        requests(bench)
        qp = bench.connections[0]
        against = Entry(target.now_ns, True, qp.from_device.build(answer))
        (missed,) = requests_of(bench, [against])["unheeded"]
        heeded = requests_of(bench, None)["heeded"]
    assert missed == heeded[psn]


@pytest.mark.parametrize(
    ("length", "said"), [(0, "no bytes"), (300, "part of a path MTU"), (512, "whole path MTUs")]
)
def test_a_request_is_told_by_how_much_the_read_in_front_asks_for(length: int, said: str) -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="requests", seed=1)) as target:
        bench = Bench(target, source.claims, seed=1)
        qp = bench.connect()
        place = at(qp.region(512))
        qp.send(READ_REQUEST(psn=0, a=1, **place | {"dmalen": length}))
        qp.send(WRITE_ONLY(psn=max(1, -(-length // 256)), payload=8, a=1, **place))
        while qp.next() is not None:
            pass
        read, write = requests_of(bench, None)["heeded"]
    missed, heeded = {ASKED: {"unheeded": [write]}}, {ASKED: {"heeded": [read] * 40}}
    found = {words for cut in range(len(FACTS)) if (words := _told_from(cut, missed, heeded))}
    assert (f"a READ of {said} in front", "PSN-05") in found


def _told_from(first: int, *cases: dict[str, Any]) -> tuple[str, str] | None:
    """What is told if all facts before that one are alike."""
    missed, heeded = copy.deepcopy(cases)
    for row in heeded[ASKED]["heeded"]:
        row[:first] = missed[ASKED]["unheeded"][0][:first]
    return told(ASKED, [missed] * 3, [heeded])


def test_what_a_case_has_seen_can_be_read_from_a_journal() -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="journal", seed=1)) as target:
        bench = Bench(target, source.claims, seed=1)
        requests(bench)
        bench.connect().transfer(Op.WRITE, 5)
        seen = json.loads(json.dumps(observed(bench, [])))
    assert is_observed(seen)
    [row, *_] = seen[ASKED]["heeded"]
    for damage in (row[:-1], [True, *row[1:]], ["\x1b[2J", *row[1:]], [row[0], "one", *row[2:]]):
        assert not is_observed({**seen, ASKED: {"heeded": [damage], "unheeded": []}})


def test_what_comes_behind_a_reset_is_no_sequel_of_what_came_before() -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="reset", seed=1)) as target:
        bench = Bench(target, source.claims, seed=1)
        qp = bench.connect()
        place = at(qp.region(8))
        qp.send(READ_REQUEST(psn=0, dmalen=8, **place))
        known = requests_of(bench, None)
        bench.transcript.power_on()
        qp.send(READ_REQUEST(psn=1, dmalen=8, **place))
        assert requests_of(bench, None) == known


def test_a_tag_changes_nothing_but_the_number_of_tags() -> None:
    frame = frame_of(Random(3))
    plain, tagged = facts_of(frame), facts_of(frame[:12] + b"\x81\x00\x00\x07" + frame[12:])
    differ = [
        fact.words for fact, *two in zip(FACTS, plain, tagged, strict=True) if len({*two}) > 1
    ]
    assert differ == ["{} VLAN tags"]


def told_in_front(bench: Bench) -> list[str]:
    """The facts that are words, of the requests that are kept."""
    rows = requests_of(bench, None)["heeded"]
    kinds = (received.RNR, received.GAP, received.REPEATED)
    return [next((value for value in row if value in kinds), "") for row in rows]


def test_what_takes_no_psn_stands_in_front_of_the_request_that_is_due() -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="events", seed=1)) as target:
        bench = Bench(target, source.claims, seed=1)
        qp = bench.connect()
        place = at(qp.region(8))
        qp.send(SEND_ONLY(psn=0, payload=8, a=1))
        qp.expect(RNR(psn=0))
        qp.post_receive(qp.region(64))
        qp.send(SEND_ONLY(psn=0, payload=8, a=1))
        qp.expect(ACK(psn=0))
        qp.send(WRITE_ONLY(psn=2, payload=8, **place))
        qp.expect(NAK(SEQUENCE_ERROR, psn=1))
        qp.send(WRITE_ONLY(psn=1, payload=8, **place))
        qp.send(WRITE_ONLY(psn=1, payload=8, **place))
        qp.send(WRITE_ONLY(psn=2, payload=8, **place), WRITE_ONLY(psn=3, payload=8, a=1, **place))
        qp.expect(ACK(psn=3), allowing=[ACK(psn=1)])
        qp.send(WRITE_ONLY(psn=4, payload=8, a=1, **place))
        qp.expect(ACK(psn=4))
    repeated = [received.REPEATED] * 2
    assert told_in_front(bench) == [received.RNR, received.GAP, *repeated, ""]


@pytest.mark.parametrize(("psns", "rule"), [((1,), "ACK-05"), ((0, 1), "ACK-08"), ((), "ACK-08")])
def test_work_that_only_a_later_ack_stands_for_breaks_the_rule_of_that(
    psns: tuple[int, ...], rule: str
) -> None:
    source = ModelFactory()
    with source.device(CasePlace(name="implied", seed=1)) as target:
        bench = Bench(target, source.claims, seed=1)
        qp = bench.connect()
        first, _ = (qp.post(Op.WRITE, 5) for _ in range(2))
        for psn in psns:
            qp.send(ACK(psn=psn))
        failure = CaseFailed("want work 0x1 completed with success; got nothing")
        assert first_difference(bench, failure, Stop(Kind.NO_COMPLETION, qp, first)) == (rule,)
