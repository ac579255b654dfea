# SPDX-License-Identifier: BSD-2-Clause
"""What checks of a receiver a case tries is noted, and whether its last request is a duplicate."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from roceproof.conformance.runner.attribution.first_difference import first_difference
from roceproof.conformance.runner.attribution.last_request import asks_again, refuses_no_bytes
from roceproof.conformance.runner.findings.tempted import temptations_of
from roceproof.conformance.stimulus.requester.answers import DAMAGED
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    NAK,
    RNR,
    SEND_ONLY,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Pattern,
)
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire import frame_edits as edits


@pytest.fixture
def bench() -> Iterator[Bench]:
    source = ModelFactory()
    with source.device(CasePlace(name="tempted", seed=1)) as target:
        yield Bench(target, source.claims, seed=1)


def test_frames_that_must_be_dropped_for_one_reason_are_noted_by_its_rule(bench: Bench) -> None:
    qp = bench.connect()
    for packet in (
        ACK(psn=0).corrupted(edits.bad_icrc()),
        ACK(psn=0, tver=1),
        ACK(psn=0, pkey=0x1234),
        ACK(psn=0, dst_ip=bytes([10, 1, 1, 1])),
        ACK(psn=0, src_ip=bytes([10, 1, 1, 1])),
        ACK(psn=0, qpn=0xABCDE),
        WRITE_ONLY(psn=0).resealed(edits.set_udp(8, b"\x2a")),
        WRITE_ONLY(psn=0).resealed(edits.truncate(16)),
        ACK(psn=0, tver=2, pkey=1).corrupted(edits.bad_icrc()),
        ACK(psn=0),
    ):
        bench.send(qp.frame(packet), is_void=True)
    found = temptations_of(bench)
    of_bth = ["BTH-05", "BTH-07", "BTH-11", "BTH-12", "BTH-16"]
    assert found == [*of_bth, "GID-02", "GID-05", "ICRC-14"]


def test_so_is_a_frame_that_only_the_mac_finds_damaged(bench: Bench) -> None:
    qp = bench.connect()
    bench.send_damaged(qp.frame(ACK(psn=0)))
    assert temptations_of(bench) == ["ETH-09"]


def test_and_one_that_a_plan_sends(bench: Bench) -> None:
    play = Play(bench)
    play.connect(key=0)
    play.post(key=0)
    play.until(frames=1)
    play.answer(key=0, flaw=DAMAGED)
    assert temptations_of(bench) == ["ETH-09"]


def test_so_is_a_ping_with_a_wrong_header_checksum(bench: Bench) -> None:
    play = Play(bench)
    play.foreign("echo_checksum")
    play.finish()
    assert temptations_of(bench) == ["IP-11"]


def test_what_is_sent_in_earnest_tempts_nobody(bench: Bench) -> None:
    qp = bench.connect()
    bench.send(qp.frame(ACK(psn=0, tver=1)))
    assert temptations_of(bench) == []


@pytest.mark.parametrize(
    ("psns", "again"),
    [
        ((), False),
        ((0, 1), False),
        ((0, 0), True),
        ((0, 1, 0), True),
        ((0, -100), True),
        ((3, 5), False),
    ],
)
def test_the_last_request_is_a_duplicate_if_one_before_it_was_as_far(
    bench: Bench, psns: tuple[int, ...], again: bool
) -> None:
    qp = bench.connect()
    for psn in psns:
        bench.send(qp.frame(SEND_ONLY(psn=psn)), flow=qp.to_device)
    bench.send(qp.frame(ACK(psn=0)), flow=qp.to_device)
    assert asks_again(bench) is again


def test_requests_of_two_queue_pairs_are_none_of_each_others(bench: Bench) -> None:
    for qp in (bench.connect(), bench.connect()):
        bench.send(qp.frame(WRITE_ONLY(psn=0, va=0, rkey=0, dmalen=0)), flow=qp.to_device)
    assert not asks_again(bench)


@pytest.mark.parametrize(("size", "has_none"), [(0, True), (4, False)])
def test_a_refused_request_of_no_bytes_is_known_by_its_psn(
    bench: Bench, size: int, has_none: bool
) -> None:
    qp = bench.connect()
    region = qp.region()
    qp.send(WRITE_ONLY(psn=0, payload=size, **at(region)))
    refused = qp.from_device.build(NAK(0x62, psn=0))
    qp.send(WRITE_ONLY(psn=1, payload=4 - size, **at(region)))
    bench.transcript.add(Entry(bench.target.now_ns, True, refused))
    assert refuses_no_bytes(bench) is has_none


@pytest.mark.parametrize(
    ("request_", "rules"),
    [
        (WRITE_ONLY(psn=0, payload=4), ("RNR-08",)),
        (WRITE_ONLY_IMM(psn=0, payload=4), ("RNR-01",)),
        (SEND_ONLY(psn=0, payload=4), ("RNR-01",)),
    ],
)
def test_an_rnr_nak_of_what_takes_no_receive_has_a_rule_of_its_own(
    bench: Bench, request_: Pattern, rules: tuple[str, ...]
) -> None:
    qp = bench.connect()
    qp.send(request_)
    starved = qp.from_device.build(RNR(psn=0))
    bench.transcript.add(Entry(bench.target.now_ns, True, starved))
    failure = CaseFailed(
        "want  ACK psn=+0 syndrome=ACK\ngot   RNR psn=+0 syndrome=0x2c\n"
        "      syndrome: want ACK, got 0x2c"
    )
    assert first_difference(bench, failure, None) == rules


@pytest.mark.parametrize(
    ("wanted", "first", "again"),
    [
        ("ACK", "ACK-01", "DUP-01"),
        ("READ_RESP_ONLY", "READ-02", "DUP-04"),
        ("ATOMIC_ACK", "ATOM-05", "DUP-07"),
    ],
)
def test_an_answer_that_a_duplicate_lacks_breaks_the_rule_of_duplicates(
    bench: Bench, wanted: str, first: str, again: str
) -> None:
    qp = bench.connect()
    failure = CaseFailed(f"want  {wanted} psn=+0\ngot   nothing in time")
    for rule in (first, again):
        qp.send(SEND_ONLY(psn=0))
        assert first_difference(bench, failure, None) == (rule,)
