# SPDX-License-Identifier: BSD-2-Clause
"""ARP and ping are answered at any time; everything else is left alone."""

from __future__ import annotations

from functools import partial

import pytest
from endpoint_bench import PEER_IPV4, PEER_MAC, PORT_IPV4, PORT_MAC, Bench, qp

from roceproof.conformance.wire.ip import Ipv4, checksum
from roceproof.dpi import Flow
from roceproof.dpi.contract.records import Operation
from roceproof.verbs.addresses import parse_gid, parse_mac
from roceproof.verbs.service import PathMtu, Service

OWN_MAC, OWN_IPV4 = parse_mac(PORT_MAC), parse_gid(PORT_IPV4)[-4:]
HOST_MAC, HOST_IPV4 = parse_mac(PEER_MAC), parse_gid(PEER_IPV4)[-4:]
ANSWER_CYCLES = 40_000
ECHO_LENGTHS = (*range(201), 1472, 4000)


def arp_reply(asker_mac: bytes, asker_ipv4: bytes) -> bytes:
    body = bytes.fromhex("0001080006040002") + OWN_MAC + OWN_IPV4 + asker_mac + asker_ipv4
    return (asker_mac + OWN_MAC + b"\x08\x06" + body).ljust(60, b"\0")


def ask(bench: Bench, *frames: bytes) -> list[bytes]:
    """Inject frames and give the answers that are not RoCE."""
    bench.other_frames.clear()
    for frame in frames:
        bench.port.inject(frame)
    start = bench.cycle
    while len(bench.other_frames) < len(frames) and bench.cycle < start + ANSWER_CYCLES:
        bench.run(200)
        bench.answer()
    return list(bench.other_frames)


def assert_echo_reply(request: bytes, reply: bytes) -> None:
    assert reply[:6] == request[6:12] and reply[6:12] == request[:6]
    assert reply[12:14] == b"\x08\x00"
    assert checksum(reply[14:34]) == 0, "IPv4 header checksum"
    sent, got = Ipv4.unpack(request, 14, 34), Ipv4.unpack(reply, 14, 34)
    assert (got.src, got.dst, got.total_length) == (sent.dst, sent.src, sent.total_length)
    assert reply[14] == 0x45 and reply[23] == 1 and got.ttl >= 1
    end = 14 + sent.total_length
    icmp = reply[34:end]
    assert icmp[:2] == b"\0\0" and checksum(icmp) == 0
    assert icmp[4:] == request[38:end]
    assert len(reply) == max(60, end)
    assert not any(reply[end:]), "pad bytes"


def test_arp_requests_for_the_port_are_answered(bench: Bench) -> None:
    asker = (b"\x0a\x01\x02\x03\x04\x05", bytes((10, 1, 2, 3)))
    request = bench.peer.arp_request(sender_mac=asker[0], sender_ipv4=asker[1], target=OWN_IPV4)
    assert ask(bench, request) == [arp_reply(*asker)]
    unicast = OWN_MAC + request[6:]
    assert ask(bench, unicast) == [arp_reply(*asker)]
    assert ask(bench, request + b"\xa5" * 9) == [arp_reply(*asker)]


def test_arp_for_others_and_malformed_arp_is_not_answered(bench: Bench) -> None:
    good = bench.peer.arp_request(sender_mac=HOST_MAC, sender_ipv4=HOST_IPV4, target=OWN_IPV4)
    others = [
        bench.peer.arp_request(
            sender_mac=HOST_MAC, sender_ipv4=HOST_IPV4, target=bytes((192, 168, 1, last))
        )
        for last in (0, 2, 3, 129, 255)
    ]
    for offset in range(14, 22):  # hardware, protocol, lengths and operation
        others.append(good[:offset] + bytes([good[offset] ^ 0x80]) + good[offset + 1 :])
    others.append(b"\x02\0\0\0\x55\x55" + good[6:])
    bench.run(100)
    for frame in others:
        bench.port.inject(frame)
    bench.run(5000)
    assert bench.other_frames == []
    assert ask(bench, good) == [arp_reply(HOST_MAC, HOST_IPV4)]


