# SPDX-License-Identifier: BSD-2-Clause
"""Connection management where the device asks: its REQ, what it makes of REP, and its DREQ."""

from dataclasses import replace
from random import Random

from roceproof.conformance.model.cm.connection import gid_of
from roceproof.conformance.model.cm.messages import MAD_BYTES, Attribute, CmMessage, Reason
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.cm.management import SERVICE_ID
from roceproof.conformance.suite.cm.passive_peer import Callee
from roceproof.conformance.suite.intent import WRONG_MESSAGES
from roceproof.conformance.suite.pattern import ACK, RNR, SEND_ONLY, WRITE_ONLY
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import PathMtu
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.CM)]

RESPONSES = [Capability.RESPONDER, Capability.MEMORY]
_ATTRIBUTE, _REMOTE_ID = 17, 28  # bytes of a MAD


def timeout_ns(request: CmMessage) -> int:
    """By when a message that the device has sent in vain must have come again."""
    code = max(request["local_response_timeout"], request["remote_response_timeout"])
    return 2 * (4096 << code)


@case("GID-01", smoke=True)
def test_ipv4_addresses_stand_mapped_in_the_gids_of_a_req(bench: Bench) -> None:
    require_gids(Callee(bench))


@case("GID-01", needs=[Capability.IPV6])
def test_ipv6_addresses_are_the_gids_of_a_req(bench: Bench) -> None:
    require_gids(Callee(bench, ipv6=True))


def require_gids(callee: Callee) -> None:
    gids = {"local_gid": gid_of(callee.device.ip), "remote_gid": gid_of(callee.peer.ip)}
    callee.require(callee.request, **gids)


@case("CM-05", smoke=True)
@over("retries", [(2, 5), (7, 0)], ids=str)
def test_a_req_asks_for_what_its_queue_pair_has(bench: Bench, retries: tuple[int, int]) -> None:
    count, rnr = retries
    callee = Callee(bench, retry_count=count, rnr_retry=rnr, max_rd_atomic=3)
    spec = callee.asked.spec
    want = {"retry_count": spec.retry_count, "rnr_retry": spec.rnr_retry}
    if Capability.READ in bench.claims.capabilities:
        want["initiator_depth"] = spec.max_rd_atomic
    if Capability.LOCKSTEP in bench.claims.capabilities:  # a host chooses these by itself
        want |= {"start_psn": spec.rq_psn, "path_mtu": PathMtu.from_size(spec.path_mtu)}
    callee.require(callee.request, "", ["CM-05"], **want)


@case("CM-09")
def test_a_req_names_service_and_addresses_as_the_rdma_ip_cm_does(bench: Bench) -> None:
    callee = Callee(bench)
    callee.require(
        callee.request,
        service_id=SERVICE_ID,
        ip_cm_version=0,
        ip_version=4,
        source_ip=int.from_bytes(callee.device.ip),
        target_ip=int.from_bytes(callee.peer.ip),
    )


@case("CM-03", smoke=True)
def test_a_req_that_is_not_answered_comes_again_unchanged(bench: Bench) -> None:
    callee = Callee(bench)
    again = callee.hear(Attribute.REQ, within_ns=timeout_ns(callee.request))
    assert again == callee.request, "another request than the first time"
    callee.answer()


@case("CM-03", smoke=True)
def test_a_repeated_rep_draws_the_same_rtu(bench: Bench) -> None:
    callee = Callee(bench)
    reply = callee.reply()
    first = callee.ready(reply)
    assert callee.ready(reply) == first


@case("CM-04", "CM-05", smoke=True)
def test_requests_go_to_the_qpn_and_start_at_the_psn_of_the_rep(bench: Bench) -> None:
    qp = Callee(bench).answer(start_psn=0xABCDEF, qpn=0x10203)
    qp.transfer(Op.WRITE, 5)


@case("CM-04", needs=RESPONSES, smoke=True)
def test_requests_are_accepted_from_the_psn_of_the_req_on(bench: Bench) -> None:
    qp = Callee(bench).answer()
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect(ACK(psn=0, msn=1))


@case("CM-05", needs=[Capability.READ])
def test_no_more_reads_are_outstanding_than_the_rep_allows(bench: Bench) -> None:
    qp = Callee(bench, max_rd_atomic=4, ack_timeout=0).answer(responder_resources=2)
    reads = [qp.post(Op.READ, 8) for _ in range(3)]
    qp.expect_message(*reads[:2])
    qp.expect_silence()


