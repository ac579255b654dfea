# SPDX-License-Identifier: BSD-2-Clause
"""Frames that contradict themselves, and marks that say nothing: each is taken for what it is.

What a device may answer or drop, such as a ping with options, leaves no trace either way.
"""

from collections.abc import Iterator
from random import Random

from roceproof.conformance.stimulus.requester.arp_and_ping import Neighbourhood
from roceproof.conformance.stimulus.requester.questions import arp_frame, echo_frame
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, RESPONDER, case, over
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import ACK, WRITE_ONLY
from roceproof.conformance.suite.traffic.storm_crowd import operations, served
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.frame_edits import fix_ip_checksum
from roceproof.verbs.addresses import Host
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

ASKED = [Capability.PING, Capability.LOCKSTEP]
IP_AT, BODY_AT = 14, 34
NOTHING, END = b"\x01", b"\x00"  # options of IPv4
SIZES = (0, 1, 8, 22, 300)
LATE = 2000  # ns
LIES = (1, 2, 4, 7, 8, 13, 14, 15, 18, 34, 1440)
"""Bytes that an IP packet lacks; 14 are those in front of it, which are none of its own."""


def ask(bench: Bench, asked: Neighbourhood, frame: bytes, *, is_marked: bool = False) -> None:
    """A question, which is answered rightly."""
    bench.send(frame, is_void=True, is_marked=is_marked)

    def is_answered() -> bool:
        asked.judge(bench, bench.target.asides())
        return not asked.is_owing

    if not bench.comes_true(is_answered):
        seen = f"frames seen:\nasked by {frame[:60].hex()}"
        raise bench.failed(f"{asked.settled()}\n{seen}", rules=["LIVE-01"])


def with_options(frame: bytes, words: int) -> bytes:
    """An IPv4 packet with so many words of options that say nothing."""
    made = bytearray(frame)
    made[IP_AT] += words
    total = int.from_bytes(made[16:18]) + 4 * words
    made[16:18] = total.to_bytes(2)
    made[BODY_AT:BODY_AT] = NOTHING * (4 * words - 1) + END
    fix_ip_checksum(made)
    return bytes(made)


def in_the_ip_header(frame: bytes, at: int, value: bytes) -> bytes:
    """Another value there, the checksum right."""
    made = bytearray(frame)
    made[IP_AT + at : IP_AT + at + len(value)] = value
    fix_ip_checksum(made)
    return bytes(made)


def contradictory(asker: Host, host: Host, draw: Random) -> Iterator[bytes]:
    """Questions whose parts do not fit each other."""
    arp, echo = arp_frame(asker, host), echo_frame(asker, host, 32)
    for words in (1, 2, 5, 10):
        yield with_options(echo, words)
    yield in_the_ip_header(echo, 0, b"\x44")  # a header shorter than any
    yield in_the_ip_header(echo, 0, b"\x65")  # of another version
    yield in_the_ip_header(echo, 2, (1500).to_bytes(2))  # longer than the frame
    yield in_the_ip_header(echo, 2, (19).to_bytes(2))  # shorter than its header
    yield in_the_ip_header(echo, 2, (24).to_bytes(2))  # it ends inside that of ICMP
    yield in_the_ip_header(echo, 12, host.ip)  # from the device itself
    yield in_the_ip_header(echo, 12, b"\xff\xff\xff\xff")
    yield arp[:18] + b"\x08" + arp[19:]  # the length of a hardware address
    yield arp[:19] + b"\x10" + arp[20:]
    yield arp[:16] + b"\x86\xdd" + arp[18:]
    yield arp[:20] + b"\x00\x02" + arp[22:]  # an answer that nobody asked for
    yield arp[:28] + host.ip + arp[32:]  # asked by the device's own address
    yield arp[:12] + b"\x81\x00" + draw.choice([b"\x00\x00", b"\xa0\x00"]) + arp[12:]


