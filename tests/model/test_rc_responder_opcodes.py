# SPDX-License-Identifier: BSD-2-Clause
"""Step 5: opcode sequence, support and permission at an RC responder."""

from __future__ import annotations

import pytest
from responder_bench import P, ResponderBench, pattern

from roceproof.conformance.model.responder.policy import (
    Persistence,
    ReservedOpcode,
    ResponderPolicy,
)
from roceproof.verbs.queue_pair import FULL_ACCESS

FULL, TAIL = pattern(P), pattern(5)
NOT_FIRST = [
    ("SEND MIDDLE", FULL),
    ("SEND LAST", TAIL),
    ("SEND LAST IMM", TAIL),
    ("WRITE MIDDLE", FULL),
    ("WRITE LAST", TAIL),
    ("WRITE LAST IMM", TAIL),
]
STARTS = [
    ("SEND FIRST", FULL),
    ("SEND ONLY", TAIL),
    ("WRITE FIRST", FULL),
    ("WRITE ONLY", TAIL),
    ("READ REQUEST", b""),
    ("CMP SWAP", b""),
    ("FETCH ADD", b""),
]
RESERVED = (0x15, 0x18, 0x19, 0x1A, 0x1B, 0x1E, 0x1F)


@pytest.mark.parametrize(("name", "data"), NOT_FIRST)
def test_opc_06_a_message_must_begin_with_first(name: str, data: bytes):
    rc = ResponderBench(receives=1)
    assert rc.asks(name, 0, data) == ["NAK 61 0 msn=0"]
    assert rc.read(P) == bytes(P)
    assert rc.dies()


@pytest.mark.parametrize(("name", "data"), STARTS)
def test_opc_07_no_message_begins_while_another_is_open(name: str, data: bytes):
    for opening in ("SEND FIRST", "WRITE FIRST"):
        rc = ResponderBench(receives=2)
        assert rc.asks(opening, 0, FULL, length=2 * P) == ["ACK 0 msn=0"]
        assert rc.asks(name, 1, data) == ["NAK 61 1 msn=0"]
        assert rc.dies()


@pytest.mark.parametrize(("name", "data"), NOT_FIRST)
def test_opc_08_send_and_write_do_not_mix_in_a_message(name: str, data: bytes):
    opening = "WRITE FIRST" if name.startswith("SEND") else "SEND FIRST"
    rc = ResponderBench(receives=2)
    rc.asks(opening, 0, FULL, length=2 * P)
    assert rc.asks(name, 1, data) == ["NAK 61 1 msn=0"]


def test_opc_09_dup_09_a_duplicate_leaves_the_open_message_alone():
    rc = ResponderBench(receives=1)
    rc.asks("WRITE ONLY", 0, TAIL)
    message = rc.message("SEND", 1, pattern(2 * P + 3))
    assert rc.hears(*message[:2]) == ["ACK 1 msn=1", "ACK 2 msn=1"]
    assert rc.asks("WRITE ONLY", 0, TAIL) == ["ACK 0 msn=1"]
    assert rc.hears(message[2]) == ["ACK 3 msn=2"]
    assert rc.received(0, 2 * P + 3) == pattern(2 * P + 3)


def test_opc_09_a_repeated_read_leaves_the_open_message_alone():
    rc = ResponderBench(receives=1)
    rc.asks("READ REQUEST", 0, length=4)
    message = rc.message("SEND", 1, pattern(P + 1))
    rc.hears(message[0])
    assert rc.asks("READ REQUEST", 0, length=4) == ["READ ONLY 0 msn=1 4 bytes"]
    assert rc.hears(message[1]) == ["ACK 2 msn=2"]


@pytest.mark.parametrize("opcode", RESERVED)
def test_bth_13_a_reserved_opcode_is_an_invalid_request(opcode: int):
    rc = ResponderBench()
    assert rc.asks("", 0, opcode=opcode) == ["NAK 61 0 msn=0"]
    assert rc.dies()


def test_bth_13_a_reserved_opcode_ahead_is_out_of_sequence_and_behind_it_is_dropped():
    rc = ResponderBench()
    assert rc.asks("", 1, opcode=0x15) == ["NAK 60 0 msn=0"]
    assert rc.asks("", -1, opcode=0x15) == []


def test_a_device_that_drops_reserved_opcodes_can_be_played():
    rc = ResponderBench(policy=ResponderPolicy(reserved_opcode=ReservedOpcode.DROPPED))
    assert rc.asks("", 0, opcode=0x15) == []
    assert rc.asks("WRITE ONLY", 0) == ["ACK 0 msn=1"]


@pytest.mark.parametrize(
    ("right", "name"),
    [
        ("remote_write", "WRITE ONLY"),
        ("remote_write", "WRITE FIRST"),
        ("remote_read", "READ REQUEST"),
        ("remote_atomic", "CMP SWAP"),
        ("remote_atomic", "FETCH ADD"),
        ("remote_write", "ATOMIC WRITE"),
        ("remote_write", "FLUSH"),
    ],
)
def test_opc_13_atom_07_what_the_queue_pair_does_not_allow_is_invalid_and_not_an_access_error(
    right: str, name: str
):
    data = {"WRITE FIRST": FULL, "ATOMIC WRITE": bytes(8)}.get(name, b"")
    rc = ResponderBench(access=FULL_ACCESS - {right})
    assert rc.asks(name, 0, data, length=8, key=1) == ["NAK 61 0 msn=0"]


def test_a_response_is_nothing_that_a_responder_answers():
    rc = ResponderBench()
    ack = rc.model.aeth_only(rc.start, 0)
    assert rc.hears(ack) == []
    assert rc.asks("WRITE ONLY", 0) == ["ACK 0 msn=1"]


@pytest.mark.parametrize("name", ["FLUSH", "ATOMIC WRITE"])
def test_atom_08_a_device_without_persistence_refuses_its_operations(name: str):
    data = bytes(8) if name == "ATOMIC WRITE" else b""
    rc = ResponderBench(policy=ResponderPolicy(persistence=Persistence.UNSUPPORTED))
    assert rc.asks(name, 0, data, length=8) == ["NAK 61 0 msn=0"]
