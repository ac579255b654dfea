# SPDX-License-Identifier: BSD-2-Clause
"""Which rules a packet breaks that is not the one predicted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from roceproof.conformance.stimulus.requester.incarnation import Life
from roceproof.conformance.stimulus.requester.tolerance import differences, is_as_wanted
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.frame_edits import (
    fix_ip_checksum,
    layout_of,
    reseal,
    resize,
    say_length,
)
from roceproof.conformance.wire.headers import ImmDt
from roceproof.conformance.wire.icrc import compute_at
from roceproof.conformance.wire.ip import Ipv4, Ipv6, checksum
from roceproof.conformance.wire.transmitter import Requester
from roceproof.dpi import Operation, QpConfig, WorkRequest
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Work


def predicted(length: int = 4) -> bytes:
    requester = Requester(mac=bytes(6), ipv4=bytes((10, 0, 0, 1)))
    requester.configure(QpConfig(local_qpn=2, remote_qpn=3, service=Service.UC))
    write = WorkRequest(wr_id=1, qpn=2, operation=Operation.WRITE, length=length)
    return next(iter(requester.frames(write, bytes(length))))


def test_a_wrong_field_under_an_icrc_that_fits_breaks_one_rule() -> None:
    wanted = predicted()
    packet = parse(wanted)
    assert packet is not None
    frame = build(replace(packet, ip=replace(packet.ip, ident=packet.ip.ident ^ 1)))
    text, rules = differences(frame, wanted)
    assert "icrc: want" not in text
    assert rules == ["LIVE-02"]


def test_an_icrc_that_does_not_fit_is_broken_beside_a_wrong_field() -> None:
    wanted = predicted()
    packet = parse(wanted)
    assert packet is not None
    frame = bytearray(build(replace(packet, ip=replace(packet.ip, ident=packet.ip.ident ^ 1))))
    at = frame.rindex(packet.payload) + 4
    frame[at] ^= 1
    assert differences(bytes(frame), wanted)[1] == ["LIVE-02", "ICRC-02"]


@pytest.mark.parametrize(
    ("known", "told"), [(b"\1\2\3\4", True), (b"\1\2\3\5", False), (bytes(4), False)]
)
def test_a_payload_of_other_work_is_told_with_its_work(known: bytes, told: bool) -> None:
    wanted = predicted(8)
    packet = parse(wanted)
    assert packet is not None
    frame = build(replace(packet, payload=bytes((1, 2, 3, 4, 0, 0, 0, 0))))
    text, rules = differences(frame, wanted, {known: 0x77})
    assert ("as work 0x77 has" in text) is told
    assert "RETH-13" in rules


def test_in_a_packet_of_another_kind_its_opcode_alone_is_broken() -> None:
    wanted = predicted()
    packet = parse(wanted)
    assert packet is not None
    bth = replace(packet.bth, opcode=0x25, ack_req=True)
    frame = build(replace(packet, bth=bth, extensions=(ImmDt(7),), payload=bytes(12)))
    text, rules = differences(frame, wanted)
    assert text.splitlines()[2].startswith("      opcode: want WRITE_ONLY, got SEND_ONLY_IMM")
    assert rules == ["OPC-01"]


@pytest.mark.parametrize("ip", [Ipv4, Ipv6])
def test_a_udp_checksum_that_is_right_is_a_choice(ip: type[Ipv4 | Ipv6]) -> None:
    packet = parse(predicted())
    assert packet is not None
    size = 4 if ip is Ipv4 else 16
    wanted = build(replace(packet, ip=ip(src=bytes(size), dst=b"\1" * size)))
    frame, layout = bytearray(wanted), layout_of(wanted)
    length = layout.end - layout.udp
    pseudo = bytes(size) + b"\1" * size + length.to_bytes(2, "big") + b"\0\x11"
    found = checksum(pseudo + wanted[layout.udp : layout.end])
    frame[layout.udp + 6 : layout.udp + 8] = found.to_bytes(2, "big")
    assert is_as_wanted(bytes(frame), wanted)
    frame[layout.udp + 7] ^= 1
    assert not is_as_wanted(bytes(frame), wanted)
    assert differences(bytes(frame), wanted)[1] == ["UDP-03"]


@pytest.mark.parametrize("op", [Op.READ, Op.FETCH_ADD, Op.WRITE])
def test_what_data_answer_need_not_ask_for_an_acknowledgement(op: Op) -> None:
    spec = QpSpec(service=Service.RC, remote_qpn=3, remote=Host(bytes(6), b"\x0a\0\0\2"))
    life = Life(spec=spec, host=Host(bytes(6), b"\x0a\0\0\1"))
    wanted = life.frame(Work(wr_id=1, op=op, length=8), 0, 0, 0)
    packet = parse(wanted)
    assert packet is not None and packet.bth.ack_req
    silent = replace(packet, bth=replace(packet.bth, ack_req=False))
    assert is_as_wanted(build(silent), wanted) is (op is not Op.WRITE)
    hops = build(replace(silent, ip=replace(packet.ip, ttl=9)))
    text, _ = differences(hops, wanted)
    told = [line.split(":")[0].strip() for line in text.splitlines()[2:]]
    assert told == (["a", "ttl"] if op is Op.WRITE else ["ttl"])


@pytest.mark.parametrize("length", [0, 4])
def test_a_wrong_length_alone_is_told_alone(length: int) -> None:
    wanted = predicted(length)
    frame = bytearray(wanted)
    layout, packet = layout_of(frame), parse(wanted)
    assert packet is not None
    say_length(packet.udp_length + 4)(frame)
    fix_ip_checksum(frame)
    frame[layout.end - 4 : layout.end] = compute_at(bytes(frame), layout)
    text, rules = differences(bytes(frame), wanted)
    assert rules == ["IP-02"]
    assert [line.split(":")[0].strip() for line in text.splitlines()[2:]] == ["ip_length"]


def test_a_packet_that_is_really_longer_is_not_told_as_a_wrong_length() -> None:
    wanted = predicted(4)
    frame = bytearray(wanted)
    resize(4)(frame)
    reseal(frame)
    text, rules = differences(bytes(frame), wanted)
    assert "payload: want 4[" in text
    assert "IP-02" not in rules
