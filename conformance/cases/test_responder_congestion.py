# SPDX-License-Identifier: BSD-2-Clause
"""Congestion notification: what a device says to those whose packets came marked."""

from functools import partial
from itertools import cycle

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import (
    RESPONDER,
    case,
    needs,
    over,
    over_services,
    over_ways_anew,
)
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    CNP,
    FETCH_ADD,
    NAK,
    READ_REQUEST,
    SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.suite.sweep import drops_each
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.frame_edits import bad_icrc
from roceproof.conformance.wire.opcodes import is_cnp
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = RESPONDER

NOT_ECT, ECT_1, ECT_0, CE = range(4)
MARKED = 100
LATER = (11, 13, 17, 23)
"""Tenths of the distance that a device keeps between two notifications."""
LONG = 1 << 18  # bytes of a READ that takes longer than any way to a MAC
MANY = 16
READS = 40  # as many as a device may have answers waiting to leave, and more


def marked(qp: Connection, ecn: int) -> int:
    """The type of service of this connection with that ECN field."""
    return qp.to_device.tos & ~CE | ecn


def notices(bench: Bench) -> list[int]:
    """When notifications have come; a device may acknowledge what asks for no ACK, too."""
    sent = [entry for entry in bench.transcript.entries() if entry.is_sent]
    packets = [(entry.time_ns, parse(entry.frame)) for entry in sent]
    return [time_ns for time_ns, packet in packets if packet and is_cnp(packet.bth.opcode)]


def has_told(bench: Bench, times: int) -> bool:
    return len(notices(bench)) >= times


def mark_until_told_again(bench: Bench, qp: Connection) -> int:
    """Marks follow one another until two notifications have come; the PSN behind them."""
    for psn in range(MARKED):
        qp.send(WRITE_ONLY(psn=psn, tos=marked(qp, CE)))
        bench.pump(bench.target.patience.quiet_ns)
        if len(notices(bench)) > 1:
            break
    qp.expect(CNP(), CNP())
    return psn + 1


@case("CNP-02", smoke=True)
@over_services
@over("ecn", [NOT_ECT, ECT_1, ECT_0], ids=["not_ECT", "ECT_1", "ECT_0"])
def test_packets_that_are_not_marked_draw_no_notification(
    bench: Bench, service: Service, ecn: int
) -> None:
    qp = bench.connect(service)
    for psn in range(8):
        qp.send(WRITE_ONLY(psn=psn, tos=marked(qp, ecn)))
    qp.fence(8)
    qp.expect_silence()


@case("CNP-02", needs=[Capability.RC], smoke=True)
def test_marked_packets_that_are_dropped_draw_no_notification(bench: Bench) -> None:
    good = WRITE_ONLY(psn=0, tos=CE)
    own = bench.target.host.ip
    drops_each(
        bench,
        {
            "a wrong ICRC": good.corrupted(bad_icrc()),
            "no such queue pair": good.but(qpn=0xFFFFFE),
            "of a stranger": good.but(src_ip=own[:-1] + bytes([own[-1] ^ 0x40])),
            "another P_Key": good.but(pkey=0xFFFE),
            "another version": good.but(tver=1),
        },
    )


@case("CNP-01", "CNP-09", needs=[Capability.MARKS], smoke=True, breaks=["BTH-02"])
@over_services
def test_a_marked_packet_draws_a_notification_to_its_queue_pair(
    bench: Bench, service: Service
) -> None:
    bystander, qp = bench.connect(service), bench.connect(service)
    qp.send(WRITE_ONLY(psn=0, tos=marked(qp, CE), se=1))
    packet, *_ = qp.expect(
        CNP(qpn=qp.spec.remote_qpn, se=0, pad=0, tver=0, fecn=0, a=0, pkey=0xFFFF)
    )
    assert packet.bth.psn == 0, f"its PSN is {packet.bth.psn:#x}"
    assert [header.pack() for header in packet.extensions] == [bytes(16)]
    bystander.expect_silence()
    qp.fence(1)


@case("CNP-10", needs=[Capability.MARKS])
def test_a_notification_has_becn_and_no_migreq(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=0, tos=marked(qp, CE)))
    qp.expect(CNP(becn=1, m=0))


