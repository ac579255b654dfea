# SPDX-License-Identifier: BSD-2-Clause
"""A device that is reset as a whole amid its life is as on the first day."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.reading import answers, lands, memory_for
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import require_sent, sent_of
from roceproof.conformance.suite.pattern import (
    ACK,
    INVALID_REQUEST,
    NAK,
    SEQUENCE_ERROR,
)
from roceproof.conformance.suite.traffic.storm_crowd import operations, served
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Refused
from roceproof.conformance.wire.mac_control import CLASSES, LONGEST, priority_pause
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.POWER_ON), needs(Capability.RC)]

PUSHES = (Op.WRITE, Op.SEND, Op.WRITE_IMM, Op.SEND_IMM)
ASKS = (Op.READ, Op.CMP_SWAP, Op.FETCH_ADD)
SIMULATED = ["hdl", "model"]
FRAMES = 4
PLACES = 16
RESETS, TRAIN, LONG, PING = 12, 20, 600, 30
TURNS, COPY_NS = 10, 6000
ASKED = [Capability.PING, Capability.DISTURBANCE]
SPREAD_NS, ANSWERED_NS = 2000, 1000
REMOTE_ERROR = 0x62


def op_of(bench: Bench) -> Op:
    """One that the device sends."""
    return require_sent(bench.claims, Service.RC, PUSHES)[0]


def amid_what_it_sends(bench: Bench, qp: Connection) -> None:
    """A long message is leaving."""
    qp.post(op_of(bench), 40 * qp.mtu)
    bench.pump(bench.target.patience.answer_ns, lambda: len(bench.frames_sent()) >= FRAMES)
    bench.target.wait(bench.random.randrange(1, 200))


def amid_what_it_is_sent(bench: Bench, qp: Connection) -> None:
    """A frame is coming in, and one waits behind it."""
    message = qp.post(op_of(bench), 5)
    qp.expect_message(message)
    qp.send(*(ACK(psn=message.last_psn, msn=message.ordinal) for _ in range(40)))
    bench.target.wait(bench.random.randrange(20, 300))


def with_work_outstanding(bench: Bench, qp: Connection) -> None:
    qp.expect_message(*qp.post_some(op_of(bench), *[5] * FRAMES))


def amid_what_it_repeats(bench: Bench, qp: Connection) -> None:
    """Copies are leaving slowly."""
    messages = qp.post_some(op_of(bench), *[3 * qp.mtu] * FRAMES)
    qp.expect_message(*messages)
    if Capability.DISTURBANCE in bench.claims.capabilities:
        bench.target.disturb(tx_stall=95)
    came = len(bench.frames_sent())
    qp.send(NAK(SEQUENCE_ERROR, psn=messages[0].psn))
    bench.pump(bench.target.patience.answer_ns, lambda: len(bench.frames_sent()) > came)
    bench.target.wait(bench.random.randrange(1, COPY_NS))


def with_streams_held(bench: Bench, qp: Connection) -> None:
    """All streams pause nearly always, amid payload."""
    if Capability.DISTURBANCE in bench.claims.capabilities:
        held = ("tx_stall", "cpl_stall", "rx_gap", "payload_gap", "qpc_gap", "wr_gap")
        bench.target.disturb(**dict.fromkeys(held, 95))
    qp.post(op_of(bench), 4 * qp.mtu)
    qp.send(ACK(psn=0, msn=0))
    bench.target.wait(bench.random.randrange(500, 3000))


def with_payload_awaited(bench: Bench, qp: Connection) -> None:
    """Work is taken, and nothing of its payload comes."""
    if Capability.DISTURBANCE in bench.claims.capabilities:
        bench.target.disturb(payload_gap=100)
    qp.post_some(op_of(bench), LONG, 5, qp.mtu, 9)
    bench.target.wait(bench.target.patience.quiet_ns)


def with_completions_held(bench: Bench, qp: Connection) -> None:
    """Work is done, and nobody takes what says so."""
    messages = qp.post_some(op_of(bench), *[5] * FRAMES)
    qp.expect_message(*messages)
    if Capability.DISTURBANCE in bench.claims.capabilities:
        bench.target.disturb(cpl_stall=100)
    qp.send(ACK(psn=messages[-1].last_psn, msn=messages[-1].ordinal))
    bench.target.wait(bench.target.patience.quiet_ns)


def amid_what_it_throws_away(bench: Bench, qp: Connection) -> None:
    """Payload of work that is refused comes slowly."""
    bench.target.set_state(qp.qp, State.RESET)
    if Capability.DISTURBANCE in bench.claims.capabilities:
        bench.target.disturb(payload_gap=95)
    with suppress(Refused):
        qp.post(op_of(bench), 16 * qp.mtu)
    bench.target.wait(bench.random.randrange(500, 3000))


def amid_what_it_asks_for(bench: Bench, qp: Connection) -> None:
    """Operands of READs and atomics come slowly, and so do answers."""
    region = qp.region(qp.mtu * FRAMES)
    ops = sent_of(bench.claims, Service.RC, ASKS)
    if Capability.DISTURBANCE in bench.claims.capabilities:
        bench.target.disturb(payload_gap=95)
    for place in range(2 * FRAMES):
        qp.post(ops[place % len(ops)], 8, into=region)
    bench.target.wait(bench.random.randrange(1, 1000))


def amid_answers(bench: Bench, qp: Connection) -> None:
    """Data of READs and originals of atomics are on their way to memory, which is slow."""
    into = memory_for(qp)
    messages = [
        qp.post(op, 8, into=into)
        for op in sent_of(bench.claims, Service.RC, ASKS)
        for _ in range(FRAMES)
    ]
    asked = min(qp.spec.max_rd_atomic, len(messages))
    qp.expect_message(*messages[:asked])
    if Capability.DISTURBANCE in bench.claims.capabilities:
        bench.target.disturb(memory_stall=95)
    for message in messages[:asked]:
        qp.send(*answers(qp, message, qp.random.randbytes(message.work.size)))
    bench.target.wait(bench.random.randrange(50, 2000))


def amid_what_it_flushes(bench: Bench, qp: Connection) -> None:
    """A queue pair has failed, and what it had begun cannot leave."""
    first = qp.post(op_of(bench), 5)
    qp.expect_message(first)
    if Capability.DISTURBANCE in bench.claims.capabilities:
        bench.target.disturb(tx_stall=99)
    qp.post(op_of(bench), 8 * qp.mtu)
    bench.target.wait(bench.target.patience.quiet_ns)
    qp.send(NAK(INVALID_REQUEST, psn=first.psn))
    bench.target.wait(bench.random.randrange(200, 2000))


def while_paused(bench: Bench, _qp: Connection) -> None:
    """The other end of the link has asked for the longest pause of every class."""
    bench.send(priority_pause(dict.fromkeys(range(CLASSES), LONGEST), src_mac=bench.peers[0].mac))
    bench.pump(bench.target.patience.quiet_ns // 16)


def in_error(bench: Bench, qp: Connection) -> None:
    """A queue pair has failed, and its work is flushed."""
    first, *others = qp.post_some(op_of(bench), 5, 5)
    qp.expect_message(first, *others)
    qp.send(NAK(INVALID_REQUEST, psn=first.psn))
    qp.completes(first, status="rem_inv_req_err")


@case("QPS-04", "LIVE-01", "LIVE-03", smoke=True, targets=SIMULATED)
@over(
    "moment",
    [
        *(amid_what_it_sends, amid_what_it_is_sent, with_work_outstanding),
        *(with_streams_held, with_payload_awaited, with_completions_held),
        *(amid_what_it_flushes, in_error),
        pytest.param(while_paused, marks=needs(Capability.PFC)),
        pytest.param(amid_what_it_repeats, marks=needs(Capability.RETRANSMISSION)),
        pytest.param(amid_what_it_throws_away, marks=needs(Capability.RESET)),
        pytest.param(amid_what_it_asks_for, marks=needs(Capability.READ, Capability.MEMORY)),
        pytest.param(amid_answers, marks=needs(Capability.READ, Capability.MEMORY)),
    ],
)
def test_a_reset_leaves_nothing_behind(
    bench: Bench, moment: Callable[[Bench, Connection], None]
) -> None:
    for _ in range(TURNS):
        old = bench.connect(retry_count=7)
        moment(bench, old)
        bench.power_on()
        if Capability.DISTURBANCE in bench.claims.capabilities:
            bench.target.disturb()
        bench.settle()
    same: dict[str, Any] = {
        "local_qpn": old.qp.qpn,
        "remote_qpn": old.spec.remote_qpn,
        "sq_psn": old.spec.sq_psn,
    }
    fixed = bench.claims.limits.fixed_of_qp.keys()
    qp = bench.connect(**{name: n for name, n in same.items() if name not in fixed})
    for op in sent_of(bench.claims, Service.RC, PUSHES):
        for size in (5, 3 * qp.mtu):
            qp.transfer(op, size)
    for op in sent_of(bench.claims, Service.RC, ASKS):
        into = memory_for(qp)
        message = qp.post(op, 8, into=into)
        qp.expect_message(message)
        data = qp.random.randbytes(message.work.size)
        qp.send(*answers(qp, message, data))
        lands(bench, qp, message, into, data)
    for _ in range(min(bench.claims.qps, 16) - 1):
        bench.connect().transfer(op_of(bench), 5)


def flushes_nobody_takes(play: Play, op: str) -> None:
    """A queue pair has failed, and what says so of its work stands still."""
    for _ in range(FRAMES):
        play.post(0, op, 5)
    play.until(FRAMES)
    play.disturb(cpl_stall=99)
    play.answer(0, back=FRAMES - 1, syndrome=REMOTE_ERROR)
    play.wait(ANSWERED_NS)


@case("QPS-04", "PSN-21", smoke=True, needs=[Capability.RESTART], targets=["hdl"])
def test_work_for_a_queue_pair_of_the_life_before_is_refused(bench: Bench) -> None:
    play = Play(bench)
    services = served(bench, Service.RC, Service.UC)
    kinds = [services[place % len(services)] for place in range(min(bench.claims.qps, PLACES))]
    ops = [operations(bench, service)[0].name for service in kinds]
    for key, service in enumerate(kinds):
        play.connect(key, service=service.name)
        play.post(key, ops[key], 5)
    for life in range(3):
        play.settle()
        if life:
            flushes_nobody_takes(play, ops[0])
        play.power_on()
        play.disturb()
        for key, service in enumerate(kinds):
            play.idle(key, service=service.name)
            play.post(key, ops[key], 5)
        play.settle()
        for key, service in enumerate(kinds):
            play.connect(key, service=service.name)
            play.post(key, ops[key], 5)
    play.finish()


@case("QPS-04", "LIVE-01", "LIVE-03", smoke=True, targets=SIMULATED)
@over("first", ["ACK", "ARP", "ping"])
def test_the_first_that_comes_behind_a_reset_is_taken(bench: Bench, first: str) -> None:
    play, op = Play(bench), op_of(bench).name
    for turn in range(RESETS):
        play.connect(0)
        play.post(0, op, 5)
        play.until()
        play.foreign("udp", LONG, count=2)
        play.answer(0, back=1 + turn, count=TRAIN)
        play.disturb(payload_gap=90)
        play.post(0, op, 3 * LONG)
        play.wait(bench.random.randrange(1, SPREAD_NS))
        play.power_on()
        play.disturb()
        if first == "ACK":
            play.connect(0)
            play.post(0, op, 5)
            play.until()
            play.answer(0)
        else:
            play.ask(size=PING if first == "ping" else None)
        play.settle()
    play.finish()


@case("QPS-04", "LIVE-01", "LIVE-03", smoke=True, needs=ASKED, targets=["hdl"])
@over("size", [None, PING, LONG], ids=["ARP", "ping", "long ping"])
def test_an_answer_that_a_reset_cuts_off_leaves_nothing_behind(
    bench: Bench, size: int | None
) -> None:
    play = Play(bench)
    for _ in range(RESETS):
        play.disturb(tx_stall=90)
        play.ask(size=size)
        play.wait(bench.random.randrange(1, ANSWERED_NS))
        play.power_on()
        play.disturb()
        play.ask()
        play.ask(size=PING)
        play.settle()
    play.finish()
