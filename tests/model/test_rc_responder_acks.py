# SPDX-License-Identifier: BSD-2-Clause
"""ACKs, MSN and credits of an RC responder."""

from __future__ import annotations

from dataclasses import replace

import pytest
from responder_bench import PEER_QPN, P, ResponderBench, pattern

from roceproof.conformance.model.responder.policy import (
    AskedAck,
    Credits,
    ResponderPolicy,
    Unasked,
)
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.opcodes import OPCODES


def aeths(rc: ResponderBench, *requests: object) -> list[Aeth]:
    answers = [one for request in requests for one in rc.model.receive(request)]
    return [aeth for one in answers if (aeth := one.extension(Aeth)) is not None]


def test_ack_01_ack_06_a_request_that_asks_is_acknowledged_by_its_own_psn():
    rc = ResponderBench(receives=1)
    assert rc.asks("SEND ONLY", 0, b"data") == ["ACK 0 msn=1"]
    assert rc.asks("WRITE ONLY", 1, b"data") == ["ACK 1 msn=2"]


def test_ack_04_a_device_that_acknowledges_unasked_does_it_right():
    rc = ResponderBench(policy=ResponderPolicy(unasked=Unasked.ACKNOWLEDGED))
    assert rc.asks("WRITE ONLY", 0, a=False) == ["ACK 0 msn=1"]


def later(**numbers: int) -> ResponderBench:
    return ResponderBench(policy=ResponderPolicy(asked_ack=AskedAck.LATER, **numbers))


def test_ack_01_acks_that_come_later_come_for_several_requests():
    rc = later(ack_interval=3)
    assert rc.asks("WRITE ONLY", 0) == rc.asks("WRITE ONLY", 1) == []
    assert rc.asks("WRITE ONLY", 2) == ["ACK 2 msn=3"]


def test_ack_01_an_ack_that_is_owed_leaves_in_time_and_names_the_latest():
    rc = later(ack_delay_ns=500)
    assert rc.asks("WRITE ONLY", 0) == rc.asks("WRITE ONLY", 1, a=False) == []
    assert rc.model.next_deadline() == 500
    rc.model.now_ns = 500
    assert rc.words(rc.model.next_response()) == "ACK 1 msn=2"
    assert rc.model.next_deadline() is None


def test_ack_05_any_response_to_a_later_request_pays_what_is_owed():
    for last, answer in (("READ REQUEST", "READ ONLY 1 msn=2"), ("SEND ONLY", "RNR 12 1 msn=1")):
        rc = later()
        assert rc.asks("WRITE ONLY", 0) == []
        assert rc.asks(last, 1)[0].startswith(answer)
        assert not rc.model.owed


def test_dup_03_the_ack_of_a_duplicate_pays_nothing():
    rc = later()
    assert rc.asks("WRITE ONLY", 0) == rc.asks("WRITE ONLY", 1) == []
    assert rc.asks("WRITE ONLY", 0) == ["ACK 0 msn=2"]
    assert rc.model.owed


def test_ack_07_an_ack_is_bare_and_goes_to_the_requesters_queue_pair():
    rc = ResponderBench()
    request = rc.request("WRITE ONLY", 0, b"odd")
    request = replace(request, bth=replace(request.bth, solicited=True))
    (ack,) = rc.model.receive(request)
    bth = ack.bth
    assert (bth.opcode, bth.dest_qpn, bth.version, bth.pkey) == (0x11, PEER_QPN, 0, 0xFFFF)
    assert not (bth.solicited or bth.ack_req or bth.pad_count or ack.payload)
    assert not (bth.fecn or bth.becn or bth.reserved6 or bth.reserved7)


def test_ack_12_read_08_answers_leave_in_the_order_of_the_requests():
    rc = ResponderBench()
    rc.model.accept(rc.request("READ REQUEST", 0, length=4 * P))
    rc.model.accept(rc.request("WRITE ONLY", 4, b"data"))
    answers = [rc.words(one) for one in iter(rc.model.next_response, None)]
    assert [one.split(" msn")[0] for one in answers[:3]] == [
        "READ FIRST 0",
        f"READ MIDDLE 1 {P} bytes",
        f"READ MIDDLE 2 {P} bytes",
    ]
    assert answers[3:] == [f"READ LAST 3 msn=1 {P} bytes", "ACK 4 msn=2"]


def test_nak_12_acks_that_wait_leave_before_the_nak():
    rc = ResponderBench()
    rc.model.accept(rc.request("WRITE ONLY", 0))
    rc.model.accept(rc.request("READ REQUEST", 1, length=4))
    rc.model.accept(rc.request("WRITE ONLY", 2, b"data", key=1))
    answers = [rc.words(one) for one in iter(rc.model.next_response, None)]
    assert answers == ["ACK 0 msn=1", "READ ONLY 1 msn=2 4 bytes", "NAK 62 2 msn=2"]