@case("CM-05", needs=[Capability.RETRANSMISSION, Capability.SEND])
@over("retries", [0, 2], ids=str)
def test_a_receiver_that_is_not_ready_is_asked_as_often_as_the_rep_says(
    bench: Bench, retries: int
) -> None:
    qp = Callee(bench).answer(rnr_retry=retries)
    message = qp.post(Op.SEND, 5)
    for _ in range(1 + retries):
        qp.expect(SEND_ONLY(psn=0))
        qp.send(RNR(psn=0, timer=1))
    qp.completes(message, status="rnr_retry_exc_err")


@case("CM-07", needs=RESPONSES, smoke=True)
def test_a_device_that_hangs_up_says_so_and_is_gone(bench: Bench) -> None:
    callee = Callee(bench)
    reply = callee.reply()
    callee.ready(reply)
    qp = callee.established(reply)
    bench.target.hang_up(qp.qp)
    goodbye = callee.hear(Attribute.DREQ)
    ids = {"local_id": callee.request["local_id"], "remote_id": reply["local_id"]}
    callee.require(goodbye, **ids, qpn=reply["qpn"])
    callee.send(replace(callee.follow_up(Attribute.DREP, reply), transaction=goodbye.transaction))
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect_silence()


@case("CM-03", "CM-07", needs=[Capability.LOCKSTEP], smoke=True)
def test_what_has_its_answer_does_not_come_again(bench: Bench) -> None:
    callee = Callee(bench)
    reply = callee.reply()
    callee.ready(reply)
    qp = callee.established(reply)
    comes_no_more(bench, callee, "CM-03")
    bench.target.hang_up(qp.qp)
    goodbye = callee.hear(Attribute.DREQ)
    callee.send(replace(callee.follow_up(Attribute.DREP, reply), transaction=goodbye.transaction))
    comes_no_more(bench, callee, "CM-07")


def comes_no_more(bench: Bench, callee: Callee, rule: str) -> None:
    heard = callee.management.next(timeout_ns=timeout_ns(callee.request))
    message = None if heard is None else CmMessage.unpack(heard.payload)
    if message is not None:
        raise bench.failed(f"{message.attribute.name} came again behind its answer", rules=[rule])


@case("CM-07", needs=RESPONSES, smoke=True)
def test_a_dreq_ends_a_connection_that_the_device_has_asked_for(bench: Bench) -> None:
    callee = Callee(bench)
    reply = callee.reply()
    callee.ready(reply)
    qp = callee.established(reply)
    goodbye = callee.follow_up(Attribute.DREQ, reply, qpn=callee.request["qpn"])
    callee.ask(goodbye, Attribute.DREP)
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect_silence()


@case("CM-08", needs=RESPONSES, smoke=True)
def test_a_rep_behind_a_rej_comes_too_late(bench: Bench) -> None:
    callee = Callee(bench)
    reply = callee.reply()
    callee.send(callee.follow_up(Attribute.REJ, reply, reason=Reason.CONSUMER))
    qp = callee.established(reply)
    callee.send(reply)
    qp.send(WRITE_ONLY(psn=0, a=1))
    qp.expect_silence()


@case("CM-10", unjudged={"CM-01": "sends a short MAD"}, breaks=WRONG_MESSAGES, smoke=True)
def test_a_rep_that_is_cut_short_is_none(bench: Bench) -> None:
    callee = Callee(bench)
    callee.send(callee.reply().pack()[:100])
    callee.management.expect_silence()
    callee.answer()


def strange(mad: bytes, draw: Random) -> bytes:
    """A MAD for nobody: its communication id is wrong, and a few more bytes are."""
    corrupted = bytearray(mad)
    corrupted[_REMOTE_ID] ^= draw.randrange(1, 256)
    corrupted[_ATTRIBUTE] = draw.randrange(0x10, 0x1B)
    for at in draw.sample([at for at in range(MAD_BYTES) if at != _REMOTE_ID], draw.randrange(12)):
        corrupted[at] = draw.getrandbits(8)
    return bytes(corrupted)


@case(
    "CM-10",
    "FUZZ-18",
    unjudged={"CM-01": "random MADs", "CM-02": "random MADs"},
    breaks=WRONG_MESSAGES,
)
def test_answers_that_are_none_do_not_disturb_who_waits_for_one(bench: Bench) -> None:
    callee = Callee(bench)
    for _ in range(200):
        callee.send(strange(callee.reply().pack(), bench.random))
    bench.settle()
    reply = callee.reply()
    callee.find(reply, Attribute.RTU)
    callee.established(reply).transfer(Op.WRITE, 5)
