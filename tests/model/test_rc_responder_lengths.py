# SPDX-License-Identifier: BSD-2-Clause
"""Step 7: payload against path MTU, DMALen, pad and receive at an RC responder."""

from __future__ import annotations

import pytest
from responder_bench import P, ResponderBench, pattern

from roceproof.conformance.model.responder.policy import (
    EarlyEnd,
    ExactFill,
    PlainSize,
    ResponderPolicy,
)

BAD_SIZES = [
    ("SEND FIRST", P - 1),
    ("SEND FIRST", P + 1),
    ("SEND FIRST", P - 4),
    ("SEND FIRST", P + 4),
    ("SEND FIRST", 0),
    ("WRITE FIRST", P - 4),
    ("WRITE FIRST", P + 4),
    ("SEND ONLY", P + 4),
    ("WRITE ONLY", P + 4),
    ("SEND ONLY IMM", P + 1),
    ("WRITE ONLY IMM", P + 1),
]


@pytest.mark.parametrize(("name", "size"), BAD_SIZES)
def test_mtu_06_a_packet_of_the_wrong_size_is_invalid(name: str, size: int):
    rc = ResponderBench(receives=1)
    length = size if "ONLY" in name else 3 * P
    assert rc.asks(name, 0, pattern(size), length=length) == ["NAK 61 0 msn=0"]
    assert rc.read(2 * P) == bytes(2 * P)
    assert rc.dies()


@pytest.mark.parametrize(("name", "size"), [("MIDDLE", P - 4), ("MIDDLE", P + 4), ("MIDDLE", 0)])
@pytest.mark.parametrize("kind", ["SEND", "WRITE"])
def test_mtu_06_a_middle_must_be_full(kind: str, name: str, size: int):
    rc = ResponderBench(receives=1)
    rc.asks(f"{kind} FIRST", 0, pattern(P), length=5 * P)
    assert rc.asks(f"{kind} {name}", 1, pattern(size)) == ["NAK 61 1 msn=0"]


@pytest.mark.parametrize("size", [0, P + 4])
@pytest.mark.parametrize("name", ["SEND LAST", "SEND LAST IMM", "WRITE LAST", "WRITE LAST IMM"])
def test_mtu_06_a_last_has_at_least_one_byte_and_at_most_a_path_mtu(name: str, size: int):
    rc = ResponderBench(receives=2)
    rc.asks(name.split()[0] + " FIRST", 0, pattern(P), length=P + size)
    assert rc.asks(name, 1, pattern(size)) == ["NAK 61 1 msn=0"]


@pytest.mark.parametrize("name", ["READ REQUEST", "CMP SWAP", "FLUSH"])
def test_requests_without_payload_have_none(name: str):
    rc = ResponderBench()
    assert rc.asks(name, 0, b"data", length=8) == ["NAK 61 0 msn=0"]


@pytest.mark.parametrize("size", range(9))
def test_mtu_04_an_only_may_have_any_size_up_to_the_path_mtu(size: int):
    rc = ResponderBench(receives=1)
    assert rc.asks("WRITE ONLY", 0, pattern(size)) == ["ACK 0 msn=1"]
    assert rc.read(size + 4) == pattern(size) + bytes(4), "PAD-03: no pad byte is written"
    assert rc.asks("SEND ONLY", 1, pattern(P - size)) == ["ACK 1 msn=2"]


@pytest.mark.parametrize(
    ("length", "sizes"),
    [(2 * P, [P, P - 4]), (P + 8, [P, 4]), (3 * P, [P, P]), (8, [4]), (5, [8])],
)
def test_reth_11_a_write_that_ends_before_or_runs_past_dma_len_is_invalid(
    length: int, sizes: list[int]
):
    rc = ResponderBench()
    names = ["WRITE ONLY"] if len(sizes) == 1 else ["WRITE FIRST", "WRITE LAST"]
    requests = [
        rc.request(name, psn, pattern(size), length=length)
        for psn, (name, size) in enumerate(zip(names, sizes, strict=True))
    ]
    assert rc.hears(*requests)[-1] == f"NAK 61 {len(sizes) - 1} msn=0"


def test_reth_11_no_packet_may_carry_more_than_dma_len_leaves():
    rc = ResponderBench()
    assert rc.asks("WRITE FIRST", 0, pattern(P), length=P - 4) == ["NAK 61 0 msn=0"]
    late = ResponderBench()
    late.asks("WRITE FIRST", 0, pattern(P), length=P + 4)
    assert late.asks("WRITE MIDDLE", 1, pattern(P)) == ["NAK 61 1 msn=0"]
    assert late.read(2 * P) == pattern(P) + bytes(P)


def test_reth_11_a_middle_that_fills_dma_len_is_refused_now_or_at_the_next_packet():
    later = ResponderBench()
    assert later.asks("WRITE FIRST", 0, pattern(P), length=P) == ["ACK 0 msn=0"]
    assert later.asks("WRITE LAST", 1, b"more") == ["NAK 61 1 msn=0"]
    at_once = ResponderBench(policy=ResponderPolicy(exact_fill=ExactFill.AT_ONCE))
    assert at_once.asks("WRITE FIRST", 0, pattern(P), length=P) == ["NAK 61 0 msn=0"]


