# SPDX-License-Identifier: BSD-2-Clause
"""Keys taken back and queue pairs ended in any cycle of a request: it is whole, or refused."""

from collections.abc import Callable

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.moments import PARTS, moments, pass_by
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    ATOMIC_ACK,
    FETCH_ADD,
    NAK,
    READ_REQUEST,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.suite.traffic.amid import expect_no_more_answers, expect_rest_or_refusal
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = [RESPONDER, needs(Capability.LOCKSTEP), needs(Capability.RC), needs(Capability.RESET)]

SIMULATED = ["hdl", "model"]
SIZE = 24
NAK_KIND = 3
PACKETS, STALL, LONG = 6, 80, 1024
"""Of a READ that is answered slowly: its responses, and the cycles in which it may be met."""

over_parts = over("part", range(PARTS))


def write(qp: Connection, region: Region) -> tuple[Pattern, Pattern, bytes]:
    """A request, the answer to it, and what memory then holds."""
    only = qp.filled(WRITE_ONLY(psn=0, payload=SIZE, a=1, **at(region)))
    return only, ACK(psn=0), only.said["payload"]


def atomic(_qp: Connection, region: Region) -> tuple[Pattern, Pattern, bytes]:
    """The same of one that counts up."""
    counted = (1).to_bytes(8, "little") + bytes(SIZE - 8)
    return FETCH_ADD(psn=0, swap=1, **at(region)), ATOMIC_ACK(psn=0, original=0), counted


WRITING = {Op.WRITE: write, Op.FETCH_ADD: atomic}
over_writing = over("op", WRITING, ids=lambda op: op.name)


def key_goes(bench: Bench, op: Op, part: int | None) -> None:
    """The request is executed or refused; either is told, and nothing is written later."""
    executed_of(bench.claims, Service.RC, [op])
    qp = bench.connect()
    for cycles in moments(bench, part):
        region = bench.target.register(SIZE)
        request, answer, written = WRITING[op](qp, region)
        qp.send(request)
        pass_by(bench, cycles)
        region.deregister()
        held = region.read(0, SIZE)
        came = qp.peek()
        aeth = None if came is None else came.aeth
        is_refused = aeth is not None and aeth.syndrome >> 5 == NAK_KIND
        qp.expect(NAK(ACCESS_ERROR, psn=0) if is_refused else answer)
        if held != (bytes(SIZE) if is_refused else written):
            told = "refused" if is_refused else "acknowledged"
            text = f"a {op.name} was {told}, and memory holds otherwise"
            raise bench.failed(text, rules=["RETH-06"])
        if region.read(0, SIZE) != held:
            raise bench.failed("memory was written whose key had been taken back")
        qp.reconnect()


@case("RETH-06", "NAK-07", needs=[Capability.TOLD_KEYS], smoke=True, targets=SIMULATED)
@over_writing
def test_a_key_is_taken_back_in_any_cycle_of_a_request(bench: Bench, op: Op) -> None:
    key_goes(bench, op, None)


@case("RETH-06", "NAK-07", needs=[Capability.TOLD_KEYS], targets=SIMULATED)
@over_writing
@over_parts
def test_a_key_is_taken_back_in_every_cycle_of_a_request(bench: Bench, op: Op, part: int) -> None:
    key_goes(bench, op, part)


def key_taken_back(bench: Bench, qp: Connection, region: Region, responses: list[Pattern]) -> None:
    """Other bytes, which are there from then on, are not read."""
    region.deregister()
    stream = bench.target.standing().get("reg")
    if stream is None or not stream.waits:
        region.write(0, bytes(region.size))
    expect_rest_or_refusal(bench, qp, responses, first=0)


def life_ends(bench: Bench, qp: Connection, state: State) -> None:
    """Behind the command nothing leaves."""
    bench.target.set_state(qp.qp, state)
    if bench.comes_true(lambda: not bench.target.commands_waiting):
        bench.pump(0)
        expect_no_more_answers(bench, qp)


def is_reset(bench: Bench, qp: Connection, _region: Region, _responses: list[Pattern]) -> None:
    life_ends(bench, qp, State.RESET)


def fails(bench: Bench, qp: Connection, _region: Region, _responses: list[Pattern]) -> None:
    life_ends(bench, qp, State.ERR)


Command = Callable[[Bench, Connection, Region, list[Pattern]], None]


@case("RETH-06", "READ-09", needs=[Capability.DISTURBANCE], smoke=True, targets=["hdl"])
@over(
    "command",
    [
        pytest.param(key_taken_back, id="key", marks=needs(Capability.TOLD_KEYS)),
        pytest.param(is_reset, id="RESET"),
        pytest.param(fails, id="ERR", marks=needs(Capability.STATES)),
    ],
)
def test_a_read_is_answered_from_memory_that_it_may_read(bench: Bench, command: Command) -> None:
    executed_of(bench.claims, Service.RC, [Op.READ])
    qp = bench.connect()
    for cycles in moments(bench, None, span=LONG):
        region = qp.region(PACKETS * qp.mtu, filled=True)
        bench.target.disturb(tx_stall=STALL)
        qp.send(READ_REQUEST(psn=0, dmalen=region.size, **at(region)))
        responses = read_responses(qp, 0, region.read(0, region.size))
        pass_by(bench, cycles)
        command(bench, qp, region, responses)
        bench.target.disturb()
        region.deregister()
        qp.reconnect()
