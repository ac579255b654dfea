# SPDX-License-Identifier: BSD-2-Clause
"""Connection management of a device behind the verbs agent: both sides, message by message."""

from __future__ import annotations

import pytest
from verbs_peer import REMOTE_QPN, answer, at, frame, spec_for

from roceproof.conformance.model.cm.connection import gid_of
from roceproof.conformance.model.cm.messages import Attribute, CmMessage
from roceproof.conformance.model.ingress import GSI_QKEY, GSI_QPN
from roceproof.conformance.targets.interface import TargetError
from roceproof.conformance.targets.verbs.target import VerbsTarget
from roceproof.conformance.wire.headers import Deth, Reth
from roceproof.verbs.queue_pair import Qp, State
from roceproof.verbs.work import Op, Work

pytestmark = pytest.mark.rxe

SERVICE = 0x01064791
UD_SEND_ONLY, WRITE_ONLY, ACKNOWLEDGE = 0x64, 0x0A, 0x11


def tell(target: VerbsTarget, message: CmMessage, psn: int) -> None:
    deth = Deth(GSI_QKEY, GSI_QPN)
    gsi = Qp(GSI_QPN, spec_for(target))
    target.send(frame(target, gsi, UD_SEND_ONLY, psn, deth, data=message.pack()))


def heard(target: VerbsTarget, attribute: Attribute) -> CmMessage:
    message = CmMessage.unpack(answer(target).payload)
    assert message and message.attribute is attribute
    return message


def asking(target: VerbsTarget) -> CmMessage:
    spec = spec_for(target)
    fields = {
        "local_id": 7,
        "service_id": SERVICE,
        "qpn": REMOTE_QPN,
        "responder_resources": 4,
        "initiator_depth": 4,
        "remote_response_timeout": 20,
        "local_response_timeout": 20,
        "max_cm_retries": 15,
        "start_psn": at(0),
        "retry_count": 7,
        "pkey": 0xFFFF,
        "path_mtu": 1,
        "rnr_retry": 7,
        "local_gid": gid_of(spec.remote.ip),
        "remote_gid": gid_of(target.host.ip),
        "hop_limit": 64,
        "ack_timeout": 18,
        "ip_version": 4,
        "source_ip": int.from_bytes(spec.remote.ip),
        "target_ip": int.from_bytes(target.host.ip),
    }
    return CmMessage(Attribute.REQ, 99, fields)


def test_a_listener_accepts_and_lets_go(target: VerbsTarget) -> None:
    target.listen(SERVICE, spec_for(target, max_rd_atomic=2, max_dest_rd_atomic=3))
    tell(target, asking(target), 0)
    reply = heard(target, Attribute.REP)
    assert (reply["initiator_depth"], reply["responder_resources"]) == (2, 3)
    qp = target.accepted(reply["qpn"], spec_for(target, rq_psn=reply["start_psn"]))
    ids = {"local_id": 7, "remote_id": reply["local_id"]}
    tell(target, CmMessage(Attribute.RTU, 99, ids), 1)
    region = target.register(64)
    first = reply["start_psn"] - at(0)
    target.send(
        frame(target, qp, WRITE_ONLY, first, Reth(region.addr, region.rkey, 4), data=b"data")
    )
    assert answer(target).bth.opcode == ACKNOWLEDGE
    assert region.read(0, 4) == b"data"
    target.post(qp, Work(wr_id=1, op=Op.SEND, data=b"back"))
    assert answer(target).bth.psn == at(0)
    tell(target, CmMessage(Attribute.DREQ, 100, {**ids, "qpn": reply["qpn"]}), 2)
    heard(target, Attribute.DREP)
    (flushed,) = target.completions(qp, count=1, timeout_ns=target.patience.answer_ns)
    assert flushed.status == "wr_flush_err"


def test_it_calls_and_hangs_up(target: VerbsTarget) -> None:
    qp = target.call(SERVICE, spec_for(target))
    request = heard(target, Attribute.REQ)
    assert (request["qpn"], request["service_id"]) == (qp.qpn, SERVICE)
    reply = {
        "local_id": 8,
        "remote_id": request["local_id"],
        "qpn": REMOTE_QPN,
        "start_psn": at(5),
        "responder_resources": 1,
        "initiator_depth": 1,
        "rnr_retry": 7,
    }
    tell(target, CmMessage(Attribute.REP, request.transaction, reply), 0)
    heard(target, Attribute.RTU)
    target.post(qp, Work(wr_id=1, op=Op.SEND, data=b"hello"))
    assert answer(target).bth.psn == at(5)
    target.hang_up(qp)
    goodbye = heard(target, Attribute.DREQ)
    assert (goodbye["qpn"], goodbye["remote_id"]) == (REMOTE_QPN, 8)
    ids = {"local_id": 8, "remote_id": goodbye["local_id"]}
    tell(target, CmMessage(Attribute.DREP, goodbye.transaction, ids), 1)


def test_a_queue_pair_that_nobody_asked_for_is_not_accepted(target: VerbsTarget) -> None:
    with pytest.raises(TargetError, match="no connection"):
        target.accepted(5, spec_for(target, state=State.RTS))


def test_services_outside_the_port_space_of_tcp_are_refused(target: VerbsTarget) -> None:
    with pytest.raises(TargetError, match="port space"):
        target.listen(0x0111 << 16, spec_for(target))
