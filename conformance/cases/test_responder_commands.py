# SPDX-License-Identifier: BSD-2-Clause
"""What its owner tells a responder amid traffic: behind a key taken back, or a reset, is nothing.

Streams are slow, so that much is under way. A device may wait with a command until that is done, or
give it up; what was told of the memory when the command was taken stays true.
"""

from __future__ import annotations

from collections.abc import Callable

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    NAK,
    READ_REQUEST,
    SEND_ONLY_INV,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
)
from roceproof.conformance.suite.responses import read_responses
from roceproof.conformance.suite.within_limits import skip_for_commands
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.queue_pair import State
from roceproof.verbs.work import Region

pytestmark = [RESPONDER, needs(Capability.DISTURBANCE), needs(Capability.RESET)]

PACKETS = 12
ACKNOWLEDGE = 0x11
LEAVING = 1
"""Frames that may be on the wire already when a command is taken."""
SLOW_ANSWERS = over("slow", [{"tx_stall": 90}, {"memory_gap": 90}], ids=str)


def reads(qp: Connection, region: Region) -> None:
    """A READ of all of it, of which the first response has come."""
    qp.send(READ_REQUEST(psn=0, dmalen=region.size, **at(region)))
    qp.expect(read_responses(qp, 0, region.read(0, region.size))[0])


def writes(bench: Bench, qp: Connection, region: Region) -> None:
    """A WRITE to all of it, of which the first bytes are there."""
    mtu, last = qp.mtu, PACKETS - 1
    qp.send(qp.filled(WRITE_FIRST(psn=0, payload=mtu, dmalen=region.size, **at(region))))
    qp.send(*(qp.filled(WRITE_MIDDLE(psn=psn, payload=mtu)) for psn in range(1, last)))
    qp.send(qp.filled(WRITE_LAST(psn=last, payload=mtu, a=1)))
    assert bench.comes_true(lambda: any(region.read(0, mtu))), "nothing was written"


def resets(bench: Bench, qp: Connection) -> None:
    """The command is taken."""
    bench.target.set_state(qp.qp, State.RESET)
    if not bench.comes_true(lambda: not bench.target.commands_waiting):
        skip_for_commands(bench.claims)


@case("READ-09", "NAK-07", targets=["hdl"])
@SLOW_ANSWERS
def test_memory_whose_key_was_taken_back_is_read_no_more(
    bench: Bench, slow: dict[str, int]
) -> None:
    qp = bench.connect()
    region = qp.region(PACKETS * qp.mtu, filled=True)
    responses = read_responses(qp, 0, region.read(0, region.size))
    bench.target.disturb(**slow)
    reads(qp, region)
    region.deregister()
    region.write(0, bytes(region.size))
    for psn, response in enumerate(responses[1:], start=1):
        packet = qp.next()
        assert packet is not None, f"no response {psn} and no NAK"
        qp.inbox.appendleft(packet)
        if packet.bth.opcode == ACKNOWLEDGE:
            qp.expect(NAK(ACCESS_ERROR, psn=psn))
            break
        qp.expect(response)
    qp.expect_silence()


@case("INV-01", "READ-09", needs=[Capability.INVALIDATE], targets=["hdl"])
@SLOW_ANSWERS
@over("size", [0, 8])
def test_memory_whose_key_a_send_took_back_is_read_no_more(
    bench: Bench, slow: dict[str, int], size: int
) -> None:
    qp = bench.connect()
    region = qp.region(PACKETS * qp.mtu, filled=True)
    responses = read_responses(qp, 0, region.read(0, region.size))
    number = qp.post_receive(qp.region())
    bench.target.disturb(**slow)
    reads(qp, region)
    qp.send(SEND_ONLY_INV(psn=PACKETS, payload=size, inv=region.rkey, a=1))
    qp.receives(number, byte_len=size, invalidated=region.rkey)
    region.write(0, bytes(region.size))
    qp.expect(*responses[1:], ACK(psn=PACKETS))


@case("QPS-04", targets=["hdl"])
@SLOW_ANSWERS
def test_a_queue_pair_that_was_reset_answers_no_more(bench: Bench, slow: dict[str, int]) -> None:
    qp = bench.connect()
    region = qp.region(PACKETS * qp.mtu, filled=True)
    bench.target.disturb(**slow)
    reads(qp, region)
    resets(bench, qp)
    came = len(qp.inbox)
    bench.settle()
    late = len(qp.inbox) - came
    if late > LEAVING:
        raise bench.failed(f"{late} responses of a READ left behind the reset of its queue pair")


def key_taken_back(_bench: Bench, _qp: Connection, region: Region) -> None:
    """The command is taken."""
    region.deregister()


def queue_pair_reset(bench: Bench, qp: Connection, _region: Region) -> None:
    """The command is taken."""
    resets(bench, qp)


@case("QPS-04", "RETH-06", targets=["hdl"])
@over("command", [key_taken_back, queue_pair_reset])
def test_nothing_is_written_behind_a_command(
    bench: Bench, command: Callable[[Bench, Connection, Region], None]
) -> None:
    qp = bench.connect()
    region = qp.region(PACKETS * qp.mtu)
    bench.target.disturb(memory_stall=95)
    writes(bench, qp, region)
    command(bench, qp, region)
    held = region.read(0, region.size)
    bench.settle()
    if region.read(0, region.size) != held:
        raise bench.failed("memory has changed behind the command, which the device had taken")
