# SPDX-License-Identifier: BSD-2-Clause
"""What looks as packets did in which nothing was found is not judged anew: every bit of it counts.

Each capture holds many flows; in each, one bit of one packet differs from those around it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from ipaddress import ip_address
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))

from healthy_capture import (
    PATH_MTU,
    SEND,
    UC,
    WRITE,
    WRITE_IMM,
    Sender,
    ack,
    with_bth,
    with_ip_checksum,
)
from roce_check import RoceCheck

from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.ip import Ipv6

ONE, OTHER = ip_address("fd00::1").packed, ip_address("fd00::2").packed
AROUND = 3


@pytest.fixture(scope="module")
def check(build: Path, tmp_path_factory: pytest.TempPathFactory) -> RoceCheck:
    return RoceCheck(build / "roce-check", tmp_path_factory.mktemp("usual"))


def requests(qpn: int, opcodes: Sequence[int], service: int) -> list[Packet]:
    sender = Sender(service=service, qpn=qpn)
    sent = [packet for _ in range(2 * AROUND) for packet in sender.message(opcodes, 8)]
    return [with_bth(packet, ack_req=False) for packet in sent]


def messages_of_three(qpn: int, opcodes: Sequence[int], service: int) -> list[Packet]:
    sender = Sender(service=service, qpn=qpn)
    return [packet for _ in range(4) for packet in sender.message(opcodes, 2 * PATH_MTU + 8)]


def acks(qpn: int) -> list[Packet]:
    return [with_bth(ack(10 + number, number), dest_qpn=qpn) for number in range(2 * AROUND)]


def on_ipv6(packet: Packet) -> Packet:
    return replace(packet, ip=Ipv6(ONE, OTHER))


def with_changed_bits(
    flows: Callable[[int], list[bytes]], header_bytes: range, bent_packet: int
) -> Iterator[list[bytes]]:
    """A flow for every bit of the headers, with a packet in its middle that has it changed."""
    for place in range(8 * header_bytes.start, 8 * header_bytes.stop):
        frames = flows(0x100 + place)
        bent = bytearray(frames[bent_packet])
        bent[place // 8] ^= 1 << place % 8
        ipv4 = bent[12:14] == b"\x08\0"
        sealed = (
            with_ip_checksum(bytes(bent)) if ipv4 and place // 8 not in (24, 25) else bytes(bent)
        )
        try:
            frames[bent_packet] = icrc.reseal(sealed)
        except ValueError:
            frames[bent_packet] = sealed
        yield frames


BTH_AND_RETH, BTH = range(42, 70), range(42, 54)
KINDS: dict[str, tuple[Callable[[int], list[Packet]], range, int]] = {
    "RC WRITE": (lambda qpn: requests(qpn, WRITE, 0), range(70), AROUND),
    "UC SEND": (lambda qpn: requests(qpn, SEND, UC), range(54), AROUND),
    "RC WRITE IMM": (lambda qpn: requests(qpn, WRITE_IMM, 0), range(74), AROUND),
    "RC WRITE on IPv6": (
        lambda qpn: [*map(on_ipv6, requests(qpn, WRITE, 0))],
        range(74),
        AROUND,
    ),
    "ACK": (acks, range(58), AROUND),
    "RC WRITE FIRST": (lambda qpn: messages_of_three(qpn, WRITE, 0), BTH_AND_RETH, 6),
    "RC WRITE MIDDLE": (lambda qpn: messages_of_three(qpn, WRITE, 0), BTH, 7),
    "RC WRITE LAST": (lambda qpn: messages_of_three(qpn, WRITE, 0), BTH, 8),
    "UC WRITE IMM FIRST": (lambda qpn: messages_of_three(qpn, WRITE_IMM, UC), BTH_AND_RETH, 6),
    "UC SEND LAST": (lambda qpn: messages_of_three(qpn, SEND, UC), BTH, 8),
}


def assert_judged_as_python_does(check: RoceCheck, capture: list[bytes]) -> set[str]:
    """The same findings in the same frames and, in threads, the same lines; returns the rules."""
    checker = Checker(None)
    found = [finding for frame in capture for finding in checker.feed(frame)]
    found += checker.finish()
    places = sorted((each.frame, each.rule.id, str(each.severity)) for each in found)
    alone = check.frames(capture, "-j", "1", "--max", "0")
    assert alone.places == places
    assert check.frames(capture, "-j", "3", "--max", "0").text == alone.text
    return {rule for _, rule, _ in places}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("kind", KINDS)
def test_one_other_bit_is_judged_as_python_does(check: RoceCheck, kind: str) -> None:
    flow, header_bytes, bent_packet = KINDS[kind]
    flows = with_changed_bits(
        lambda qpn: [build(packet) for packet in flow(qpn)], header_bytes, bent_packet
    )
    rules = assert_judged_as_python_does(check, [frame for frames in flows for frame in frames])
    assert len(rules) > (8 if header_bytes.start == 0 else 3)


STREAMS: dict[str, Callable[[int], list[Packet]]] = {
    "ONLY": lambda qpn: requests(qpn, WRITE, 0),
    "RC of three": lambda qpn: messages_of_three(qpn, WRITE, 0),
    "UC of three": lambda qpn: messages_of_three(qpn, SEND, UC),
}


@pytest.mark.parametrize("stream", STREAMS)
def test_what_is_missing_or_doubled_or_out_of_place_is_judged_as_python_does(
    check: RoceCheck, stream: str
) -> None:
    capture: list[bytes] = []
    for at in range(1, len(STREAMS[stream](0)) - 1):
        for kind in range(5):
            packets = STREAMS[stream](0x100 + 8 * at + kind)
            frames = [build(packet) for packet in packets]
            if kind == 0:
                del frames[at]
            elif kind == 1:
                frames.insert(at + 1, frames[at])
            elif kind == 2:
                frames[at], frames[at + 1] = frames[at + 1], frames[at]
            elif kind == 3:  # never sent, and not counted
                frames[at:] = [
                    build(with_bth(after, psn=before.bth.psn))
                    for before, after in pairwise(packets[at:])
                ]
            else:
                frames[at] = frames[at][:-1] + bytes([frames[at][-1] ^ 1])
            capture += frames
    assert assert_judged_as_python_does(check, capture)


def test_a_packet_behind_a_changed_one_is_told_to_have_changed_back(check: RoceCheck) -> None:
    packets = requests(0x30, WRITE, 0)
    frames = [build(packet) for packet in packets]
    frames[4] = build(replace(packets[4], udp_sport=0xC0DF))
    told = [(frame, rule) for frame, rule, _ in check.frames(frames).places]
    assert told == [(5, "UDP-04"), (6, "UDP-04")]


def with_fcs(frame: bytes) -> bytes:
    return frame + crc32(frame).to_bytes(4, "little")


def test_packets_of_no_known_look_are_not_taken_for_each_other(check: RoceCheck) -> None:
    packets = requests(0x30, WRITE, 0)
    packets[4] = replace(packets[4], udp_sport=0xC0DF)
    told = assert_judged_as_python_does(check, [with_fcs(build(packet)) for packet in packets])
    assert told == {"UDP-04"}


@pytest.mark.parametrize("stream", STREAMS)
def test_what_comes_back_meanwhile_is_judged_as_python_does(check: RoceCheck, stream: str) -> None:
    capture: list[bytes] = []
    for at in range(1, len(STREAMS[stream](0)) - 1):
        for kind, syndrome in enumerate((0x1F, 0x60, 0x20, 0x61)):
            qpn = 0x100 + 8 * at + kind
            packets = STREAMS[stream](qpn)
            answered = ack(packets[at].bth.psn, 0, syndrome=syndrome)
            packets.insert(at + 1, with_bth(answered, dest_qpn=0x4000 + qpn))
            capture += map(build, packets)
    assert assert_judged_as_python_does(check, capture)


def test_constants_begin_anew_with_a_restart_that_looks_as_before(check: RoceCheck) -> None:
    packets = requests(0x30, WRITE, 0)
    packets += [with_bth(packet, psn=packet.bth.psn + 0x400000) for packet in packets]
    packets[7] = replace(packets[7], udp_sport=0xC0DF)
    told = assert_judged_as_python_does(check, [build(packet) for packet in packets])
    assert told == {"UDP-04"}
