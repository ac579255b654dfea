# SPDX-License-Identifier: BSD-2-Clause
"""A healthy capture breaks no rule; each spoiled one breaks exactly the rule it is named for."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from healthy_capture import (
    PATH_MTU,
    SEND,
    SEND_IMM,
    UC,
    WRITE,
    WRITE_IMM,
    Sender,
    ack,
    body,
    frames_of,
    poke,
    with_bth,
)

from roceproof.conformance import checker, frame_checks, request_flow, response_flow
from roceproof.conformance.checker import Checker
from roceproof.conformance.codec import build, parse
from roceproof.conformance.findings import Direction
from roceproof.conformance.headers import Aeth, ImmDt, Reth
from roceproof.conformance.rules import RULES

IPV6_SEND = bytes.fromhex(
    "02000000000202000000000186dd66a123450020114020010db8000000000000"
    "00000000000120010db8000000000000000000000002c0de12b7002000000460"
    "ffff0000001380000000d0d1d2d3d4d500007ee8ee15"
)

SIZES = (0, 1, 2, 3, 4, 5, PATH_MTU - 1, PATH_MTU, PATH_MTU + 1, 3 * PATH_MTU, 3 * PATH_MTU + 7)


def broken_rules(frames: list[bytes], **options: int) -> list[str]:
    checker = Checker(**options)
    return [finding.rule.id for frame in frames for finding in checker.feed(frame)]


@pytest.mark.parametrize("service", [0, UC])
@pytest.mark.parametrize("opcodes", [SEND, SEND_IMM, WRITE, WRITE_IMM])
def test_every_healthy_message_passes_across_the_psn_wrap(
    service: int, opcodes: tuple[int, ...]
) -> None:
    sender = Sender(service, psn=0xFFFFF8)
    packets = [packet for size in SIZES for packet in sender.message(opcodes, size)]
    assert broken_rules(frames_of(packets), path_mtu=PATH_MTU, ip_mtu=1500) == []


def test_healthy_responses_pass() -> None:
    packets = [
        ack(0xFFFFFF, 0xFFFFFF),
        ack(0, 0),
        ack(5, 3, syndrome=0),
        ack(6, 3, syndrome=0x60),
        ack(6, 4),
        ack(7, 4, syndrome=0x2C),
        ack(7, 5),
        replace(ack(8, 6, opcode=0x0D), payload=bytes(PATH_MTU)),
        replace(ack(9, 6, opcode=0x0E), payload=bytes(PATH_MTU), extensions=()),
        replace(ack(10, 6, opcode=0x0F), payload=bytes(3)),
    ]
    assert broken_rules(frames_of(packets)) == []


def test_other_traffic_and_congestion_notifications_pass() -> None:
    cnp = "020000000002020000000001080045c0003c1a2f400040119c6ec0a80101c0a80102c0de12b7002800008100"
    cnp += "ffff4000002100000000" + "00" * 16 + "713655c7"
    request = frames_of(Sender(qpn=0x21).message(SEND, 4))
    arp = bytes.fromhex("ffffffffffff0200000000010806") + bytes(46)
    assert broken_rules([*request, bytes.fromhex(cnp), arp, b"", b"\0" * 13]) == []


def test_an_rc_retransmission_is_no_violation() -> None:
    frames = frames_of(Sender().message(WRITE, 3 * PATH_MTU) + Sender(psn=103).message(SEND, 9))
    assert broken_rules(frames + frames[1:]) == []


def test_a_capture_may_begin_inside_a_message() -> None:
    frames = frames_of(Sender().message(WRITE_IMM, 4 * PATH_MTU))
    for start in range(1, 4):
        assert broken_rules(frames[start:]) == []


Spoiled = Callable[[], list[bytes]]
SPOILED: dict[str, Spoiled] = {}


def breaks(*rules: str) -> Callable[[Spoiled], Spoiled]:
    """Register a spoiled capture for each rule that it alone must break."""

    def register(spoil: Spoiled) -> Spoiled:
        for rule in rules:
            name = rule if rule not in SPOILED else f"{rule} {spoil.__name__}"
            SPOILED[name] = spoil
        return spoil

    return register


def one_send(length: int = 8) -> bytes:
    return frames_of(Sender().message(SEND, length))[0]


def one_write(length: int = 8) -> bytes:
    return frames_of(Sender().message(WRITE, length))[0]


def spoil(rule: str, make: Spoiled) -> None:
    SPOILED[rule] = make


# Ethernet, IP, UDP
spoil("ETH-02", lambda: [one_send(0)[:58]])
spoil("ETH-02 trailer", lambda: [one_send(40) + b"\0"])
spoil("ETH-04", lambda: [one_send(0)[:58] + b"\1\0"])
spoil("ETH-05", lambda: [b"\xff" * 6 + one_send()[6:]])
spoil("ETH-05 unresolved", lambda: [b"\0" * 6 + one_send()[6:]])


@breaks("IP-01")
def options() -> list[bytes]:
    frame = one_send(40)
    longer = frame[:34] + bytes.fromhex("94040000") + frame[34:]
    longer = poke(longer, 16, (len(longer) - 14).to_bytes(2, "big"), seal=False)
    return [poke(longer, 14, b"\x46")]


spoil("IP-02", lambda: [poke(one_send(40), 16, (200).to_bytes(2, "big"), seal=False)])
spoil("IP-02 short", lambda: [poke(one_send(40), 16, (76).to_bytes(2, "big"), seal=False)])
spoil("IP-03", lambda: [poke(one_send(), 20, b"\0\0")])
spoil("IP-03 fragment", lambda: [poke(one_send(), 20, b"\x60\0", seal=False)])
spoil("IP-04", lambda: [poke(one_send(), 18, b"\0\x08", seal=False)])
spoil("IP-05", lambda: [one_send()[:24] + b"\x12\x34" + one_send()[26:]])
spoil("UDP-01", lambda: [poke(one_send(), 36, b"\xb7\x12", seal=False)])
spoil("UDP-02", lambda: [poke(one_send(40), 38, (60).to_bytes(2, "big"), seal=False)])
spoil("UDP-02 unpadded", lambda: [body(one_send(41), lambda b: b[:1] + b"\x40" + b[2:-3])])
spoil("UDP-02 short", lambda: [body(one_send(), lambda b: b[:10], seal=False)])
spoil("UDP-03", lambda: [poke(one_send(), 40, b"\x12\x34")])


@breaks("UDP-04")
def wandering_source_port() -> list[bytes]:
    first, second = Sender().message(SEND, 2 * PATH_MTU)
    return frames_of([first, replace(second, udp_sport=0xC0DF)])


# ICRC
def flipped(frame: bytes) -> bytes:
    return frame[:-1] + bytes([frame[-1] ^ 1])


def without_icrc(frame: bytes) -> bytes:
    size = len(frame) - 14 - 20 - 4
    shorter = poke(frame[:-4], 38, size.to_bytes(2, "big"), seal=False)
    return poke(shorter, 16, (20 + size).to_bytes(2, "big"), seal=False)


spoil("ICRC-01", lambda: [without_icrc(one_write(40))])
spoil("ICRC-01 ack", lambda: [without_icrc(build(ack(1, 1))).ljust(60, b"\0")])
spoil("ICRC-01 bare", lambda: [without_icrc(one_send(0)[:58]).ljust(60, b"\0")])
spoil("ICRC-02", lambda: [flipped(one_send())])
spoil("ICRC-03", lambda: [flipped(IPV6_SEND)])


# BTH
spoil("BTH-01", lambda: [build(with_bth(Sender().message(SEND, 4)[0], opcode=0x15))])
spoil("BTH-02", lambda: [build(with_bth(Sender().message(WRITE, 4)[0], solicited=True))])
spoil("BTH-04", lambda: [build(with_bth(Sender().message(SEND, 4)[0], version=1))])
spoil("BTH-06", lambda: [build(with_bth(Sender().message(SEND, 4)[0], pkey=0x7FFF))])
spoil("BTH-08", lambda: [build(with_bth(Sender().message(SEND, 4)[0], reserved6=1))])
spoil("BTH-08 becn", lambda: [build(with_bth(Sender().message(SEND, 4)[0], becn=True))])
spoil("PSN-19", lambda: [build(with_bth(Sender().message(SEND, 4)[0], reserved7=1))])
spoil("OPC-11", lambda: [build(with_bth(Sender(UC).message(SEND, 4)[0], opcode=0x2C))])
spoil("UC-02", lambda: [build(with_bth(Sender(UC).message(SEND, 4)[0], ack_req=True))])


@breaks("BTH-01")
def service_changes_within_a_qp() -> list[bytes]:
    return frames_of(Sender().message(SEND, 4) + Sender(UC, psn=101).message(SEND, 4))


# opcode sequence
def with_opcode(index: int, opcode: int) -> list[bytes]:
    """A SEND of several packets and one more behind it, with one opcode exchanged."""
    sender = Sender()
    packets = sender.message(SEND, 3 * PATH_MTU) + sender.message(SEND, 4)
    packets[index] = with_bth(packets[index], opcode=opcode)
    return frames_of(packets)


spoil("OPC-01", lambda: with_opcode(3, 0x02))
spoil("OPC-02", lambda: with_only_imm_at_the_end())
spoil("OPC-03", lambda: with_opcode(2, 0x04))
spoil("OPC-05", lambda: with_opcode(1, 0x07))


def with_only_imm_at_the_end() -> list[bytes]:
    packets = Sender().message(SEND_IMM, 3 * PATH_MTU)
    packets[-1] = with_bth(packets[-1], opcode=0x05)
    return frames_of(packets)


@breaks("OPC-01")
def a_middle_where_the_last_belongs() -> list[bytes]:
    packets = Sender().message(WRITE, 3 * PATH_MTU)
    packets[-1] = with_bth(packets[-1], opcode=0x07, ack_req=False)
    return frames_of(packets)


# lengths against the path MTU
def resized(index: int, size: int) -> list[bytes]:
    packets = Sender().message(SEND, 3 * PATH_MTU)
    packets[index] = replace(packets[index], payload=bytes(size))
    return frames_of(packets)


spoil("MTU-01", lambda: resized(0, PATH_MTU - 16))
spoil("MTU-02", lambda: resized(1, PATH_MTU - 8))
spoil("MTU-03", lambda: resized(2, 0))
spoil("MTU-03 long", lambda: resized(2, PATH_MTU + 1))
spoil("MTU-04", lambda: [build(replace(Sender().message(SEND, 4)[0], payload=bytes(4097)))])


def promising(length: int, *, really: int) -> list[bytes]:
    packets = Sender().message(WRITE, really)
    packets[0] = replace(packets[0], extensions=(Reth(0x1000, 0xABCD, length),))
    return frames_of(packets)


spoil("MTU-07", lambda: promising(3 * PATH_MTU - 8, really=3 * PATH_MTU - 16))
spoil("MTU-07 only", lambda: promising(12, really=5))
spoil("RETH-02", lambda: promising(PATH_MTU, really=3 * PATH_MTU))
spoil("RETH-02 rounded up", lambda: promising(3 * PATH_MTU, really=2 * PATH_MTU + 9))

# pads
spoil("PAD-01", lambda: [body(one_write(5), lambda b: b[:1] + b"\x50" + b[2:])])
spoil("PAD-01 excess", lambda: [body(one_send(0), lambda b: b[:1] + b"\x70" + b[2:])])
spoil("PAD-02", lambda: [body(one_send(5), lambda b: b[:-1] + b"\1")])
spoil("PAD-05", lambda: [body(build(ack(1, 1)), lambda b: b[:1] + b"\x50" + b[2:])])


@breaks("PAD-01")
def pad_count_of_the_last_packet_is_wrong() -> list[bytes]:
    frames = frames_of(Sender().message(WRITE, PATH_MTU + 5))
    return [frames[0], body(frames[1], lambda b: b[:1] + b"\x60" + b[2:])]


@breaks("PAD-04")
def pad_count_of_the_message_on_every_packet() -> list[bytes]:
    frames = frames_of(Sender().message(WRITE, PATH_MTU + 1))
    padded = body(frames[0], lambda b: b[:1] + b"\x70" + b[2:-3] + bytes(3))
    return [padded, frames[1]]


# PSN
def with_psns(*psns: int, service: int = 0) -> list[bytes]:
    packet = Sender(service).message(SEND, 4)[0]
    return [build(replace(with_bth(packet, psn=p), payload=bytes([p & 255] * 4))) for p in psns]


spoil("PSN-02", lambda: with_psns(5, 6, 8, 9))
spoil("PSN-02 back", lambda: with_psns(5, 6, 4, 5))
spoil("PSN-03", lambda: with_psns(0xFFFFFE, 0xFFFFFF, 1))
spoil("PSN-03 sixteen bits", lambda: with_psns(0xFFFE, 0xFFFF, 0))
spoil("PSN-18", lambda: with_psns(5, 6, 6, 7, service=UC))


@breaks("PSN-02")
def a_lost_middle_is_one_finding() -> list[bytes]:
    frames = frames_of(Sender().message(WRITE, 4 * PATH_MTU))
    return [*frames[:1], *frames[2:]]


# headers in the wrong place
spoil("RETH-01", lambda: [body(one_write(0), lambda b: b[:20])])
spoil("AETH-01", lambda: [body(build(ack(1, 1)), lambda b: b[:12])])


def message_with(index: int, extra: bytes) -> list[bytes]:
    frames = frames_of(Sender().message(WRITE_IMM, 3 * PATH_MTU))
    at = 28 if index == 0 else 12
    frames[index] = body(frames[index], lambda b: b[:at] + extra + b[at:])
    return frames


spoil("RETH-03", lambda: message_with(1, Reth(0x7F0012345600, 0xABCD, 3 * PATH_MTU).pack()))
spoil("IMM-03", lambda: message_with(1, ImmDt(1).pack()))
spoil("IMM-03 first", lambda: message_with(0, ImmDt(1).pack()))


@breaks("RETH-03")
def reth_on_the_last_packet() -> list[bytes]:
    frames = frames_of(Sender().message(WRITE, PATH_MTU + 40))
    reth = Reth(0x7F0012345600, 0xABCD, PATH_MTU + 40).pack()
    return [frames[0], body(frames[1], lambda b: b[:12] + reth + b[12:])]


@breaks("IMM-01")
def immediate_before_reth() -> list[bytes]:
    frame = frames_of(Sender().message(WRITE_IMM, 8))[0]
    return [body(frame, lambda b: b[:12] + b[28:32] + b[12:28] + b[32:])]


@breaks("AETH-01")
def aeth_on_a_middle_response() -> list[bytes]:
    packet = replace(ack(9, 6, opcode=0x0E), extensions=(), payload=bytes(PATH_MTU + 4))
    return [build(packet)]


# responses
spoil("ACK-07", lambda: [build(with_bth(ack(1, 1), ack_req=True))])
spoil("ACK-07 solicited", lambda: [build(with_bth(ack(1, 1), solicited=True))])
spoil("ACK-07 payload", lambda: [build(replace(ack(1, 1), payload=bytes(4)))])
spoil("AETH-02", lambda: [build(ack(1, 1, syndrome=0x9F))])
spoil("AETH-02 reserved type", lambda: [build(ack(1, 1, syndrome=0x40))])
spoil("AETH-02 reserved code", lambda: [build(ack(1, 1, syndrome=0x65))])
spoil("AETH-03", lambda: [build(ack(1, 1, syndrome=0x60, opcode=0x10))])
spoil("MSN-02", lambda: frames_of([ack(1, 1), ack(2, 3)]))
spoil("MSN-02 back", lambda: frames_of([ack(1, 4), ack(2, 3)]))


@pytest.mark.parametrize("name", SPOILED)
def test_spoiled_capture_breaks_exactly_its_rule(name: str) -> None:
    assert broken_rules(SPOILED[name]()) == [name.split()[0]]


def test_no_packet_may_exceed_the_ip_mtu() -> None:
    frames = frames_of(Sender().message(SEND, 200))
    assert broken_rules(frames, ip_mtu=20 + 8 + 12 + 200 + 4) == []
    assert broken_rules(frames, ip_mtu=20 + 8 + 12 + 200 + 3) == ["MTU-09"]


def test_a_given_path_mtu_binds_the_first_packet() -> None:
    frames = frames_of(Sender().message(SEND, 3 * PATH_MTU))
    assert broken_rules(frames, path_mtu=512) == ["MTU-01", "MTU-02"]


def test_every_rule_has_a_capture_that_breaks_it() -> None:
    tested = {name.split()[0] for name in SPOILED} | {"MTU-09"}
    modules = [frame_checks, request_flow, response_flow, checker]
    sources = "".join(inspect.getsource(module) for module in modules)
    assert tested == {name for name in RULES if f'"{name}"' in sources}


def test_a_finding_says_where_who_and_what() -> None:
    good, bad = with_psns(5, 8)
    checker = Checker()
    assert checker.feed(good, Direction.SENT) == []
    (finding,) = checker.feed(bad, Direction.RECEIVED)
    assert finding.frame == 1
    assert finding.message == (
        "PSN-02 frame 2 (sent by the peer): expected PSN 0x000006, got 0x000008. "
        "Each new request packet has the PSN after the one before it."
    )


def test_random_bytes_never_stop_the_checker() -> None:
    rng = random.Random(11)
    frames = frames_of([*Sender().message(WRITE_IMM, 3 * PATH_MTU), ack(1, 1)])
    checker = Checker()
    for _ in range(4000):
        bent = bytearray(rng.choice(frames))
        for _ in range(rng.randrange(1, 8)):
            bent[rng.randrange(12, len(bent))] = rng.randrange(256)
        bent = bent[: rng.randrange(len(bent) + 1)] if rng.random() < 0.2 else bent
        frame = bytes(bent)
        packet = parse(frame)
        for finding in checker.feed(frame):
            assert finding.message
        assert packet is None or packet.aeth is None or isinstance(packet.aeth, Aeth)