@case("CNP-03", "CNP-04", needs=[Capability.MARKS])
def test_notifications_are_prompt_and_fewer_than_marks(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(*(WRITE_ONLY(psn=psn, tos=marked(qp, CE)) for psn in range(MARKED)))
    qp.send(WRITE_ONLY(psn=MARKED, a=1))
    qp.expect(CNP())
    qp.expect(ACK(psn=MARKED), allowing=[CNP()])
    bench.settle()
    count = len(notices(bench))
    assert count < MARKED, f"{count} notifications for {MARKED} marked packets"


@case("CNP-05", needs=[Capability.MARKS])
def test_a_notification_does_not_carry_the_mark_on(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=0, tos=marked(qp, CE)))
    packet, *_ = qp.expect(CNP())
    assert qp.from_device.fields_of(packet)["tos"] & CE != CE, "the notification is marked itself"


@case("CNP-04", "CNP-02", needs=[Capability.MARKS], smoke=True)
@over_services
@over("stall", [0, pytest.param(90, marks=needs(Capability.DISTURBANCE))])
def test_each_queue_pair_is_notified_of_its_first_mark(
    bench: Bench, service: Service, stall: int
) -> None:
    """Their notifications wait for each other where the wire is slow."""
    peers = cycle(bench.peers)
    count = min(bench.claims.qps, MANY)
    qps = [bench.connect(service, remote=next(peers)) for _ in range(count)]
    if stall:
        bench.target.disturb(tx_stall=stall)
    for qp in qps:
        qp.send(WRITE_ONLY(psn=0, tos=marked(qp, CE)))
    for qp in qps:
        qp.expect(CNP(qpn=qp.spec.remote_qpn))


@case("LIVE-01", "CNP-04", needs=[Capability.MARKS], smoke=True)
def test_a_notification_behind_many_reads_ends_none(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.READ])
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    for _ in range(min(bench.claims.qps, 2)):
        qp = bench.connect()
        region = qp.region(8, filled=True)
        for psn in range(READS):
            qp.send(READ_REQUEST(psn=psn, dmalen=8, **at(region)))
            qp.expect(*read_responses(qp, psn, region.read(0, 8)))
        qp.send(WRITE_ONLY(psn=READS, tos=marked(qp, CE)))
        qp.expect(CNP())
        qp.send(WRITE_ONLY(psn=READS + 1, payload=8, a=1, **at(region)))
        qp.expect(ACK(psn=READS + 1))


def first_marks(qp: Connection, region: Region) -> dict[str, list[Pattern]]:
    """Packets the last of which is marked, by what it is."""
    first = WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=2 * qp.mtu + 8, **at(region))
    middle, last = WRITE_MIDDLE(psn=1, payload=qp.mtu), WRITE_LAST(psn=2, payload=8)
    write = qp.filled(WRITE_ONLY(psn=0, payload=8, **at(region)))
    asking = {
        Op.SEND: {"a SEND that finds no receive": [SEND_ONLY(psn=0, payload=8)]},
        Op.WRITE: {
            "the first packet of a WRITE": [first],
            "its middle": [first, middle],
            "its last": [first, middle, last],
            "a WRITE that comes again": [write, write],
            "a packet behind a gap": [write.but(psn=3)],
        },
        Op.READ: {"a READ": [READ_REQUEST(psn=0, dmalen=8, **at(region))]},
        Op.FETCH_ADD: {"an atomic": [FETCH_ADD(psn=0, swap=1, **at(region))]},
    }
    rows = [rows for op, rows in asking.items() if qp.executes(op)]
    return {name: packets for each in rows for name, packets in each.items()}


