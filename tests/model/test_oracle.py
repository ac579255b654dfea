# SPDX-License-Identifier: BSD-2-Clause
"""The oracle allows what some conforming device does, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from responder_bench import P, ResponderBench, pattern

from roceproof.conformance.model.alternatives import alternatives
from roceproof.conformance.model.ingress import Drop
from roceproof.conformance.model.oracle import Oracle, matches
from roceproof.conformance.model.responder.policy import (
    DEVIATIONS,
    AfterRnr,
    AskedAck,
    BeforeFirst,
    Credits,
    DuplicateAck,
    EarlyEnd,
    PastRequest,
    PlainSize,
    ReservedOpcode,
    ResponderPolicy,
    Unasked,
    UnaskedDuplicate,
)
from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.ip import Ipv4
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

OWN = Host(bytes.fromhex("020000000001"), bytes((192, 168, 1, 1)))


class Beside:
    """A device that is a responder, and the oracle beside it."""

    def __init__(
        self, *, tolerated: Any = (), receives: int = 0, executes: Any = None, **fields: Any
    ) -> None:
        self.device = ResponderBench(receives=receives, **fields)
        spec = self.device.spec
        qp = Qp(spec.local_qpn, spec)
        self.oracle = Oracle(OWN, qp, tolerated=tolerated, executes=executes)
        self.oracle.mirror(self.device.region)
        self.oracle.mirror(self.device.inbox)
        for number in range(receives):
            self.oracle.post_receive(
                wr_id=number, region=self.device.inbox, offset=number * 2048, length=2048
            )

    def frame(self, name: str, psn: int, data: bytes = b"", **fields: Any) -> bytes:
        request = self.device.request(name, psn, data, **fields)
        peer = self.device.spec.remote
        ip = Ipv4(peer.ip, OWN.ip)
        packet = Packet(OWN.mac, peer.mac, ip, 7, request.bth, request.extensions, data)
        return build(packet)

    def allowed(self, name: str, psn: int, data: bytes = b"", **fields: Any) -> set[str]:
        ways = self.oracle.allowed(self.frame(name, psn, data, **fields))
        return {"; ".join(map(self.device.words, way.result.answer)) or "silence" for way in ways}

    def passes(self, name: str, psn: int, data: bytes = b"", **fields: Any) -> bool:
        got = self.device.model.receive(self.device.request(name, psn, data, **fields))
        return bool(self.oracle.observe(self.frame(name, psn, data, **fields), got))


def test_a_plain_request_has_one_answer():
    assert Beside().allowed("WRITE ONLY", 0, b"data") == {"ACK 0 msn=1"}


def test_a_request_that_does_not_ask_may_be_acknowledged():
    assert Beside().allowed("WRITE ONLY", 0, b"data", a=False) == {"silence", "ACK 0 msn=1"}


def test_a_duplicate_may_be_acknowledged_in_two_ways_and_unasked_in_three():
    beside = Beside()
    for psn in range(3):
        assert beside.passes("WRITE ONLY", psn)
    assert beside.allowed("WRITE ONLY", 0) == {"ACK 0 msn=3", "ACK 2 msn=3"}
    assert beside.allowed("WRITE ONLY", 0, a=False) == {"ACK 0 msn=3", "ACK 2 msn=3", "silence"}


def test_asking_does_not_change_anything():
    beside = Beside()
    for _ in range(3):
        assert beside.allowed("WRITE ONLY", 0, b"data") == {"ACK 0 msn=1"}
    assert beside.oracle.may_hold(beside.device.region.rkey, 0, bytes(4))


def test_what_no_conforming_device_answers_is_not_allowed():
    beside = Beside()
    frame = beside.frame("WRITE ONLY", 0, b"data")
    wrong = beside.device.model.aeth_only(beside.device.start + 1, 0)
    assert beside.oracle.observe(frame, [wrong]) == []
    assert beside.oracle.observe(frame, []) == []
    assert beside.passes("WRITE ONLY", 0, b"data"), "a wrong answer did not change the states"


def test_migreq_and_credits_are_nobodys_business():
    one, other = (
        ResponderBench(receives=3, policy=ResponderPolicy(credits=choice)) for choice in Credits
    )
    left, right = (bench.model.receive(bench.request("SEND ONLY", 0)) for bench in (one, other))
    assert left != right and matches(left, right)
    assert matches(left, [replace(one, bth=replace(one.bth, migreq=False)) for one in left])
    assert not matches(left, [])


def test_memory_is_followed():
    beside = Beside()
    key = beside.device.region.rkey
    assert beside.passes("WRITE ONLY", 0, b"data")
    assert beside.oracle.may_hold(key, 0, b"data")
    assert not beside.oracle.may_hold(key, 0, b"DATA")
    assert beside.passes("FETCH ADD", 1, at=8, add=1)
    assert beside.passes("READ REQUEST", 2, length=3 * P)


def test_a_drop_says_its_reason():
    beside = Beside()
    frame = beside.frame("WRITE ONLY", 0, b"data")
    (way,) = beside.oracle.allowed(frame[:-1] + bytes((frame[-1] ^ 1,)))
    assert way.result.drop is Drop.ICRC and way.result.answer == ()


def test_a_deviation_is_allowed_only_where_it_is_tolerated_and_names_its_rule():
    strict = Beside()
    frame = strict.frame("", 0, opcode=0x15)
    assert {way.deviations for way in strict.oracle.allowed(frame)} == {()}
    known = Beside(tolerated={ReservedOpcode.DROPPED})
    assert known.allowed("", 0, opcode=0x15) == {"NAK 61 0 msn=0", "silence"}
    (way,) = known.oracle.observe(frame, [])
    assert way.deviations == ("BTH-13",)


def test_states_that_nobody_can_tell_apart_are_all_kept():
    beside = Beside(receives=1)
    sent = beside.frame("SEND ONLY INV", 0, b"data", invalidate=0xBAD, a=False)
    assert len(beside.oracle.observe(sent, [])) == 2, "delivered, or dead without a word"
    assert beside.allowed("WRITE ONLY", 1) == {"ACK 1 msn=2", "silence"}


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"duplicate_ack": DuplicateAck.LATEST},
        {"unasked_duplicate": UnaskedDuplicate.DROPPED, "before_first": BeforeFirst.ACKNOWLEDGED},
        {"before_first": BeforeFirst.UNNAMED},
        {"past_request": PastRequest.REMEMBERED},
    ],
    ids=str,
)
def test_every_conforming_device_passes_beside_the_oracle(choices: dict[str, Any]):
    beside = Beside(receives=8, policy=ResponderPolicy(**choices))
    names = ["WRITE ONLY", "READ REQUEST", "FETCH ADD", "SEND ONLY", "WRITE ONLY IMM"]
    steps = [(name, psn) for psn, name in product((0, -1, 1), names)]
    expected = 0
    for name, offset in steps:
        data = b"data" if "WRITE" in name or "SEND" in name else b""
        assert beside.passes(name, expected + offset, data, length=4, a=offset != -1), (
            name,
            offset,
        )
        expected += offset == 0


@pytest.mark.parametrize(
    ("choice", "requests"),
    [
        (AfterRnr.SEQUENCE_NAK, [("SEND ONLY", 0, {}), ("SEND ONLY", 1, {})]),
        (EarlyEnd.EXECUTED, [("WRITE ONLY", 0, {"data": pattern(P), "length": P + 1, "a": 1})]),
    ],
)
def test_a_deviating_device_does_not_pass(choice: Any, requests: list[tuple[str, int, Any]]):
    switch = next(name for name in ResponderPolicy.switches() if name in _name_of(choice))
    beside = Beside(policy=ResponderPolicy(**{switch: choice}))
    verdicts = [beside.passes(name, psn, **fields) for name, psn, fields in requests]
    assert verdicts == [True] * (len(requests) - 1) + [False]
    assert choice in DEVIATIONS


def test_a_device_that_takes_sends_of_any_size_does_not_pass():
    beside = Beside(receives=1, policy=ResponderPolicy(plain_size=PlainSize.UNCHECKED))
    assert not beside.passes("SEND FIRST", 0, pattern(8), a=True)
    assert PlainSize.UNCHECKED in DEVIATIONS


def answered_in_a_row(beside: Beside, psns: tuple[int, ...]) -> tuple[list[bytes], list[Any]]:
    """WRITEs with these PSNs, and all that the device says to them."""
    requests = [("WRITE ONLY", psn, pattern(8)) for psn in psns]
    frames = [beside.frame(*request, a=True) for request in requests]
    device = beside.device
    said = [device.model.receive(device.request(*request, a=True)) for request in requests]
    return frames, [segment for answer in said for segment in answer]


def test_a_row_of_frames_is_explained_by_all_that_came_back():
    beside = Beside()
    frames, got = answered_in_a_row(beside, (0, 1, 3, 4, 0, 2))
    assert len(got) == 5
    assert beside.oracle.observe_all(frames, got) is None
    start = beside.device.spec.rq_psn
    assert beside.oracle.next_psns == {start + 3}


@pytest.mark.parametrize("left_out", [(0,), (1,), (0, 1)])
def test_an_ack_may_be_left_to_a_later_response(left_out: tuple[int, ...]):
    beside = Beside()
    frames, got = answered_in_a_row(beside, (0, 1, 3, 4, 2))
    came = [answer for place, answer in enumerate(got) if place not in left_out]
    assert beside.oracle.observe_all(frames, came) is None


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("again", ["WRITE ONLY", "READ REQUEST"])
def test_an_ack_that_is_left_to_later_may_come_behind_answers_to_duplicates(
    again: str, asked: bool
):
    late = ResponderPolicy(
        asked_ack=AskedAck.LATER, unasked=Unasked.ACKNOWLEDGED, ack_delay_ns=1000
    )
    beside = Beside(policy=late)
    requests = [(again, 0, True), ("WRITE ONLY", 1, asked), ("WRITE ONLY", 2, asked)]
    frames, got = [], []
    for name, psn, ask in [*requests, requests[0]]:
        data = b"data" if name == "WRITE ONLY" else b""
        frames.append(beside.frame(name, psn, data, length=4, a=ask))
        got += beside.device.model.receive(beside.device.request(name, psn, data, length=4, a=ask))
    beside.device.model.now_ns = 1000
    got += iter(beside.device.model.next_response, None)
    assert beside.device.words(got[-1]) == "ACK 2 msn=3"
    assert beside.device.words(got[-2]) != "ACK 2 msn=3"
    for wrong in ([*got, got[-1]], [*got[:-1], replace(got[-1], bth=got[-2].bth)]):
        assert beside.oracle.observe_all(frames, wrong) is not None
    assert beside.oracle.observe_all(frames, got) is None


@pytest.mark.parametrize("behind", [[], [("WRITE ONLY", 1, True)], [("WRITE ONLY", 0, True)]])
def test_the_ack_of_a_duplicate_may_be_left_to_a_later_response_and_to_no_earlier_one(
    behind: list[tuple[str, int, bool]],
):
    beside = Beside()
    first = beside.frame("WRITE ONLY", 0, b"data", length=4, a=True)
    got = beside.device.model.receive(
        beside.device.request("WRITE ONLY", 0, b"data", length=4, a=True)
    )
    assert beside.oracle.observe_all([first], got) is None
    frames = [first, *(beside.frame(n, psn, b"data", length=4, a=a) for n, psn, a in behind)]
    answers = [
        answer
        for n, psn, a in behind
        for answer in beside.device.model.receive(
            beside.device.request(n, psn, b"data", length=4, a=a)
        )
    ]
    assert (beside.oracle.observe_all(frames, answers) is None) is bool(behind)


@pytest.mark.parametrize(("left_out", "place"), [(2, 4), (3, 5)])
def test_a_row_of_frames_is_not_explained_when_an_answer_is_missing(left_out: int, place: int):
    beside = Beside()
    frames, got = answered_in_a_row(beside, (0, 1, 3, 4, 2))
    unexplained = beside.oracle.observe_all(frames, got[:left_out] + got[left_out + 1 :])
    assert unexplained is not None
    assert unexplained.place <= place
    assert bool(unexplained.wanted) is (unexplained.place < len(frames))


def test_an_ack_that_is_owed_is_not_waited_for_when_the_queue_pair_fails_without_a_word():
    beside = Beside(receives=1)
    first = beside.frame("SEND FIRST", 0, pattern(P), a=True)
    last = beside.frame("SEND LAST INV", 1, pattern(8), a=True, invalidate=0)
    assert beside.oracle.observe_all([first, last], []) is None
    assert not beside.oracle.next_psns


def test_a_row_of_frames_does_not_explain_an_answer_too_many():
    beside = Beside()
    frames, got = answered_in_a_row(beside, (0, 1))
    unexplained = beside.oracle.observe_all(frames, [*got, got[-1]])
    assert unexplained is not None
    assert unexplained.place == len(frames)
    assert not unexplained.wanted
    assert unexplained.got == got[-1]


def _name_of(choice: Any) -> list[str]:
    defaults = ResponderPolicy()
    return [n for n in defaults.switches() if type(getattr(defaults, n)) is type(choice)]


def test_only_switches_that_matter_are_turned():
    rc = ResponderBench()
    ways = list(alternatives(rc.model, lambda model: model.receive(rc.request("WRITE ONLY", 0))))
    assert len(ways) == 3, "credits, and an ACK that comes later"
    assert rc.model.msn == 0


def test_unreliable_queue_pairs_are_silent_but_their_memory_is_followed():
    for service in (Service.UC, Service.UD):
        beside = Beside(service=service, receives=2)
        assert beside.allowed("SEND ONLY", 0, pattern(5)) == {"silence"}
        assert beside.passes("SEND ONLY", 0, pattern(5))
        at = 40 if service is Service.UD else 0
        assert beside.oracle.may_hold(beside.device.inbox.rkey, at, pattern(5))


def test_an_operation_that_the_device_does_not_have_is_refused_and_not_executed():
    beside = Beside(executes={Op.SEND}, receives=2)
    assert beside.allowed("WRITE ONLY", 0, b"data") == {"NAK 61 0 msn=0"}
    assert beside.allowed("READ REQUEST", 0) == {"NAK 61 0 msn=0"}
    assert beside.allowed("READ RESP MIDDLE", 0, pattern(256)) == {"silence"}
    assert beside.allowed("SEND ONLY", 0, b"data") == {"ACK 0 msn=1"}
    for service in (Service.UC, Service.UD):
        beside = Beside(service=service, receives=2, executes=set())
        beside.oracle.observe(beside.frame("SEND ONLY", 0, pattern(5)), [])
        at = 40 if service is Service.UD else 0
        assert not beside.oracle.may_hold(beside.device.inbox.rkey, at, pattern(5))
