# SPDX-License-Identifier: BSD-2-Clause
"""What congestion notifications do to a requester, and what they must not."""

from itertools import pairwise
from statistics import median

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over_services
from roceproof.conformance.suite.checks.recovery import copies
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.pattern import CNP, NAK, READ_RESP_ONLY, SEQUENCE_ERROR
from roceproof.conformance.suite.reporting.failure import AS_CONTRACTED
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.frame_edits import bad_icrc
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.WRITE)]

MTU = 256
CE, ECT0 = 3, 2
CNP_UDP_BYTES = 8 + 12 + 16 + 4
PACKETS, FEW = 40, 4
TURNS = 16
MANY = 40
COMMANDED = 40  # cycles around the end of a notification in which a command comes
LONGER = 1.5  # a pace that is so much slower is another
RECOVERY = 200  # quiet times in which a rate must come back


def gaps(bench: Bench, qp: Connection) -> list[int]:
    """The times between many packets, in ns."""
    before = len(bench.frames_sent())
    message = qp.post(Op.WRITE, PACKETS * MTU)
    bench.settle()
    qp.expect_message(message)
    qp.finish(message)
    return gaps_behind(bench, before)


def gaps_behind(bench: Bench, frames: int) -> list[int]:
    """The times between all frames but so many, in ns."""
    times = [entry.time_ns for entry in bench.transcript.entries() if entry.is_sent][frames:]
    return [b - a for a, b in pairwise(times)]


def slowest(times: list[int]) -> float:
    """The usual time between a few packets in a row, where it is longest."""
    return max(median(times[n : n + FEW]) for n in range(len(times) - FEW + 1))


