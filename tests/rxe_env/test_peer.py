# SPDX-License-Identifier: BSD-2-Clause
"""A peer in the virtual machine, seen from its Ethernet port and from its agent."""

from __future__ import annotations

import struct
import time

import pytest
import tiny_peer as tp

from roceproof.rxe_env import AgentError, SoftRoce

pytestmark = pytest.mark.rxe

START_PSN = 0xFFFFFE
REMOTE_QPN = 0x99
RESTORE_SECONDS = 5.0  # about 0.5 on an idle machine
UC_FRAMES = 2000


def test_hello_tells_what_a_peer_must_know(peer: SoftRoce) -> None:
    assert peer.backend == "vm"
    assert peer.accel in ("kvm", "tcg")
    assert peer.hello["port_state"] == "active"
    assert peer.hello["active_mtu"] == 4096
    assert peer.hello["gids"][peer.gid_index]["gid"] == "::ffff:10.77.0.2"
    assert peer.mac == "52:54:00:77:00:02"
    assert peer.kernel


def test_the_guest_resolves_and_answers_over_ethernet(
    peer: SoftRoce, tiny: tp.TinyPeer, mac: bytes
) -> None:
    tiny.send(tp.arp(tp.ARP_REQUEST, tp.BROADCAST, bytes(6), tp.PEER_IPV4))
    # The guest may ask for us before it answers; only the answer is of interest.
    reply = tiny.expect(tp.ETH_ARP, starting=tp.ARP_REPLY)
    assert reply[22:32] == mac + tp.PEER_IPV4
    for size in (0, 1, 18, 1400, 4150):
        payload = bytes(range(256)) * 17
        tiny.send(tp.echo_request(mac, size, payload[:size]))
        answer = tiny.expect(tp.ETH_IPV4)
        assert answer[34] == 0, "an echo reply"
        assert answer[42 : 42 + size] == payload[:size]


@pytest.mark.parametrize("service", ["RC", "UC"])
@pytest.mark.parametrize("path_mtu", [256, 4096])
def test_a_queue_pair_reaches_rts_with_what_it_was_given(
    peer: SoftRoce, tiny: tp.TinyPeer, service: str, path_mtu: int
) -> None:
    qp = peer.open_qp(service)
    peer.connect(
        qp,
        remote_ipv4="10.77.0.1",
        remote_qpn=REMOTE_QPN,
        path_mtu=path_mtu,
        rq_psn=START_PSN,
        sq_psn=5,
    )
    state = peer.call("query_qp", qp=qp.handle)
    assert (state["state"], state["path_mtu"]) == ("RTS", path_mtu)
    assert (state["dest_qpn"], state["rq_psn"], state["sq_psn"]) == (REMOTE_QPN, START_PSN, 5)


def test_a_neighbour_that_does_not_answer_is_an_error_with_a_name(peer: SoftRoce) -> None:
    with pytest.raises(AgentError, match=r"timed out|No route|unreachable"):
        peer.connect(
            peer.open_qp("RC"), remote_ipv4="10.77.0.9", remote_qpn=1, path_mtu=1024, rq_psn=0
        )


def test_a_hand_made_send_lands_in_guest_memory_and_is_acknowledged(
    peer: SoftRoce, tiny: tp.TinyPeer, mac: bytes
) -> None:
    region = peer.reg_mr(64)
    qp = peer.open_qp("RC")
    peer.connect(
        qp, remote_ipv4="10.77.0.1", remote_qpn=REMOTE_QPN, path_mtu=1024, rq_psn=START_PSN
    )
    peer.post_recv(qp, region, wr_id=77, offset=1, length=60)
    frame = tp.roce(mac, tp.RC_SEND_ONLY, qp.qpn, START_PSN, payload=b"hello!!", ack_request=True)
    tiny.send(frame)
    (completion,) = peer.poll(qp)
    assert (completion.wr_id, completion.status, completion.byte_len) == (77, "success", 7)
    assert peer.read(region, length=9) == b"\0hello!!\0"
    ack = tiny.expect(tp.ETH_IPV4)
    assert ack[42] == tp.RC_ACKNOWLEDGE
    assert struct.unpack(">I", ack[50:54])[0] & 0xFFFFFF == START_PSN
    assert ack[58:62] == tp.icrc(ack[14:58])


