# SPDX-License-Identifier: BSD-2-Clause
"""READ, atomics, FLUSH and SEND with invalidate at an RC responder."""

from __future__ import annotations

import pytest
from responder_bench import P, ResponderBench, pattern

from roceproof.conformance.model.memory import FOREIGN_DOMAIN
from roceproof.conformance.model.responder.policy import (
    InvalidateFault,
    MidReadFault,
    ReadOverLimit,
    ResponderPolicy,
)
from roceproof.conformance.wire.headers import AtomicAckEth

WORD = 1 << 64


@pytest.mark.parametrize(
    ("length", "opcodes"),
    [
        (0, [0x10]),
        (1, [0x10]),
        (P, [0x10]),
        (P + 1, [0x0D, 0x0F]),
        (2 * P, [0x0D, 0x0F]),
        (3 * P, [0x0D, 0x0E, 0x0F]),
    ],
)
def test_mtu_10_read_02_read_03_responses_are_cut_at_the_path_mtu(length: int, opcodes: list[int]):
    rc = ResponderBench()
    rc.region.write(3, pattern(length))
    answers = rc.model.receive(rc.request("READ REQUEST", 0, at=3, length=length))
    assert [one.bth.opcode for one in answers] == opcodes
    assert b"".join(one.payload for one in answers) == pattern(length)
    assert all(len(one.payload) == P for one in answers[:-1])
    assert answers[-1].bth.pad_count == -length % 4


def test_psn_20_the_responses_count_from_the_psn_of_the_request():
    rc = ResponderBench(start=0xFFFFFE)
    answers = rc.model.receive(rc.request("READ REQUEST", 0, length=5 * P))
    assert [one.bth.psn for one in answers] == [0xFFFFFE, 0xFFFFFF, 0, 1, 2]


@pytest.mark.parametrize("name", ["READ REQUEST", "FETCH ADD"])
def test_read_11_atom_05_data_comes_whether_an_ack_is_asked_for_or_not(name: str):
    assert len(ResponderBench().asks(name, 0, length=8, a=False)) == 1


def test_read_06_a_read_beyond_the_resources_is_invalid():
    rc = ResponderBench(max_dest_rd_atomic=2)
    for psn in range(3):
        rc.model.accept(rc.request("READ REQUEST", psn, length=4))
    answers = [rc.words(one) for one in iter(rc.model.next_response, None)]
    assert answers == ["READ ONLY 0 msn=1 4 bytes", "READ ONLY 1 msn=2 4 bytes", "NAK 61 2 msn=2"]


def test_read_06_a_resource_is_free_again_when_its_last_response_has_left():
    rc = ResponderBench(max_dest_rd_atomic=1)
    rc.model.accept(rc.request("READ REQUEST", 0, length=2 * P))
    for _ in range(2):
        rc.model.next_response()
    assert rc.asks("FETCH ADD", 2) == ["ATOMIC 2 msn=2 found 0"]


def test_read_06_a_queue_pair_without_resources_takes_no_reads():
    rc = ResponderBench(max_dest_rd_atomic=0)
    assert rc.asks("READ REQUEST", 0, length=4) == ["NAK 61 0 msn=0"]
    assert ResponderBench(max_dest_rd_atomic=0).asks("CMP SWAP", 0) == ["NAK 61 0 msn=0"]


def test_read_06_a_device_that_recycles_resources_can_be_played():
    rc = ResponderBench(
        max_dest_rd_atomic=1, policy=ResponderPolicy(read_over_limit=ReadOverLimit.RECYCLED)
    )
    for psn in range(2):
        rc.model.accept(rc.request("READ REQUEST", psn, length=4))
    assert len(list(iter(rc.model.next_response, None))) == 2
    none = ResponderBench(
        max_dest_rd_atomic=0, policy=ResponderPolicy(read_over_limit=ReadOverLimit.RECYCLED)
    )
    assert none.asks("READ REQUEST", 0, length=4) == ["NAK 61 0 msn=0"]


@pytest.mark.parametrize(("choice", "psn"), [(MidReadFault.RESPONSE, 2), (MidReadFault.REQUEST, 0)])
def test_read_09_nak_07_a_read_that_fails_midway_ends_with_a_nak(choice: MidReadFault, psn: int):
    rc = ResponderBench(policy=ResponderPolicy(mid_read_fault=choice))
    rc.model.accept(rc.request("READ REQUEST", 0, length=4 * P))
    rc.model.accept(rc.request("WRITE ONLY", 4))
    assert [rc.words(rc.model.next_response())[:13] for _ in range(2)] == [
        "READ FIRST 0 ",
        "READ MIDDLE 1",
    ]
    rc.region.deregister()
    assert [rc.words(one) for one in iter(rc.model.next_response, None)] == [f"NAK 62 {psn} msn=2"]
    assert rc.dies()


