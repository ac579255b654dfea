# SPDX-License-Identifier: BSD-2-Clause
"""The UC responder: whole messages or none, at any PSN, and never an answer."""

from __future__ import annotations

import pytest
from responder_bench import P, ResponderBench, pattern

from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service


def bench(receives: int = 4, **fields: object) -> ResponderBench:
    return ResponderBench(Service.UC, receives=receives, **fields)  # type: ignore[arg-type]


def delivered(uc: ResponderBench) -> list[tuple[int, int | None]]:
    return [(one.wr_id, one.byte_len) for one in uc.outcomes]


def test_uc_03_messages_in_sequence_are_placed_and_delivered():
    uc = bench()
    uc.hears(*uc.message("WRITE", 0, pattern(3 * P + 1)))
    uc.hears(*uc.message("SEND", 4, pattern(2 * P)))
    uc.hears(*uc.message("WRITE", 6, pattern(P, 9), at=P, suffix=" IMM", imm=7))
    assert uc.read(3 * P + 1) == pattern(P) + pattern(P, 9) + pattern(3 * P + 1)[2 * P :]
    assert uc.received(0, 2 * P) == pattern(2 * P)
    assert delivered(uc) == [(0, 2 * P), (1, P)]
    assert uc.outcomes[1].immediate == 7


@pytest.mark.parametrize("lost", [1, 2])
def test_uc_04_a_message_with_a_gap_is_not_delivered(lost: int):
    uc = bench()
    message = uc.message("SEND", 0, pattern(4 * P))
    del message[lost]
    assert uc.hears(*message) == []
    assert delivered(uc) == []


@pytest.mark.parametrize("name", ["SEND ONLY", "SEND FIRST"])
@pytest.mark.parametrize("psn", [3, 4, 1003, -500, 0])
def test_uc_05_the_next_message_is_delivered_whatever_its_psn(name: str, psn: int):
    uc = bench()
    broken = uc.message("SEND", 0, pattern(3 * P))
    uc.hears(broken[0], broken[2])
    size = 5 if name == "SEND ONLY" else P + 5
    uc.hears(*uc.message("SEND", psn, pattern(size, 3)))
    uc.hears(*uc.message("SEND", psn + 2 - (size < P), pattern(4)))
    assert delivered(uc) == [(0, size), (1, 4)]
    assert uc.received(0, size) == pattern(size, 3)


def test_uc_05_a_write_follows_a_broken_write():
    uc = bench()
    broken = uc.message("WRITE", 0, pattern(3 * P))
    uc.hears(broken[0], broken[2])
    uc.hears(*uc.message("WRITE", 3, pattern(2 * P, 5), at=4 * P))
    assert uc.read(2 * P, 4 * P) == pattern(2 * P, 5)
    assert uc.read(2 * P, P) == bytes(2 * P), "nothing of the broken one behind the gap"


def test_uc_06_without_its_first_a_message_is_dropped():
    uc = bench()
    uc.hears(*uc.message("WRITE", 0, pattern(3 * P))[1:])
    uc.hears(*uc.message("SEND", 3, pattern(3 * P))[1:])
    assert uc.read(3 * P) == bytes(3 * P)
    assert delivered(uc) == []


@pytest.mark.parametrize("kind", ["SEND", "WRITE"])
def test_uc_07_a_new_message_takes_the_place_of_an_open_one(kind: str):
    uc = bench()
    uc.hears(uc.message(kind, 0, pattern(2 * P))[0])
    uc.asks("SEND ONLY", 1, b"fresh")
    assert delivered(uc) == [(0, 5)]
    assert uc.received(0, 5) == b"fresh"


@pytest.mark.parametrize("name", ["WRITE MIDDLE", "WRITE LAST", "SEND LAST", "WRITE LAST IMM"])
def test_uc_08_opc_10_a_middle_or_last_without_a_message_is_dropped(name: str):
    uc = bench()
    uc.hears(*uc.message("WRITE", 0, pattern(P)))
    assert uc.asks(name, 1, pattern(P, 3)) == []
    assert uc.read(2 * P) == pattern(P) + bytes(P)
    assert delivered(uc) == []