def test_a_send_with_a_wrong_icrc_is_dropped(peer: SoftRoce, tiny: tp.TinyPeer, mac: bytes) -> None:
    region = peer.reg_mr(64)
    qp = peer.open_qp("RC")
    peer.connect(qp, remote_ipv4="10.77.0.1", remote_qpn=REMOTE_QPN, path_mtu=1024, rq_psn=9)
    peer.post_recv(qp, region, wr_id=1, length=60)
    frame = tp.roce(mac, tp.RC_SEND_ONLY, qp.qpn, 9, payload=b"hello!!")
    tiny.send(frame[:-1] + bytes([frame[-1] ^ 1]))
    assert peer.poll(qp, wait=0.2) == []
    assert peer.call("query_qp", qp=qp.handle)["rq_psn"] == 9


def test_a_burst_of_uc_writes_arrives_whole(peer: SoftRoce, tiny: tp.TinyPeer, mac: bytes) -> None:
    region = peer.reg_mr(256 * 4096)
    qp = peer.open_qp("UC")
    peer.connect(qp, remote_ipv4="10.77.0.1", remote_qpn=REMOTE_QPN, path_mtu=4096, rq_psn=0)
    for psn in range(UC_FRAMES):
        extended = tp.reth(region.addr + 4096 * (psn % 256), region.rkey, 4096)
        payload = bytes([psn & 0xFF]) * 4096
        tiny.send(tp.roce(mac, tp.UC_WRITE_ONLY, qp.qpn, psn, extended=extended, payload=payload))
    deadline = time.monotonic() + 10
    while peer.call("query_qp", qp=qp.handle)["rq_psn"] != UC_FRAMES:
        assert time.monotonic() < deadline, peer.call("counters")
    assert peer.read(region) == b"".join(bytes([byte]) * 4096 for byte in range(256))


def test_counters_count_what_rxe_received(peer: SoftRoce, tiny: tp.TinyPeer, mac: bytes) -> None:
    qp = peer.open_qp("UC")
    peer.connect(qp, remote_ipv4="10.77.0.1", remote_qpn=REMOTE_QPN, path_mtu=1024, rq_psn=0)
    before = peer.call("counters")
    tiny.send(tp.roce(mac, tp.UC_WRITE_ONLY, qp.qpn, 0, extended=tp.reth(0, 0, 0)))
    deadline = time.monotonic() + 5
    while (after := peer.call("counters"))["hw"]["rcvd_pkts"] == before["hw"]["rcvd_pkts"]:
        assert time.monotonic() < deadline
    assert after["net"]["rx_packets"] > before["net"]["rx_packets"]


def test_two_peers_run_at_once_and_start_fast_from_the_saved_state(peer: SoftRoce) -> None:
    start = time.monotonic()
    with SoftRoce.start(backend="vm") as second:
        assert time.monotonic() - start < RESTORE_SECONDS
        assert second.link != peer.link
        region = second.reg_mr(4096, fill=1)
        with tp.TinyPeer(tp.SocketPort(second.link)):
            qp = second.open_qp("RC")
            second.connect(qp, remote_ipv4="10.77.0.1", remote_qpn=1, path_mtu=1024, rq_psn=0)
        assert second.read(region, length=2) == b"\1\1"
    assert peer.call("hello")["ok"]


def test_the_link_can_be_plugged_in_again(peer: SoftRoce) -> None:
    for _ in range(3):
        with tp.TinyPeer(tp.SocketPort(peer.link)) as tiny:
            tiny.send(tp.arp(tp.ARP_REQUEST, tp.BROADCAST, bytes(6), tp.PEER_IPV4))
            assert tiny.expect(tp.ETH_ARP)
