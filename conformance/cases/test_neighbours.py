# SPDX-License-Identifier: BSD-2-Clause
"""Frames right behind others: one that a device does not want hides none that it must answer.

A kernel on the same wire says much that is no business of a device: tagged with a priority alone,
tagged for another VLAN, to everybody, of any length. What comes right behind it is taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from roceproof.conformance.stimulus.requester.arp_and_ping import Neighbourhood
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, RESPONDER, case, over
from roceproof.conformance.suite.pattern import ACK, WRITE_ONLY
from roceproof.conformance.suite.traffic.storm_crowd import operations, served
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.framing import ETHERNET_MINIMUM
from roceproof.conformance.wire.icmp import icmp_frame
from roceproof.conformance.wire.neighbours import solicit
from roceproof.verbs.service import Service

ASKED = [Capability.PING, Capability.LOCKSTEP]
VID, PRIORITY = 7, 5 << 13
TAGS = {"untagged": None, "priority": PRIORITY, "vlan": VID, "both": PRIORITY | VID}
SIZES = (60, 61, 62, 63, 64, 65, 66, 67, 68, 90, 128, 255, 342, 590, 1514, 1518)
"""Whole frames, the tag included; of 1518 bytes only a tagged one may be."""
NO_QUESTIONS = (0x0000, 0x0002, 0x0003, 0x0100, 0x0101, 0x8001)
"""Operations of ARP, 1 being a request."""
ECHO_REPLY = 0
TURNING = (0x0000, 0x0001, 0x07FF, 0x0800, 0xF7FE, 0xF7FF, 0xF800, 0xF801, 0xFFFE)
"""Checksums of echo requests: that of the answer is 0x0800 more, and may turn over."""
PINGS = range(1000, 9001, 1000)
HEADERS = 28  # of IPv4 and ICMP

over_tags = over("tag", TAGS.values(), ids=TAGS)


def foreign(bench: Bench, tag: int | None) -> Iterator[bytes]:
    """Frames of every length, in turn to everybody, to a group and to the device itself."""
    own, peer, draw = bench.target.host, bench.peers[1], bench.random
    stranger = own.ip[:-1] + bytes([own.ip[-1] ^ 0x40])
    arp = bytes.fromhex("08060001080006040001") + peer.mac + peer.ip + bytes(6) + stranger
    kinds = (
        (b"\xff" * 6, arp),
        (bytes.fromhex("333300000001"), b"\x86\xdd\x60" + bytes(5)),
        (bytes.fromhex("0180c200000e"), b"\x88\xcc"),
        (own.mac, b"\x88\xb5"),
    )
    for place, size in enumerate(SIZES):
        to, body = kinds[place % len(kinds)]
        head = to + peer.mac + (b"" if tag is None else b"\x81\0" + tag.to_bytes(2, "big"))
        frame = head + body
        yield (frame + draw.randbytes(max(0, size - len(frame))))[: max(size, ETHERNET_MINIMUM)]


def come(bench: Bench, asked: Neighbourhood, *frames: bytes) -> bool:
    """Whether the questions among these frames, sent back to back, are answered; each rightly."""
    for frame in frames:
        bench.send(frame, is_void=True)

    def has_all() -> bool:
        asked.judge(bench, bench.target.asides())
        return not asked.is_owing

    return bench.comes_true(has_all)


def answers(bench: Bench, asked: Neighbourhood, *frames: bytes) -> None:
    if not come(bench, asked, *frames):
        before = f" right behind {len(frames[0])} bytes, {frames[0][:18].hex()}..."
        told = asked.settled()
        raise bench.failed(f"{told}{before if len(frames) > 1 else ''}", rules=["LIVE-01"])


@case("LIVE-03", needs=ASKED, smoke=True)
def test_what_asks_for_nothing_draws_nothing(bench: Bench) -> None:
    host, peer = bench.target.host, bench.peers[0]
    question = solicit(peer, host.ip)
    for operation in NO_QUESTIONS:
        said = question[6:20] + operation.to_bytes(2) + question[22:]
        for to in (question[:6], host.mac):
            bench.send(to + said, is_void=True)
    bench.send(icmp_frame(peer, host, ECHO_REPLY, bytes(36)), is_void=True)
    bench.settle()
    Neighbourhood(host).judge(bench, bench.target.asides())


@case("LIVE-01", needs=ASKED, smoke=True)
def test_the_checksum_of_an_echo_turns_over_where_it_must(bench: Bench) -> None:
    asked, asker = Neighbourhood(bench.target.host), bench.peers[0]
    for total in TURNING:
        answers(bench, asked, asked.asks(asker, 32, total=total))


@case("LIVE-01", "LIVE-03", needs=ASKED, smoke=True)
@over_tags
def test_arp_and_ping_behind_any_frame_are_answered(bench: Bench, tag: int | None) -> None:
    asked, asker = Neighbourhood(bench.target.host), bench.peers[0]
    for frame in foreign(bench, tag):
        answers(bench, asked, frame, asked.asks(asker, None))
        answers(bench, asked, frame, asked.asks(asker, 32))


@case("LIVE-03", "ACK-08", needs=[Capability.RC], smoke=True)
@REQUESTER
@over_tags
def test_an_ack_behind_any_frame_is_taken(bench: Bench, tag: int | None) -> None:
    qp = bench.connect(path_mtu=256)
    served(bench, Service.RC)
    op = operations(bench, Service.RC)[0]
    for frame in foreign(bench, tag):
        message = qp.post(op, 8)
        qp.expect_message(message)
        bench.send(frame, is_void=True)
        qp.finish(message)


@case("LIVE-03", "PSN-12", needs=[Capability.RC], smoke=True)
@RESPONDER
@over_tags
def test_a_request_behind_any_frame_is_served(bench: Bench, tag: int | None) -> None:
    qp = bench.connect()
    for psn, frame in enumerate(foreign(bench, tag)):
        bench.send(frame, is_void=True)
        qp.send(WRITE_ONLY(psn=psn, a=1))
        qp.expect(ACK(psn=psn, msn=psn + 1))


@case("LIVE-01", needs=ASKED, smoke=True)
def test_pings_of_kilobytes_are_answered_or_leave_no_trace(bench: Bench) -> None:
    """A device need not answer more than fits the largest path MTU that it claims."""
    asked, asker = Neighbourhood(bench.target.host), bench.peers[0]
    for size in PINGS:
        question = asked.asks(asker, size - HEADERS)
        if size <= max(bench.claims.path_mtus):
            answers(bench, asked, question)
        elif not come(bench, asked, question):
            asked.settled()
        answers(bench, asked, asked.asks(asker, 32))
