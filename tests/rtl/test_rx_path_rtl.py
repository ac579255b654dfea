# SPDX-License-Identifier: BSD-2-Clause
"""rx_path and frame_mux of rtl/: ACK responses, ARP and ping replies, and what is dropped.

Expected ARP and ICMP frames are built by Scapy, so every checksum in them is its.
"""

from __future__ import annotations

import random

import pytest
from module_bench import Bench, Played
from rtl_frames import (
    PEER_IP,
    PEER_MAC,
    PORT_IP,
    PORT_MAC,
    VECTORS,
    acknowledge,
    icrc_offset,
    ipv4,
    random_roce,
    replaced,
    with_icrc,
    with_ip_checksum,
)
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

ECHO_BYTES = 16384
ECHO_GAP = 300  # cycles: longer than any short reply takes


def dotted(address: bytes) -> str:
    return ".".join(map(str, address))


def colons(mac: bytes) -> str:
    return mac.hex(":")


def response(frame: bytes) -> bytes:
    """The response record of an ACKNOWLEDGE, least significant byte first."""
    record = frame[47:50] + frame[51:54] + frame[54:58] + bytes(12) + frame[26:30]
    return record[::-1]


def arp_request(*, target: bytes = PORT_IP, to: bytes = b"\xff" * 6, operation: int = 1) -> bytes:
    packet = Ether(dst=colons(to), src=colons(PEER_MAC)) / ARP(
        op=operation, hwsrc=colons(PEER_MAC), psrc=dotted(PEER_IP), pdst=dotted(target)
    )
    return bytes(packet).ljust(60, b"\0")


def arp_reply() -> bytes:
    packet = Ether(dst=colons(PEER_MAC), src=colons(PORT_MAC)) / ARP(
        op=2,
        hwsrc=colons(PORT_MAC),
        psrc=dotted(PORT_IP),
        hwdst=colons(PEER_MAC),
        pdst=dotted(PEER_IP),
    )
    return bytes(packet).ljust(60, b"\0")


def echo(kind: str, data: bytes, *, ttl: int, number: int = 1) -> bytes:
    """An ICMP echo request to the port, or the port's reply to it."""
    request = kind == "echo-request"
    ends = (PEER_MAC, PEER_IP), (PORT_MAC, PORT_IP)
    (source_mac, source), (target_mac, target) = ends if request else ends[::-1]
    packet = (
        Ether(dst=colons(target_mac), src=colons(source_mac))
        / IP(src=dotted(source), dst=dotted(target), ttl=ttl, id=number, flags="DF", tos=0x1C)
        / ICMP(type=kind, id=0x1234, seq=number)
        / Raw(data)
    )
    return bytes(packet).ljust(60, b"\0")


def receive(
    bench: Bench,
    frames: list[Played],
    *,
    replies: list[bytes] | None = None,
    responses: list[bytes] | None = None,
    gap: int = 0,
    stall: int = 0,
    frame_gap: int = 0,
) -> None:
    """Play frames into rx_path; exactly these replies and responses must come."""
    bench.run(
        play={"rx_in": frames},
        expect={"rx_reply": replies or [], "rx_response": responses or []},
        gap=gap,
        stall=stall,
        frame_gap=frame_gap,
    )


@pytest.mark.parametrize(("gap", "stall"), [(0, 0), (0, 90), (50, 20)])
def test_every_acknowledge_becomes_a_response_in_order(bench: Bench, gap: int, stall: int) -> None:
    rng = random.Random(1)
    frames = [VECTORS["F"]]
    for _ in range(200):
        frames.append(
            acknowledge(
                rng.randrange(256),
                rng.getrandbits(24),
                dest_qpn=rng.getrandbits(24),
                psn=rng.getrandbits(24),
                source_port=rng.getrandbits(16),
                p_key=rng.choice((0x7FFF, 0xFFFF)),
            )
        )
    receive(
        bench,
        [Played(f) for f in frames],
        responses=[response(f) for f in frames],
        gap=gap,
        stall=stall,
    )


def test_bits_without_meaning_do_not_stop_an_acknowledge(bench: Bench) -> None:
    frame = acknowledge()
    changed = [
        with_icrc(replaced(frame, 43, b"\x00")),  # MigReq 0
        with_icrc(replaced(frame, 43, b"\xc0")),  # solicited
        replaced(frame, 46, b"\xff"),  # FECN, BECN and reserved: not covered
        with_icrc(replaced(frame, 50, b"\xff")),  # AckReq and reserved
        with_ip_checksum(replaced(frame, 15, b"\xff")),  # TOS: not covered
        with_ip_checksum(replaced(frame, 22, b"\x01")),  # TTL: not covered
        replaced(frame, 40, b"\x12\x34"),  # UDP checksum: not covered
        frame + b"\xaa" * 40,  # behind the packet
    ]
    receive(bench, list(map(Played, changed)), responses=[response(f) for f in changed])


