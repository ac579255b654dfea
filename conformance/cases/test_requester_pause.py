# SPDX-License-Identifier: BSD-2-Clause
"""What pauses of its link do to a requester: they stop its frames, and nothing else."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, over, over_services
from roceproof.conformance.suite.checks.frame_integrity import frames_are_exact
from roceproof.conformance.suite.checks.recovery import (
    copies,
    last_given_ns,
    last_sent_ns,
    unhurried_code,
    write_all,
)
from roceproof.conformance.suite.pattern import NAK, SEQUENCE_ERROR
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.frame_edits import with_flipped_bit
from roceproof.conformance.wire.mac_control import LONGEST, global_pause, priority_pause
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = REQUESTER

PRIORITY = 3
TAG = PRIORITY << 13 | 7
CLASSES = range(8)
DECIDING = (*range(48), *range(8 * 12, 8 * 16))
"""Bits of what makes a frame a pause: its destination, its type and its opcode."""
OTHER_PAUSE = 8 * 14
"""The one between the opcodes of both kinds of pauses."""
LONG_ENOUGH = 400
"""Quanta, of which a device needs but few to hear of a pause and to go on behind it."""
DAMAGED = 8
PACKETS = 60
"""More than leave while a device may still be busy to stop and the suite believes silence."""


def pause(
    bench: Bench,
    quanta: int,
    *,
    classes: range | tuple[int, ...] = CLASSES,
    named: tuple[int, ...] | None = None,
    is_damaged: bool = False,
) -> None:
    """Ask for a pause of these classes, or of those named, and let that arrive."""
    wanted = dict.fromkeys(classes, quanta)
    send = bench.send_damaged if is_damaged else bench.send
    send(priority_pause(wanted, src_mac=bench.peers[0].mac, named=named))
    bench.pump(bench.target.patience.quiet_ns // 16)


def quantum_ns(bench: Bench) -> float:
    """512 bit times, at 64 bits a clock."""
    return 512 // 64 * (bench.target.clock_ps or 0) / 1000


@case("PFC-01", needs=[Capability.PFC, Capability.WRITE], smoke=True)
@over_services
def test_a_pause_stops_new_frames_until_it_is_lifted(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=max(bench.claims.path_mtus))
    qp.serve()  # a window may hold less than the message
    message = qp.post(Op.WRITE, PACKETS * qp.mtu)
    qp.expect(message.packets[0])
    pause(bench, LONGEST)
    bench.settle()
    before = len(bench.frames_sent())
    bench.settle()
    assert len(bench.frames_sent()) == before < PACKETS
    pause(bench, 0)
    qp.expect(*message.packets[1:])
    qp.completes(message)
    frames_are_exact(bench)


@case("PFC-01", needs=[Capability.PFC, Capability.WRITE])
@over_services
def test_a_pause_ends_by_itself(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    pause(bench, 600)
    qp.transfer(Op.WRITE, 5)
    frames_are_exact(bench)


@case(
    "PFC-01", needs=[Capability.PFC, Capability.WRITE, Capability.FCS], targets=["hdl"], smoke=True
)
def test_a_pause_lasts_as_many_bit_times_as_it_says(bench: Bench) -> None:
    """It begins when the frame has come, whether there is something to send or not.

    One that comes amid another takes its place, be it longer or shorter.
    """
    qp = bench.connect()
    for amid, quanta, idle in ((0, 1, 0), (0, 2, 0), (1, 2, 0), (8, 1, 0), (0, 2, 1), (0, 1, 2)):
        pause(bench, amid * LONG_ENOUGH)
        pause(bench, quanta * LONG_ENOUGH)
        begun_ns = last_given_ns(bench)
        bench.pump(int(idle * LONG_ENOUGH * quantum_ns(bench)))
        message = qp.post(Op.WRITE, 5)
        qp.expect_message(message)
        lasted, due = (last_sent_ns(bench) - begun_ns) / quantum_ns(bench), max(quanta, idle)
        if not 0.95 * due < lasted / LONG_ENOUGH < 1.2 * due:
            raise bench.failed(
                f"behind a pause of {quanta * LONG_ENOUGH} quanta, and {idle * LONG_ENOUGH} with "
                f"nothing to send, a frame left after {lasted:.0f}"
            )
        qp.finish(message)


@case(
    "PFC-01", needs=[Capability.PFC, Capability.WRITE, Capability.FCS], targets=["hdl"], smoke=True
)
def test_every_bit_of_a_pause_holds_frames(bench: Bench) -> None:
    """A count of clocks that is too narrow for the longest pauses loses its upper bits."""
    qp = bench.connect()
    for bit in range(LONG_ENOUGH.bit_length(), LONGEST.bit_length()):
        pause(bench, 1 << bit)
        message = qp.post(Op.WRITE, 5)
        before = len(bench.frames_sent())
        bench.pump(int(LONG_ENOUGH / 2 * quantum_ns(bench)))
        if len(bench.frames_sent()) != before:
            raise bench.failed(f"a pause of {1 << bit:,} quanta has ended long before its time")
        pause(bench, 0)
        qp.expect_message(message)
        qp.finish(message)


@case("PFC-02", "PFC-01", needs=[Capability.PFC, Capability.WRITE], smoke=True)
@over_services
def test_times_of_classes_that_a_pause_does_not_name_say_nothing(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service)
    pause(bench, LONGEST, named=())
    qp.transfer(Op.WRITE, 5)
    pause(bench, LONGEST)
    message = qp.post(Op.WRITE, 5)
    pause(bench, 0, named=())
    qp.does_not_complete()
    pause(bench, 0)
    qp.expect_message(message)
    qp.finish(message)


@case("ETH-09", "PFC-01", needs=[Capability.PFC, Capability.WRITE, Capability.DAMAGE], smoke=True)
@over_services
def test_a_damaged_pause_neither_begins_nor_ends_one(bench: Bench, service: Service) -> None:
    qp, asker = bench.connect(service), bench.peers[0].mac
    of_all = priority_pause(dict.fromkeys(CLASSES, LONGEST), src_mac=asker)
    for frame in (global_pause(LONGEST, src_mac=asker), of_all, of_all) * DAMAGED:
        bench.send_damaged(frame)
    bench.settle()
    qp.transfer(Op.WRITE, 5)
    pause(bench, LONGEST)
    message = qp.post(Op.WRITE, 5)
    pause(bench, 0, is_damaged=True)
    qp.does_not_complete()
    pause(bench, 0)
    qp.expect_message(message)
    qp.finish(message)


@case("PFC-01", "LIVE-03", needs=[Capability.PFC, Capability.WRITE], smoke=True)
@over_services
def test_what_is_nearly_a_pause_holds_nothing(bench: Bench, service: Service) -> None:
    """One to another station or group, or of another type or opcode."""
    qp, asker = bench.connect(service), bench.peers[0].mac
    for right in (
        priority_pause(dict.fromkeys(CLASSES, LONGEST), src_mac=asker),
        global_pause(LONGEST, src_mac=asker),
    ):
        bench.send(bench.peers[1].mac + right[6:], is_void=True)
        for bit in DECIDING:
            if bit != OTHER_PAUSE:
                bench.send(bytes(with_flipped_bit(right, bit)), is_void=True)
    bench.settle()
    qp.transfer(Op.WRITE, 5)


@case("PFC-01", "PFC-02", needs=[Capability.PFC, Capability.WRITE], smoke=True)
@over_services
def test_one_class_holds_a_queue_pair_and_no_other_does(bench: Bench, service: Service) -> None:
    """Whichever it is of frames without a tag; the other times of a pause are not those of it."""
    qp, holding = bench.connect(service), []
    for priority in CLASSES:
        pause(bench, LONGEST, classes=(priority,))
        before = len(bench.frames_sent())
        message = qp.post(Op.WRITE, 5)
        bench.settle()
        if len(bench.frames_sent()) == before:
            holding.append(priority)
        pause(bench, 0, classes=(priority,))
        qp.expect_message(message)
        qp.finish(message)
    if len(holding) != 1:
        told = f"a pause of any of the classes {holding}" if holding else "a pause of no class"
        rule = "PFC-02" if holding else "PFC-01"
        raise bench.failed(f"{told} holds the frames of one queue pair", rules=[rule])
    pause(bench, LONGEST, classes=tuple({*CLASSES} - {*holding}), named=tuple(CLASSES))
    qp.transfer(Op.WRITE, 5)


@case("PFC-02", needs=[Capability.PFC, Capability.VLAN, Capability.WRITE])
@over_services
def test_a_pause_of_other_classes_stops_nothing(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, vlan=TAG)
    pause(bench, LONGEST, classes=tuple({*CLASSES} - {PRIORITY}))
    for _ in range(3):
        qp.transfer(Op.WRITE, 5)


@case("PFC-02", needs=[Capability.PFC, Capability.VLAN, Capability.WRITE])
def test_a_pause_stops_its_own_class_only(bench: Bench) -> None:
    held, free = bench.connect(vlan=TAG), bench.connect()
    pause(bench, LONGEST, classes=(PRIORITY,))
    message = held.post(Op.WRITE, 5)
    free.transfer(Op.WRITE, 5)
    held.does_not_complete()
    pause(bench, 0, classes=(PRIORITY,))
    held.expect_message(message)
    held.finish(message)


@case(
    "PFC-01",
    "RTX-04",
    needs=[Capability.PFC, Capability.RC, Capability.WRITE, Capability.RETRANSMISSION],
    smoke=True,
)
def test_what_is_asked_for_again_in_a_pause_leaves_behind_it(bench: Bench) -> None:
    qp = bench.connect(ack_timeout=unhurried_code(bench))
    messages = write_all(qp, 5, 2 * qp.mtu, 5)
    pause(bench, LONGEST)
    qp.send(NAK(SEQUENCE_ERROR, psn=0))
    qp.expect_silence()
    pause(bench, 0)
    qp.expect(*copies(messages))
    qp.finish(*messages)


@case("PFC-03", needs=[Capability.PFC, Capability.WRITE, Capability.RETRANSMISSION], smoke=True)
def test_time_spent_paused_uses_up_no_retries(bench: Bench) -> None:
    qp = bench.connect(ack_timeout=1, retry_count=1)
    pause(bench, LONGEST)
    message = qp.post(Op.WRITE, 5)
    bench.pump(12 * 4_096 << 1)
    pause(bench, 0)
    qp.expect_message(message)
    qp.finish(message)
    qp.expect_silence()


@case("PFC-04", needs=[Capability.WRITE], smoke=True)
@over_services
@over("length", [5, 700])
def test_mac_control_is_none_of_a_queue_pairs_business(
    bench: Bench, service: Service, length: int
) -> None:
    qp = bench.connect(service)
    message = qp.post(Op.WRITE, length)
    bench.send(global_pause(0, src_mac=bench.peers[0].mac))
    pause(bench, 0)
    qp.expect(*message.packets)
    qp.finish(message)
    qp.transfer(Op.WRITE, 5)