def test_aeth_01_aeth_02_aeth_03_responses_have_their_headers_and_a_syndrome_of_their_type():
    rc = ResponderBench()
    answers = rc.model.receive(rc.request("READ REQUEST", 0, length=3 * P))
    answers += rc.model.receive(rc.request("READ REQUEST", 3, length=3))
    answers += rc.model.receive(rc.request("FETCH ADD", 4))
    answers += rc.model.receive(rc.request("WRITE ONLY", 5))
    assert [one.bth.opcode for one in answers] == [0x0D, 0x0E, 0x0F, 0x10, 0x12, 0x11]
    for one in answers:
        assert tuple(map(type, one.extensions)) == OPCODES[one.bth.opcode].headers
        assert all(head.syndrome >> 5 == 0 for head in one.extensions if isinstance(head, Aeth))
    refused = rc.model.receive(rc.request("WRITE ONLY", 6, b"data", key=1))
    assert [one.extension(Aeth).syndrome for one in refused] == [0x62]


def test_msn_01_msn_02_the_msn_counts_messages_from_1_at_their_last_packet():
    rc = ResponderBench(receives=1)
    message = rc.message("WRITE", 0, pattern(3 * P))
    assert rc.hears(*message) == ["ACK 0 msn=0", "ACK 1 msn=0", "ACK 2 msn=1"]
    assert rc.asks("SEND ONLY", 3) == ["ACK 3 msn=2"]
    assert rc.asks("READ REQUEST", 4, length=2 * P)[0] == f"READ FIRST 4 msn=3 {P} bytes"
    assert rc.asks("FETCH ADD", 6, at=4096) == ["ATOMIC 6 msn=4 found 0"]
    assert rc.asks("WRITE ONLY", 7) == ["ACK 7 msn=5"], "MSN-04"


def test_msn_03_duplicates_do_not_count():
    rc = ResponderBench()
    rc.asks("WRITE ONLY", 0)
    rc.asks("READ REQUEST", 1, length=4)
    rc.asks("FETCH ADD", 2)
    for psn, name in ((0, "WRITE ONLY"), (1, "READ REQUEST"), (2, "FETCH ADD")):
        rc.asks(name, psn, length=4)
    assert rc.asks("WRITE ONLY", 3) == ["ACK 3 msn=4"]


def test_msn_05_a_nak_does_not_count_the_message_that_failed():
    rc = ResponderBench()
    rc.asks("WRITE ONLY", 0)
    rc.asks("WRITE ONLY", 1)
    assert rc.asks("SEND ONLY", 2)[0].endswith("2 msn=2")
    assert rc.asks("WRITE ONLY", 2, b"data", key=1) == ["NAK 62 2 msn=2"]


def test_msn_06_aeth_06_the_msn_wraps_and_travels_big_endian():
    rc = ResponderBench()
    rc.model.msn = 0xFFFFFE
    assert rc.asks("WRITE ONLY", 0) == [f"ACK 0 msn={0xFFFFFF}"]
    (ack,) = rc.model.receive(rc.request("WRITE ONLY", 1))
    assert ack.extension(Aeth).msn == 0
    assert Aeth(0x1F, 0x010203).pack() == bytes((0x1F, 1, 2, 3))


def test_msn_09_all_responses_of_a_read_carry_the_msn_of_its_acceptance():
    rc = ResponderBench()
    rc.model.accept(rc.request("READ REQUEST", 0, length=3 * P))
    rc.model.accept(rc.request("WRITE ONLY", 3))
    found = [one.extension(Aeth) for one in iter(rc.model.next_response, None)]
    assert [aeth.msn for aeth in found if aeth] == [1, 1, 2]


@pytest.mark.parametrize(
    ("posted", "code"), [(1, 0), (2, 1), (6, 4), (7, 5), (8, 5), (41, 10), (33, 10)]
)
def test_cred_01_credits_are_the_largest_code_that_the_receives_cover(posted: int, code: int):
    rc = ResponderBench(receives=posted)
    (aeth,) = aeths(rc, rc.request("SEND ONLY", 0))
    assert aeth.syndrome == code, "one receive is taken by the message itself"


def test_cred_01_without_flow_control_the_code_is_31():
    rc = ResponderBench(receives=5, policy=ResponderPolicy(credits=Credits.INVALID))
    assert [aeth.syndrome for aeth in aeths(rc, rc.request("SEND ONLY", 0))] == [31]


def test_cred_02_a_shared_receive_queue_promises_nothing():
    rc = ResponderBench(receives=5, shared=True)
    assert [aeth.syndrome for aeth in aeths(rc, rc.request("SEND ONLY", 0))] == [31]
