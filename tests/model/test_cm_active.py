# SPDX-License-Identifier: BSD-2-Clause
"""Connection management of the model where it asks: REQ until REP, RTU, and DREQ until DREP."""

from __future__ import annotations

from dataclasses import replace

import pytest
from responder_bench import PEER

from roceproof.conformance.model.cm.connection import MAX_RETRIES, RESPONSE_NS, gid_of
from roceproof.conformance.model.cm.messages import Attribute, CmMessage, Reason
from roceproof.conformance.model.device import Device
from roceproof.conformance.model.queue_pair import QueuePair
from roceproof.conformance.wire.codec import parse
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import Service

OWN = Host(bytes.fromhex("020000000001"), bytes((192, 168, 1, 1)))
SERVICE = 0x01064791
WISH = QpSpec(
    service=Service.RC,
    remote=PEER,
    remote_qpn=0,
    rq_psn=0x123456,
    path_mtu=512,
    max_rd_atomic=3,
    max_dest_rd_atomic=2,
    ack_timeout=14,
    retry_count=5,
    rnr_retry=6,
)


class Calling:
    """A device that has asked, and what leaves it at which time."""

    def __init__(self) -> None:
        self.device = Device(OWN)
        self.qpn = self.device.call(SERVICE, WISH).spec.local_qpn

    @property
    def queue_pair(self) -> QueuePair:
        return self.device.queue_pairs[self.qpn]

    def says(self, now_ns: int = 0) -> CmMessage | None:
        self.device.expire(now_ns)
        frame = self.device.next_frame(now_ns)
        packet = None if frame is None else parse(frame)
        return None if packet is None else CmMessage.unpack(packet.payload)

    def answers(self, message: CmMessage) -> CmMessage | None:
        return self.device.cm.answer(message, PEER)


def reply_to(request: CmMessage) -> CmMessage:
    fields = {
        "local_id": 77,
        "remote_id": request["local_id"],
        "qpn": 0x10203,
        "start_psn": 0xABCDEF,
        "responder_resources": 1,
        "initiator_depth": 4,
        "flow_control": 1,
        "rnr_retry": 2,
    }
    return CmMessage(Attribute.REP, request.transaction, fields)


@pytest.fixture
def calling() -> Calling:
    return Calling()


@pytest.fixture
def request_(calling: Calling) -> CmMessage:
    message = calling.says()
    assert message is not None
    return message


def test_gid_01_cm_09_the_req_says_what_the_queue_pair_is(
    calling: Calling, request_: CmMessage
) -> None:
    assert request_.attribute is Attribute.REQ
    assert (request_["service_id"], request_["qpn"]) == (SERVICE, calling.qpn)
    assert (request_["start_psn"], request_["path_mtu"]) == (0x123456, 2)
    assert (request_["local_gid"], request_["remote_gid"]) == (gid_of(OWN.ip), gid_of(PEER.ip))
    assert (request_["source_ip"], request_["ip_version"]) == (int.from_bytes(OWN.ip), 4)
    assert (request_["initiator_depth"], request_["responder_resources"]) == (3, 2)
    assert calling.queue_pair.state is State.INIT


def test_cm_03_a_req_is_repeated_word_for_word_and_given_up_in_the_end(
    calling: Calling, request_: CmMessage
) -> None:
    assert calling.says(RESPONSE_NS - 1) is None
    for number in range(1, MAX_RETRIES + 1):
        assert calling.device.next_deadline(0) == number * RESPONSE_NS
        assert calling.says(number * RESPONSE_NS) == request_
    assert calling.says((MAX_RETRIES + 1) * RESPONSE_NS) is None
    assert calling.queue_pair.state is State.ERR
    assert calling.device.next_deadline(0) is None


def test_cm_04_cm_05_the_queue_pair_is_what_the_rep_says_within_what_was_asked(
    calling: Calling, request_: CmMessage
) -> None:
    ready = calling.answers(reply_to(request_))
    assert ready is not None and ready.attribute is Attribute.RTU
    assert (ready["local_id"], ready["remote_id"]) == (request_["local_id"], 77)
    spec, state = calling.queue_pair.spec, calling.queue_pair.state
    assert (spec.remote_qpn, spec.sq_psn, spec.rq_psn) == (0x10203, 0xABCDEF, 0x123456)
    assert (spec.max_rd_atomic, spec.max_dest_rd_atomic) == (1, 2)
    assert (spec.rnr_retry, spec.flow_control, state) == (2, True, State.RTS)
    assert calling.says(RESPONSE_NS) is None


def test_cm_03_a_repeated_rep_draws_the_same_rtu_and_changes_nothing(
    calling: Calling, request_: CmMessage
) -> None:
    reply = reply_to(request_)
    first, made = calling.answers(reply), calling.queue_pair
    assert calling.answers(reply) == first
    assert calling.queue_pair is made
    other = replace(reply, fields={**reply.fields, "local_id": 78})
    assert calling.answers(other) is None


def test_a_rep_that_answers_nothing_is_ignored(calling: Calling, request_: CmMessage) -> None:
    reply = reply_to(request_)
    wrong_id = replace(reply, fields={**reply.fields, "remote_id": request_["local_id"] + 1})
    for stranger in (wrong_id, replace(reply, transaction=reply.transaction + 1)):
        assert calling.answers(stranger) is None
        assert calling.queue_pair.state is State.INIT


def test_cm_08_a_rej_ends_it(calling: Calling, request_: CmMessage) -> None:
    fields = {"remote_id": request_["local_id"], "reason": Reason.SERVICE_ID}
    assert calling.answers(CmMessage(Attribute.REJ, request_.transaction, fields)) is None
    assert calling.queue_pair.state is State.ERR
    assert calling.says(RESPONSE_NS) is None
    assert calling.answers(reply_to(request_)) is None


def test_cm_07_who_hangs_up_says_so_until_it_is_answered(
    calling: Calling, request_: CmMessage
) -> None:
    calling.answers(reply_to(request_))
    calling.device.cm.hang_up(calling.qpn)
    assert calling.queue_pair.state is State.ERR
    goodbye = calling.says(10)
    assert goodbye is not None and goodbye.attribute is Attribute.DREQ
    assert (goodbye["qpn"], goodbye["remote_id"]) == (0x10203, 77)
    assert calling.says(10 + RESPONSE_NS) == goodbye
    ids = {"local_id": 77, "remote_id": goodbye["local_id"]}
    calling.answers(CmMessage(Attribute.DREP, goodbye.transaction + 1, ids))
    assert calling.says(10 + 2 * RESPONSE_NS) == goodbye
    calling.answers(CmMessage(Attribute.DREP, goodbye.transaction, ids))
    assert calling.says(10 + 3 * RESPONSE_NS) is None


def test_cm_07_a_dreq_ends_a_connection_that_it_has_asked_for(
    calling: Calling, request_: CmMessage
) -> None:
    calling.answers(reply_to(request_))
    fields = {"local_id": 77, "remote_id": request_["local_id"], "qpn": calling.qpn}
    answer = calling.answers(CmMessage(Attribute.DREQ, 5, fields))
    assert answer is not None and answer.attribute is Attribute.DREP
    assert calling.queue_pair.state is State.ERR