@case("CNP-02", "CNP-04", needs=[Capability.RC, Capability.MARKS], smoke=True)
def test_the_first_mark_may_be_on_any_packet(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    for name, packets in first_marks(qp, region).items():
        qp.reconnect()
        told = len(notices(bench))
        *before, last = map(qp.filled, packets)
        qp.send(*before, last.but(tos=marked(qp, CE)), breaks=OUT_OF_SEQUENCE)
        if not bench.comes_true(partial(has_told, bench, told + 1)):
            text = f"no notification came of a mark on {name}"
            raise bench.failed(text, rules=["CNP-02", "CNP-04"])
        bench.settle()


@case("CNP-02", "QPS-01", "QPS-03", needs=[Capability.MARKS, Capability.STATES], smoke=True)
@over_services
@over("last", [State.RTR, State.RTS])
def test_only_a_queue_pair_that_receives_notifies(
    bench: Bench, service: Service, last: State
) -> None:
    qp = bench.connect(service, state=State.RESET)
    write = WRITE_ONLY(psn=0, tos=marked(qp, CE))
    qp.drops(write, fence=None)
    bench.target.set_state(qp.qp, State.INIT)
    qp.drops(write, fence=None)
    bench.target.set_state(qp.qp, State.RTR)
    if last is State.RTS:
        bench.target.set_state(qp.qp, State.RTS)
    qp.send(write)
    qp.expect(CNP())
    qp.reconnect()
    for state in (State.ERR, State.RESET):
        bench.target.set_state(qp.qp, state)
        qp.drops(write, fence=None)


@case("CNP-04", "CNP-01", needs=[Capability.MARKS, Capability.IPV6], smoke=True)
def test_a_mark_over_ipv6_is_told_of_over_ipv6(bench: Bench) -> None:
    qp = bench.connect(ipv6=True)
    qp.send(WRITE_ONLY(psn=0, tos=marked(qp, CE)))
    qp.expect(CNP(dst_ip=qp.spec.remote.ip))


@case("CNP-04", needs=[Capability.MARKS, Capability.LOCKSTEP], smoke=True)
@over_ways_anew
def test_a_queue_pair_set_up_again_tells_its_new_peer_of_its_first_mark(
    bench: Bench, *, straight: bool
) -> None:
    qp = bench.connect()
    for turn in range(3):
        qp.send(WRITE_ONLY(psn=0, tos=marked(qp, CE)))
        qp.expect(CNP(dst_ip=qp.spec.remote.ip, dst_mac=qp.spec.remote.mac))
        qp.reconnect(straight=straight, remote=bench.peer(1 - turn % 2))


@case("NAK-08", "QPS-03", needs=[Capability.RC, Capability.MARKS], smoke=True)
def test_a_queue_pair_that_has_failed_notifies_nobody(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(64)
    qp.send(WRITE_ONLY(psn=0, payload=8, a=1, rkey=region.wrong_key(1 << 20)))
    qp.expect(NAK(ACCESS_ERROR, psn=0))
    qp.send(*(WRITE_ONLY(psn=psn, tos=marked(qp, CE)) for psn in (1, 2)))
    qp.expect_silence()


@case("CNP-03", needs=[Capability.MARKS])
def test_marks_that_go_on_are_notified_again(bench: Bench) -> None:
    mark_until_told_again(bench, bench.connect())


@case("CNP-02", "CNP-04", needs=[Capability.MARKS, Capability.LOCKSTEP], smoke=True)
def test_a_mark_long_behind_the_last_notification_is_told_of(bench: Bench) -> None:
    qp = bench.connect()
    behind = mark_until_told_again(bench, qp)
    first_ns, second_ns, *_ = notices(bench)
    for psn, tenths in enumerate(LATER, behind):
        bench.target.wait((second_ns - first_ns) * tenths // 10)
        qp.send(WRITE_ONLY(psn=psn, tos=marked(qp, CE)))
        qp.expect(CNP())


@case("CNP-04", needs=[Capability.RC, Capability.MARKS])
def test_a_notification_waits_for_no_answer_to_a_read(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.READ])
    reader, held_up, qp = (bench.connect() for _ in range(3))
    region, written = reader.region(LONG, filled=True), held_up.region(8)
    memory = region.read(0, region.size)
    reader.send(READ_REQUEST(psn=0, dmalen=region.size, **at(region)))
    held_up.send(WRITE_ONLY(psn=0, payload=8, **at(written)))
    qp.send(WRITE_ONLY(psn=0, tos=marked(qp, CE)))
    qp.expect(CNP())
    came = len(bench.frames_sent()) - 1
    assert came < LONG // reader.mtu, "it came behind all that the READ asked for"
    reader.expect(*read_responses(reader, 0, memory, msn=1))
