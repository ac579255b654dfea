# SPDX-License-Identifier: BSD-2-Clause
"""The lengths that headers say: each wrong one is told once, and by whose rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roceproof.conformance.suite.expect.length_fields import (
    udp_length_of,
    wrong_frame_pad,
    wrong_lengths,
)
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.pattern import SEND_ONLY, WRITE_ONLY_IMM
from roceproof.conformance.suite.reporting.failure import FIELD_RULES
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.verbs.addresses import Host
from roceproof.verbs.service import Service

HERE, THERE = Host(b"\2\0\0\0\0\1", b"\xc0\0\2\1"), Host(b"\2\0\0\0\0\2", b"\xc0\0\2\2")
FLOW = FlowCodec(
    src=HERE,
    dst=THERE,
    dest_qpn=7,
    src_qpn=8,
    service=int(Service.RC),
    request_start=0,
    response_start=0,
)
PATTERNS = [
    SEND_ONLY(psn=0, payload=b""),
    SEND_ONLY(psn=0, payload=b"12345"),
    WRITE_ONLY_IMM(psn=0, va=1, rkey=2, dmalen=5, imm=3, payload=b"12345"),
]


def packet_of(pattern) -> Packet:
    packet = parse(FLOW.build(pattern))
    assert packet is not None
    return packet


@pytest.mark.parametrize("pattern", PATTERNS, ids=["empty", "odd", "immediate"])
def test_the_lengths_of_a_right_packet_are_right(pattern) -> None:
    assert wrong_lengths(packet_of(pattern), udp_length_of(pattern)) == []


@pytest.mark.parametrize(
    ("ip", "udp", "fields"),
    [
        (4, 4, ["ip_length"]),  # the UDP length follows
        (4, 0, ["ip_length"]),
        (0, -4, ["udp_length"]),
        (4, 8, ["ip_length", "udp_length"]),
    ],
)
def test_each_wrong_length_is_told_but_not_one_that_only_follows(ip: int, udp: int, fields) -> None:
    right = packet_of(PATTERNS[1])
    damaged = replace(
        right,
        ip=replace(right.ip, total_length=right.ip.total_length + ip),
        udp_length=right.udp_length + udp,
    )
    found = wrong_lengths(damaged, udp_length_of(PATTERNS[1]))
    assert [each.field for each in found] == fields
    assert all(each.field in FIELD_RULES for each in found)


@pytest.mark.parametrize(
    ("length", "told"), [(58, [("2 bytes", "0 bytes")]), (60, []), (64, [("2 bytes", "6 bytes")])]
)
def test_the_pad_of_a_frame_is_as_long_as_the_shortest_frame_needs(
    length: int, told: list[tuple[str, str]]
) -> None:
    frame = FLOW.build(SEND_ONLY(psn=0))[:58].ljust(length, b"\0")
    packet = parse(frame)
    assert packet is not None
    assert [(each.want, each.got) for each in wrong_frame_pad(frame, packet)] == told
