# SPDX-License-Identifier: BSD-2-Clause
"""Step 8: key, protection domain, rights and range, and what is written where."""

from __future__ import annotations

import pytest
from responder_bench import REGION_BYTES, P, ResponderBench, pattern

from roceproof.conformance.model.memory import FOREIGN_DOMAIN
from roceproof.verbs.queue_pair import FULL_ACCESS

ACCESSES = ["WRITE ONLY", "READ REQUEST"]
REFUSED = ["NAK 62 0 msn=0"]
END = REGION_BYTES


def access(rc: ResponderBench, name: str, length: int = 8, **fields: object) -> list[str]:
    data = pattern(length) if name == "WRITE ONLY" else b""
    return rc.asks(name, 0, data, **({"length": length} | fields))


@pytest.mark.parametrize("name", ACCESSES)
def test_reth_06_an_unknown_key_is_an_access_error(name: str):
    rc = ResponderBench()
    assert access(rc, name, key=rc.region.rkey + 1) == REFUSED
    assert rc.dies()


@pytest.mark.parametrize("name", [*ACCESSES, "FETCH ADD"])
def test_reth_06_the_key_of_deregistered_memory_is_an_access_error(name: str):
    rc = ResponderBench()
    rc.region.deregister()
    assert access(rc, name) == REFUSED


@pytest.mark.parametrize("name", ACCESSES)
@pytest.mark.parametrize(("at", "length"), [(-1, 8), (END - 7, 8), (END, 1), (-1, 1), (-8, 8)])
def test_reth_07_a_byte_outside_the_region_is_an_access_error(name: str, at: int, length: int):
    assert access(ResponderBench(), name, length, at=at) == REFUSED


@pytest.mark.parametrize("name", ACCESSES)
@pytest.mark.parametrize("at", [0, END - P])
def test_reth_07_the_region_itself_is_open_from_end_to_end(name: str, at: int):
    assert access(ResponderBench(), name, P, at=at)[0].startswith(("ACK 0", "READ ONLY 0"))


def test_reth_07_the_first_packet_is_refused_if_the_message_would_run_out_of_the_region():
    rc = ResponderBench()
    first = rc.request("WRITE FIRST", 0, pattern(P), at=END - 2 * P, length=2 * P + 1)
    assert rc.hears(first) == REFUSED
    assert rc.read(P, END - 2 * P) == bytes(P)


@pytest.mark.parametrize("name", ACCESSES)
def test_reth_08_an_address_range_does_not_wrap(name: str):
    rc = ResponderBench()
    low = rc.memory.register(64, addr=0, rkey=0xABC)
    high = rc.memory.register(8, addr=(1 << 64) - 8, rkey=0xABC00)
    assert access(rc, name, 16, va=(1 << 64) - 8, key=low.rkey) == REFUSED
    other = ResponderBench()
    other.memory.register(8, addr=(1 << 64) - 8, rkey=high.rkey)
    assert access(other, name, 16, va=(1 << 64) - 8, key=high.rkey) == REFUSED


@pytest.mark.parametrize(
    ("right", "name"),
    [
        ("remote_write", "WRITE ONLY"),
        ("remote_read", "READ REQUEST"),
        ("remote_atomic", "CMP SWAP"),
        ("remote_atomic", "FETCH ADD"),
        ("remote_write", "FLUSH"),
    ],
)
def test_reth_09_atom_07_memory_without_the_right_is_an_access_error(right: str, name: str):
    assert access(ResponderBench(region_access=FULL_ACCESS - {right}), name) == REFUSED


@pytest.mark.parametrize("name", [*ACCESSES, "CMP SWAP"])
def test_reth_10_memory_of_another_protection_domain_is_an_access_error(name: str):
    rc = ResponderBench()
    other = rc.memory.register(64, domain=FOREIGN_DOMAIN)
    assert access(rc, name, va=other.addr, key=other.rkey) == REFUSED
    assert other.read(0, 8) == bytes(8)


@pytest.mark.parametrize(("name", "answer"), [("WRITE ONLY", "ACK"), ("READ REQUEST", "READ ONLY")])
def test_reth_05_nothing_is_checked_for_no_bytes(name: str, answer: str):
    rc = ResponderBench()
    assert access(rc, name, 0, key=0xBAD, va=1 << 63)[0].startswith(f"{answer} 0 msn=1")


@pytest.mark.parametrize(
    ("at", "is_inside"), [(-8, False), (0, True), (END - 8, True), (END, False)]
)
def test_atom_07_all_eight_bytes_of_an_atomic_lie_in_the_region(at: int, is_inside: bool):
    answer = ["ATOMIC 0 msn=1 found 0"] if is_inside else REFUSED
    assert access(ResponderBench(), "FETCH ADD", at=at) == answer
    narrow = ResponderBench()
    four = narrow.memory.register(4)
    assert access(narrow, "FETCH ADD", va=four.addr, key=four.rkey) == REFUSED


def test_memory_that_goes_away_inside_a_message_is_an_access_error_at_the_next_packet():
    rc = ResponderBench()
    first, second = rc.message("WRITE", 0, pattern(P + 4))
    assert rc.hears(first) == ["ACK 0 msn=0"]
    rc.region.deregister()
    assert rc.hears(second) == ["NAK 62 1 msn=0"]


@pytest.mark.parametrize("at", range(0, 64, 7))
@pytest.mark.parametrize("length", [1, 2, 63, 64, 65, 130, 3 * P - 1])
def test_reth_12_exactly_the_addressed_bytes_are_written(at: int, length: int):
    rc = ResponderBench()
    rc.hears(*rc.message("WRITE", 0, pattern(length), at=at))
    assert rc.read(REGION_BYTES) == (bytes(at) + pattern(length)).ljust(REGION_BYTES, b"\0")


def test_nak_63_a_receive_whose_memory_is_gone_is_the_responders_own_fault():
    rc = ResponderBench()
    rc.post_receive()
    rc.inbox.deregister()
    assert rc.asks("SEND ONLY", 0, b"data") == ["NAK 63 0 msn=0"]
    assert [outcome.status for outcome in rc.outcomes] == ["loc_prot_err"]


def test_nak_63_a_receive_needs_memory_that_may_be_written():
    rc = ResponderBench()
    rc.post_receive(region=rc.memory.register(4096, access=frozenset({"remote_write"})))
    assert rc.asks("SEND ONLY", 0, b"data") == ["NAK 63 0 msn=0"]
