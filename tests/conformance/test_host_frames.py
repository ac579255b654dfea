# SPDX-License-Identifier: BSD-2-Clause
"""ARP, neighbour discovery and ping as the suite builds them, held against Scapy."""

from __future__ import annotations

from random import Random

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet

from roceproof.conformance.targets.ping import ECHO_DATA, echo_request, is_echo_reply, wrong_answer
from roceproof.conformance.wire.icmp import icmp_frame, usually_padded
from roceproof.conformance.wire.neighbours import (
    announce,
    answer,
    is_advertised,
    solicit,
    what_is_wrong_with_arp,
)
from roceproof.verbs.addresses import Host

SEEDS = range(8)
TAG = bytes.fromhex("81000005")


def hosts(seed: int, ip_bytes: int) -> tuple[Host, Host]:
    draw = Random(seed)
    prefix = bytes.fromhex("fe80")[: ip_bytes // 8]
    first, second = (
        Host(b"\x02" + draw.randbytes(5), prefix + draw.randbytes(ip_bytes - len(prefix)))
        for _ in "ab"
    )
    return first, second


@pytest.fixture(params=[4, 16], ids=["v4", "v6"])
def ip_bytes(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def rebuilt(frame: bytes) -> bytes:
    """What Scapy makes of the frame, with lengths and checksums of its own."""
    packet = Ether(frame)
    layer: Packet | None = packet
    while layer:
        for field in ("chksum", "cksum", "plen", "len"):
            if field in layer.fields and not layer.name.startswith("ICMPv6 Neighbor Discovery Opt"):
                delattr(layer, field)
        layer = layer.payload
    return bytes(packet).ljust(60, b"\0")


@pytest.mark.parametrize("seed", SEEDS)
def test_lengths_and_checksums_are_those_that_scapy_computes(seed: int, ip_bytes: int) -> None:
    asker, host = hosts(seed, ip_bytes)
    question = solicit(asker, host.ip)
    reply = answer(question, {host.ip: host.mac})
    assert reply is not None
    for frame in (question, reply, announce(host), echo_request(asker, host)):
        assert rebuilt(frame) == frame


@pytest.mark.parametrize("seed", SEEDS)
def test_scapy_reads_what_was_meant(seed: int, ip_bytes: int) -> None:
    asker, host = hosts(seed, ip_bytes)
    question = Ether(solicit(asker, host.ip))
    reply = Ether(answer(bytes(question), {host.ip: host.mac}))
    told = Ether(announce(host))
    assert (question.src, reply.src, reply.dst, told.src) == tuple(
        each.mac.hex(":") for each in (asker, host, asker, host)
    )
    if ip_bytes == 4:
        assert (question[ARP].op, reply[ARP].op, told[ARP].op) == (1, 2, 1)
        assert (reply[ARP].hwsrc, reply[ARP].psrc) == (reply.src, question[ARP].pdst)
        assert told[ARP].psrc == told[ARP].pdst == reply[ARP].psrc
    else:
        assert question[ICMPv6ND_NS].tgt == reply[ICMPv6ND_NA].tgt == told[ICMPv6ND_NA].tgt
        assert question[ICMPv6NDOptSrcLLAddr].lladdr == question.src
        assert reply[ICMPv6NDOptDstLLAddr].lladdr == told[ICMPv6NDOptDstLLAddr].lladdr == reply.src
        assert (reply[ICMPv6ND_NA].S, told[ICMPv6ND_NA].S) == (1, 0)
        assert {reply[IPv6].hlim, question[IPv6].hlim, told[IPv6].hlim} == {255}


def test_an_answer_is_known_and_keeps_the_tags_of_its_question(ip_bytes: int) -> None:
    asker, host = hosts(1, ip_bytes)
    question = solicit(asker, host.ip)
    tagged = answer(question[:12] + TAG + question[12:], {host.ip: host.mac})
    assert tagged is not None
    assert Ether(tagged)[Dot1Q].vlan == 5
    assert is_advertised(tagged, host.ip)
    assert not is_advertised(tagged, asker.ip)
    assert not is_advertised(question, host.ip)
    assert answer(question, {asker.ip: asker.mac}) is None


def echo_reply(asker: Host, host: Host) -> bytes:
    """A kernel's reply, by Scapy."""
    packet = Ether(echo_request(asker, host))
    ip = packet[IP] if IP in packet else packet[IPv6]
    ip.src, ip.dst = ip.dst, ip.src
    if IP in packet:
        packet[ICMP].type = 0
        del packet[ICMP].chksum, ip.chksum
    else:
        packet[ICMPv6EchoRequest].type = 129
        del packet[ICMPv6EchoRequest].cksum
    return bytes(packet)


def test_a_ping_is_answered_by_its_own_data_and_checksum(ip_bytes: int) -> None:
    asker, host = hosts(2, ip_bytes)
    reply = echo_reply(asker, host)
    assert is_echo_reply(reply)
    assert not is_echo_reply(echo_request(asker, host))
    for at in range(len(reply) - len(ECHO_DATA) - 8, len(reply)):
        damaged = bytearray(reply)
        damaged[at] ^= 1
        assert not is_echo_reply(bytes(damaged))
    for size in range(len(reply)):
        assert not is_echo_reply(reply[:size])


def test_an_answer_to_a_ping_that_is_wrong_is_told_by_its_fields(ip_bytes: int) -> None:
    asker, host = hosts(2, ip_bytes)
    reply = echo_reply(asker, host)
    assert wrong_answer([b"", bytes(60), reply]) is None
    at = len(reply) - len(ECHO_DATA) - 6
    damaged = reply[:at] + bytes((reply[at] ^ 1,)) + reply[at + 1 :]
    words = wrong_answer([reply, damaged])
    assert words is not None and words.startswith("ping is answered wrongly; icmp checksum: want")


def test_an_answer_to_arp_is_told_by_its_fields_too() -> None:
    asker, host = hosts(2, 4)
    reply = answer(solicit(asker, host.ip), {host.ip: host.mac})
    assert reply is not None and what_is_wrong_with_arp(reply, host, asker) == ""
    own = reply[:38] + host.ip + reply[42:]
    told = f"; arp target ip: want {asker.ip.hex()}, got {host.ip.hex()}"
    assert what_is_wrong_with_arp(own, host, asker) == told
    assert "arp padding" in what_is_wrong_with_arp(reply[:42], host, asker)
    other = bytes(6) + reply[6:]
    assert "arp destination" in what_is_wrong_with_arp(other, host, asker)
    assert what_is_wrong_with_arp(other, host, asker, through=bytes(6)) == ""


@pytest.mark.parametrize("tag", [b"", TAG], ids=["untagged", "tagged"])
def test_an_answer_may_have_another_pad_but_no_less_and_nothing_else_behind_it(tag: bytes) -> None:
    asker, host = hosts(2, 4)
    arp = answer(solicit(asker, host.ip), {host.ip: host.mac})
    assert arp is not None
    for padded, size in ((arp, 42), (icmp_frame(host, asker, 0, bytes(8)), 46)):
        said = padded[:12] + tag + padded[12:size]
        usual = said.ljust(60, b"\0")
        for filler in (b"\0", b"\x5a"):
            for length in (60, 64):
                assert usually_padded(said.ljust(length, filler)) == usual
            for length in (59, 61, 63, 65, 68):
                other = said.ljust(length, filler)
                assert usually_padded(other) == other
    whole = icmp_frame(host, asker, 0, bytes(33)) + b"\x5a"
    assert usually_padded(whole) == whole
    six, other = hosts(2, 16)
    shortest = icmp_frame(six, other, 129, b"")
    assert usually_padded(shortest.ljust(64, b"\x5a")) == shortest