@case("CNP-06", smoke=True)
@over_services
def test_notifications_change_neither_psns_nor_messages(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    for lengths in ((700, 0, 5), (0, 5, 700), (5, 700, 0), (700, 5, 0)):
        messages = qp.post_some(Op.WRITE, *lengths)
        qp.send(*[CNP()] * 10)
        qp.follow(*messages)
        qp.send(*[CNP()] * 10)
        qp.finish(*messages)


@case("CNP-06", needs=[Capability.RC], smoke=True)
def test_a_notification_acknowledges_nothing(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU, sq_psn=0xFFFFFE)
    message = qp.post(Op.WRITE, 700)
    assert qp.expect_message(message)[-1].bth.psn == 0, "a CNP has PSN 0, and so has the last"
    qp.ignores(message, CNP(), CNP(m=0), CNP(tos=48 << 2 | ECT0))


@case("CNP-08")
@over_services
def test_a_corrupted_or_misdirected_notification_changes_nothing(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    for length in (700, 0, 5):
        message = qp.post(Op.WRITE, length)
        qp.send(CNP().corrupted(bad_icrc()), CNP(qpn=qp.qp.qpn + bench.claims.qps), CNP(qpn=0))
        qp.follow(message)
        qp.finish(message)


@case("CNP-07", needs=[Capability.CNP], smoke=True)
@over_services
def test_a_queue_pair_slows_down_and_others_do_not(bench: Bench, service: Service) -> None:
    slowed, other = (bench.connect(service, path_mtu=MTU) for _ in range(2))
    usual = median(gaps(bench, slowed))
    slowed.send(*[CNP()] * 3)
    assert median(gaps(bench, other)) < usual * LONGER
    slowed.send(*[CNP()] * 3)
    assert slowest(gaps(bench, slowed)) > usual * LONGER


@case("CNP-07", AS_CONTRACTED, needs=[Capability.CNP], smoke=True)
def test_however_many_notifications_come_a_queue_pair_stays_slow_and_goes_on(
    bench: Bench,
) -> None:
    qp, quiet_ns = bench.connect(path_mtu=MTU), bench.target.patience.quiet_ns
    usual = median(gaps(bench, qp))
    for _ in range(MANY):
        qp.send(CNP())
        bench.pump(quiet_ns // 10)
    before = len(bench.frames_sent())
    message = qp.post(Op.WRITE, FEW * MTU)
    bench.pump(FEW * quiet_ns, lambda: len(bench.frames_sent()) == before + FEW)
    times = gaps_behind(bench, before)
    told = f"behind {MANY} notifications {1 + len(times)} packets left, {times} ns apart"
    if len(times) < FEW - 1 or max(times) >= quiet_ns:
        raise bench.failed(told, rules=[AS_CONTRACTED])
    if max(times) <= usual * LONGER:
        raise bench.failed(told, rules=["CNP-07"])
    qp.expect_message(message)
    qp.finish(message)


@case("CNP-07", needs=[Capability.CNP])
@over_services
def test_a_queue_pair_that_was_slow_recovers(bench: Bench, service: Service) -> None:
    slowed = bench.connect(service, path_mtu=MTU)
    usual = median(gaps(bench, slowed))
    slowed.send(*[CNP()] * 6)
    bench.pump(RECOVERY * bench.target.patience.quiet_ns)
    assert median(gaps(bench, slowed)) < usual * LONGER


@case("CNP-06", "RTX-04", needs=[Capability.RC, Capability.RETRANSMISSION], smoke=True)
def test_all_is_sent_again_behind_notifications(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    for _ in range(2):
        message = qp.post(Op.WRITE, FEW * MTU)
        qp.expect_message(message)
        qp.send(*[CNP()] * 3, NAK(SEQUENCE_ERROR, psn=message.psn))
        bench.settle()
        qp.expect(*copies([message]))
        qp.finish(message)


@case("CNP-07", needs=[Capability.CNP, Capability.RC, Capability.RETRANSMISSION])
def test_what_is_sent_again_is_slowed_down_too(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    usual = median(gaps(bench, qp))
    message = qp.post(Op.WRITE, PACKETS * MTU)
    qp.expect_message(message)
    before = len(bench.frames_sent())
    qp.send(*[CNP()] * 3, NAK(SEQUENCE_ERROR, psn=message.psn))
    bench.settle()
    qp.expect(*copies([message]))
    assert slowest(gaps_behind(bench, before)) > usual * LONGER
    qp.finish(message)


@case("CNP-07", needs=[Capability.CNP], targets=["hdl"], smoke=True)
def test_a_notification_counts_in_whatever_turn_it_comes(bench: Bench) -> None:
    """A device may look after its queue pairs a cycle each; none may miss what comes in its own."""
    cycle_ns = (bench.target.clock_ps or 0) / 1000
    first = bench.connect(path_mtu=MTU)
    usual = median(gaps(bench, first))
    others = [bench.connect(path_mtu=MTU) for _ in range(min(bench.claims.qps, TURNS) - 1)]
    for qp in (first, *others):
        cycle = round(bench.target.now_ns / cycle_ns)
        bench.target.wait(int(-cycle % TURNS * cycle_ns))
        qp.send(CNP())
        before = len(bench.frames_sent())
        qp.expect_message(qp.post(Op.WRITE, 2 * FEW * MTU))
        assert slowest(gaps_behind(bench, before)) > usual * LONGER


@case("CNP-07", "QPS-06", needs=[Capability.CNP, Capability.RESET], targets=["hdl"], smoke=True)
def test_a_notification_counts_in_whatever_cycle_another_is_configured(bench: Bench) -> None:
    qp, other = (bench.connect(path_mtu=MTU) for _ in range(2))
    usual = median(gaps(bench, qp))
    cycle_ns = (bench.target.clock_ps or 0) / 1000
    for cycles in range(1, COMMANDED):
        qp.reconnect()
        qp.send(CNP())
        bench.target.wait(int(cycles * cycle_ns))
        bench.target.set_state(other.qp, State.RESET)
        bench.target.wait(int(COMMANDED * cycle_ns))
        before = len(bench.frames_sent())
        qp.expect_message(qp.post(Op.WRITE, 2 * FEW * MTU))
        assert slowest(gaps_behind(bench, before)) > usual * LONGER, f"behind {cycles} cycles"


@case("CNP-07", needs=[Capability.CNP], smoke=True)
@over_services
def test_another_connection_begins_unslowed(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    usual = median(gaps(bench, qp))
    qp.send(*[CNP()] * 6)
    bench.settle()
    qp.reconnect()
    assert median(gaps(bench, qp)) < usual * LONGER


@case("CNP-08", needs=[Capability.CNP], smoke=True)
def test_a_notification_that_is_to_be_ignored_keeps_the_rate(bench: Bench) -> None:
    qp, stranger = bench.connect(path_mtu=MTU), bench.peers[1]
    usual = median(gaps(bench, qp))
    for what, bad in {
        "with a wrong ICRC": CNP().corrupted(bad_icrc()),
        "for another queue pair": CNP(qpn=qp.qp.qpn + bench.claims.qps),
        "of another host": CNP(src_ip=stranger.ip, src_mac=stranger.mac),
    }.items():
        qp.send(*[bad] * 3)
        assert median(gaps(bench, qp)) < usual * LONGER, f"behind one {what}"


@case("CNP-01", needs=[Capability.RC, Capability.READ, Capability.MARKS])
def test_marked_responses_to_a_requester_are_notified_as_any_others(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    message = qp.post(Op.READ, 8)
    qp.expect_message(message)
    qp.send(READ_RESP_ONLY(psn=0, msn=1, payload=8, tos=CE))
    cnp = CNP(psn=0, a=0, se=0, pad=0, tver=0, fecn=0, pkey=0xFFFF, payload=0)
    notified = qp.expect(cnp.but(qpn=qp.spec.remote_qpn))[0]
    assert notified.udp_length == CNP_UDP_BYTES
    assert [header.pack() for header in notified.extensions] == [bytes(16)]
    qp.completes(message)
