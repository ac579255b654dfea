# SPDX-License-Identifier: BSD-2-Clause
"""Partial packets: what is sent for what is not said, what is compared, and how it is told."""

from __future__ import annotations

import pytest

from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.notation import got, mismatches, wanted
from roceproof.conformance.suite.pattern import (
    ACK,
    ACKNOWLEDGE,
    CNP,
    NAK,
    RNR,
    SEQUENCE_ERROR,
    WRITE_FIRST,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    opcode,
)
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.verbs.addresses import Host

FLOW = FlowCodec(
    src=Host(b"\x02" + bytes(5), bytes([10, 0, 0, 1])),
    dst=Host(b"\x04" + bytes(5), bytes([10, 0, 0, 2])),
    dest_qpn=0x123456,
    src_qpn=0x11,
    service=1,
    request_start=0xFFFFFE,
    response_start=0x100,
)


def sent(pattern: object) -> Packet:
    packet = parse(FLOW.build(pattern))  # type: ignore[arg-type]
    assert packet is not None
    return packet


def test_psns_count_from_the_start_of_their_direction_and_wrap() -> None:
    packet = sent(WRITE_ONLY(psn=3))
    assert packet.bth.psn == 1
    assert "psn=+3" in got(packet, FLOW)
    assert sent(ACK(psn=3)).bth.psn == 0x103


def test_the_connection_sets_the_service_but_not_of_responses_and_raw_opcodes() -> None:
    assert sent(WRITE_ONLY()).bth.opcode == 0x2A
    assert sent(ACK()).bth.opcode == 0x11
    assert sent(CNP()).bth.opcode == 0x81
    assert sent(opcode(0x15)).bth.opcode == 0x15


def test_a_field_that_is_not_said_does_not_matter() -> None:
    packet = sent(WRITE_ONLY(psn=0, payload=b"abc", va=7, rkey=8))
    assert not mismatches(WRITE_ONLY(psn=0), packet, FLOW)
    assert not mismatches(WRITE_ONLY(payload=3), packet, FLOW)
    assert not mismatches(WRITE_ONLY(psn=range(0, 3)), packet, FLOW)


def test_half_of_all_psns_ahead_is_half_of_them_behind() -> None:
    packet = sent(WRITE_ONLY(psn=1 << 23))
    assert not mismatches(WRITE_ONLY(psn=1 << 23), packet, FLOW)
    assert not mismatches(WRITE_ONLY(psn=-(1 << 23)), packet, FLOW)
    (wrong,) = mismatches(WRITE_ONLY(psn=(1 << 23) - 1), packet, FLOW)
    assert wrong.field == "psn"


def test_of_a_wrong_payload_the_bytes_that_differ_are_shown() -> None:
    packet = sent(WRITE_ONLY(payload=b"abcdefgh", va=7, rkey=8))
    (late,) = mismatches(WRITE_ONLY(payload=b"abcdeXYZ"), packet, FLOW)
    assert late[1:3] == ("8[58595a from 5 on]", "8[666768 from 5 on]")
    (early,) = mismatches(WRITE_ONLY(payload=b"aXcdeXYZ"), packet, FLOW)
    assert early[1:3] == ("8[61586364..]", "8[61626364..]")


@pytest.mark.parametrize(
    ("pattern", "field"),
    [
        (WRITE_ONLY(psn=1), "psn"),
        (WRITE_ONLY(payload=4), "payload"),
        (WRITE_ONLY(payload=b"abd"), "payload"),
        (WRITE_ONLY(va=8), "va"),
        (WRITE_ONLY(imm=1), "imm"),
        (WRITE_ONLY_IMM(psn=0), "opcode"),
        (WRITE_ONLY(psn=range(1, 3)), "psn"),
    ],
)
def test_a_field_that_is_said_must_fit(pattern: object, field: str) -> None:
    packet = sent(WRITE_ONLY(psn=0, payload=b"abc", va=7, rkey=8))
    found = mismatches(pattern, packet, FLOW)  # type: ignore[arg-type]
    assert found[0].field == field


def test_kinds_of_acknowledgement_are_told_apart() -> None:
    ack, nak = sent(ACK(psn=0, credits=5)), sent(NAK(SEQUENCE_ERROR, psn=0))
    rnr = sent(RNR(psn=0, timer=12))
    assert not mismatches(ACK(), ack, FLOW)
    assert not mismatches(RNR(), rnr, FLOW)
    assert mismatches(ACK(), nak, FLOW)
    assert mismatches(ACK(), rnr, FLOW)
    assert mismatches(RNR(), ack, FLOW)
    assert mismatches(ACK(), sent(ACKNOWLEDGE(syndrome=0x80)), FLOW)
    assert [got(p, FLOW).split()[0] for p in (ack, nak, rnr)] == ["ACK", "NAK", "RNR"]


def test_what_is_wanted_and_what_came_are_told_alike() -> None:
    pattern = WRITE_FIRST(psn=-1, payload=256, dmalen=700, va=0x10, rkey=1)
    packet = sent(pattern.but(payload=bytes(256)))
    assert wanted(pattern) == "WRITE_FIRST psn=-1 va=0x10 rkey=0x1 dmalen=700 payload=256"
    assert got(packet, FLOW, pattern).startswith("WRITE_FIRST psn=-1 va=0x10 rkey=0x1 dmalen=700")


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="no field 'pns'"):
        WRITE_ONLY(pns=3)


def test_corrupted_keeps_the_icrc_and_resealed_mends_it() -> None:
    pattern = WRITE_ONLY(payload=b"abcd")
    corrupted = FLOW.build(pattern.corrupted(edits.flip_udp(8 + 8, 0x80)))
    resealed = FLOW.build(pattern.resealed(edits.flip_udp(8 + 8, 0x80)))
    assert icrc.check(corrupted).judgement is icrc.Judgement.BAD
    assert icrc.check(resealed).judgement is icrc.Judgement.OK
    packet = parse(resealed)
    assert packet is not None
    assert packet.bth.ack_req


@pytest.mark.parametrize("change", [-4, -1, 3, 8])
def test_resize_keeps_lengths_and_icrc_right(change: int) -> None:
    frame = FLOW.build(WRITE_ONLY(payload=bytes(64)).resealed(edits.resize(change)))
    plain = FLOW.build(WRITE_ONLY(payload=bytes(64)))
    assert len(frame) == len(plain) + change
    assert icrc.check(frame).judgement is icrc.Judgement.OK


def test_one_of_several_values_is_shown_with_all_of_them() -> None:
    assert wanted(WRITE_ONLY(psn=frozenset({3, 0}))) == "WRITE_ONLY psn=+0|+3"
