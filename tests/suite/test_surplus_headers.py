# SPDX-License-Identifier: BSD-2-Clause
"""A header more or less is told as that, and not as what is then read in other places."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.notation import mismatches
from roceproof.conformance.suite.pattern import (
    READ_RESP_LAST,
    READ_RESP_MIDDLE,
    SEND_ONLY,
    SEND_ONLY_IMM,
    WRITE_LAST_IMM,
    WRITE_MIDDLE,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Pattern,
)
from roceproof.conformance.suite.reporting.failure import rule_of
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.headers import Aeth, ImmDt, Reth
from roceproof.verbs.addresses import Host

DATA = bytes(range(1, 21))
RETH = Reth(0x1112131415161718, 0x21222324, 532)
HOSTS = {"src": Host(bytes(6), bytes(4)), "dst": Host(bytes(6), bytes(4))}
FLOW = FlowCodec(**HOSTS, dest_qpn=1, src_qpn=2, service=0, request_start=0, response_start=0)


def came(pattern: Pattern, body: bytes) -> Packet:
    """The packet of a pattern, with these bytes behind its BTH."""
    right = parse(FLOW.build(pattern))
    assert right is not None
    found = parse(build(replace(right, extensions=(), payload=body)))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("pattern", "body", "fields"),
    [
        (WRITE_LAST_IMM(imm=7), RETH.pack() + ImmDt(7).pack() + DATA, ["surplus reth"]),
        (WRITE_LAST_IMM(imm=7), ImmDt(7).pack() + RETH.pack() + DATA, ["surplus reth"]),
        (WRITE_MIDDLE(), RETH.pack() + DATA, ["surplus reth"]),
        (SEND_ONLY(), ImmDt(9).pack() + DATA, ["surplus immediate"]),
        (SEND_ONLY_IMM(imm=7), DATA, ["missing immediate"]),
        (WRITE_ONLY(va=1, rkey=2, dmalen=20), DATA, ["missing reth"]),
        (READ_RESP_LAST(syndrome="ACK", msn=5), DATA, ["missing aeth"]),
        (READ_RESP_MIDDLE(), Aeth(0x1F, 5).pack() + DATA, ["surplus aeth"]),
        (SEND_ONLY(), DATA + bytes(4), ["payload"]),
        (SEND_ONLY(), DATA[:-4], ["payload"]),
        (SEND_ONLY(), DATA[::-1], ["payload"]),
    ],
)
def test_what_is_displaced_is_told_as_the_header(
    pattern: Pattern, body: bytes, fields: list[str]
) -> None:
    wanted = pattern.but(psn=0, payload=DATA)
    found = mismatches(wanted, came(wanted, body), FLOW)
    assert [each.field for each in found] == fields
    assert rule_of(found[0]) is not None


@pytest.mark.parametrize(
    ("pattern", "body"),
    [(SEND_ONLY_IMM(imm=7), b""), (WRITE_ONLY_IMM(imm=7, va=1, rkey=2, dmalen=0), RETH.pack())],
)
def test_a_header_is_missing_from_a_packet_without_payload_too(
    pattern: Pattern, body: bytes
) -> None:
    wanted = pattern.but(psn=0, payload=b"")
    if body:
        wanted = wanted.but(va=RETH.address, rkey=RETH.rkey, dmalen=RETH.length)
    assert [each.field for each in mismatches(wanted, came(wanted, body), FLOW)] == [
        "missing immediate"
    ]


def test_bytes_of_the_message_that_come_late_are_no_header() -> None:
    wanted = WRITE_MIDDLE(psn=0, payload=DATA)
    late = bytes(range(200, 216))
    found = mismatches(wanted, came(wanted, late + DATA), FLOW, in_front=late)
    assert [each.field for each in found] == ["payload"]


def test_bytes_that_are_all_alike_tell_of_no_header() -> None:
    wanted = SEND_ONLY(psn=0, payload=bytes(20))
    found = mismatches(wanted, came(wanted, bytes(24)), FLOW)
    assert [each.field for each in found] == ["payload"]
