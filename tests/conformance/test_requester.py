# SPDX-License-Identifier: BSD-2-Clause
"""The reference transmitter gives the worked vectors and frames that break no rule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.transmitter import Requester
from roceproof.dpi.contract.records import SENDING, Operation, QpConfig, WorkRequest
from roceproof.dpi.session.payload import PatternPayload
from roceproof.verbs.service import PathMtu, Service

VECTORS = {
    vector["name"]: bytes.fromhex(vector["frame"])
    for vector in json.loads(
        (Path(__file__).parents[2] / "conformance" / "vectors" / "icrc.json").read_text()
    )
}
MAC, IPV4 = bytes.fromhex("020000000001"), bytes((192, 168, 1, 1))


def requester(config: QpConfig) -> Requester:
    model = Requester(mac=MAC, ipv4=IPV4)
    model.configure(config)
    return model


def qp(
    service: Service = Service.RC,
    *,
    remote_qpn: int = 0x11,
    psn: int = 0,
    ip_id: int = 0,
    path_mtu: PathMtu = PathMtu.MTU_256,
) -> QpConfig:
    return QpConfig(
        local_qpn=1,
        remote_qpn=remote_qpn,
        service=service,
        path_mtu=path_mtu,
        sq_psn=psn,
        udp_sport=0xC0DE,
        traffic_class=0x6A,
        ip_id=ip_id,
    )


def request(operation: Operation, length: int, *, solicited: bool = False) -> WorkRequest:
    return WorkRequest(
        wr_id=1,
        qpn=1,
        operation=operation,
        length=length,
        remote_addr=0x7F12_3456_0000,
        rkey=0xABCD,
        immediate=0xCAFEBABE,
        solicited=solicited,
    )


def test_a_write_of_16_bytes_is_vector_a() -> None:
    model = requester(qp(psn=0x123456, ip_id=0x1A2B))
    frames = model.frames(request(Operation.WRITE, 16), bytes(range(16)))
    assert list(frames) == [VECTORS["A"]]


def test_the_last_packet_of_a_solicited_write_with_immediate_is_vector_b() -> None:
    model = requester(qp(Service.UC, remote_qpn=0x12, psn=0xFFFFFE, ip_id=0x1A2B))
    payload = bytes(256) + bytes.fromhex("a1a2a3a4a5")
    frames = list(model.frames(request(Operation.WRITE_IMM, 261, solicited=True), payload))
    assert frames[1:] == [VECTORS["B"]]
    first = parse(frames[0])
    assert first is not None and not first.bth.solicited and first.immediate is None


def test_an_empty_send_is_vector_e() -> None:
    model = requester(qp(Service.UC, remote_qpn=0x12, psn=1, ip_id=0x1A2D))
    assert list(model.frames(request(Operation.SEND, 0))) == [VECTORS["E"]]


# fmt: off
SEQUENCES = {
    Operation.SEND:      {0: "04", 256: "04", 257: "00 02", 512: "00 02", 513: "00 01 02"},
    Operation.SEND_IMM:  {0: "05", 256: "05", 257: "00 03", 512: "00 03", 513: "00 01 03"},
    Operation.WRITE:     {0: "0a", 256: "0a", 257: "06 08", 512: "06 08", 513: "06 07 08"},
    Operation.WRITE_IMM: {0: "0b", 256: "0b", 257: "06 09", 512: "06 09", 513: "06 07 09"},
}
# fmt: on


@pytest.mark.parametrize("operation", SENDING)
def test_messages_are_cut_at_the_path_mtu(operation: Operation) -> None:
    for length, sequence in SEQUENCES[operation].items():
        model = requester(qp())
        packets = [parse(f) for f in model.frames(request(operation, length), bytes(length))]
        opcodes = [f"{packet.bth.opcode:02x}" for packet in packets if packet]
        assert " ".join(opcodes) == sequence
        asks = [packet.bth.ack_req for packet in packets if packet]
        assert asks == [False] * (len(asks) - 1) + [True]


@pytest.mark.parametrize("service", [Service.RC, Service.UC])
@pytest.mark.parametrize("path_mtu", PathMtu)
def test_its_frames_break_no_rule_across_the_wrap(service: Service, path_mtu: PathMtu) -> None:
    model = requester(qp(service, psn=0xFFFFF0, ip_id=0xFFF8, path_mtu=path_mtu))
    checker = Checker(path_mtu=path_mtu.size)
    size = path_mtu.size
    for operation in SENDING:
        for length in (0, 1, 2, 3, 4, 5, size - 1, size, size + 1, 3 * size, 3 * size + 7):
            payload = PatternPayload(seed=length, length=length)
            for frame in model.frames(request(operation, length, solicited=True), payload):
                assert checker.feed(frame) == []


def test_a_restarted_qp_starts_from_its_new_configuration() -> None:
    model = requester(qp(psn=7, ip_id=9))
    list(model.frames(request(Operation.SEND, 600), bytes(600)))
    model.configure(qp(psn=0x40, ip_id=0x50))
    (packet,) = (parse(f) for f in model.frames(request(Operation.SEND, 4), bytes(4)))
    assert packet is not None and packet.bth.psn == 0x40
    assert packet.ip.ident == 0x50  # type: ignore[union-attr]


def test_a_payload_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="work request says 5 bytes, got 4"):
        requester(qp()).frames(request(Operation.SEND, 5), bytes(4))
