# SPDX-License-Identifier: BSD-2-Clause
"""A device behind the verbs agent as requester: what work becomes, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest
from verbs_peer import PSN, REMOTE_QPN, answer, at, frame, silence, spec_for

from roceproof.conformance.targets.interface import TargetError
from roceproof.conformance.targets.verbs.target import VerbsTarget
from roceproof.conformance.wire.headers import (
    Aeth,
    AtomicAckEth,
    AtomicEth,
    Deth,
    Extension,
    Ieth,
    ImmDt,
    Reth,
)
from roceproof.conformance.wire.ip import Ipv4
from roceproof.verbs.queue_pair import Qp
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Work

pytestmark = pytest.mark.rxe

VA, RKEY = 0xFFFF_FFFF_FFFF_FFF0, 0x89ABCDEF
REMOTE: dict[str, Any] = {"remote_addr": VA, "rkey": RKEY}
ACKNOWLEDGE, READ_RESPONSE_ONLY, ATOMIC_ACKNOWLEDGE = 0x11, 0x10, 0x12
ACK_CODE = 0x1F
DATA = b"seven b"

CASES: list[tuple[Op, dict[str, Any], int, tuple[Extension, ...]]] = [
    (Op.SEND, {}, 0x04, ()),
    (Op.SEND_IMM, {"immediate": 0xDEADBEEF}, 0x05, (ImmDt(0xDEADBEEF),)),
    (Op.SEND_INV, {"invalidate": RKEY}, 0x17, (Ieth(RKEY),)),
    (Op.WRITE, REMOTE, 0x0A, (Reth(VA, RKEY, 7),)),
    (Op.WRITE_IMM, {"immediate": 5, **REMOTE}, 0x0B, (Reth(VA, RKEY, 7), ImmDt(5))),
]


def finished(target: VerbsTarget, qp: Qp) -> list[Outcome]:
    return target.completions(qp, count=1, timeout_ns=target.patience.answer_ns)


@pytest.mark.parametrize(("op", "fields", "opcode", "extensions"), CASES)
@pytest.mark.parametrize("lane", [0, 3])
def test_work_becomes_its_packet_and_completes_when_acknowledged(
    target: VerbsTarget,
    op: Op,
    fields: dict[str, Any],
    opcode: int,
    extensions: tuple[Extension, ...],
    lane: int,
) -> None:
    qp = target.open(spec_for(target, hop_limit=17, traffic_class=0x68))
    target.post(qp, Work(wr_id=9, op=op, data=DATA, offset=lane, solicited=True, **fields))
    got = answer(target)
    assert (got.bth.opcode, got.bth.dest_qpn, got.bth.psn) == (opcode, REMOTE_QPN, PSN)
    assert (got.extensions, got.payload) == (extensions, DATA)
    assert got.bth.solicited is (op is not Op.WRITE)
    assert (got.dst_mac, got.ip.dst) == qp.spec.remote
    assert isinstance(got.ip, Ipv4)
    assert (got.ip.tos, got.ip.ttl) == (0x68, qp.spec.hop_limit)
    target.send(frame(target, qp, ACKNOWLEDGE, 0, Aeth(ACK_CODE, 1)))
    (done,) = finished(target, qp)
    assert (done.wr_id, done.status, done.is_receive) == (9, "success", False)


def test_a_message_longer_than_the_path_mtu_goes_in_packets(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target, path_mtu=256))
    data = bytes(range(200)) * 3
    target.post(qp, Work(wr_id=1, op=Op.WRITE, data=data, **REMOTE))
    packets = [answer(target) for _ in range(3)]
    assert [packet.bth.opcode for packet in packets] == [0x06, 0x07, 0x08]
    assert [packet.bth.psn for packet in packets] == [at(0), at(1), at(2)]
    assert b"".join(packet.payload for packet in packets) == data


def test_a_read_puts_the_response_where_it_was_told_to(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target))
    region = target.register(64)
    work = Work(wr_id=2, op=Op.READ, into=region, into_offset=10, length=5, **REMOTE)
    target.post(qp, work)
    assert answer(target).extensions == (Reth(VA, RKEY, 5),)
    aeth = Aeth(ACK_CODE, 1)
    target.send(frame(target, qp, READ_RESPONSE_ONLY, 0, aeth, data=b"there"))
    (done,) = finished(target, qp)
    assert done.status == "success"
    assert region.read(8, 9) == b"\0\0there\0\0"


@pytest.mark.parametrize("op", [Op.CMP_SWAP, Op.FETCH_ADD])
def test_an_atomic_brings_back_what_was_there(target: VerbsTarget, op: Op) -> None:
    qp = target.open(spec_for(target))
    region = target.register(64)
    big = 0x8000_0000_0000_0001
    compare = big if op is Op.CMP_SWAP else 0
    target.post(
        qp,
        Work(
            wr_id=3, op=op, into=region, into_offset=8, compare=compare, swap_or_add=big, **REMOTE
        ),
    )
    got = answer(target)
    assert got.bth.opcode == (0x13 if op is Op.CMP_SWAP else 0x14)
    assert got.extensions == (AtomicEth(VA, RKEY, big, compare),)
    target.send(
        frame(
            target, qp, ATOMIC_ACKNOWLEDGE, 0, Aeth(ACK_CODE, 1), AtomicAckEth(0x0102030405060708)
        )
    )
    (done,) = finished(target, qp)
    assert done.status == "success"
    assert region.read(8, 8) == bytes((8, 7, 6, 5, 4, 3, 2, 1))


def test_a_datagram_goes_to_the_queue_pair_and_key_of_the_work(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target, Service.UD, hop_limit=200))
    for number in (1, 2):
        work = Work(
            wr_id=number, op=Op.SEND, data=DATA, datagram_qpn=number, datagram_qkey=0x33333333
        )
        target.post(qp, work)
        got = answer(target)
        assert (got.bth.opcode, got.bth.dest_qpn) == (0x64, number)
        assert got.extensions == (Deth(0x33333333, qp.qpn),)
        assert isinstance(got.ip, Ipv4)
        assert got.ip.ttl == qp.spec.hop_limit
        (done,) = finished(target, qp)
        assert (done.wr_id, done.status) == (number, "success")


def test_an_unreliable_message_completes_by_itself(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target, Service.UC))
    target.post(qp, Work(wr_id=4, op=Op.WRITE_IMM, data=b"", immediate=1, **REMOTE))
    assert answer(target).bth.opcode == 0x2B
    assert [done.status for done in finished(target, qp)] == ["success"]


def test_without_an_acknowledgement_it_is_sent_again_and_given_up(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target, ack_timeout=10, retry_count=2))
    target.post(qp, Work(wr_id=5, op=Op.SEND, data=DATA))
    assert [answer(target).bth.psn for _ in range(3)] == [PSN] * 3
    assert [done.status for done in finished(target, qp)] == ["retry_exc_err"]
    silence(target)


def test_a_completion_that_does_not_come_is_waited_for_until_the_deadline(
    target: VerbsTarget,
) -> None:
    qp = target.open(spec_for(target))
    start = target.now_ns
    assert target.completions(qp, count=1, timeout_ns=30_000_000) == []
    assert target.now_ns - start >= 30_000_000
    assert target.completions(qp, count=0, timeout_ns=target.patience.answer_ns) == []


def test_work_that_verbs_refuse_is_the_benchs_failure_and_the_case_goes_on(
    target: VerbsTarget,
) -> None:
    qp = target.open(spec_for(target, Service.UD))
    with pytest.raises(TargetError, match="refused post_send"):
        target.post(qp, Work(wr_id=6, op=Op.READ, length=4, **REMOTE))
    assert target.ping(qp.spec.remote, timeout_ns=target.patience.answer_ns)
