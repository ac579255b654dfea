# SPDX-License-Identifier: BSD-2-Clause
"""NAK-14: of two faults in one request the earlier step of the procedure speaks."""

from __future__ import annotations

import pytest
from responder_bench import RNR_TIMER, P, ResponderBench, pattern

from roceproof.conformance.model.responder.policy import ResponderPolicy, SeveralFaults
from roceproof.verbs.queue_pair import FULL_ACCESS

SEQUENCE, INVALID, ACCESS = ["NAK 60 0 msn=0"], ["NAK 61 0 msn=0"], ["NAK 62 0 msn=0"]
NO_WRITES = FULL_ACCESS - {"remote_write"}


@pytest.mark.parametrize(
    ("name", "size", "fields"),
    [
        ("WRITE ONLY", 4, {"key": 1}),
        ("WRITE ONLY", P + 4, {}),
        ("WRITE LAST", 4, {}),
        ("SEND ONLY", 4, {}),
        ("READ REQUEST", 0, {"key": 1, "length": 4}),
        ("FETCH ADD", 0, {"at": 1}),
    ],
)
def test_a_request_ahead_is_out_of_sequence_whatever_else_is_wrong(
    name: str, size: int, fields: dict[str, int]
):
    rc = ResponderBench(access=NO_WRITES)
    assert rc.asks(name, 1, pattern(size), **fields) == SEQUENCE
    assert not rc.model.failed


@pytest.mark.parametrize("fields", [{"key": 1}, {"length": 9}, {"va": 0}])
def test_a_duplicate_is_acknowledged_whatever_else_is_wrong(fields: dict[str, int]):
    rc = ResponderBench()
    rc.asks("WRITE ONLY", 0)
    assert rc.asks("WRITE ONLY", 0, b"data", **fields) == ["ACK 0 msn=1"]
    assert rc.asks("WRITE LAST", 0, pattern(P + 4)) == ["ACK 0 msn=1"]
    assert rc.read(4) == bytes(4)


def test_sequence_comes_before_the_missing_receive():
    assert ResponderBench().asks("SEND LAST", 0, b"data") == INVALID


def test_permission_comes_before_the_missing_receive():
    rc = ResponderBench(access=NO_WRITES)
    assert rc.asks("WRITE ONLY IMM", 0, b"data") == INVALID


@pytest.mark.parametrize(("name", "size"), [("SEND ONLY", P + 4), ("SEND FIRST", 4)])
def test_the_missing_receive_comes_before_the_length(name: str, size: int):
    assert ResponderBench().asks(name, 0, pattern(size)) == [f"RNR {RNR_TIMER} 0 msn=0"]


def test_the_missing_receive_comes_before_the_key():
    fields = {"key": 1}
    assert ResponderBench().asks("WRITE ONLY IMM", 0, b"data", **fields) == [
        f"RNR {RNR_TIMER} 0 msn=0"
    ]


@pytest.mark.parametrize("fields", [{"length": 8}, {"length": 3}])
def test_the_length_comes_before_the_key(fields: dict[str, int]):
    assert ResponderBench().asks("WRITE ONLY", 0, b"data", key=1, **fields) == INVALID


def test_alignment_comes_before_the_key():
    assert ResponderBench().asks("CMP SWAP", 0, at=4, key=1) == INVALID


def test_a_device_that_looks_at_the_key_first_can_be_played():
    rc = ResponderBench(policy=ResponderPolicy(several_faults=SeveralFaults.LAST))
    assert rc.asks("WRITE ONLY", 0, b"data", key=1, length=8) == ACCESS


@pytest.mark.parametrize(
    ("choice", "answer"),
    [
        (SeveralFaults.FIRST, INVALID),
        (SeveralFaults.SECOND, [f"RNR {RNR_TIMER} 0 msn=0"]),
        (SeveralFaults.LAST, ACCESS),
    ],
)
def test_any_of_three_faults_may_refuse_a_request(choice: SeveralFaults, answer: list[str]):
    rc = ResponderBench(access=NO_WRITES, policy=ResponderPolicy(several_faults=choice))
    assert rc.asks("WRITE ONLY IMM", 0, b"data", key=1) == answer


def test_a_send_without_a_receive_is_refused_for_that_alone():
    rc = ResponderBench(policy=ResponderPolicy(several_faults=SeveralFaults.LAST))
    assert rc.asks("SEND ONLY", 0, b"data") == [f"RNR {RNR_TIMER} 0 msn=0"]
