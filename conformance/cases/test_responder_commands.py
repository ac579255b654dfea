# SPDX-License-Identifier: BSD-2-Clause
"""What its owner tells a responder amid traffic: behind a key taken back, or a reset, is nothing.

Streams are slow, so that much is under way. A device may wait with a command until that is done, or
give it up; what was told of the memory when the command was taken stays true.
"""

from collections.abc import Callable

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import skip_for_commands
from roceproof.conformance.suite.pattern import ACK, SEND_ONLY_INV
from roceproof.conformance.suite.traffic.amid import (
    BY_KEY,
    BY_RESET,
    begin_read,
    begin_sends,
    begin_write,
    expect_no_more_answers,
    expect_no_more_writes,
    expect_rest_or_refusal,
    reset_is_taken,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Region

pytestmark = [RESPONDER, needs(Capability.DISTURBANCE), needs(Capability.RESET)]

PACKETS = 12
BEGUN = [
    pytest.param(each, begin, id=f"{each.name}-{name}", marks=needs(Capability[each.name]))
    for each, name, begin in (
        (Service.RC, "WRITE", begin_write),
        (Service.UC, "WRITE", begin_write),
        (Service.UC, "SEND", begin_sends),
        (Service.UD, "SEND", begin_sends),
    )
]
SLOW_ANSWERS = over("slow", [{"tx_stall": 90}, {"memory_gap": 90}], ids=str)


def resets(bench: Bench, qp: Connection) -> None:
    if not reset_is_taken(bench, qp):
        skip_for_commands(bench.claims)


@case("READ-09", "NAK-07", targets=["hdl"])
@SLOW_ANSWERS
def test_memory_whose_key_was_taken_back_is_read_no_more(
    bench: Bench, slow: dict[str, int]
) -> None:
    qp = bench.connect()
    region = qp.region(PACKETS * qp.mtu, filled=True)
    bench.target.disturb(**slow)
    responses = begin_read(qp, region)
    region.deregister()
    region.write(0, bytes(region.size))
    expect_rest_or_refusal(bench, qp, responses)


@case("INV-01", "READ-09", needs=[Capability.INVALIDATE], targets=["hdl"])
@SLOW_ANSWERS
@over("size", [0, 8])
def test_memory_whose_key_a_send_took_back_is_read_no_more(
    bench: Bench, slow: dict[str, int], size: int
) -> None:
    qp = bench.connect()
    region = qp.region(PACKETS * qp.mtu, filled=True)
    number = qp.post_receive(qp.region())
    bench.target.disturb(**slow)
    responses = begin_read(qp, region)
    qp.send(SEND_ONLY_INV(psn=PACKETS, payload=size, inv=region.rkey, a=1))
    qp.receives(number, byte_len=size, invalidated=region.rkey)
    region.write(0, bytes(region.size))
    qp.expect(*responses, ACK(psn=PACKETS))


@case("INV-01", "READ-09", needs=[Capability.INVALIDATE], targets=["hdl"], smoke=True)
def test_memory_whose_key_a_send_to_another_queue_pair_took_back_is_read_no_more(
    bench: Bench,
) -> None:
    reader, qp = bench.connect(), bench.connect()
    region = reader.region(PACKETS * reader.mtu, filled=True)
    number = qp.post_receive(qp.region())
    bench.target.disturb(tx_stall=90)
    responses = begin_read(reader, region)
    qp.send(SEND_ONLY_INV(psn=0, payload=0, inv=region.rkey, a=1))
    qp.receives(number, byte_len=0, invalidated=region.rkey)
    region.write(0, bytes(region.size))
    expect_rest_or_refusal(bench, reader, responses)
    qp.expect(ACK(psn=0))


@case("QPS-04", targets=["hdl"], smoke=True)
@SLOW_ANSWERS
def test_a_queue_pair_that_was_reset_answers_no_more(bench: Bench, slow: dict[str, int]) -> None:
    qp = bench.connect()
    region = qp.region(PACKETS * qp.mtu, filled=True)
    bench.target.disturb(**slow)
    begin_read(qp, region)
    resets(bench, qp)
    expect_no_more_answers(bench, qp)


def key_taken_back(_bench: Bench, _qp: Connection, region: Region) -> None:
    region.deregister()


def queue_pair_reset(bench: Bench, qp: Connection, _region: Region) -> None:
    resets(bench, qp)


@case("QPS-04", "RETH-06", targets=["hdl"], smoke=True)
@over("command", [key_taken_back, queue_pair_reset])
@over(("service", "begin"), BEGUN)
def test_nothing_is_written_behind_a_command(
    bench: Bench,
    service: Service,
    begin: Callable[[Bench, Connection, Region], None],
    command: Callable[[Bench, Connection, Region], None],
) -> None:
    qp = bench.connect(service)
    region = qp.region(PACKETS * qp.mtu)
    bench.target.disturb(memory_stall=95)
    begin(bench, qp, region)
    command(bench, qp, region)
    expect_no_more_writes(bench, region, BY_KEY if command is key_taken_back else BY_RESET)
