# SPDX-License-Identifier: BSD-2-Clause
"""Where the data of READs go: at every path MTU, in READs of many packets, and when they may."""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import PathMtu
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.READ, Capability.MEMORY)]

AROUND = 16
"""Bytes of the region on both sides of what is read."""
TRIES = 6
HEARD_NS = 400
"""By then the device has heard a response, and its stalled request may not have left."""


def reads(bench: Bench, qp: Connection, length: int) -> None:
    """A READ of that many bytes lands at its place, and changes nothing beside it."""
    into = qp.region(length + 2 * AROUND, filled=True)
    front, behind = into.read(0, AROUND), into.read(AROUND + length, AROUND)
    message = qp.post(Op.READ, length, into=into, into_offset=AROUND)
    qp.expect_message(message)
    data = qp.random.randbytes(message.work.size)
    qp.send(*read_responses(qp, message.psn, data, msn=message.ordinal))
    qp.completes(message)
    if into.read(AROUND, len(data)) != data:
        raise bench.failed(f"a READ of {length} bytes completed with other bytes than it was given")
    if (into.read(0, AROUND), into.read(AROUND + length, AROUND)) != (front, behind):
        raise bench.failed(f"a READ of {length} bytes changed memory beside its own")


@case("READ-04", "READ-10", "MTU-01", smoke=True)
@over("path_mtu", [mtu.size for mtu in PathMtu])
def test_a_read_lands_at_every_path_mtu(bench: Bench, path_mtu: int) -> None:
    qp = bench.connect(path_mtu=path_mtu)
    for length in (1, path_mtu, path_mtu + 1, 3 * path_mtu + 77):
        reads(bench, qp, length)


@case("READ-04", "READ-10")
@over("length", [pytest.param(259 * 256 + 1, marks=pytest.mark.smoke), 17 * 0x10000])
def test_a_long_read_lands_whole(bench: Bench, length: int) -> None:
    qp = bench.connect(path_mtu=256)
    reads(bench, qp, length)
    reads(bench, qp, 300)


@case("ACK-09", "READ-07", smoke=True, targets=["hdl"])
def test_data_that_come_before_their_request_has_left_are_no_answer(bench: Bench) -> None:
    qp = bench.connect(path_mtu=256)
    into = qp.region(64)
    for _ in range(TRIES):
        bench.target.disturb(tx_stall=99)
        message = qp.post(Op.READ, 8, into=into)
        early, data = qp.random.randbytes(8), qp.random.randbytes(8)
        qp.send(*read_responses(qp, message.psn, early, msn=message.ordinal))
        is_early = qp.next(timeout_ns=HEARD_NS) is None
        bench.target.disturb(tx_stall=0)
        if is_early:
            qp.expect_message(message)
        qp.send(*read_responses(qp, message.psn, data, msn=message.ordinal))
        qp.completes(message)
        if is_early and into.read(0, 8) != data:
            raise bench.failed("a READ took data that came before its request had left")
