# SPDX-License-Identifier: BSD-2-Clause
"""What the peer sends when it is the requester, and the rarer kinds of receive queue."""

from __future__ import annotations

import struct
from typing import Any

import pytest
import tiny_peer as tp

from roceproof.rxe_env import SoftRoce
from roceproof.rxe_env.client.verbs import QueuePair

pytestmark = pytest.mark.rxe

REMOTE: dict[str, Any] = {"raddr": "0xfffffffffffffff8", "rkey": 0x1234}
BTH = 42
# Opcode on the wire, and the extended headers' bytes up to the data.
RC_REQUESTS: list[tuple[dict[str, Any], int, bytes]] = [
    ({"opcode": "send"}, 0x04, b""),
    ({"opcode": "send_imm", "imm": 0xCAFEBABE}, 0x05, b"\xca\xfe\xba\xbe"),
    ({"opcode": "send_inv", "inv_rkey": 0xABCD}, 0x17, struct.pack(">I", 0xABCD)),
    ({"opcode": "write", **REMOTE}, 0x0A, struct.pack(">QII", 2**64 - 8, 0x1234, 8)),
    (
        {"opcode": "write_imm", "imm": 7, **REMOTE},
        0x0B,
        struct.pack(">QIII", 2**64 - 8, 0x1234, 8, 7),
    ),
    ({"opcode": "read", **REMOTE}, 0x0C, struct.pack(">QII", 2**64 - 8, 0x1234, 8)),
    (
        {"opcode": "cmp_swap", "compare": "0xffffffffffffffff", "swap": 2, **REMOTE},
        0x13,
        struct.pack(">QIQQ", 2**64 - 8, 0x1234, 2, 2**64 - 1),
    ),
    (
        {"opcode": "fetch_add", "add": 3, **REMOTE},
        0x14,
        struct.pack(">QIQQ", 2**64 - 8, 0x1234, 3, 0),
    ),
]


def connected(peer: SoftRoce, service: str) -> QueuePair:
    qp = peer.open_qp(service)
    peer.connect(
        qp,
        remote_ipv4="10.77.0.1",
        remote_qpn=0x99,
        path_mtu=1024,
        rq_psn=0,
        sq_psn=0xABCDEF,
    )
    return qp


@pytest.mark.parametrize(
    ("request_", "opcode", "extended"), RC_REQUESTS, ids=[wr["opcode"] for wr, _, _ in RC_REQUESTS]
)
def test_each_operation_leaves_as_its_packet(
    peer: SoftRoce, tiny: tp.TinyPeer, request_: dict[str, Any], opcode: int, extended: bytes
) -> None:
    qp = connected(peer, "RC")
    region = peer.reg_mr(8, fill=0x5A)
    sge = [{"mr": region.handle, "length": 8}]
    peer.call("post_send", qp=qp.handle, wrs=[{"wr_id": 1, "sge": sge, **request_}])
    frame = tiny.expect(tp.ETH_IPV4)
    assert frame[BTH] == opcode
    assert struct.unpack(">I", b"\0" + frame[BTH + 9 : BTH + 12])[0] == 0xABCDEF
    assert frame[BTH + 12 :].startswith(extended)
    peer.call("modify_qp", qp=qp.handle, state="ERR")


def test_an_acknowledged_send_completes(peer: SoftRoce, tiny: tp.TinyPeer, mac: bytes) -> None:
    qp = connected(peer, "RC")
    region = peer.reg_mr(8)
    sge = [{"mr": region.handle, "length": 8}]
    peer.call("post_send", qp=qp.handle, wrs=[{"wr_id": 9, "opcode": "send", "sge": sge}])
    tiny.expect(tp.ETH_IPV4)
    acknowledge = struct.pack(">I", 0x1F000001)
    tiny.send(tp.roce(mac, tp.RC_ACKNOWLEDGE, qp.qpn, 0xABCDEF, extended=acknowledge))
    (completion,) = peer.poll(qp)
    assert (completion.wr_id, completion.status, completion.opcode) == (9, "success", "send")


