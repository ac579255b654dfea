# SPDX-License-Identifier: BSD-2-Clause
"""Connection management: REQ, REP, RTU, rejection, the end, and what is no message at all."""

from collections.abc import Callable

import pytest

from roceproof.conformance.model.cm.connection import gid_of
from roceproof.conformance.model.cm.messages import MAD_BYTES, Attribute, CmMessage, Reason
from roceproof.conformance.model.ingress import GSI_QKEY
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over, over_mtus
from roceproof.conformance.suite.checks.recovery import copies, longest_wait_ns
from roceproof.conformance.suite.cm.active_peer import Caller, changed
from roceproof.conformance.suite.cm.management import SERVICE_ID
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import WRONG_MESSAGES
from roceproof.conformance.suite.pattern import ACK, READ_REQUEST, RNR, SEND_ONLY, WRITE_ONLY
from roceproof.conformance.targets.capability import Capability
from roceproof.dpi.session.options import STANDS_STILL
from roceproof.verbs.service import PathMtu
from roceproof.verbs.work import Op

pytestmark = [RESPONDER, needs(Capability.CM)]

REQUESTS = [Capability.REQUESTER]
SOON, LONG = 15, 18  # codes of timeouts: 134 ms and 1 s, so long does timewait last at least
FOREIGN_IP = bytes((10, 99, 99, 99))


def leave_without_credits(qp: Connection, *, none_expected: bool) -> None:
    """Of two messages behind an ACK without credits only one leaves, if credits count."""
    qp.post(Op.SEND, 5)
    qp.expect(SEND_ONLY(psn=0))
    qp.send(ACK(psn=0, msn=1, credits=0))
    for _ in range(2):
        qp.post(Op.SEND, 5)
    qp.expect(SEND_ONLY(psn=1))
    if none_expected:
        qp.expect_silence()
    else:
        qp.expect(SEND_ONLY(psn=2))


@case("CM-04", needs=REQUESTS, smoke=True)
def test_each_direction_starts_where_its_receiver_said(bench: Bench) -> None:
    caller = Caller(bench)
    qp = caller.connect(start_psn=0xABCDEF)
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, msn=1))
    qp.transfer(Op.WRITE, 5)


@case("CM-05", needs=REQUESTS)
@over_mtus()
def test_path_mtu_qpn_and_hops_are_those_of_the_exchange(bench: Bench, mtu: int) -> None:
    qp = Caller(bench).connect(
        path_mtu=PathMtu.from_size(mtu), qpn=0x10203, hop_limit=33, traffic_class=0x68
    )
    qp.transfer(Op.WRITE, 2 * mtu + 3)


@case("CM-05", needs=REQUESTS, smoke=True)
@over("retries", [0, pytest.param(2, marks=needs(Capability.RETRANSMISSION))], ids=str)
def test_the_requester_tries_as_often_as_the_exchange_says(bench: Bench, retries: int) -> None:
    qp = Caller(bench).connect(retry_count=retries, ack_timeout=8)
    message = qp.post(Op.WRITE, 5)
    qp.expect_message(message)
    for _ in range(retries):
        qp.expect(*copies([message]), within_ns=longest_wait_ns(bench, 8))
    bench.pump(longest_wait_ns(bench, 8))
    qp.completes(message, status="retry_exc_err")
    qp.expect_silence()


@case("CM-05", needs=[*REQUESTS, Capability.READ])
def test_no_more_reads_are_outstanding_than_the_caller_has_resources_for(bench: Bench) -> None:
    qp = Caller(bench).connect(responder_resources=2, ack_timeout=LONG)
    reads = [qp.post(Op.READ, 8) for _ in range(3)]
    qp.expect_message(*reads[:2])
    qp.expect_silence()


@case("CM-05", needs=[*REQUESTS, Capability.SEND, Capability.RETRANSMISSION])
@over("retries", [0, 2], ids=str)
def test_a_receiver_that_is_not_ready_is_asked_as_often_as_the_exchange_says(
    bench: Bench, retries: int
) -> None:
    qp = Caller(bench).connect(rnr_retry=retries, ack_timeout=LONG)
    message = qp.post(Op.SEND, 5)
    for _ in range(1 + retries):
        qp.expect(SEND_ONLY(psn=0))
        qp.send(RNR(psn=0, timer=1))
    qp.completes(message, status="rnr_retry_exc_err")