def test_what_is_not_an_acknowledge_for_this_port_is_dropped(bench: Bench) -> None:
    frame = acknowledge()

    def edited(position: int, value: bytes) -> bytes:
        return with_icrc(with_ip_checksum(replaced(frame, position, value)))

    dropped = {
        "wrong ICRC": replaced(frame, icrc_offset(frame), bytes(4)),
        "ICRC of unmasked bytes": with_icrc(frame, masked=False),
        "other MAC": replaced(frame, 0, PEER_MAC),
        "broadcast MAC": replaced(frame, 0, b"\xff" * 6),
        "other address": edited(30, PEER_IP),
        "header checksum": replaced(frame, 24, b"\x12\x34"),
        "TTL changed, checksum not": replaced(frame, 22, b"\x3e"),
        "options": edited(14, b"\x46"),
        "version": edited(14, b"\x55"),
        "more fragments": edited(20, b"\x20\x00"),
        "fragment offset": edited(20, b"\x00\x01"),
        "protocol": edited(23, b"\x06"),
        "port": acknowledge(udp_port=4792),
        "transport version": acknowledge(version=1),
        "pad": acknowledge(pad_count=1),
        "partition": acknowledge(p_key=0xFFFE),
        "no partition": acknowledge(p_key=0x8000),
        "UC opcode": acknowledge(opcode=0x31),
        "READ response": acknowledge(opcode=0x10),
        "request": random_roce(random.Random(1), 4),
        "UDP length": replaced(frame, 38, b"\x00\x20"),
        "IP length": edited(16, b"\x00\x31"),
        "truncated": frame[:61],
        "IPv6": VECTORS["C"],
        "tagged": frame[:12] + b"\x81\x00\x00\x64" + frame[12:],
        "CNP": VECTORS["G"],
    }
    frames = [f for bad in dropped.values() for f in (Played(bad), Played(frame))]
    receive(bench, frames, responses=[response(frame)] * len(dropped))


def test_discarded_frame_gives_nothing(bench: Bench) -> None:
    frames = [acknowledge(), arp_request(), echo("echo-request", b"x", ttl=9)]
    receive(bench, [Played(f, discard=True) for f in frames])


def test_acknowledges_pass_between_large_frames_that_shrink(bench: Bench) -> None:
    rng = random.Random(6)
    frames, responses = [], []
    for length in (4096, 1024, 256, 64, 63, 5, 1, 0):
        ack = acknowledge(psn=length)
        frames += [Played(random_roce(rng, length)), Played(ack)]
        responses.append(response(ack))
    receive(bench, frames, responses=responses)


@pytest.mark.parametrize("to", [b"\xff" * 6, PORT_MAC], ids=["broadcast", "unicast"])
def test_arp_request_is_answered(bench: Bench, to: bytes) -> None:
    receive(bench, [Played(arp_request(to=to))], replies=[arp_reply()], stall=50)


def test_other_arp_is_not_answered(bench: Bench) -> None:
    request = arp_request()
    frames = [
        arp_request(target=PEER_IP),
        arp_request(to=b"\x02" * 6),
        arp_request(operation=2),
        replaced(request, 14, b"\x00\x06"),
        replaced(request, 16, b"\x86\xdd"),
        replaced(request, 18, b"\x08\x04"),
        replaced(request, 18, b"\x06\x10"),
        request[:41],
    ]
    receive(bench, list(map(Played, frames)), frame_gap=50)


