# SPDX-License-Identifier: BSD-2-Clause
"""Segmentation and lengths: what a message of L bytes at path MTU P looks like on the wire."""

from __future__ import annotations

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, over, over_mtus, over_services
from roceproof.conformance.suite.pattern import (
    WRITE_FIRST,
    WRITE_LAST_IMM,
    WRITE_MIDDLE,
    WRITE_ONLY,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Op
from roceproof.dpi.records import Service

pytestmark = REQUESTER


@case("OPC-01", "MTU-03", "MTU-04", needs=[Capability.WRITE], smoke=True)
@over_services
@over_mtus(256, 4096)
def test_a_message_becomes_only_or_first_middle_last(
    bench: Bench, service: Service, mtu: int
) -> None:
    qp = bench.connect(service, path_mtu=mtu)
    for length in (0, 1, mtu - 1, mtu, mtu + 1, 2 * mtu - 1, 2 * mtu, 2 * mtu + 1, 3 * mtu):
        qp.transfer(Op.WRITE, length)


@case("OPC-02", "IMM-03", needs=[Capability.WRITE_IMM], smoke=True)
@over_services
def test_immediate_data_rides_on_the_last_packet(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=256)
    qp.post(Op.WRITE_IMM, 700, immediate=0x01020304)
    qp.expect(
        WRITE_FIRST(psn=0, payload=256, dmalen=700),
        WRITE_MIDDLE(psn=1, payload=256),
        WRITE_LAST_IMM(psn=2, payload=188, imm=0x01020304),
    )


@case("PSN-03", needs=[Capability.WRITE], smoke=True)
@over_services
@over("before", [0, 1, 2, 3])
def test_a_psn_wraps(bench: Bench, service: Service, before: int) -> None:
    qp = bench.connect(service, path_mtu=256, sq_psn=0x1000000 - 1 - before)
    qp.transfer(Op.WRITE, 3 * 256)
    qp.post(Op.WRITE, 5)
    qp.expect(WRITE_ONLY(psn=3, dmalen=5))
