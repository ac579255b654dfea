# SPDX-License-Identifier: BSD-2-Clause
"""What is under way to or from a responder when its owner's command comes, and what may follow.

A device may wait with a command until all that is done, or give it up; behind the command, when it
is taken, nothing of it comes, and memory stays as it is.
"""

from collections.abc import Sequence

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    NAK,
    READ_REQUEST,
    SEND_ONLY,
    UD_SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Region

_ACKNOWLEDGE = 0x11
_LEAVING = 1
"""Frames that may be on the wire already when a command is taken."""
_SMALL = 8
BY_RESET, BY_KEY = "QPS-04", "RETH-06"
"""What a queue pair that was reset, or memory whose key was taken back, must not do any more."""


def begin_read(qp: Connection, region: Region) -> list[Pattern]:
    """A READ of all of it, of which the first response has come; those that are left."""
    first, *others = read_responses(qp, 0, region.read(0, region.size))
    qp.send(READ_REQUEST(psn=0, dmalen=region.size, **at(region)))
    qp.expect(first)
    return others


def begin_write(bench: Bench, qp: Connection, region: Region) -> None:
    """A WRITE to all of it, three packets or more, of which the first bytes are there."""
    mtu, last = qp.mtu, region.size // qp.mtu - 1
    qp.send(qp.filled(WRITE_FIRST(psn=0, payload=mtu, dmalen=region.size, **at(region))))
    qp.send(*(qp.filled(WRITE_MIDDLE(psn=psn, payload=mtu)) for psn in range(1, last)))
    asks = int(qp.spec.service is Service.RC)
    qp.send(qp.filled(WRITE_LAST(psn=last, payload=mtu, a=asks)))
    _expect_written(bench, region)


def begin_sends(bench: Bench, qp: Connection, region: Region) -> None:
    """Messages of one packet to all of it, unacknowledged, of which the first bytes are there."""
    is_datagram = qp.spec.service is Service.UD
    maker, header = (UD_SEND_ONLY, GRH_BYTES) if is_datagram else (SEND_ONLY, 0)
    count = min(region.size // qp.mtu, bench.claims.receives)
    for n in range(count):
        qp.post_receive(region, offset=n * qp.mtu, length=qp.mtu)
    qp.send(*(qp.filled(maker(psn=psn, payload=qp.mtu - header)) for psn in range(count)))
    _expect_written(bench, region)


def _expect_written(bench: Bench, region: Region) -> None:
    if not bench.comes_true(lambda: any(region.read(0, _SMALL + GRH_BYTES))):
        raise bench.failed("nothing was written")


def reset_is_taken(bench: Bench, qp: Connection) -> bool:
    """Reset it; whether the device takes the command at all, amid a message."""
    bench.target.set_state(qp.qp, State.RESET)
    return bench.comes_true(lambda: not bench.target.commands_waiting)


def expect_rest_or_refusal(
    bench: Bench, qp: Connection, responses: Sequence[Pattern], *, first: int = 1
) -> None:
    """The responses to a READ from that one on, or a NAK in place of one, and no more."""
    for psn, response in enumerate(responses, start=first):
        packet = qp.peek()
        if packet is None:
            raise bench.failed(f"no response {psn} and no NAK")
        if packet.bth.opcode == _ACKNOWLEDGE:
            qp.expect(NAK(ACCESS_ERROR, psn=psn))
            break
        qp.expect(response)
    qp.expect_silence()


def expect_no_more_answers(bench: Bench, qp: Connection) -> None:
    """Behind a reset that was taken."""
    came = len(qp.inbox)
    bench.settle()
    late = len(qp.inbox) - came
    if late > _LEAVING:
        raise bench.failed(
            f"{late} responses of a READ left behind the reset of its queue pair", rules=[BY_RESET]
        )


def expect_no_more_writes(bench: Bench, region: Region, rule: str) -> None:
    """Behind a command that was taken, of which there is this rule: these are not just late."""
    held = region.read(0, region.size)
    bench.settle()
    if region.read(0, region.size) != held:
        text = "memory has changed behind the command, which the device had taken"
        raise bench.failed(text, rules=[rule], stop=Stop(Kind.ASSERTION))


def flood(bench: Bench, qp: Connection, *, count: int, lag: int, every: int) -> None:
    """So many small WRITEs in a row, whose ends `lag`; none is acknowledged before its own.

    One of `every` so many asks for an ACK. The ends go on to lag.
    """
    region = qp.region(count * _SMALL)
    writes = [
        qp.filled(
            WRITE_ONLY(psn=n, payload=_SMALL, a=int(n % every == 0), **at(region, _SMALL * n))
        )
        for n in range(count)
    ]
    bench.target.disturb(memory_lag=lag)
    qp.send(*writes)
    for psn in range(0, count, every):
        qp.expect(ACK(psn=range(psn, psn + every)))
        if region.read(_SMALL * psn, _SMALL) != writes[psn].said["payload"]:
            raise bench.failed(
                f"WRITE {psn} of {count} is acknowledged, and memory has not changed"
            )
