# SPDX-License-Identifier: BSD-2-Clause
"""Captures that cost the most: what a broken device, a broken tool or a hostile hand can write.

Each is a stream of (nanoseconds, frame) from a seed, as long as it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import ip_address
from random import Random
from struct import pack

from roceproof.conformance.wire import icrc

Frames = Iterator[tuple[int, bytes]]

SEND_FIRST, SEND_MIDDLE, SEND_ONLY, READ_REQUEST, ACKNOWLEDGE = 0, 1, 4, 0x0C, 0x11
HERE, THERE = ip_address("10.0.0.1").packed, ip_address("10.0.0.2").packed


def frame(
    opcode: int,
    *,
    qpn: int = 0x11,
    psn: int = 0,
    body: bytes = b"",
    source: bytes = HERE,
    destination: bytes = THERE,
    mac: bytes = b"\x02\0\0\0\0\x01",
    wrong: int = 0,
) -> bytes:
    """One packet over IPv4; `wrong` is what its ICRC is off by."""
    bth = pack(">BBHII", opcode, 0x40, 0xFFFF, qpn, psn | 1 << 31)
    udp = pack(">HHHH", 0xC000, 4791, 24 + len(body), 0)
    ip = pack(">BBHIBBH", 0x45, 0, 44 + len(body), 0x4000, 64, 17, 0) + source + destination
    whole = b"\x02\0\0\0\0\x02" + mac + b"\x08\0" + ip + udp + bth + body + bytes(4)
    right = icrc.compute(whole)
    return whole[:-4] + bytes(a ^ b for a, b in zip(right, wrong.to_bytes(4, "big"), strict=True))


def one_packet_flows(count: int, *, seed: int = 1) -> Frames:
    """Every request to another QP."""
    order = Random(seed)
    for number in range(count):
        yield number, frame(SEND_ONLY, qpn=number, psn=order.randrange(1 << 24), body=bytes(8))


def one_packet_pairs(count: int, *, seed: int = 1) -> Frames:
    """Requests to QPs of their own, and responses to QPs of their own: who answers whom?"""
    order = Random(seed)
    for number in range(count):
        psn = order.randrange(1 << 24) if seed % 2 else number % 3
        if number % 2:
            back = {"source": THERE, "destination": HERE, "mac": b"\x02\0\0\0\0\x02"}
            yield number, frame(ACKNOWLEDGE, qpn=number, psn=psn, body=bytes(4), **back)
        else:
            yield number, frame(SEND_ONLY, qpn=number, psn=psn, body=bytes(8))


def all_wrong(count: int, *, seed: int = 1, size: int = 64) -> Frames:
    """One transmitter whose every ICRC is wrong in a way of its own."""
    order = Random(seed)
    for number in range(count):
        wrong = order.randrange(1, 1 << 32)
        yield number, frame(SEND_ONLY, psn=number, body=order.randbytes(size), wrong=wrong)


def jumbo(count: int, *, seed: int = 1) -> Frames:
    """The longest packets that an IP length can tell, all wrong differently."""
    return all_wrong(count, seed=seed, size=65_488)


def strangers(count: int, *, seed: int = 1) -> Frames:
    """Every wrong packet from another transmitter, to another QP."""
    order = Random(seed)
    for number in range(count):
        who = {"mac": order.randbytes(6), "source": order.randbytes(4)}
        wrong = order.randrange(1, 1 << 32)
        body = order.randbytes(4 * order.randrange(64))
        yield number, frame(SEND_ONLY, qpn=order.randrange(1 << 24), body=body, wrong=wrong, **who)


def addresses(count: int, *, seed: int = 1) -> Frames:
    """One MAC address that sends every wrong packet from another IP address."""
    order = Random(seed)
    for number in range(count):
        body = order.randbytes(4 * order.randrange(64))
        wrong = order.randrange(1, 1 << 32)
        yield number, frame(SEND_ONLY, body=body, wrong=wrong, source=order.randbytes(4))


def psn_chaos(count: int, *, seed: int = 1) -> Frames:
    """Two QPs that send any PSN at any time: requests, READs of any length, ACKs and NAKs."""
    order = Random(seed)
    for number in range(count):
        back = number % 2 == 1
        ends = {"source": THERE, "destination": HERE, "mac": b"\x02\0\0\0\0\x02"} if back else {}
        opcode = order.choice((SEND_FIRST, SEND_MIDDLE, SEND_ONLY, READ_REQUEST, ACKNOWLEDGE))
        psn = order.choice((order.randrange(1 << 24), order.randrange(256), number % (1 << 24)))
        body = bytes(8)
        if opcode == READ_REQUEST:
            body = pack(">QII", order.randrange(1 << 32), 1, 1 << order.randrange(32))
        elif opcode == ACKNOWLEDGE:
            body = pack(">I", order.choice((0x1F000000, 0x60000000)) | order.randrange(1 << 24))
        wrong = order.randrange(1 << 32) if order.random() < 0.1 else 0
        yield number, frame(opcode, psn=psn, body=body, wrong=wrong, **ends)


KINDS: tuple[Callable[..., Frames], ...] = (
    one_packet_flows,
    one_packet_pairs,
    all_wrong,
    jumbo,
    strangers,
    addresses,
    psn_chaos,
)