@case("CM-05", needs=[*REQUESTS, Capability.SEND, Capability.CREDITS])
@over("agreed", [0, 1], ids=["no-credits", "credits"])
def test_credits_are_obeyed_where_the_exchange_agrees_on_them(bench: Bench, agreed: int) -> None:
    qp = Caller(bench).connect(flow_control=agreed, ack_timeout=LONG)
    leave_without_credits(qp, none_expected=bool(agreed))


@case("CM-05")
def test_the_device_says_how_many_reads_it_takes(bench: Bench) -> None:
    caller = Caller(bench)
    reply = caller.ask(caller.request(initiator_depth=2), Attribute.REP)
    assert reply["responder_resources"] <= 2, "more resources than the caller wants to use"


@case("CM-06", smoke=True)
def test_the_first_request_stands_for_a_lost_rtu(bench: Bench) -> None:
    qp = Caller(bench).connect(says_ready=False)
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, msn=1))


@case("CM-04", needs=REQUESTS, smoke=True)
def test_behind_the_rtu_alone_the_device_may_send_its_own(bench: Bench) -> None:
    Caller(bench).connect().transfer(Op.WRITE, 5)


@case("CM-06", needs=REQUESTS, smoke=True)
def test_behind_the_first_request_the_device_may_send_its_own(bench: Bench) -> None:
    qp = Caller(bench).connect(says_ready=False)
    message = qp.post(Op.WRITE, 5)
    qp.send(WRITE_ONLY(psn=0))
    qp.expect_message(message)
    qp.finish(message)


@case("CM-03", smoke=True)
def test_a_repeated_req_draws_the_same_rep(bench: Bench) -> None:
    caller = Caller(bench)
    request = caller.request(local_response_timeout=SOON)
    first = caller.ask(request, Attribute.REP)
    again = caller.ask(request, Attribute.REP)
    caller.require(again, "the REP that a repeated REQ draws", ["CM-03"], **first.fields)
    assert again.transaction == first.transaction


def served(bench: Bench) -> tuple[Caller, CmMessage, CmMessage, Connection]:
    """A caller, its REQ and the REP, and the connection, which has answered a request."""
    caller = Caller(bench)
    request = caller.request(ack_timeout=LONG)
    reply = caller.ask(request, Attribute.REP)
    qp = caller.ready(request, reply)
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0))
    return caller, request, reply, qp


@case("CM-07", smoke=True)
def test_a_dreq_ends_the_connection(bench: Bench) -> None:
    caller, request, reply, qp = served(bench)
    goodbye = caller.follow_up(Attribute.DREQ, request, reply, qpn=reply["qpn"])
    answer = caller.ask(goodbye, Attribute.DREP)
    caller.require(answer, local_id=reply["local_id"], remote_id=request["local_id"])
    qp.send(WRITE_ONLY(psn=1, a=1), *[READ_REQUEST(psn=2, dmalen=0, a=1)] * qp.executes(Op.READ))
    qp.expect_silence()
    assert caller.ask(goodbye, Attribute.DREP) == answer, "a repeated DREQ has its answer, too"


@case("QPS-04", "CM-07", smoke=True)
def test_a_connection_behind_one_that_has_ended_begins_anew(bench: Bench) -> None:
    caller, request, reply, qp = served(bench)
    caller.ask(caller.follow_up(Attribute.DREQ, request, reply, qpn=reply["qpn"]), Attribute.DREP)
    request = caller.request()
    again = caller.ask(request, Attribute.REP)
    assert again["qpn"] != reply["qpn"], "late packets would reach the new connection"
    qp = caller.ready(request, again)
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, msn=1))


@case("CM-07", needs=[Capability.DISTURBANCE], smoke=True, targets=["hdl"])
def test_no_event_of_a_connection_is_lost_while_nobody_takes_any(bench: Bench) -> None:
    caller = Caller(bench)
    request = caller.request(ack_timeout=LONG)
    bench.target.disturb(cpl_stall=STANDS_STILL)
    caller.send(request)
    bench.settle()
    if not caller.management.inbox:  # it answers when its event is taken
        bench.target.disturb()
    reply = caller.hear(Attribute.REP)
    caller.send(caller.follow_up(Attribute.RTU, request, reply))
    caller.send(caller.follow_up(Attribute.DREQ, request, reply, qpn=reply["qpn"]))
    bench.settle()
    bench.target.disturb()
    caller.hear(Attribute.DREP)
    caller.established(request, reply)


