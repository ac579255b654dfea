# SPDX-License-Identifier: BSD-2-Clause
"""Step 6: receives, and what an RC responder says without one."""

from __future__ import annotations

import pytest
from responder_bench import RNR_TIMER, P, ResponderBench, pattern

from roceproof.conformance.model.responder.policy import AfterRnr, ResponderPolicy

TAKERS = ["SEND FIRST", "SEND ONLY", "SEND ONLY IMM", "SEND ONLY INV", "WRITE ONLY IMM"]
RNR = f"RNR {RNR_TIMER}"


def data_of(name: str) -> bytes:
    return pattern(P if "FIRST" in name else 5)


@pytest.mark.parametrize("name", TAKERS)
def test_rnr_01_a_request_that_takes_a_receive_is_asked_to_come_again(name: str):
    rc = ResponderBench()
    assert rc.asks(name, 0, data_of(name), invalidate=1) == [f"{RNR} 0 msn=0"]
    rc.post_receive()
    assert rc.asks(name, 0, data_of(name), invalidate=1)[0].startswith("ACK 0")


@pytest.mark.parametrize("code", [0, 1, 12, 31])
def test_rnr_02_the_timer_code_is_the_queue_pairs(code: int):
    rc = ResponderBench(min_rnr_timer=code)
    assert rc.asks("SEND ONLY", 0) == [f"RNR {code} 0 msn=0"]


def test_rnr_06_what_follows_is_dropped_until_the_request_returns():
    rc = ResponderBench()
    sends = [rc.request("SEND ONLY", psn, b"data") for psn in range(3)]
    assert rc.hears(*sends) == [f"{RNR} 0 msn=0"]
    for _ in range(2):
        rc.post_receive()
    assert rc.hears(*sends) == ["ACK 0 msn=1", "ACK 1 msn=2", f"{RNR} 2 msn=2"]


def test_rnr_06_a_device_that_raises_a_sequence_nak_can_be_played():
    rc = ResponderBench(policy=ResponderPolicy(after_rnr=AfterRnr.SEQUENCE_NAK))
    sends = [rc.request("SEND ONLY", psn) for psn in range(4)]
    assert rc.hears(*sends) == [f"{RNR} 0 msn=0", "NAK 60 0 msn=0"]


def test_rnr_07_the_last_packet_of_a_write_with_immediate_may_come_again():
    rc = ResponderBench()
    message = rc.message("WRITE", 0, pattern(3 * P), suffix=" IMM", imm=7)
    assert rc.hears(*message) == ["ACK 0 msn=0", "ACK 1 msn=0", f"{RNR} 2 msn=0"]
    assert rc.hears(message[1]) == ["ACK 1 msn=0"]
    rc.post_receive()
    assert rc.hears(message[2]) == ["ACK 2 msn=1"]
    assert rc.read(3 * P) == pattern(3 * P)
    assert [(one.byte_len, one.immediate) for one in rc.outcomes] == [(3 * P, 7)]


@pytest.mark.parametrize("name", ["WRITE ONLY", "READ REQUEST", "CMP SWAP", "FETCH ADD", "FLUSH"])
def test_rnr_08_what_takes_no_receive_never_waits_for_one(name: str):
    assert not ResponderBench().asks(name, 0, length=0)[0].startswith("RNR")


def test_rnr_09_nothing_is_counted_by_an_rnr_nak():
    rc = ResponderBench()
    rc.asks("WRITE ONLY", 0)
    assert rc.asks("SEND ONLY", 1) == [f"{RNR} 1 msn=1"]
    rc.post_receive()
    assert rc.asks("SEND ONLY", 1) == ["ACK 1 msn=2"]


def test_the_queue_pair_lives_on_after_an_rnr_nak():
    rc = ResponderBench()
    assert rc.asks("SEND ONLY", 0) == [f"{RNR} 0 msn=0"]
    assert rc.asks("WRITE ONLY", 0, b"data") == ["ACK 0 msn=1"]


def test_imm_04_receives_complete_with_the_length_and_immediate_of_the_message():
    rc = ResponderBench(receives=4)
    rc.hears(*rc.message("WRITE", 0, pattern(3 * P), suffix=" IMM", imm=0x01020304))
    rc.asks("WRITE ONLY IMM", 3, b"", imm=2)
    rc.asks("WRITE ONLY IMM", 4, b"hello", imm=3)
    rc.hears(*rc.message("SEND", 5, pattern(P + 1), suffix=" IMM", imm=4))
    assert [(one.wr_id, one.byte_len, one.immediate) for one in rc.outcomes] == [
        (0, 3 * P, 0x01020304),
        (1, 0, 2),
        (2, 5, 3),
        (3, P + 1, 4),
    ]
    assert rc.received(3, P + 2) == pattern(P + 1) + b"\0"
    assert rc.received(0, 4) == bytes(4), "data of a WRITE goes to the memory that it names"


def test_a_plain_send_completes_without_immediate():
    rc = ResponderBench(receives=1)
    rc.asks("SEND ONLY", 0, b"data")
    assert [(one.status, one.immediate, one.is_receive) for one in rc.outcomes] == [
        ("success", None, True)
    ]
