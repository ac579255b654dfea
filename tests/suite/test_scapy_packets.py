# SPDX-License-Identifier: BSD-2-Clause
"""Scapy packets where patterns go: what is sent for what is not set, and what is compared."""

from __future__ import annotations

from random import Random

import pytest
from scapy.contrib import roce
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw, fuzz
from scapy.volatile import RandShort, RandString

from roceproof.conformance.suite import pattern
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.packets import (
    NoPacket,
    described,
    example,
    frames_of,
    mismatches,
    whole_frames,
)
from roceproof.conformance.suite.reporting.failure import Incomplete
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.scapy import AETH, BTH, DETH, RETH, CNPReserved, ImmDt
from roceproof.conformance.wire.scapy.dissection import dissected
from roceproof.conformance.wire.scapy.edits import NotAFrame
from roceproof.verbs.addresses import Host

FLOW = FlowCodec(
    src=Host(b"\x02" + bytes(5), bytes([10, 0, 0, 1])),
    dst=Host(b"\x04" + bytes(5), bytes([10, 0, 0, 2])),
    dest_qpn=0x123456,
    src_qpn=0x11,
    service=1,
    request_start=0xFFFFFE,
    response_start=0x100,
    sport=0xC123,
    tos=0x68,
    ttl=33,
    qkey=0x80010000,
)
IPV6 = FlowCodec(
    src=Host(b"\x02" + bytes(5), bytes([0xFE, 0x80, *bytes(13), 1])),
    dst=Host(b"\x04" + bytes(5), bytes([0xFE, 0x80, *bytes(13), 2])),
    dest_qpn=7,
    src_qpn=8,
    service=0,
    request_start=0,
    response_start=0,
    vlan=0x6005,
)


def sent(packet: object, flow: FlowCodec = FLOW) -> list[bytes]:
    return list(frames_of(packet, flow, Random(1)))  # type: ignore[arg-type]


def differs(wanted: Packet, frame: bytes, flow: FlowCodec = FLOW) -> dict[str, tuple[str, str]]:
    packet = parse(frame)
    assert packet is not None
    return {m.field: (m.want, m.got) for m in mismatches(wanted, packet, frame, flow)}


ALIKE = {
    "write": (
        BTH(opcode="WRITE ONLY", psn=3, ackreq=1) / RETH(address=7, rkey=8) / b"abc",
        pattern.WRITE_ONLY(psn=3, a=1, va=7, rkey=8, payload=b"abc"),
    ),
    "immediate": (
        BTH(opcode="WRITE ONLY IMM") / RETH(length=9) / ImmDt(value=5) / b"abcd",
        pattern.WRITE_ONLY_IMM(dmalen=9, imm=5, payload=b"abcd"),
    ),
    "ack": (BTH(opcode="ACKNOWLEDGE", psn=-1) / AETH(msn=4), pattern.ACK(psn=-1, msn=4)),
    "nak": (BTH(opcode="RC ACKNOWLEDGE") / AETH(syndrome=0x60), pattern.NAK(0)),
    "datagram": (BTH(opcode="UD SEND ONLY") / DETH() / b"x", pattern.UD_SEND_ONLY(payload=b"x")),
    "cnp": (BTH(opcode="CNP") / CNPReserved(), pattern.CNP()),
    "reserved": (BTH(opcode=0x15, resv7=5) / b"x", pattern.opcode(0x15, resv7=5, payload=b"x")),
    "qpn": (BTH(opcode="SEND ONLY", dqpn=5, pkey=1), pattern.SEND_ONLY(qpn=5, pkey=1)),
    "udp": (UDP(sport=9) / BTH(opcode="SEND ONLY"), pattern.SEND_ONLY(sport=9)),
    "ttl": (IP(ttl=9) / UDP() / BTH(opcode="SEND ONLY"), pattern.SEND_ONLY(ttl=9)),
    "tag": (
        Dot1Q(vlan=5, prio=3) / IP() / UDP() / BTH(opcode="SEND ONLY"),
        pattern.SEND_ONLY(vlan=0x6005),
    ),
}


@pytest.mark.parametrize("name", ALIKE)
def test_what_is_not_set_is_what_a_pattern_would_send(name: str) -> None:
    packet, same = ALIKE[name]
    (frame,), (other,) = sent(packet), sent(same)
    assert frame.ljust(60, b"\0") == other
    assert icrc.check(frame).judgement is icrc.Judgement.OK
    assert not differs(packet, frame)


