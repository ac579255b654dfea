# SPDX-License-Identifier: BSD-2-Clause
"""What looks as packets did in which nothing was found is not judged anew: every bit of it counts.

Each capture holds many flows; in each, one bit of one packet differs from those around it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conformance"))

from healthy_capture import SEND, UC, WRITE, WRITE_IMM, Sender, ack, with_bth, with_ip_checksum
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


def acks(qpn: int) -> list[Packet]:
    return [with_bth(ack(10 + number, number), dest_qpn=qpn) for number in range(2 * AROUND)]


def on_ipv6(packet: Packet) -> Packet:
    return replace(packet, ip=Ipv6(ONE, OTHER))


def with_changed_bits(
    flows: Callable[[int], list[bytes]], header_bytes: int
) -> Iterator[list[bytes]]:
    """A flow for every bit of the headers, with a packet in its middle that has it changed."""
    for place in range(8 * header_bytes):
        frames = flows(0x100 + place)
        bent = bytearray(frames[AROUND])
        bent[place // 8] ^= 1 << place % 8
        ipv4 = bent[12:14] == b"\x08\0"
        sealed = (
            with_ip_checksum(bytes(bent)) if ipv4 and place // 8 not in (24, 25) else bytes(bent)
        )
        try:
            frames[AROUND] = icrc.reseal(sealed)
        except ValueError:
            frames[AROUND] = sealed
        yield frames


KINDS: dict[str, tuple[Callable[[int], list[Packet]], int]] = {
    "RC WRITE": (lambda qpn: requests(qpn, WRITE, 0), 54),
    "UC SEND": (lambda qpn: requests(qpn, SEND, UC), 54),
    "RC WRITE IMM": (lambda qpn: requests(qpn, WRITE_IMM, 0), 74),
    "RC WRITE on IPv6": (lambda qpn: [*map(on_ipv6, requests(qpn, WRITE, 0))], 74),
    "ACK": (acks, 58),
}


@pytest.mark.parametrize("kind", KINDS)
def test_one_other_bit_is_judged_as_python_does(check: RoceCheck, kind: str) -> None:
    flow, header_bytes = KINDS[kind]
    capture = [
        frame
        for frames in with_changed_bits(
            lambda qpn: [build(packet) for packet in flow(qpn)], header_bytes
        )
        for frame in frames
    ]
    checker = Checker(None)
    found = [finding for frame in capture for finding in checker.feed(frame)]
    found += checker.finish()
    places = sorted((each.frame, each.rule.id, str(each.severity)) for each in found)
    assert len({rule for _, rule, _ in places}) > 8
    assert check.frames(capture).places == places


def test_a_packet_behind_a_changed_one_is_told_to_have_changed_back(check: RoceCheck) -> None:
    packets = requests(0x30, WRITE, 0)
    frames = [build(packet) for packet in packets]
    frames[4] = build(replace(packets[4], udp_sport=0xC0DF))
    told = [(frame, rule) for frame, rule, _ in check.frames(frames).places]
    assert told == [(5, "UDP-04"), (6, "UDP-04")]