@pytest.mark.parametrize("stall", [0, 60])
def test_ping_of_any_short_length_is_answered(bench: Bench, stall: int) -> None:
    rng = random.Random(7)
    lengths = range(2 * bench.width // 8 + 3)
    data = [rng.randbytes(n) for n in lengths]
    receive(
        bench,
        [Played(echo("echo-request", d, ttl=n % 255 + 1, number=n)) for n, d in enumerate(data)],
        replies=[echo("echo-reply", d, ttl=64, number=n) for n, d in enumerate(data)],
        stall=stall,
        frame_gap=ECHO_GAP,
    )


def test_checksums_are_right_where_the_carry_comes_around(bench: Bench) -> None:
    # Content that puts the request's checksum at every value near the edges.
    values = [*range(0xF7F0, 0x10000, 97), 0x0000, 0x0001, 0x07FF, 0x0800, 0xF7FF, 0xF800]
    data = [bytes(4) + v.to_bytes(2, "big") for v in values]
    for ttl in (1, 63, 64, 65, 255):
        receive(
            bench,
            [Played(echo("echo-request", d, ttl=ttl)) for d in data],
            replies=[echo("echo-reply", d, ttl=64) for d in data],
            frame_gap=ECHO_GAP,
        )


def test_largest_ping_is_answered_and_a_larger_one_is_not(bench: Bench) -> None:
    rng = random.Random(8)
    largest = rng.randbytes(ECHO_BYTES - 14 - 20 - 8)
    requests = [echo("echo-request", d, ttl=5) for d in (largest, largest + b"x", b"y")]
    receive(
        bench,
        list(map(Played, requests)),
        replies=[echo("echo-reply", d, ttl=64) for d in (largest, b"y")],
        frame_gap=3000,
    )


def test_ethernet_padding_of_a_ping_is_made_anew(bench: Bench) -> None:
    request = echo("echo-request", b"abc", ttl=7)
    dirty = request[:45] + b"\xee" * 15
    longer = request[:45] + b"\xdd" * 400
    receive(
        bench,
        [Played(dirty), Played(longer)],
        replies=[echo("echo-reply", b"abc", ttl=64)] * 2,
        frame_gap=ECHO_GAP,
    )


def test_wrong_icmp_checksum_stays_wrong(bench: Bench) -> None:
    data = random.Random(9).randbytes(40)
    request = echo("echo-request", data, ttl=64)
    reply = echo("echo-reply", data, ttl=64)
    receive(
        bench,
        [Played(replaced(request, 50, b"\x55\xaa"))],
        replies=[replaced(reply, 50, b"\x55\xaa")],
    )


def test_other_icmp_is_not_answered(bench: Bench) -> None:
    request = echo("echo-request", bytes(40), ttl=64)
    frames = [
        replaced(request, 0, b"\xff" * 6),
        with_ip_checksum(replaced(request, 30, PEER_IP)),
        replaced(request, 24, b"\0\0"),
        with_ip_checksum(replaced(request, 20, b"\x20\x00")),
        with_ip_checksum(replaced(request, 20, b"\x00\x08")),
        with_ip_checksum(replaced(request, 14, b"\x46")),
        with_ip_checksum(replaced(request, 16, b"\x00\x1b")),
        with_ip_checksum(replaced(request, 16, b"\x05\x00")),
        replaced(request, 34, b"\x00"),
        replaced(request, 34, b"\x08\x01"),
        ipv4(17, bytes(40)),
    ]
    receive(bench, list(map(Played, frames)), frame_gap=ECHO_GAP)


def test_second_ping_is_dropped_while_the_first_reply_leaves(bench: Bench) -> None:
    requests = [echo("echo-request", bytes(200), ttl=9, number=n) for n in range(2)]
    ack = acknowledge()
    receive(
        bench,
        [Played(f) for f in (*requests, ack)],
        replies=[echo("echo-reply", bytes(200), ttl=64, number=0)],
        responses=[response(ack)],
    )


def test_ping_that_begins_while_a_reply_leaves_is_dropped_whole(bench: Bench) -> None:
    # It ends long after the reply does, but its beginning was not kept.
    requests = [echo("echo-request", bytes(n), ttl=9) for n in (0, 4000)]
    receive(bench, list(map(Played, requests)), replies=[echo("echo-reply", b"", ttl=64)])


def test_ping_right_behind_any_other_frame_is_answered(bench: Bench) -> None:
    rng = random.Random(10)
    others = [acknowledge(), random_roce(rng, 4096), b"\xff" * 60, VECTORS["A"]]
    request = echo("echo-request", b"0123456789", ttl=3)
    for other in others:
        responses = [response(other)] if other == others[0] else []
        receive(
            bench,
            [Played(other), Played(request)],
            replies=[echo("echo-reply", b"0123456789", ttl=64)],
            responses=responses,
        )


def test_replies_that_nobody_takes_do_not_stop_acknowledges(bench: Bench) -> None:
    acks = [acknowledge(psn=n) for n in range(50)]
    frames = [echo("echo-request", bytes(1000), ttl=3), arp_request(), arp_request(), *acks]
    bench.run(
        play={"rx_in": map(Played, frames)},
        expect={"rx_response": map(response, acks)},
        stuck="rx_reply",
    )


@pytest.mark.parametrize("stall", [0, 50])
def test_mux_takes_waiting_frames_in_turn_and_never_splits_one(bench: Bench, stall: int) -> None:
    rng = random.Random(11)
    a = [rng.randbytes(rng.randrange(60, 600)) for _ in range(60)]
    b = [rng.randbytes(rng.randrange(60, 600)) for _ in range(60)]
    bench.run(
        play={"mux_a": list(map(Played, a)), "mux_b": list(map(Played, b))},
        expect={"mux_out": [frame for pair in zip(a, b, strict=True) for frame in pair]},
        stall=stall,
        no_idle_output=stall == 0,
    )
