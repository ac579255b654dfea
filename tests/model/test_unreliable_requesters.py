# SPDX-License-Identifier: BSD-2-Clause
"""UC and UD requesters send once, use each PSN once, and wait for nobody."""

from __future__ import annotations

from requester_bench import ack, drain, nak, opcodes, psns, qp, statuses, work
from responder_bench import OWN_QPN

from roceproof.conformance.model.requester.uc import UcRequester
from roceproof.conformance.model.requester.ud import UdRequester
from roceproof.conformance.wire.headers import Deth
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

P = 256


def test_uc_sends_message_after_message_without_gaps_in_its_psns() -> None:
    model = UcRequester(qp(Service.UC, sq_psn=0xFFFFFF))
    for number, length in enumerate((0, 2 * P, P + 1)):
        model.post(work(Op.SEND, length, wr_id=number))
    sent = drain(model, 0)
    assert opcodes(sent) == [0x24, 0x20, 0x22, 0x20, 0x22]
    assert [segment.bth.psn for segment in sent] == [0xFFFFFF, 0, 1, 2, 3]


def test_uc_work_completes_when_its_last_packet_has_left_whatever_the_peer_says() -> None:
    model = UcRequester(qp(Service.UC))
    model.post(work(length=2 * P))
    model.take(0)
    model.receive(ack(1), 1)
    assert statuses(model) == []
    model.take(100)
    assert statuses(model) == [(1, "success")]
    model.receive(nak(0), 101)
    model.expire(1 << 40)
    assert drain(model, 1 << 40) == []
    assert model.state is State.RTS


def test_uc_refuses_what_only_rc_can_do_without_using_a_psn() -> None:
    model = UcRequester(qp(Service.UC))
    for number, op in enumerate((Op.READ, Op.SEND_INV, Op.WRITE)):
        model.post(work(op, wr_id=number))
    assert psns(drain(model, 0)) == [0]
    assert statuses(model) == [(0, "loc_qp_op_err"), (1, "loc_qp_op_err"), (2, "success")]


def test_a_flushed_uc_queue_pair_sends_nothing_more() -> None:
    model = UcRequester(qp(Service.UC))
    model.post(work(length=3 * P, wr_id=1))
    model.post(work(wr_id=2))
    model.take(0)
    model.flush()
    assert statuses(model) == [(1, "wr_flush_err"), (2, "wr_flush_err")]
    assert drain(model, 100) == []


def test_ud_sends_one_packet_per_message_to_each_its_own_peer() -> None:
    model = UdRequester(qp(Service.UD))
    for number in range(2):
        model.post(work(Op.SEND_IMM, P, datagram_qpn=number, datagram_qkey=number, wr_id=number))
    sent = drain(model, 0)
    assert opcodes(sent) == [0x65, 0x65]
    assert psns(sent) == [0, 1]
    assert [segment.bth.dest_qpn for segment in sent] == [0, 1]
    assert [segment.extension(Deth) for segment in sent] == [Deth(key, OWN_QPN) for key in (0, 1)]


def test_ud_emits_nothing_for_a_message_longer_than_the_path_mtu_and_reports_no_error() -> None:
    model = UdRequester(qp(Service.UD))
    model.post(work(Op.SEND, P + 1, wr_id=1))
    model.post(work(Op.SEND, P, wr_id=2))
    sent = drain(model, 0)
    assert psns(sent) == [0]
    assert len(sent[0].payload) == P
    assert statuses(model) == [(1, "success"), (2, "success")]