def test_ipv6_and_a_tag_come_from_the_connection() -> None:
    for packet in (BTH(opcode="SEND ONLY"), IPv6() / UDP() / BTH(opcode="SEND ONLY")):
        assert sent(packet, IPV6)[0] == sent(pattern.SEND_ONLY(), IPV6)[0]


def test_a_service_that_is_named_is_kept() -> None:
    packet = parse(sent(BTH(opcode="RC SEND ONLY") / b"x")[0])
    assert packet is not None and packet.bth.opcode == 0x04


def test_what_is_set_is_sent_even_where_it_is_wrong() -> None:
    packet = IP(len=9, chksum=1) / UDP(len=3) / BTH(opcode="SEND ONLY", icrc=0x01020304) / b"x"
    frame = sent(packet)[0]
    assert (frame[16:18], frame[24:26], frame[38:40]) == (b"\0\x09", b"\0\x01", b"\0\x03")
    assert frame[-4:] == b"\1\2\3\4"


def test_headers_that_are_not_stacked_are_not_sent() -> None:
    packet = parse(sent(BTH(opcode="WRITE ONLY"))[0])
    assert packet is not None and packet.fault is not None


def test_a_whole_frame_is_sent_as_it_builds() -> None:
    frame = Ether(src="02:00:00:00:00:09", dst="02:00:00:00:00:08") / IP(src="1.2.3.4") / UDP()
    whole = frame / BTH(opcode="RC SEND ONLY", psn=5, dqpn=6) / b"x"
    whole[IP].dst = "1.2.3.5"
    assert sent(whole) == [bytes(whole)]
    packet = parse(bytes(whole))
    assert packet is not None and (packet.bth.psn, packet.bth.dest_qpn) == (5, 6)


def test_addresses_of_a_whole_frame_are_never_those_of_this_machine() -> None:
    (frame,) = whole_frames(Ether() / ARP(pdst="10.0.0.2"), FLOW.src, FLOW.dst, Random(1))
    packet = dissected(frame)
    assert (packet.src, packet.dst) == (FLOW.src.mac.hex(":"), FLOW.dst.mac.hex(":"))
    assert (packet[ARP].hwsrc, packet[ARP].psrc) == (FLOW.src.mac.hex(":"), "10.0.0.1")
    with pytest.raises(Incomplete, match="IPv6 has no src"):
        list(whole_frames(Ether() / IPv6(), FLOW.src, FLOW.dst, Random(1)))


def test_a_packet_that_stands_for_several_is_sent_as_all_of_them() -> None:
    psns = [parse(frame).bth.psn for frame in sent(BTH(opcode="SEND ONLY", psn=(2, 4)))]  # type: ignore[union-attr]
    assert psns == [0, 1, 2]


@pytest.mark.parametrize(
    "packet",
    [
        UDP(sport=RandShort()) / BTH(opcode="SEND ONLY") / Raw(RandString(9)),
        fuzz(BTH(opcode="SEND ONLY")),
    ],
)
def test_random_fields_are_drawn_from_the_seed(packet: Packet) -> None:
    assert sent(packet) == sent(packet)
    assert sent(packet) != list(frames_of(packet, FLOW, Random(2)))


@pytest.mark.parametrize(
    ("packet", "text"),
    [
        (BTH(psn=1), "no opcode"),
        (IPv6() / UDP() / BTH(opcode="SEND ONLY"), "no IPv6"),
        (ICMP(), "begins with ICMP"),
        ("SEND ONLY", "is no packet"),
    ],
)
def test_what_cannot_be_completed_is_refused(packet: object, text: str) -> None:
    with pytest.raises((Incomplete, NotAFrame, NoPacket), match=text):
        sent(packet)


def test_outside_a_connection_only_whole_frames_are_sent() -> None:
    with pytest.raises(NotAFrame, match=r"qp\.send"):
        list(whole_frames(BTH(opcode="SEND ONLY"), FLOW.src, FLOW.dst, Random(1)))


WRITE = sent(pattern.WRITE_ONLY(psn=3, a=1, va=7, rkey=8, payload=b"abc"))[0]