def test_mtu_08_dma_len_is_at_most_2_to_the_31():
    for name in ("WRITE FIRST", "READ REQUEST"):
        data = pattern(P) if name == "WRITE FIRST" else b""
        most, beyond = ResponderBench(), ResponderBench()
        assert most.asks(name, 0, data, length=1 << 31) == ["NAK 62 0 msn=0"]
        assert beyond.asks(name, 0, data, length=(1 << 31) + 1) == ["NAK 61 0 msn=0"]


def test_pad_06_a_pad_that_does_not_fit_its_payload_is_invalid():
    rc = ResponderBench(receives=1)
    assert rc.asks("SEND ONLY", 0, b"", pad=3) == ["NAK 61 0 msn=0"]
    assert [outcome.status for outcome in rc.outcomes] == ["wr_flush_err"]


def test_pad_07_a_pad_that_disagrees_with_dma_len_is_invalid():
    rc = ResponderBench()
    six = rc.request("WRITE ONLY", 0, pattern(6), length=5)
    assert six.bth.pad_count == 2, "eight bytes on the wire, as a payload of five would have"
    assert rc.hears(six) == ["NAK 61 0 msn=0"]


def test_pad_04_a_first_with_a_pad_is_not_full():
    rc = ResponderBench(receives=1)
    assert rc.asks("SEND FIRST", 0, pattern(P - 1)) == ["NAK 61 0 msn=0"]


def test_a_message_longer_than_its_receive_is_invalid_and_ends_the_receive():
    rc = ResponderBench()
    rc.post_receive(length=3)
    rc.post_receive()
    assert rc.asks("SEND ONLY", 0, b"four") == ["NAK 61 0 msn=0"]
    assert [(one.wr_id, one.status) for one in rc.outcomes] == [
        (0, "loc_len_err"),
        (1, "wr_flush_err"),
    ]
    exact = ResponderBench()
    exact.post_receive(length=4)
    assert exact.asks("SEND ONLY", 0, b"four") == ["ACK 0 msn=1"]
    long = ResponderBench()
    long.post_receive(length=P + 3)
    assert long.hears(*long.message("SEND", 0, pattern(P + 4)))[-1] == "NAK 61 1 msn=0"
    assert [one.status for one in long.outcomes] == ["loc_len_err"]
    assert long.received(0, P + 4) == pattern(P) + bytes(4)


@pytest.mark.parametrize("offset", range(1, 8))
def test_atom_03_an_atomic_that_is_not_aligned_is_invalid(offset: int):
    for name, data in (("CMP SWAP", b""), ("FETCH ADD", b""), ("ATOMIC WRITE", bytes(8))):
        rc = ResponderBench()
        assert rc.asks(name, 0, data, at=offset, length=8) == ["NAK 61 0 msn=0"]


def test_atom_08_an_atomic_write_has_eight_bytes():
    for length, data in ((4, bytes(8)), (8, bytes(4)), (16, bytes(16))):
        rc = ResponderBench()
        assert rc.asks("ATOMIC WRITE", 0, data, length=length) == ["NAK 61 0 msn=0"]


@pytest.mark.parametrize(("size", "is_full"), [(P, True), (P - 4, False)])
def test_a_device_that_ends_a_write_early_can_be_played(size: int, is_full: bool):
    rc = ResponderBench(policy=ResponderPolicy(early_end=EarlyEnd.EXECUTED))
    answer = rc.asks("WRITE ONLY", 0, pattern(size), length=2 * P)
    assert answer == (["ACK 0 msn=1"] if is_full else ["NAK 61 0 msn=0"])


def test_a_device_that_takes_payload_as_it_is_can_be_played():
    rc = ResponderBench(receives=1, policy=ResponderPolicy(plain_size=PlainSize.UNCHECKED))
    assert rc.asks("READ REQUEST", 0, b"data", length=4) == ["READ ONLY 0 msn=1 4 bytes"]
    assert rc.asks("SEND FIRST", 1, pattern(P - 4)) == ["ACK 1 msn=1"]
    assert rc.asks("WRITE ONLY", 2, pattern(P + 4)) == ["NAK 61 2 msn=1"]


def test_a_device_that_asks_for_no_whole_words_can_be_played():
    rc = ResponderBench(receives=2, policy=ResponderPolicy(plain_size=PlainSize.UNPADDED))
    assert rc.asks("READ REQUEST", 0, b"data", length=4) == ["READ ONLY 0 msn=1 4 bytes"]
    assert rc.asks("SEND ONLY", 1, pattern(3), pad=0) == ["ACK 1 msn=2"]
    assert rc.asks("SEND FIRST", 2, pattern(P - 4)) == ["NAK 61 2 msn=2"]