def test_uc_08_the_kind_of_message_does_not_change_inside_it():
    uc = bench()
    uc.hears(uc.message("SEND", 0, pattern(2 * P))[0])
    uc.asks("WRITE LAST", 1, b"tail")
    uc.asks("SEND LAST", 2, b"tail")
    assert delivered(uc) == []


@pytest.mark.parametrize(
    ("name", "size", "fields"),
    [
        ("WRITE ONLY", 4, {"key": 1}),
        ("WRITE ONLY", 4, {"at": -1}),
        ("WRITE ONLY", 4, {"length": 5}),
        ("WRITE ONLY", P + 4, {}),
        ("WRITE FIRST", P - 4, {"length": 2 * P}),
        ("SEND ONLY", P + 4, {}),
    ],
)
def test_uc_09_nak_11_a_faulty_message_is_dropped_and_the_next_one_is_not(
    name: str, size: int, fields: dict[str, int]
):
    uc = bench()
    assert uc.asks(name, 0, pattern(size), **fields) == []
    assert uc.asks("WRITE ONLY", 1, b"good") == []
    assert uc.asks("SEND ONLY", 2, b"good") == []
    assert uc.read(8) == b"good" + bytes(4)
    assert delivered(uc) == [(0, 4)]


def test_uc_09_a_fault_in_the_last_packet_drops_the_message():
    uc = bench()
    first, last = uc.message("WRITE", 0, pattern(P + 8), suffix=" IMM")
    uc.hears(first)
    uc.asks("WRITE LAST IMM", 1, b"shrt")
    uc.hears(last)
    assert delivered(uc) == []
    uc.asks("WRITE ONLY IMM", 2, b"good")
    assert delivered(uc) == [(0, 4)]


def test_uc_09_a_message_that_the_queue_pair_does_not_allow_is_dropped():
    uc = bench(access=FULL_ACCESS - {"remote_write"})
    assert uc.asks("WRITE ONLY", 0, b"data") == []
    assert uc.read(4) == bytes(4)


@pytest.mark.parametrize("name", ["SEND ONLY", "SEND FIRST", "WRITE ONLY IMM"])
def test_uc_10_without_a_receive_a_message_is_dropped_and_nobody_is_told(name: str):
    uc = bench(receives=0)
    assert uc.asks(name, 0, pattern(P), length=P) == []
    uc.post_receive()
    uc.asks("SEND ONLY", 1, b"next")
    assert delivered(uc) == [(0, 4)]


def test_uc_11_a_repeated_only_is_delivered_again():
    uc = bench()
    only = uc.request("SEND ONLY", 0, b"data")
    uc.hears(only, only)
    assert delivered(uc) == [(0, 4), (1, 4)]


def test_uc_12_an_abandoned_message_gives_its_receive_back():
    uc = bench(receives=1)
    uc.hears(uc.message("SEND", 0, pattern(2 * P))[0])
    uc.asks("SEND ONLY", 5, b"next")
    assert delivered(uc) == [(0, 4)]
    assert uc.received(0, 4) == b"next"


def test_ack_11_nothing_is_ever_answered():
    uc = bench()
    assert uc.hears(*uc.message("SEND", 0, pattern(3 * P))) == []
    assert uc.asks("WRITE ONLY", 3, b"data", a=True) == []
    assert uc.asks("WRITE ONLY", 9, b"data", a=True) == []


def test_psn_15_the_sequence_wraps():
    uc = bench(start=0xFFFFFE)
    uc.hears(*uc.message("SEND", 0, pattern(5 * P)))
    assert delivered(uc) == [(0, 5 * P)]


def test_a_reserved_opcode_is_dropped():
    uc = bench()
    assert uc.asks("", 0, opcode=0x2C) == []
    uc.asks("SEND ONLY", 0)
    assert delivered(uc) == [(0, 0)]