@case("LIVE-01", "LIVE-03", needs=ASKED, smoke=True)
def test_whoever_asks_is_answered_whoever_sends_it(bench: Bench) -> None:
    host, asker = bench.target.host, bench.peers[0]
    asked = Neighbourhood(host)
    for bit in (*range(0, 40, 3), 39):
        question = asked.asks(asker, None, via=1 << bit, unicast=bit % 2, trailer=bit % 5)
        ask(bench, asked, question)


@case("LIVE-01", "LIVE-03", needs=ASKED, smoke=True)
def test_frames_that_contradict_themselves_leave_no_trace(bench: Bench) -> None:
    host, asker = bench.target.host, bench.peers[0]
    asked = Neighbourhood(host)
    for frame in contradictory(asker, host, bench.random):
        bench.send(frame, is_void=True)
        bench.target.wait(LATE)
        bench.settle()
        bench.target.asides()  # whatever the device made of it
        ask(bench, asked, asked.asks(asker, None))
        ask(bench, asked, asked.asks(asker, 32))


@case("IP-13", needs=ASKED, smoke=True)
@over("size", SIZES)
def test_a_ping_that_lacks_bytes_is_not_answered(bench: Bench, size: int) -> None:
    """Nor with those that a longer one has left behind."""
    host, asker = bench.target.host, bench.peers[0]
    asked = Neighbourhood(host)
    for lacking in LIES:
        ask(bench, asked, asked.asks(asker, SIZES[-1]))
        whole = echo_frame(asker, host, size)
        said = len(whole) - IP_AT + lacking
        bench.send(in_the_ip_header(whole, 2, said.to_bytes(2)), is_void=True)
        bench.target.wait(LATE)
        bench.settle()
        for problem in filter(None, map(asked.answers, bench.target.asides())):
            told = f"to a ping that lacks {lacking} of its {said} bytes came {problem.text}"
            raise bench.failed(told, rules=["IP-13"])


@case("LIVE-01", needs=[*ASKED, Capability.DAMAGE], smoke=True)
def test_a_mark_before_its_end_says_nothing_of_a_question(bench: Bench) -> None:
    asked = Neighbourhood(bench.target.host)
    for size in (None, *SIZES):
        ask(bench, asked, asked.asks(bench.peers[0], size), is_marked=True)


@case("ACK-08", "ETH-09", needs=[Capability.RC, Capability.DAMAGE], smoke=True)
@REQUESTER
def test_a_mark_before_its_end_says_nothing_of_an_ack(bench: Bench) -> None:
    qp = bench.connect(path_mtu=256)
    served(bench, Service.RC)
    op = operations(bench, Service.RC)[0]
    for size in SIZES:
        message = qp.post(op, size)
        qp.expect_message(message)
        good = qp.frame(ACK(psn=message.last_psn, msn=message.ordinal))
        bench.send(good, flow=qp.to_device, is_marked=True)
        qp.completes(message)


@case("PSN-12", "ETH-09", needs=[Capability.RC, Capability.DAMAGE], smoke=True)
@RESPONDER
@over("marked", [True, False], ids=["marked", "between damaged ones"])
def test_a_mark_before_its_end_says_nothing_of_a_request(bench: Bench, *, marked: bool) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    qp = bench.connect(path_mtu=min(bench.claims.path_mtus))
    region = qp.region(4096)
    for psn, size in enumerate(SIZES):
        write = qp.filled(WRITE_ONLY(psn=psn, payload=min(size, qp.mtu), a=1, **at(region)))
        frame = qp.frame(write)
        if not marked:
            bench.send_damaged(frame, flow=qp.to_device)
        bench.send(frame, flow=qp.to_device, is_marked=True)
        qp.expect(ACK(psn=psn, msn=psn + 1))
        if not marked and (again := qp.next(quiet=True)):
            raise bench.failed(
                "a frame that the MAC marks as damaged is heeded: it has an answer of its own",
                rules=["ETH-09"],
                got=again,
            )
        data = write.said["payload"]
        if not marked and region.read(0, len(data)) != data:
            text = (
                "behind a frame that the MAC marks as damaged memory holds other bytes than are due"
            )
            raise bench.failed(text, rules=["ETH-09"])
        assert region.read(0, len(data)) == data
