# SPDX-License-Identifier: BSD-2-Clause
"""The worked vectors on the wire of the RTL, byte for byte."""

from __future__ import annotations

import json

from endpoint_bench import PEER_IPV4, PEER_MAC, PORT_IPV4, PORT_MAC, ROOT, Bench, open_bench

from roceproof.dpi.contract.records import Operation, QpConfig, Status, WorkRequest
from roceproof.verbs.service import PathMtu, Service

VECTORS = {
    vector["name"]: bytes.fromhex(vector["frame"])
    for vector in json.loads((ROOT / "conformance" / "vectors" / "icrc.json").read_text())
}
LIMIT = 5000


def vector_qp(service: Service, *, remote_qpn: int, psn: int, ip_id: int) -> QpConfig:
    return QpConfig(
        local_qpn=0x21,
        remote_qpn=remote_qpn,
        service=service,
        path_mtu=PathMtu.MTU_256,
        sq_psn=psn,
        remote_mac=PEER_MAC,
        remote_gid=PEER_IPV4,
        udp_sport=0xC0DE,
        traffic_class=0x6A,
        hop_limit=64,
        ip_id=ip_id,
    )


def frames_of(bench: Bench, config: QpConfig, request: WorkRequest, payload: bytes) -> list[bytes]:
    bench.port.configure(config)
    bench.port.post(request, payload=payload)
    bench.run(LIMIT)
    return bench.sent[config.remote_qpn]


def test_write_only_leaves_as_vector_a(bench: Bench) -> None:
    config = vector_qp(Service.RC, remote_qpn=0x11, psn=0x123456, ip_id=0x1A2B)
    bench.peer.know(config)
    request = WorkRequest(
        wr_id=1,
        qpn=0x21,
        operation=Operation.WRITE,
        length=16,
        remote_addr=0x7F1234560000,
        rkey=0xABCD,
    )
    assert frames_of(bench, config, request, bytes(range(16))) == [VECTORS["A"]]


def test_last_packet_of_a_write_with_immediate_is_vector_b(bench: Bench) -> None:
    config = vector_qp(Service.UC, remote_qpn=0x12, psn=0xFFFFFE, ip_id=0x1A2B)
    request = WorkRequest(
        wr_id=1,
        qpn=0x21,
        operation=Operation.WRITE_IMM,
        length=261,
        immediate=0xCAFEBABE,
        solicited=True,
    )
    frames = frames_of(bench, config, request, b"\xff" * 256 + bytes.fromhex("a1a2a3a4a5"))
    assert frames[1:] == [VECTORS["B"]]


def test_empty_send_leaves_as_vector_e(bench: Bench) -> None:
    config = vector_qp(Service.UC, remote_qpn=0x12, psn=1, ip_id=0x1A2D)
    request = WorkRequest(wr_id=1, qpn=0x21, operation=Operation.SEND, length=0)
    assert frames_of(bench, config, request, b"") == [VECTORS["E"]]


def test_vector_f_acknowledges_the_packet_it_names(width: int) -> None:
    # In the vector the peer is 192.168.1.1, so the port takes the other address.
    with open_bench(width, mac=PEER_MAC, ipv4=PEER_IPV4) as bench:
        config = QpConfig(
            local_qpn=0x21,
            remote_qpn=0x33,
            service=Service.RC,
            sq_psn=0x123456,
            remote_mac=PORT_MAC,
            remote_gid=PORT_IPV4,
            udp_sport=0xC000,
        )
        bench.activate(config)
        bench.post(config, Operation.WRITE, 16)
        bench.run(LIMIT)
        assert bench.completions == []
        bench.port.inject(VECTORS["F"])
        bench.settle(limit=LIMIT, answering=False)
        assert bench.completions[0].status is Status.SUCCESS
        assert bench.completions[0].syndrome == 0x1F