@pytest.mark.parametrize("percent", [0, 80])
def test_pings_of_every_length_are_answered(bench: Bench, percent: int) -> None:
    bench.port.flow(Flow(tx_stall=percent, rx_gap=percent))
    for length in ECHO_LENGTHS if not percent else ECHO_LENGTHS[::7]:
        request = bench.peer.echo(
            bench.random.randbytes(length),
            sender_mac=HOST_MAC,
            sender_ipv4=HOST_IPV4,
            sequence=length,
            ip_id=bench.random.randrange(1 << 16),
        )
        (reply,) = ask(bench, request)
        assert_echo_reply(request, reply)


def test_the_checksum_of_an_echo_reply_is_right_for_any_sum(bench: Bench) -> None:
    for word in (0x0000, 0x0001, 0x07FF, 0x0800, 0xF7FE, 0xF7FF, 0xF800, 0xFFFE, 0xFFFF):
        for ident in (0, 0xFFFF):
            request = bench.peer.echo(
                word.to_bytes(2, "big"),
                sender_mac=HOST_MAC,
                sender_ipv4=HOST_IPV4,
                ident=ident,
                sequence=0,
            )
            (reply,) = ask(bench, request)
            assert_echo_reply(request, reply)


def test_arp_and_ping_are_answered_during_traffic(bench: Bench) -> None:
    reliable, unreliable = qp(0), qp(1, Service.UC, path_mtu=PathMtu.MTU_4096)
    bench.activate(reliable, unreliable)
    for index in range(24):
        bench.post(reliable, Operation(index % 4), 700 + index)
        bench.post(unreliable, Operation(index % 4), 5000 + index)
    for length in range(0, 160, 13):
        ping = bench.peer.echo(
            bench.random.randbytes(length), sender_mac=HOST_MAC, sender_ipv4=HOST_IPV4
        )
        arp = bench.peer.arp_request(sender_mac=HOST_MAC, sender_ipv4=HOST_IPV4, target=OWN_IPV4)
        replies = ask(bench, ping, arp)
        answer = arp_reply(HOST_MAC, HOST_IPV4)
        assert len(replies) == 2 and answer in replies
        replies.remove(answer)  # either may come first
        assert_echo_reply(ping, replies[0])
    bench.settle(limit=1_000_000)


def unrelated(bench: Bench) -> list[bytes]:
    """Frames that an endpoint sees on a busy network and has no business with."""
    echo = partial(bench.peer.echo, sender_mac=HOST_MAC, sender_ipv4=HOST_IPV4)
    ping = echo(b"twelve bytes")
    big = echo(bench.random.randbytes(9000))
    frames = [bytes([n]) * n for n in range(1, 70)]
    longer = echo(bench.random.randbytes(300))
    frames += [longer[:n] for n in (60, 61, 63, 64, 65, 127, 128, 129, 255, 256, len(longer) - 1)]
    frames += [
        echo(b"reply", reply=True),
        echo(b"to another", target=bytes((192, 168, 1, 9))),
        b"\x02\0\0\0\x44\x44" + ping[6:],
        ping[:20] + b"\x20\x00" + ping[22:],  # a fragment: its checksum is wrong, too
        ping[:23] + b"\x06" + ping[24:],
        ping[:12] + b"\x86\xdd" + ping[14:],
        ping[:12] + b"\x88\xcc" + ping[14:],
        ping[:12] + b"\x81\x00\x00\x64" + ping[12:],
        b"\xff" * 6 + bench.random.randbytes(1494),
        big[:23] + b"\x11" + big[24:],
    ]
    return frames


def test_unrelated_traffic_changes_nothing(bench: Bench) -> None:
    config = qp()
    bench.activate(config)
    frames = unrelated(bench)
    bench.random.shuffle(frames)
    for index, frame in enumerate(frames):
        bench.port.inject(frame, discard=index % 11 == 0)
        if index % 5 == 0:
            bench.post(config, Operation(index % 4), index * 3)
    bench.settle(limit=400_000)
    assert bench.other_frames == []
    ping = bench.peer.echo(b"still there?", sender_mac=HOST_MAC, sender_ipv4=HOST_IPV4)
    (reply,) = ask(bench, ping)
    assert_echo_reply(ping, reply)


def test_a_ping_marked_for_discard_is_not_answered(bench: Bench) -> None:
    for length in (0, 30, 1000):
        ping = bench.peer.echo(bytes(length), sender_mac=HOST_MAC, sender_ipv4=HOST_IPV4)
        bench.port.inject(ping, discard=True)
        (reply,) = ask(bench, ping)
        assert_echo_reply(ping, reply)
        bench.run(2000)
        assert bench.other_frames == [reply]
