# SPDX-License-Identifier: BSD-2-Clause
"""The model behind the interface to devices: wire, time, states, receives, filters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from roceproof.conformance.model.cm.connection import gid_of
from roceproof.conformance.model.cm.messages import Attribute, CmMessage
from roceproof.conformance.model.components import RESPONDERS, Components
from roceproof.conformance.model.device import Device
from roceproof.conformance.model.egress import CNP_TRAFFIC_CLASS
from roceproof.conformance.model.ingress import GSI_QKEY, GSI_QPN
from roceproof.conformance.model.responder.policy import Credits, Persistence, ResponderPolicy
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.cm.active_peer import Caller
from roceproof.conformance.suite.pattern import ACK, WRITE_ONLY
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.drawn_address import USUAL as HOST
from roceproof.conformance.targets.interface import CasePlace, Target, TargetError
from roceproof.conformance.targets.model.device import ModelFactory, wire_ns
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.headers import Aeth, Bth, CnpReserved, Deth, Extension, Reth
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.verbs.addresses import Host, link_local
from roceproof.verbs.queue_pair import Qp, QpSpec, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Work

PEER = Host(bytes.fromhex("020000000002"), bytes((192, 168, 1, 2)))
PEER6 = Host(PEER.mac, bytes.fromhex("fe80" + 12 * "00" + "0002"))
PEER_QPN = 0x77
ACKNOWLEDGE, CNP = 0x11, 0x81
ANSWER_NS = 100_000


@contextmanager
def opened(**options: Any) -> Iterator[Target]:
    with ModelFactory(**{"host": HOST} | options).device(CasePlace(name="case", seed=1)) as target:
        yield target


def spec(service: Service = Service.RC, **fields: Any) -> QpSpec:
    usual: dict[str, Any] = {"path_mtu": 256, "remote": PEER, "remote_qpn": PEER_QPN}
    return QpSpec(service=service, **(usual | fields))


def request(
    qp: Qp,
    opcode: int,
    psn: int = 0,
    headers: tuple[Extension, ...] = (),
    data: bytes = b"",
    *,
    tos: int = 0,
    **fields: Any,
) -> bytes:
    peer = qp.spec.remote
    ip: Ipv4 | Ipv6 = Ipv4(peer.ip, HOST.ip, tos=tos)
    bth = Bth(opcode, qp.qpn, psn, ack_req=True)
    return build(replace(Packet(HOST.mac, peer.mac, ip, 7, bth, headers, data), **fields))


def write(target: Target, qp: Qp, psn: int = 0, **fields: Any) -> bytes:
    region = target.register(64)
    header = Reth(region.addr, region.rkey, 4)
    return request(qp, 0x0A, psn, (header,), b"data", **fields)


def answers(target: Target, *frames: bytes) -> list[Packet]:
    for frame in frames:
        target.send(frame)
    found = []
    while (arrival := target.receive(ANSWER_NS)) is not None:
        packet = parse(arrival.frame)
        assert packet is not None
        found.append(packet)
    return found


def test_a_request_is_answered_and_time_passes_as_the_wire_takes_it():
    with opened() as target:
        qp = target.open(spec())
        frame = write(target, qp)
        target.send(frame)
        assert target.now_ns == 0
        arrival = target.receive(ANSWER_NS)
        assert arrival is not None
        assert arrival.time_ns == target.now_ns == wire_ns(frame) + wire_ns(arrival.frame)
        packet = parse(arrival.frame)
        assert packet is not None and packet.bth.opcode == ACKNOWLEDGE
        assert packet.bth.dest_qpn == PEER_QPN and packet.ip.src == HOST.ip


def test_a_damaged_frame_does_not_get_past_the_mac():
    with opened() as target:
        qp = target.open(spec())
        target.send_damaged(write(target, qp))
        assert target.receive(ANSWER_NS) is None


def test_the_clock_stands_where_a_timeout_ended_the_last_message():
    with opened() as target:
        qp = target.open(spec(ack_timeout=5, retry_count=0))
        target.post(qp, Work(wr_id=1, op=Op.WRITE))
        (done,) = target.completions(qp, count=1, timeout_ns=100 * ANSWER_NS)
        assert done.status == "retry_exc_err"
        assert 1 << 17 <= target.now_ns <= (1 << 19) + ANSWER_NS


def test_silence_takes_exactly_as_long_as_the_caller_waits():
    with opened() as target:
        assert target.receive(777) is None and target.now_ns == 777
        target.wait(23)
        assert target.now_ns == 800


def test_what_arrives_during_a_wait_is_kept():
    with opened() as target:
        qp = target.open(spec())
        target.send(write(target, qp))
        target.wait(ANSWER_NS)
        assert target.receive(0) is not None and target.receive(0) is None


def test_two_runs_are_the_same_to_the_byte_and_nanosecond():
    def run() -> list[Any]:
        with opened() as target:
            qps = [target.open(spec(remote_qpn=PEER_QPN + index)) for index in range(3)]
            for psn in range(5):
                for qp in qps:
                    target.send(write(target, qp, psn))
                    target.post(qp, Work(wr_id=psn, op=Op.WRITE, data=bytes(700)))
            return [target.receive(ANSWER_NS) for _ in range(70)]

    assert run() == run()


def test_requests_leave_and_complete():
    with opened() as target:
        qp = target.open(spec(sq_psn=9))
        target.post(qp, Work(wr_id=5, op=Op.WRITE, data=b"data", remote_addr=16, rkey=3))
        arrival = target.receive(ANSWER_NS)
        packet = parse(arrival.frame) if arrival else None
        assert packet is not None and (packet.bth.opcode, packet.bth.psn) == (0x0A, 9)
        assert target.completions(qp, count=1, timeout_ns=10) == []
        target.send(request(qp, ACKNOWLEDGE, 9, (Aeth(0x1F, 1),)))
        done = target.completions(qp, count=1, timeout_ns=ANSWER_NS)
        assert done == [Outcome(wr_id=5, status="success")]


def test_completions_are_told_once():
    with opened() as target:
        qp = target.open(spec(Service.UC))
        region = target.register(64)
        target.post_receive(qp, wr_id=1, region=region, length=8)
        target.post(qp, Work(wr_id=2, op=Op.WRITE, data=b"data"))
        target.send(request(qp, 0x24, 0, (), b"mail"))
        assert len(target.completions(qp, count=2, timeout_ns=ANSWER_NS)) == 2
        assert target.completions(qp, count=1, timeout_ns=ANSWER_NS) == []


def test_a_requester_that_gives_up_ends_both_halves():
    with opened() as target:
        qp = target.open(spec(ack_timeout=1, retry_count=1))
        target.post(qp, Work(wr_id=1, op=Op.WRITE, data=b"data"))
        done = target.completions(qp, count=1, timeout_ns=ANSWER_NS)
        assert [one.status for one in done] == ["retry_exc_err"]
        sent = answers(target, write(target, qp))
        assert [one.bth.opcode for one in sent] == [0x0A, 0x0A], "and no ACK"


def test_a_queue_pair_is_in_the_error_state_as_soon_as_its_responder_is():
    device = Device(HOST)
    queue_pair = device.open(spec())
    bad = request(Qp(queue_pair.spec.local_qpn, spec()), 0x0A, 0, (Reth(0, 0, 4),), b"data")
    device.receive(bad, 0)
    assert queue_pair.state is State.ERR and queue_pair.requester.state is State.ERR


def test_cnp_07_a_notification_slows_the_requester_down():
    def spacing(*frames: bytes) -> int:
        with opened() as target:
            qp = target.open(spec(Service.UC))
            for frame in frames:
                target.send(frame.replace(b"QPN", qp.qpn.to_bytes(3, "big")))
            target.wait(1000)
            target.post(qp, Work(wr_id=1, op=Op.WRITE, data=bytes(512)))
            times = []
            while (arrival := target.receive(ANSWER_NS)) is not None:
                times.append(arrival.time_ns)
            return times[1] - times[0]

    with opened() as target:
        qp = target.open(spec(Service.UC))
        bth = Bth(CNP, qp.qpn, 0, becn=True)
        packet = Packet(HOST.mac, PEER.mac, Ipv4(PEER.ip, HOST.ip), 7, bth, (CnpReserved(),))
        notification = build(packet)
    assert spacing(*[notification] * 6) > 2 * spacing()


def test_receives_complete():
    with opened() as target:
        qp = target.open(spec())
        region = target.register(64)
        target.post_receive(qp, wr_id=3, region=region, offset=8, length=8)
        assert [one.bth.opcode for one in answers(target, request(qp, 0x04, 0, (), b"mail"))] == [
            ACKNOWLEDGE
        ]
        assert region.read(8, 5) == b"mail\0"
        (done,) = target.completions(qp, count=1, timeout_ns=0)
        assert (done.wr_id, done.status, done.is_receive, done.byte_len) == (3, "success", True, 4)


def test_cred_02_a_shared_queue_serves_all_its_queue_pairs():
    with opened() as target:
        qps = [target.open(spec(shared_receive=True, remote_qpn=index)) for index in (5, 6)]
        region = target.register(64)
        target.post_receive(qps[0], wr_id=1, region=region, length=16)
        (ack,) = answers(target, request(qps[1], 0x04, 0, (), b"mail"))
        assert ack.aeth is not None and ack.aeth.syndrome == 31
        (rnr,) = answers(target, request(qps[0], 0x04, 0, (), b"mail"))
        assert rnr.aeth is not None and rnr.aeth.syndrome >> 5 == 1


def test_a_receive_needs_memory_of_the_device():
    with opened() as target:
        foreign: Any = object()
        with pytest.raises(TargetError):
            target.post_receive(target.open(spec()), wr_id=1, region=foreign, length=4)


@pytest.mark.parametrize("state", [State.RESET, State.INIT])
def test_qps_01_nothing_is_received_before_rtr(state: State):
    with opened() as target:
        qp = target.open(spec(state=state))
        assert answers(target, write(target, qp)) == []
        assert target.counters() == {"state": 1}


def test_qps_02_in_rtr_requests_are_answered_and_none_are_sent():
    with opened() as target:
        qp = target.open(spec(state=State.RTR))
        target.post(qp, Work(wr_id=1, op=Op.WRITE, data=b"data"))
        assert [one.bth.opcode for one in answers(target, write(target, qp))] == [ACKNOWLEDGE]
        target.set_state(qp, State.RTS)
        assert [one.bth.opcode for one in answers(target)] == [0x0A]


def test_qps_03_in_err_nothing_is_sent_and_work_is_flushed():
    with opened() as target:
        qp = target.open(spec())
        region = target.register(64)
        target.post_receive(qp, wr_id=1, region=region, length=4)
        target.post(qp, Work(wr_id=2, op=Op.WRITE, data=b"data"))
        target.set_state(qp, State.ERR)
        target.post_receive(qp, wr_id=3, region=region, length=4)
        target.post(qp, Work(wr_id=4, op=Op.WRITE, data=b"data"))
        assert answers(target, write(target, qp)) == []
        done = target.completions(qp, count=4, timeout_ns=ANSWER_NS)
        assert sorted((one.wr_id, one.status) for one in done) == [
            (number, "wr_flush_err") for number in (1, 2, 3, 4)
        ]


def test_qps_03_responses_that_wait_are_not_sent_any_more():
    with opened() as target:
        qp = target.open(spec())
        region = target.register(8192)
        target.send(request(qp, 0x0C, 0, (Reth(region.addr, region.rkey, 8192),)))
        assert target.receive(ANSWER_NS) is not None
        target.set_state(qp, State.ERR)
        assert len(answers(target)) <= 1, "the frame that was on the wire already"


def test_a_fatal_nak_ends_both_halves():
    with opened() as target:
        qp = target.open(spec(ack_timeout=1))
        bad = request(qp, 0x0A, 0, (Reth(0, 0, 4),), b"data")
        target.send(bad)
        target.wait(ANSWER_NS)
        target.post(qp, Work(wr_id=2, op=Op.WRITE, data=b"data"))
        assert [one.bth.opcode for one in answers(target)] == [ACKNOWLEDGE]
        assert [one.status for one in target.completions(qp, count=1, timeout_ns=0)] == [
            "wr_flush_err"
        ]


def test_qps_04_msn_07_a_queue_pair_that_is_opened_anew_begins_anew():
    with opened() as target:
        qp = target.open(spec())
        region = target.register(1024)
        target.post_receive(qp, wr_id=1, region=region, length=1024)
        answers(target, write(target, qp), write(target, qp, 9), request(qp, 0, 1, (), bytes(256)))
        again = target.reopen(qp, spec(rq_psn=0x800000))
        assert again.qpn == qp.qpn
        (ack,) = answers(target, write(target, again, 0x800000))
        assert ack.aeth is not None and (ack.bth.psn, ack.aeth.msn) == (0x800000, 1)


def test_a_queue_pair_can_be_taken_back_to_reset():
    with opened() as target:
        qp = target.open(spec())
        target.set_state(qp, State.RESET)
        assert answers(target, write(target, qp)) == []


@pytest.mark.parametrize("tag", [b"", bytes.fromhex("81000005")])
def test_cm_01_cm_06_a_connection_is_made_through_qp_1(tag: bytes):
    def to_qp1(message: CmMessage) -> bytes:
        bth = Bth(0x64, GSI_QPN, 0)
        deth = Deth(GSI_QKEY, GSI_QPN)
        ip = Ipv4(PEER.ip, HOST.ip)
        return build(Packet(HOST.mac, PEER.mac, ip, 7, bth, (deth,), message.pack(), vlans=tag))

    fields = {
        "local_id": 7,
        "service_id": 99,
        "qpn": PEER_QPN,
        "path_mtu": 1,
        "local_gid": gid_of(PEER.ip),
        "remote_gid": gid_of(HOST.ip),
        "start_psn": 5,
        "hop_limit": 64,
    }
    with opened() as target:
        target.listen(99, spec())
        (answer,) = answers(target, to_qp1(CmMessage(Attribute.REQ, 1, fields)))
        deth = answer.extension(Deth)
        assert deth == Deth(0x80010000, 1) and answer.vlans == tag
        assert (answer.bth.opcode, answer.bth.dest_qpn, answer.ip.dst) == (0x64, 1, PEER.ip)
        reply = CmMessage.unpack(answer.payload)
        assert reply is not None and reply.attribute is Attribute.REP
        qp = Qp(reply["qpn"], spec())
        target.post(qp, Work(wr_id=1, op=Op.WRITE, data=b"data"))
        assert answers(target) == []
        found = answers(target, write(target, qp, reply["start_psn"]))
        assert [(one.bth.opcode, one.bth.psn) for one in found] == [
            (ACKNOWLEDGE, reply["start_psn"]),
            (0x0A, 5),
        ]
        assert answers(target, to_qp1(CmMessage(Attribute.DREP, 1, {"local_id": 7}))) == []


def test_the_link_local_address_follows_from_the_mac_address():
    assert link_local(bytes.fromhex("123456789abc")) == bytes.fromhex(
        "fe80000000000000" + "103456fffe789abc"
    )


def test_qps_06_queue_pairs_do_not_notice_each_other():
    with opened() as target:
        one, other = (target.open(spec(remote_qpn=number)) for number in (1, 2))
        answers(target, write(target, one), write(target, one, 1))
        (ack,) = answers(target, write(target, other))
        assert ack.aeth is not None and (ack.bth.dest_qpn, ack.aeth.msn) == (2, 1)


def test_a_wish_for_a_number_is_granted_once():
    with opened() as target:
        assert target.open(spec(local_qpn=0x30)).qpn == 0x30
        assert target.open(spec()).qpn == 0x31
        assert target.open(spec(local_qpn=0x30)).qpn == 0x32


@pytest.mark.parametrize("vlan", [None, 0x6064])
def test_vlan_02_vlan_03_answers_carry_the_tag_of_the_queue_pair(vlan: int | None):
    with opened() as target:
        qp = target.open(spec(vlan=vlan))
        tag = b"" if vlan is None else b"\x81\x00" + vlan.to_bytes(2, "big")
        for arriving in (b"", bytes.fromhex("81000005")):
            (ack,) = answers(target, write(target, qp, len(arriving) // 4, vlans=arriving))
            assert ack.vlans == tag


def test_answers_have_the_class_hops_and_port_of_the_queue_pair_and_count_their_identity():
    with opened() as target:
        qp = target.open(spec(traffic_class=0x68, hop_limit=9, udp_sport=0xC123, ip_id=0xFFFF))
        acks = answers(target, write(target, qp), write(target, qp, 1))
        ips = [one.ip for one in acks if isinstance(one.ip, Ipv4)]
        assert [(ip.tos, ip.ttl, ip.ident) for ip in ips] == [(0x68, 9, 0xFFFF), (0x68, 9, 0)]
        assert {one.udp_sport for one in acks} == {0xC123}


def test_ipv6_peers_are_answered_over_ipv6():
    own = Host(HOST.mac, bytes.fromhex("20010db8" + 11 * "00" + "01"))
    with opened(host=own) as target:
        qp = target.open(spec(remote=PEER6))
        ip = Ipv6(PEER6.ip, own.ip)
        (ack,) = answers(target, write(target, qp, ip=ip))
        assert isinstance(ack.ip, Ipv6) and (ack.ip.src, ack.ip.dst) == (own.ip, PEER6.ip)


def test_cnp_01_cnp_03_a_congestion_mark_is_answered_once_per_interval():
    with opened() as target:
        qp = target.open(spec())
        marked = [write(target, qp, psn, tos=3) for psn in range(5)]
        found = answers(target, *marked)
        (cnp,) = [one for one in found if one.bth.opcode == CNP]
        assert (cnp.bth.dest_qpn, cnp.bth.becn, cnp.bth.psn, cnp.bth.ack_req) == (
            PEER_QPN,
            True,
            0,
            False,
        )
        assert [header.pack() for header in cnp.extensions] == [bytes(16)]
        assert isinstance(cnp.ip, Ipv4) and cnp.ip.tos == CNP_TRAFFIC_CLASS
        later = answers(target, write(target, qp, 5, tos=3), write(target, qp, 6, tos=1))
        assert [one.bth.opcode for one in later].count(CNP) == 1


def test_cnp_02_without_a_mark_there_is_no_notification():
    with opened() as target:
        qp = target.open(spec())
        for psn, tos in enumerate((0, 1, 2)):
            assert len(answers(target, write(target, qp, psn, tos=tos))) == 1


@pytest.mark.parametrize("peer", [PEER, PEER6])
def test_live_01_the_device_answers_arp_nd_and_ping(peer: Host):
    with opened() as target:
        assert target.ping(peer, timeout_ns=ANSWER_NS)
        assert target.receive(ANSWER_NS) is None, "none of that is the device's affair"


def test_a_dead_device_does_not_answer_a_ping():
    with opened(corrupt_sent=lambda _frame, _time: []) as target:
        assert not target.ping(PEER, timeout_ns=ANSWER_NS)


def test_drops_are_counted_by_reason():
    with opened() as target:
        qp = target.open(spec())
        frame = write(target, qp)
        answers(target, frame[:-1] + bytes((frame[-1] ^ 1,)), frame)
        assert target.counters() == {"icrc": 1}


def test_filters_see_every_frame_and_its_time():
    seen: list[tuple[str, int]] = []

    def corrupt(frame: bytes, time_ns: int) -> list[bytes]:
        seen.append(("sent", time_ns))
        return [frame, frame]

    def repair(frame: bytes, time_ns: int) -> list[bytes]:
        seen.append(("received", time_ns))
        return [] if len(seen) > 2 else [frame]

    with opened(corrupt_sent=corrupt, repair_received=repair) as target:
        qp = target.open(spec())
        frame = write(target, qp)
        assert len(answers(target, frame)) == 2
        assert answers(target, frame) == []
    assert [kind for kind, _ in seen] == ["received", "sent", "received"]
    assert seen[0][1] == wire_ns(frame)


def test_a_part_can_be_exchanged():
    class Naksalot(RcResponder):
        def nak_is_pending(self) -> bool:
            return False

    components = Components(responders={**RESPONDERS, Service.RC: Naksalot})
    with opened(components=components) as target:
        qp = target.open(spec())
        assert len(answers(target, write(target, qp, 5), write(target, qp, 6))) == 2


def test_what_the_policy_rules_out_is_not_claimed():
    def claims(**choices: Any) -> frozenset[Capability]:
        components = Components(responder_policy=ResponderPolicy(**choices))
        return ModelFactory(components=components).claims.capabilities

    assert {Capability.RECEIVE_CREDITS, Capability.FLUSH, Capability.MARKS} <= claims()
    assert Capability.RECEIVE_CREDITS not in claims(credits=Credits.INVALID)
    assert Capability.FLUSH not in claims(persistence=Persistence.UNSUPPORTED)


def test_a_device_that_asks_for_addresses_sends_when_it_has_them() -> None:
    with opened(components=Components(resolves_addresses=True)) as target:
        qp = target.open(spec())
        target.post(qp, Work(wr_id=1, op=Op.WRITE, data=bytes(8)))
        arrival = target.receive(ANSWER_NS)
        assert arrival is not None and parse(arrival.frame) is not None
        assert target.asides() == [], "the bench is the peer and has answered"


def test_a_question_after_nobody_is_asked_again_and_nothing_leaves() -> None:
    with opened(components=Components(resolves_addresses=True)) as target:
        stranger = Host(PEER.mac, bytes((192, 168, 1, 3)))
        qp = target.open(spec(remote=stranger))
        target.played.clear()
        target.post(qp, Work(wr_id=1, op=Op.WRITE, data=bytes(8)))
        assert target.receive(ANSWER_NS) is None
        assert len(target.asides()) >= 2


def test_whoever_asks_a_device_for_a_connection_is_found_by_its_address() -> None:
    source = ModelFactory(components=Components(resolves_addresses=True))
    with source.device(CasePlace(name="case", seed=3)) as target:
        qp = Caller(Bench(target, source.claims, seed=3)).connect()
        qp.send(WRITE_ONLY(psn=0, a=1))
        qp.expect(ACK(psn=0, msn=1))