def test_read_12_reads_complete_in_order():
    rc = ResponderBench()
    for psn in (0, 3):
        rc.model.accept(rc.request("READ REQUEST", psn, length=3 * P))
    answers = list(iter(rc.model.next_response, None))
    assert [one.bth.psn - rc.start for one in answers] == list(range(6))


@pytest.mark.parametrize(
    ("name", "before", "fields", "after"),
    [
        ("FETCH ADD", 5, {"add": 3}, 8),
        ("FETCH ADD", WORD - 1, {"add": 1}, 0),
        ("FETCH ADD", 0xFFFFFFFF, {"add": 1}, 1 << 32),
        ("CMP SWAP", 5, {"compare": 5, "swap": 9}, 9),
        ("CMP SWAP", 5, {"compare": 6, "swap": 9}, 5),
    ],
)
def test_atom_02_atom_04_atomics_change_memory_and_answer_what_was_there(
    name: str, before: int, fields: dict[str, int], after: int
):
    rc = ResponderBench()
    rc.region.write(8, before.to_bytes(8, "little"))
    assert rc.asks(name, 0, at=8, **fields) == [f"ATOMIC 0 msn=1 found {before}"]
    assert rc.read(24) == bytes(8) + after.to_bytes(8, "little") + bytes(8)


def test_atom_02_the_original_value_travels_big_endian():
    rc = ResponderBench()
    rc.region.write(0, (0x0102030405060708).to_bytes(8, "little"))
    (answer,) = rc.model.receive(rc.request("FETCH ADD", 0))
    assert answer.extension(AtomicAckEth).pack() == bytes(range(1, 9))


def test_atom_05_an_atomic_uses_one_psn_and_counts_one_message():
    rc = ResponderBench()
    rc.asks("FETCH ADD", 0, a=False)
    assert rc.asks("WRITE ONLY", 1) == ["ACK 1 msn=2"]


def test_atom_08_atomic_write_and_flush_are_answered_by_an_empty_read_response():
    rc = ResponderBench()
    assert rc.asks("ATOMIC WRITE", 0, b"one word", at=8, length=8) == ["READ ONLY 0 msn=1 0 bytes"]
    assert rc.read(8, 8) == b"one word"
    assert rc.asks("FLUSH", 1, length=4096) == ["READ ONLY 1 msn=2 0 bytes"]
    assert rc.asks("WRITE ONLY", 2) == ["ACK 2 msn=3"]


def test_atom_08_flush_of_a_region_ignores_the_range():
    rc = ResponderBench()
    assert rc.asks("FLUSH", 0, length=1 << 20, va=0, flush=1 << 4) == ["READ ONLY 0 msn=1 0 bytes"]
    assert rc.asks("FLUSH", 1, length=1 << 20, va=0) == ["NAK 62 1 msn=1"]


def test_inv_01_the_data_are_delivered_and_then_the_key_is_dead():
    rc = ResponderBench(receives=2)
    key = rc.region.rkey
    assert rc.asks("SEND ONLY INV", 0, b"data", invalidate=key) == ["ACK 0 msn=1"]
    assert [(one.byte_len, one.invalidated) for one in rc.outcomes] == [(4, key)]
    assert rc.received(0, 4) == b"data"
    assert rc.asks("WRITE ONLY", 1, b"data", key=key) == ["NAK 62 1 msn=1"]


def test_inv_01_only_the_last_packet_invalidates():
    rc = ResponderBench(receives=1)
    first, last = rc.message("SEND", 0, pattern(P + 1), suffix=" INV", invalidate=rc.region.rkey)
    rc.hears(first)
    assert rc.region.valid
    rc.hears(last)
    assert not rc.region.valid


@pytest.mark.parametrize(
    ("choice", "answers", "status"),
    [
        (InvalidateFault.DELIVERED, ["ACK 0 msn=1"], "success"),
        (InvalidateFault.SILENT_ERROR, [], "wr_flush_err"),
        (InvalidateFault.REFUSED, ["NAK 62 0 msn=0"], "wr_flush_err"),
    ],
)
def test_inv_02_a_key_that_cannot_be_invalidated_ends_as_the_policy_says(
    choice: InvalidateFault, answers: list[str], status: str
):
    for unknown in (0xBAD, None):
        rc = ResponderBench(receives=1, policy=ResponderPolicy(invalidate_fault=choice))
        foreign = rc.memory.register(8, domain=FOREIGN_DOMAIN)
        key = unknown or foreign.rkey
        assert rc.asks("SEND ONLY INV", 0, b"data", invalidate=key) == answers
        assert [outcome.status for outcome in rc.outcomes] == [status]
        assert foreign.valid
