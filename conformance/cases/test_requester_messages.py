# SPDX-License-Identifier: BSD-2-Clause
"""Which packets a message becomes, and that messages follow one another whole."""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over, over_services
from roceproof.conformance.suite.limits.within_limits import sent_of
from roceproof.conformance.suite.pattern import (
    SEND_FIRST,
    SEND_LAST,
    SEND_LAST_IMM,
    SEND_LAST_INV,
    SEND_MIDDLE,
    SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST_IMM,
    WRITE_MIDDLE,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = REQUESTER

PUSHES = (Op.SEND, Op.WRITE, Op.SEND_IMM, Op.WRITE_IMM)
LENGTHS = (700, 5, 512, 256, 0, 257)


@case("OPC-01", needs=[Capability.SEND])
@over_services
def test_a_message_is_first_middles_last_or_only(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=256)
    qp.serve()
    qp.post(Op.SEND, 700)
    qp.post(Op.SEND, 256)
    qp.post(Op.SEND, 257)
    qp.expect(
        SEND_FIRST(psn=0, payload=256),
        SEND_MIDDLE(psn=1, payload=256),
        SEND_LAST(psn=2, payload=188),
        SEND_ONLY(psn=3, payload=256),
        SEND_FIRST(psn=4, payload=256),
        SEND_LAST(psn=5, payload=1),
    )


@case("OPC-02", "IMM-03", needs=[Capability.WRITE_IMM], smoke=True)
@over_services
def test_only_the_last_packet_of_a_write_says_that_immediate_data_come(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service, path_mtu=256)
    qp.post(Op.WRITE_IMM, 700, immediate=0x01020304)
    qp.expect(
        WRITE_FIRST(psn=0, payload=256, dmalen=700),
        WRITE_MIDDLE(psn=1, payload=256),
        WRITE_LAST_IMM(psn=2, payload=188, imm=0x01020304),
    )


@case("OPC-02", "IMM-03", needs=[Capability.SEND_IMM])
@over_services
def test_only_the_last_packet_of_a_send_says_that_immediate_data_come(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service, path_mtu=256)
    qp.post(Op.SEND_IMM, 700, immediate=0x01020304)
    qp.expect(
        SEND_FIRST(psn=0, payload=256),
        SEND_MIDDLE(psn=1, payload=256),
        SEND_LAST_IMM(psn=2, payload=188, imm=0x01020304),
    )


@case("OPC-02", "INV-01", needs=[Capability.RC, Capability.SEND_INV])
def test_only_the_last_packet_names_the_key_to_invalidate(bench: Bench) -> None:
    qp = bench.connect(path_mtu=256)
    qp.post(Op.SEND_INV, 700, invalidate=0x01020304)
    qp.expect(
        SEND_FIRST(psn=0, payload=256),
        SEND_MIDDLE(psn=1, payload=256),
        SEND_LAST_INV(psn=2, payload=188, inv=0x01020304),
    )


@case("OPC-03", "OPC-05", needs=[Capability[op.name] for op in PUSHES], smoke=True)
@over_services
def test_messages_of_all_kinds_follow_one_another_whole(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=256)
    qp.serve()
    messages = [qp.post(op, length) for length in LENGTHS for op in PUSHES]
    bench.settle()
    qp.follow(*messages)
    qp.completes(*messages)


@case("OPC-03", needs=[Capability.RC, Capability.WRITE, Capability.READ, Capability.ATOMIC])
def test_no_read_or_atomic_comes_in_between_either(bench: Bench) -> None:
    qp = bench.connect(path_mtu=256, max_rd_atomic=4)
    qp.serve()
    kinds = (Op.WRITE, Op.READ, Op.WRITE, Op.FETCH_ADD, Op.WRITE, Op.CMP_SWAP)
    messages = [qp.post(op, 700) for op in kinds]
    bench.settle()
    qp.follow(*messages)
    qp.completes(*messages)


@case("OPC-04", needs=[Capability.WRITE, Capability.SEND], smoke=True)
@over_services
def test_each_of_many_busy_queue_pairs_keeps_its_own_order(bench: Bench, service: Service) -> None:
    pairs = [bench.connect(service, path_mtu=256) for _ in range(min(8, bench.claims.qps))]
    messages = [
        [(qp, qp.post(op, length)) for qp in pairs]
        for op, length in ((Op.WRITE, 700), (Op.SEND, 5), (Op.WRITE, 513), (Op.SEND, 257))
    ]
    bench.settle()
    for qp in pairs:
        own = [message for turn in messages for owner, message in turn if owner is qp]
        qp.follow(*own)
        qp.finish(*own)


@case("OPC-04", "BTH-01", needs=[Capability.RC, Capability.UC, Capability.WRITE])
def test_queue_pairs_of_both_services_do_not_mix(bench: Bench) -> None:
    pairs = [bench.connect(service, path_mtu=256) for service in [Service.RC, Service.UC] * 2]
    messages = [qp.post(Op.WRITE, 700) for qp in pairs]
    bench.settle()
    for qp, message in zip(pairs, messages, strict=True):
        qp.follow(message)
        qp.finish(message)


over_reliable_ops = over(
    "op",
    [
        pytest.param(Op.READ, marks=needs(Capability.READ)),
        pytest.param(Op.FETCH_ADD, marks=needs(Capability.ATOMIC)),
        pytest.param(Op.CMP_SWAP, marks=needs(Capability.ATOMIC)),
        pytest.param(Op.SEND_INV, marks=needs(Capability.SEND_INV)),
    ],
)


@case("OPC-11", needs=[Capability.UC])
@over_reliable_ops
def test_an_unreliable_connection_refuses_what_only_a_reliable_one_has(
    bench: Bench, op: Op
) -> None:
    bench.connect(Service.UC).refuses(op, 8)


@case("OPC-11", needs=[Capability.UC], targets=["hdl", "model"], smoke=True)
@over_reliable_ops
def test_an_unreliable_connection_goes_on_behind_what_it_refuses(bench: Bench, op: Op) -> None:
    """With verbs the queue pair ends with what it refuses."""
    qp = bench.connect(Service.UC)
    for _ in range(2):
        qp.refuses(op, 8, status="loc_qp_op_err")
    for push in sent_of(bench.claims, Service.UC, PUSHES):
        qp.transfer(push, 700)
