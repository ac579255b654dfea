# SPDX-License-Identifier: BSD-2-Clause
"""The UD responder: datagrams behind forty bytes of network header, and never an answer."""

from __future__ import annotations

import pytest
from responder_bench import P, ResponderBench, pattern

from roceproof.verbs.service import Service

IPV4_HEADER, IPV6_HEADER = pattern(20, 5), pattern(40, 5)


def bench(receives: int = 2) -> ResponderBench:
    return ResponderBench(Service.UD, receives=receives)


def delivered(ud: ResponderBench) -> list[tuple[int, int | None, int | None]]:
    return [(one.wr_id, one.byte_len, one.immediate) for one in ud.outcomes]


@pytest.mark.parametrize("header", [IPV4_HEADER, IPV6_HEADER], ids=["IPv4", "IPv6"])
def test_gid_03_the_payload_begins_behind_forty_bytes(header: bytes):
    ud = bench()
    ud.model.receive(ud.request("SEND ONLY", 0, b"data"), header)
    assert ud.received(0, 44) == header.rjust(40, b"\0") + b"data"
    assert delivered(ud) == [(0, 44, None)]


@pytest.mark.parametrize("size", [0, 1, P])
def test_ud_04_a_datagram_has_up_to_a_path_mtu(size: int):
    ud = bench()
    ud.asks("SEND ONLY IMM", 0, pattern(size), imm=9)
    assert delivered(ud) == [(0, 40 + size, 9)]


@pytest.mark.parametrize("size", [P + 1, P + 4])
def test_a_longer_datagram_is_dropped(size: int):
    ud = bench()
    assert ud.asks("SEND ONLY", 0, pattern(size)) == []
    assert delivered(ud) == []


def test_ud_05_a_receive_that_is_too_small_is_not_overrun():
    ud = bench(receives=0)
    ud.post_receive(length=43)
    assert ud.asks("SEND ONLY", 0, b"data") == []
    assert ud.received(0, 48) == bytes(48)
    ud.asks("SEND ONLY", 1, b"dat")
    assert delivered(ud) == [(0, 43, None)]


def test_without_a_receive_a_datagram_is_dropped():
    ud = bench(receives=0)
    assert ud.asks("SEND ONLY", 0, b"data") == []
    ud.post_receive()
    ud.asks("SEND ONLY", 1, b"next")
    assert delivered(ud) == [(0, 44, None)]


def test_psn_17_the_psn_is_not_looked_at():
    ud = bench(receives=3)
    for psn in (7, 7, -9):
        ud.asks("SEND ONLY", psn)
    assert len(ud.outcomes) == 3


def test_ud_07_ack_11_nothing_is_ever_answered():
    assert bench().asks("SEND ONLY", 0, b"data", a=True) == []


def test_a_pad_that_does_not_fit_is_dropped():
    ud = bench()
    ud.asks("SEND ONLY", 0, b"data", pad=3)
    ud.asks("", 0, opcode=0x66)
    assert delivered(ud) == []
