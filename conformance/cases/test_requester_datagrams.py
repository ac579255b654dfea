# SPDX-License-Identifier: BSD-2-Clause
"""What a UD queue pair sends: one packet per message, to whom the work request says."""

from typing import Any

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over, over_mtus
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.limits.within_limits import require_mtu
from roceproof.conformance.suite.pattern import UD_SEND_ONLY, UD_SEND_ONLY_IMM
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.UD, Capability.SEND)]

MTU = 4096
"""The largest, for verbs cannot give a UD queue pair less than the port has. A device that lacks it
has its smallest, and lengths that follow from that."""
QKEY = 0x01020304
DETH = 54  # in an untagged frame over IPv4
OPS = over("op", [Op.SEND, Op.SEND_IMM])


_64_KIB = 1 << 16
TOO_LONG = [MTU + 1, 2 * MTU, _64_KIB, _64_KIB + 5]
ENDLESS = [(1 << 24) + 5, (1 << 31) + 5]
"""Longer than anybody simulates."""


def connected(bench: Bench, own: int = QKEY, *, path_mtu: int = MTU) -> Connection:
    return bench.connect(Service.UD, path_mtu=path_mtu, qkey=own)


def post(qp: Connection, op: Op, payload: int, **fields: Any) -> Posted:
    """A datagram to the peer's queue pair with its Q_Key."""
    return qp.post(op, payload, **({"datagram_qkey": QKEY} | fields))


def sends_nothing_beyond(bench: Bench, mtu: int, op: Op) -> None:
    qp = connected(bench, path_mtu=mtu)
    for length in (mtu + 1, bench.random.choice(TOO_LONG)):
        too_long = post(qp, op, length)
        qp.expect_silence()
        for outcome in qp.all_outcomes(1):
            assert outcome.wr_id == too_long.work.wr_id  # with success, or as refused
        qp.expect(post(qp, op, mtu).packets[0].without("psn"))
        qp.all_outcomes(1)


@case("UD-01", smoke=True)
@OPS
def test_a_deth_says_the_q_key_and_who_sends(bench: Bench, op: Op) -> None:
    qp = connected(bench)
    message = post(qp, op, 5)
    qp.expect(message.packets[0].but(qkey=QKEY, src_qpn=qp.qp.qpn))
    deth = bench.frames_sent()[0][DETH : DETH + 8]
    assert deth == QKEY.to_bytes(4, "big") + b"\0" + qp.qp.qpn.to_bytes(3, "big")
    qp.completes(message)


@case("UD-03", smoke=True)
@over("key", [0x80000001, 0xFFFFFFFF], ids=hex)
@over("own", [QKEY, 0x80010000, 0xFFFFFFFE], ids=hex)
def test_a_q_key_with_its_top_bit_set_stands_for_the_queue_pairs_own(
    bench: Bench, key: int, own: int
) -> None:
    qp = connected(bench, own)
    message = post(qp, Op.SEND, 5, datagram_qkey=key)
    qp.expect(UD_SEND_ONLY(qkey=own, payload=message.work.data))


@case("UD-04", "OPC-12", "MTU-04")
@over("length", [0, 1, 2, 3, 4, MTU - 1, pytest.param(MTU, marks=pytest.mark.smoke)])
@OPS
def test_a_datagram_is_one_packet(bench: Bench, length: int, op: Op) -> None:
    qp = connected(bench)
    message = post(qp, op, length, immediate=7)
    make = UD_SEND_ONLY if op is Op.SEND else UD_SEND_ONLY_IMM
    qp.expect(make(payload=message.work.data, pad=-len(message.work.data) % 4))
    qp.expect_silence()
    qp.completes(message)


@case("UD-06")
@OPS
def test_a_datagram_asks_for_no_acknowledgement(bench: Bench, op: Op) -> None:
    qp = connected(bench)
    for length in (0, 5, MTU):
        qp.expect(post(qp, op, length).packets[0].but(a=0))


@case("BTH-02")
@OPS
def test_a_datagram_is_solicited_if_that_is_asked_for(bench: Bench, op: Op) -> None:
    qp = connected(bench)
    for solicited in (True, False):
        qp.expect(post(qp, op, 5, solicited=solicited).packets[0].but(se=int(solicited)))


@case("IMM-01", "IMM-02")
@over("value", [0x01020304, 0, 0xFFFFFFFF], ids=hex)
def test_immediate_data_stand_behind_the_deth(bench: Bench, value: int) -> None:
    qp = connected(bench)
    post(qp, Op.SEND_IMM, 5, immediate=value)
    qp.expect(UD_SEND_ONLY_IMM(imm=value, payload=5))
    assert bench.frames_sent()[0][DETH + 8 : DETH + 12] == value.to_bytes(4, "big")


@case("BTH-10", smoke=True)
def test_each_datagram_goes_to_the_queue_pair_of_its_work_request(bench: Bench) -> None:
    qp, other = connected(bench), connected(bench)
    for to in (qp, other, other, qp):
        message = post(qp, Op.SEND, 5, datagram_qpn=to.spec.remote_qpn)
        to.expect(UD_SEND_ONLY(payload=message.work.data, src_qpn=qp.qp.qpn))


@case("MTU-11", targets=["rxe", "nic"])
@OPS
def test_a_datagram_beyond_the_mtu_of_the_port_sends_nothing(bench: Bench, op: Op) -> None:
    """With verbs a queue pair of datagrams has no path MTU."""
    sends_nothing_beyond(bench, MTU, op)


@case("MTU-11", targets=["hdl", "model"], smoke=True)
@over_mtus()
@OPS
def test_a_datagram_beyond_the_path_mtu_sends_nothing(bench: Bench, mtu: int, op: Op) -> None:
    require_mtu(bench.claims, mtu)
    sends_nothing_beyond(bench, mtu, op)


@case("MTU-11", smoke=True, targets=["hdl"])
@over("length", ENDLESS)
def test_a_datagram_longer_than_any_packet_sends_nothing(bench: Bench, length: int) -> None:
    qp = connected(bench)
    qp.begin(Op.SEND, length=length)
    qp.expect_silence()


@case("OPC-12", smoke=True, targets=["hdl", "model"])
@over(
    "op",
    [
        *(pytest.param(op, marks=needs(Capability[op.name])) for op in (Op.WRITE, Op.WRITE_IMM)),
        pytest.param(Op.READ, marks=needs(Capability.READ, Capability.MEMORY)),
        pytest.param(Op.FETCH_ADD, marks=needs(Capability.ATOMIC, Capability.MEMORY)),
        pytest.param(Op.SEND_INV, marks=needs(Capability.SEND_INV)),
    ],
)
def test_a_queue_pair_of_datagrams_refuses_all_else(bench: Bench, op: Op) -> None:
    qp = connected(bench)
    for _ in range(2):
        qp.refuses(op, 8)
    qp.expect(post(qp, Op.SEND, 5).packets[0])


@case("PSN-17")
def test_psns_count_datagrams(bench: Bench) -> None:
    qp = connected(bench)
    messages = [post(qp, Op.SEND, length) for length in (5, 0, MTU, 5)]
    qp.expect(*(UD_SEND_ONLY(psn=index) for index in range(4)))
    qp.completes(*messages)