def test_a_datagram_carries_its_queue_key(peer: SoftRoce, tiny: tp.TinyPeer) -> None:
    cq = peer.call("create_cq")["cq"]
    qp = peer.call("create_qp", pd=peer.pd, type="UD", send_cq=cq, recv_cq=cq)["qp"]
    peer.call("modify_qp", qp=qp, state="INIT", qkey=0x11111111)
    peer.call("modify_qp", qp=qp, state="RTR")
    peer.call("modify_qp", qp=qp, state="RTS", sq_psn=1)
    address: dict[str, Any] = {"dgid": "::ffff:10.77.0.1", "sgid_index": peer.gid_index}
    ah = peer.call("create_ah", pd=peer.pd, **address)["ah"]
    request = {
        "opcode": "send",
        "sge": [{"mr": peer.reg_mr(4).handle, "length": 4}],
        "ah": ah,
        "remote_qpn": 2,
        "remote_qkey": 0x22222222,
    }
    peer.call("post_send", qp=qp, wrs=[request])
    frame = tiny.expect(tp.ETH_IPV4)
    assert frame[BTH] == 0x64
    assert frame[BTH + 12 : BTH + 16] == b"\x22" * 4
    assert peer.call("poll_cq", cq=cq, timeout_ms=2000)["wcs"][0]["status"] == "success"


def test_a_shared_receive_queue_serves_its_queue_pairs(
    peer: SoftRoce, tiny: tp.TinyPeer, mac: bytes
) -> None:
    cq = peer.call("create_cq")["cq"]
    srq = peer.call("create_srq", pd=peer.pd)["srq"]
    region = peer.reg_mr(16)
    sge = [{"mr": region.handle, "length": 16}]
    peer.call("post_recv", srq=srq, wrs=[{"wr_id": 1, "sge": sge}, {"wr_id": 2, "sge": sge}])
    for wr_id in (1, 2):
        made = peer.call("create_qp", pd=peer.pd, type="RC", send_cq=cq, recv_cq=cq, srq=srq)
        peer.call("modify_qp", qp=made["qp"], state="INIT")
        qp = QueuePair(made["qp"], made["qpn"], cq, "RC")
        peer.connect(qp, remote_ipv4="10.77.0.1", remote_qpn=1, path_mtu=1024, rq_psn=0)
        tiny.send(tp.roce(mac, tp.RC_SEND_ONLY, qp.qpn, 0, payload=b"shared"))
        (completion,) = peer.poll(qp)
        assert (completion.wr_id, completion.status, completion.qpn) == (wr_id, "success", qp.qpn)


def test_a_bound_memory_window_takes_remote_writes(
    peer: SoftRoce, tiny: tp.TinyPeer, mac: bytes
) -> None:
    qp = connected(peer, "RC")
    access = ("local_write", "remote_write", "mw_bind")
    region = peer.reg_mr(64, access=access)
    window = peer.call("alloc_mw", pd=peer.pd)
    bind = {"opcode": "bind_mw", "mw": window["mw"], "mr": region.handle, "offset": 8, "length": 8}
    peer.call("post_send", qp=qp.handle, wrs=[bind])
    assert peer.poll(qp)[0].status == "success"
    rkey = (window["rkey"] & 0xFFFFFF00) | ((window["rkey"] + 1) & 0xFF)
    extended = tp.reth(region.addr + 8, rkey, 4)
    frame = tp.roce(mac, 0x0A, qp.qpn, 0, extended=extended, payload=b"pane", ack_request=True)
    tiny.send(frame)
    assert tiny.expect(tp.ETH_IPV4)[BTH] == tp.RC_ACKNOWLEDGE
    assert peer.read(region, length=16) == bytes(8) + b"pane" + bytes(4)


def test_a_queue_pair_has_its_routes_hop_limit_whatever_was_wished(
    peer: SoftRoce, tiny: tp.TinyPeer
) -> None:
    qp = peer.open_qp("RC")
    peer.connect(qp, remote_ipv4="10.77.0.1", remote_qpn=1, path_mtu=1024, rq_psn=0, hop_limit=17)
    assert peer.call("query_qp", qp=qp.handle)["hop_limit"] == 64


def test_counters_count_what_has_just_happened(
    peer: SoftRoce, tiny: tp.TinyPeer, mac: bytes
) -> None:
    qp = connected(peer, "RC")
    for _ in range(2):
        before = peer.call("counters")["hw"]
        tiny.send(tp.roce(mac, tp.RC_SEND_ONLY, qp.qpn, 0xFFFFFF, ack_request=True))
        assert tiny.expect(tp.ETH_IPV4)[BTH] == tp.RC_ACKNOWLEDGE
        after = peer.call("counters")["hw"]
        assert after["duplicate_request"] == before["duplicate_request"] + 1
        assert "lifespan" not in after