@case(
    "UD-02", "CM-01", smoke=True, unjudged={"CM-01": "sends others Q_Keys"}, breaks=WRONG_MESSAGES
)
def test_no_bit_of_another_q_key_is_that_of_connection_management(bench: Bench) -> None:
    caller = Caller(bench)
    request = caller.request()
    for bit in range(32):
        caller.send(request, qkey=GSI_QKEY ^ 1 << bit)
    caller.management.expect_silence()
    caller.ask(request, Attribute.REP)


UNACCEPTABLE: dict[Reason, dict[str, int]] = {
    Reason.SERVICE_ID: {"service_id": SERVICE_ID + 1},
    Reason.TRANSPORT: {"transport": 2},
    Reason.PATH_MTU: {"path_mtu": 0},
    Reason.REMOTE_GID: {"remote_gid": gid_of(FOREIGN_IP), "target_ip": int.from_bytes(FOREIGN_IP)},
}


@case("CM-08", smoke=True)
@over("reason", UNACCEPTABLE, ids=lambda reason: reason.name)
def test_a_req_that_cannot_be_met_is_rejected_with_a_reason(bench: Bench, reason: Reason) -> None:
    caller = Caller(bench)
    good = caller.request()
    asked = [UNACCEPTABLE[reason]]
    if reason is Reason.PATH_MTU and Capability.LOCKSTEP in bench.claims.capabilities:
        known = {int(mtu) for mtu in PathMtu}  # a device may have more than its manifest says
        asked += ({"path_mtu": code} for code in range(1, 16) if code not in known)
    for fields in asked:
        got = caller.rejected(changed(good, **fields))
        if got not in (reason, Reason.CONSUMER):
            raise bench.failed(f"want  REJ with reason {reason}\ngot   {got}\nto    {fields}")
    caller.ask(good, Attribute.REP)


MALFORMED: dict[str, Callable[[bytes], bytes]] = {
    "base-version": lambda mad: b"\x02" + mad[1:],
    "class": lambda mad: mad[:1] + b"\x81" + mad[2:],
    "class-version": lambda mad: mad[:2] + b"\x01" + mad[3:],
    "method": lambda mad: mad[:3] + b"\x77" + mad[4:],
    "attribute": lambda mad: mad[:16] + b"\x77\x77" + mad[18:],
    "short": lambda mad: mad[:200],
    "empty": lambda mad: b"",
    "zeros": lambda mad: bytes(MAD_BYTES),
    "ones": lambda mad: b"\xff" * MAD_BYTES,
}


@case(
    "CM-10",
    unjudged={"CM-01": "sends malformed MADs", "CM-02": "sends malformed MADs"},
    breaks=WRONG_MESSAGES,
)
@over("kind", MALFORMED)
def test_what_is_no_message_connects_and_hangs_nothing(bench: Bench, kind: str) -> None:
    caller = Caller(bench)
    good = caller.request()
    caller.send(MALFORMED[kind](good.pack()))
    bench.settle()
    answers = [CmMessage.unpack(packet.payload) for packet in caller.management.inbox]
    if any(answer is not None and answer.attribute is Attribute.REP for answer in answers):
        raise bench.failed("want  no REP\ngot   REP")
    caller.management.inbox.clear()
    caller.ask(good, Attribute.REP)


@case(
    "CM-10",
    "FUZZ-18",
    unjudged={"CM-01": "random MADs", "CM-02": "random MADs"},
    breaks=WRONG_MESSAGES,
)
def test_random_messages_hang_nothing(bench: Bench) -> None:
    caller = Caller(bench)
    for _ in range(200):
        mad = bytearray(caller.request().pack())
        mad[16:18] = bytes((0, bench.random.randrange(0x10, 0x1B)))
        for _ in range(bench.random.randrange(1, 12)):
            mad[bench.random.randrange(len(mad))] = bench.random.getrandbits(8)
        caller.send(bytes(mad))
    bench.settle()
    caller.find(caller.request(), Attribute.REP)