@pytest.mark.parametrize(
    "fits",
    [
        BTH(),
        BTH(opcode="WRITE ONLY"),
        BTH(opcode="UC WRITE ONLY", psn=3),
        BTH(psn=(0, 3)),
        BTH(psn=[1, 3], opcode=["WRITE FIRST", "WRITE ONLY"]),
        BTH() / RETH(length=3),
        BTH() / RETH() / b"abc",
        IP(ttl=33, src="10.0.0.1", flags="DF") / UDP(sport=0xC123),
        UDP() / BTH(padcount=1, pad=b"\0"),
        Ether(src="02:00:00:00:00:00") / IP() / UDP() / BTH(psn=1),
        roce.BTH(psn=3, opcode=0x2A),
    ],
)
def test_a_field_that_is_not_set_does_not_matter(fits: Packet) -> None:
    assert not differs(fits, WRITE)


@pytest.mark.parametrize(
    ("wanted", "field", "want", "got"),
    [
        (BTH(psn=2), "BTH.psn", "+2", "+3"),
        (BTH(psn=(0, 2)), "BTH.psn", "(0, 2)", "+3"),
        (BTH(opcode="WRITE FIRST"), "BTH.opcode", "RC WRITE FIRST", "UC WRITE ONLY"),
        (BTH(opcode="RC WRITE ONLY"), "BTH.opcode", "RC WRITE ONLY", "UC WRITE ONLY"),
        (BTH(ackreq=0), "BTH.ackreq", "0", "1"),
        (BTH(icrc=1), "BTH.icrc", "0x1", hex(int.from_bytes(WRITE[-4:], "big"))),
        (BTH() / RETH(rkey=9), "RETH.rkey", "0x9", "0x8"),
        (BTH() / RETH() / b"abd", "Raw.load", "3[616264]", "3[616263]"),
        (BTH() / RETH() / b"", "Raw.load", "0", "3[616263]"),
        (BTH() / AETH(), "AETH", "present", "RETH"),
        (BTH() / RETH() / ImmDt(), "ImmDt", "present", "Raw"),
        (IP(ttl=32), "IP.ttl", "32", "33"),
        (IP(id=1), "IP.id", "1", "0"),
        (IP(flags="MF"), "IP.flags", "MF", "DF"),
        (IP() / UDP(chksum=1), "UDP.chksum", "0x1", "0x0"),
        (IPv6(), "IPv6", "present", "absent"),
        (Ether(dst="02:00:00:00:00:00"), "Ether.dst", "02:00:00:00:00:00", "04:00:00:00:00:00"),
        (Ether() / Dot1Q(), "Dot1Q", "present", "IP"),
        (
            Ether() / IP() / UDP() / BTH(opcode="WRITE ONLY"),
            *("BTH.opcode", "RC WRITE ONLY", "UC WRITE ONLY"),
        ),
    ],
)
def test_a_field_that_is_set_must_fit(wanted: Packet, field: str, want: str, got: str) -> None:
    assert differs(wanted, WRITE.ljust(60, b"\0")) == {field: (want, got)}


def test_an_empty_payload_and_behind_it_the_ethernet_pad() -> None:
    frame = sent(pattern.ACK())[0]
    assert not differs(BTH() / AETH() / b"", frame.ljust(64, b"\0"))
    assert "Raw.load" in differs(BTH() / AETH() / b"x", frame)


class Greeting(Packet):
    name = "Greeting"
    fields_desc = Ether.fields_desc[2:3]


def test_a_payload_in_the_words_of_the_users_own_layer() -> None:
    frame = sent(pattern.SEND_ONLY(payload=b"\xff\xf1rest"))[0]
    assert not differs(BTH() / Greeting(type=0xFFF1) / b"rest", frame)
    assert differs(BTH() / Greeting(type=0xFFF2), frame) == {"Greeting.type": ("0xfff2", "0xfff1")}
    assert "Greeting" in differs(BTH() / Greeting(), sent(pattern.SEND_ONLY(payload=b"\1"))[0])


def test_a_random_field_cannot_be_expected() -> None:
    with pytest.raises(Incomplete, match="sport is random"):
        differs(UDP(sport=RandShort()), WRITE)


def test_what_is_wanted_is_told_in_one_line_and_has_an_example() -> None:
    wanted = BTH(opcode="WRITE ONLY", psn=3) / RETH(rkey=8) / b"abcdef"
    assert described(wanted) == (
        "BTH(opcode=RC WRITE ONLY psn=+3) / RETH(rkey=0x8) / Raw(load=6[61626364..])"
    )
    assert not differs(wanted, example(wanted, FLOW))
    some = pattern.WRITE_ONLY(psn=range(2, 4), payload=5, ttl=frozenset({9, 8}))
    assert not differs(BTH(psn=2), example(some, FLOW))
