# SPDX-License-Identifier: BSD-2-Clause
"""Connection management: fields where the kernel puts them, and the passive side's answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from responder_bench import PEER

from roceproof.conformance.capture.reader import read
from roceproof.conformance.model.cm.connection import address_of, gid_of
from roceproof.conformance.model.cm.messages import Attribute, CmMessage, Reason
from roceproof.conformance.model.device import Device
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.headers import Bth
from roceproof.conformance.wire.ip import Ipv4
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec, State
from roceproof.verbs.service import Service

STOCK = Path(__file__).parents[1] / "captures" / "rxe" / "rping.pcapng.gz"
OWN = Host(bytes.fromhex("020000000001"), bytes((192, 168, 1, 1)))
SERVICE = 0x01064791
REQ = CmMessage(
    Attribute.REQ,
    0x1122334455667788,
    {
        "local_id": 7,
        "service_id": SERVICE,
        "qpn": 0x010203,
        "responder_resources": 3,
        "initiator_depth": 2,
        "transport": 0,
        "start_psn": 0xABCDEF,
        "retry_count": 5,
        "path_mtu": 2,
        "rnr_retry": 6,
        "local_gid": gid_of(PEER.ip),
        "remote_gid": gid_of(OWN.ip),
        "hop_limit": 9,
        "ack_timeout": 14,
    },
)


def conversation() -> list[Packet]:
    packets = (parse(record.frame) for record in read(STOCK))
    return [packet for packet in packets if packet is not None]


def listening() -> Device:
    device = Device(OWN)
    device.cm.listen(SERVICE, QpSpec(service=Service.RC, remote=PEER, remote_qpn=0))
    return device


def answer(device: Device, message: CmMessage | bytes) -> CmMessage | None:
    mad = message if isinstance(message, bytes) else message.pack()
    ip = Ipv4(PEER.ip, OWN.ip)
    packet = Packet(OWN.mac, PEER.mac, ip, 7, Bth(0x64, 1, 0), (), mad)
    segment = device.cm.receive(packet)
    return None if segment is None else CmMessage.unpack(segment.payload)


def connected(device: Device) -> tuple[CmMessage, dict[str, int]]:
    reply = answer(device, REQ)
    assert reply is not None and reply.attribute is Attribute.REP
    return reply, {"local_id": REQ["local_id"], "remote_id": reply["local_id"]}


def test_cm_02_messages_of_the_kernel_are_understood_field_by_field():
    messages, data = [], []
    for packet in conversation():
        is_management = packet.bth.dest_qpn == 1
        message = CmMessage.unpack(packet.payload) if is_management else None
        assert is_management == (message is not None)
        if message is None:
            data.append(packet)
        else:
            messages.append((packet, message))
    (packet, req), (_, rep), (_, rtu) = messages[:3]
    assert [one.attribute for one in (req, rep, rtu)] == [
        Attribute.REQ,
        Attribute.REP,
        Attribute.RTU,
    ]
    assert address_of(req["local_gid"]) == packet.ip.src
    assert address_of(req["remote_gid"]) == packet.ip.dst
    assert (rep["remote_id"], rtu["remote_id"]) == (req["local_id"], rep["local_id"])
    assert (req["pkey"], req["transport"], req["hop_limit"]) == (0xFFFF, 0, 64)
    first = {one.ip.src: one for one in reversed(data) if one.aeth is None and one.bth.opcode < 13}
    from_caller, from_callee = first[packet.ip.src], first[packet.ip.dst]
    assert (from_caller.bth.dest_qpn, from_caller.bth.psn) == (rep["qpn"], rep["start_psn"])
    assert (from_callee.bth.dest_qpn, from_callee.bth.psn) == (req["qpn"], req["start_psn"])
    goodbye = [one.attribute for _, one in messages[3:]]
    assert {Attribute.DREQ, Attribute.DREP} <= set(goodbye)


def test_a_message_that_is_packed_is_the_one_that_is_unpacked():
    assert CmMessage.unpack(REQ.pack()) is not None
    for packet in conversation():
        message = CmMessage.unpack(packet.payload)
        if message is not None:
            assert CmMessage.unpack(message.pack()) == message


def test_cm_04_cm_05_the_queue_pair_is_what_both_sides_want():
    device = listening()
    reply, _ = connected(device)
    spec = device.queue_pairs[reply["qpn"]].spec
    assert (spec.remote, spec.remote_qpn, spec.path_mtu) == (PEER, 0x010203, 512)
    assert (spec.sq_psn, spec.rq_psn) == (
        0xABCDEF,
        reply["start_psn"],
    ) and spec.sq_psn != spec.rq_psn
    assert (spec.retry_count, spec.rnr_retry, spec.ack_timeout) == (5, 6, 14)
    assert (spec.max_rd_atomic, spec.max_dest_rd_atomic) == (1, 2)
    assert (reply["initiator_depth"], reply["responder_resources"]) == (1, 2)
    assert spec.hop_limit == 9


def test_cm_03_a_repeated_req_changes_nothing():
    device = listening()
    reply, _ = connected(device)
    assert connected(device)[0] == reply and len(device.queue_pairs) == 1
    other = answer(device, replace(REQ, fields={**REQ.fields, "local_id": 8}))
    assert other is not None and other["qpn"] != reply["qpn"]


def test_cm_06_an_rtu_or_data_in_its_place_let_requests_leave():
    device = listening()
    reply, ids = connected(device)
    queue_pair = device.queue_pairs[reply["qpn"]]
    assert queue_pair.state is State.RTR
    stranger = CmMessage(Attribute.RTU, REQ.transaction, {**ids, "local_id": 99})
    assert answer(device, stranger) is None and queue_pair.state is State.RTR
    assert answer(device, CmMessage(Attribute.RTU, REQ.transaction, ids)) is None
    assert queue_pair.state is State.RTS
    late = listening()
    queue_pair = late.queue_pairs[connected(late)[0]["qpn"]]
    late.cm.data_came(queue_pair)
    assert queue_pair.state is State.RTS


def test_cm_07_a_dreq_ends_the_queue_pair_and_is_answered_each_time():
    device = listening()
    reply, ids = connected(device)
    goodbye = CmMessage(Attribute.DREQ, 5, {**ids, "qpn": reply["qpn"]})
    for _ in range(2):
        last = answer(device, goodbye)
        assert last is not None and last.attribute is Attribute.DREP and last.transaction == 5
        assert device.queue_pairs[reply["qpn"]].state is State.ERR
    wrong = CmMessage(Attribute.DREQ, 5, {**ids, "qpn": reply["qpn"] + 1})
    assert answer(device, wrong) is None


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("service_id", SERVICE + 1, Reason.SERVICE_ID),
        ("transport", 1, None),
        ("transport", 2, Reason.TRANSPORT),
        ("transport", 3, Reason.TRANSPORT),
        ("path_mtu", 0, Reason.PATH_MTU),
        ("path_mtu", 6, Reason.PATH_MTU),
        ("remote_gid", gid_of(PEER.ip), Reason.REMOTE_GID),
    ],
)
def test_cm_08_what_cannot_be_met_is_rejected(field: str, value: int, reason: Reason | None):
    device = listening()
    reply = answer(device, replace(REQ, fields={**REQ.fields, field: value}))
    assert reply is not None and reply["remote_id"] == REQ["local_id"]
    if reason is None:
        assert reply.attribute is Attribute.REP
    else:
        assert (reply.attribute, reply["reason"]) == (Attribute.REJ, reason)
        assert not device.queue_pairs


@pytest.mark.parametrize("at", [0, 1, 2, 3, 16])
def test_cm_10_what_is_no_message_is_ignored(at: int):
    device = listening()
    mad = REQ.pack()
    assert answer(device, mad[:at] + b"\x55" + mad[at + 1 :]) is None
    assert answer(device, mad[:-1]) is None and answer(device, mad + b"\0") is None
    assert answer(device, CmMessage(Attribute.REP, 1, {"local_id": 7})) is None
    connected(device)


def test_gid_01_an_ipv4_address_stands_in_a_mapped_gid():
    assert gid_of(bytes((1, 2, 3, 4))) == 0xFFFF01020304
    assert address_of(0xFFFF01020304) == bytes((1, 2, 3, 4))
    six = bytes(range(16))
    assert address_of(gid_of(six)) == six
