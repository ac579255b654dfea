# SPDX-License-Identifier: BSD-2-Clause
"""A device behind the verbs agent as responder: what it takes, answers and refuses."""

from __future__ import annotations

import pytest
import verbs_peer
from verbs_peer import REMOTE_QPN, answer, at, frame, peer_of, silence, spec_for

from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.verbs.factory import VerbsFactory
from roceproof.conformance.targets.verbs.target import VerbsTarget
from roceproof.conformance.wire.headers import Deth, ImmDt, Reth
from roceproof.verbs.addresses import Host
from roceproof.verbs.service import Service
from roceproof.verbs.work import Outcome, Region

pytestmark = pytest.mark.rxe

SEND_ONLY, SEND_ONLY_IMM, WRITE_ONLY, READ_REQUEST, ACKNOWLEDGE = 0x04, 0x05, 0x0A, 0x0C, 0x11
READ_RESPONSE_ONLY = 0x10
UC_WRITE_ONLY, UD_SEND_ONLY = 0x2A, 0x64
ACK, SEQUENCE_NAK, ACCESS_NAK, RNR_NAK = 0, 0x60, 0x62, 1
GRH_BYTES = 40


def reth(region: Region, length: int, *, offset: int = 0) -> Reth:
    return Reth(region.addr + offset, region.rkey, length)


def syndrome(target: VerbsTarget) -> int:
    aeth = answer(target).aeth
    assert aeth
    return aeth.syndrome


def test_a_write_lands_and_is_acknowledged(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target))
    region = target.register(4096)
    for psn, data in enumerate((b"abcde", b"fgh")):
        target.send(
            frame(target, qp, WRITE_ONLY, psn, reth(region, len(data), offset=8 * psn), data=data)
        )
        got = answer(target)
        assert (got.bth.opcode, got.bth.dest_qpn, got.bth.psn) == (ACKNOWLEDGE, REMOTE_QPN, at(psn))
        assert got.aeth
        assert got.aeth.msn == psn + 1
    assert region.read(0, 12) == b"abcde\0\0\0fgh\0"


def test_a_frame_with_a_wrong_icrc_is_dropped_and_the_next_is_taken(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target))
    region = target.register(64)
    good = frame(target, qp, WRITE_ONLY, 0, reth(region, 4), data=b"good")
    target.send(good[:-1] + bytes([good[-1] ^ 1]))
    silence(target)
    assert region.read(0, 4) == bytes(4)
    target.send(good)
    assert answer(target).bth.opcode == ACKNOWLEDGE
    assert region.read(0, 4) == b"good"


def test_a_read_gives_what_was_written_from_the_devices_side(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target))
    region = target.register(200_000)
    data = bytes(range(250)) * 800
    region.write(0, data)
    assert region.read(0, len(data)) == data
    target.send(frame(target, qp, READ_REQUEST, 0, reth(region, 100, offset=65_000)))
    got = answer(target)
    assert got.bth.opcode == READ_RESPONSE_ONLY
    assert got.payload == data[65_000:65_100]


def test_a_send_fills_the_receive_that_was_posted(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target))
    region = target.register(64)
    target.send(frame(target, qp, SEND_ONLY_IMM, 0, ImmDt(0xCAFE), data=b"early"))
    assert syndrome(target) >> 5 == RNR_NAK
    target.post_receive(qp, wr_id=7, region=region, offset=8, length=32)
    target.send(frame(target, qp, SEND_ONLY_IMM, 0, ImmDt(0xCAFE), data=b"hello"))
    assert syndrome(target) >> 5 == ACK
    done = target.completions(qp, count=1, timeout_ns=target.patience.answer_ns)
    expected = Outcome(wr_id=7, status="success", is_receive=True, byte_len=5, immediate=0xCAFE)
    assert done == [expected]
    assert region.read(8, 5) == b"hello"


def test_queue_pairs_share_a_receive_queue(target: VerbsTarget) -> None:
    qps = [target.open(spec_for(target, shared_receive=True)) for _ in range(2)]
    region = target.register(64)
    for wr_id, qp in enumerate(qps):
        target.post_receive(qp, wr_id=wr_id, region=region, length=32)
    for wr_id, qp in enumerate(reversed(qps)):
        target.send(frame(target, qp, SEND_ONLY, 0, data=b"shared"))
        assert syndrome(target) >> 5 == ACK
        (done,) = target.completions(qp, count=1, timeout_ns=target.patience.answer_ns)
        assert (done.wr_id, done.status) == (wr_id, "success")


def test_a_uc_write_lands_without_an_answer(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target, Service.UC))
    region = target.register(64)
    target.send(frame(target, qp, UC_WRITE_ONLY, 0, reth(region, 2), data=b"uc"))
    silence(target)
    assert region.read(0, 2) == b"uc"


def test_a_datagram_lands_behind_the_room_for_a_grh(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target, Service.UD, qkey=0x22222222))
    region = target.register(64)
    target.post_receive(qp, wr_id=1, region=region, length=64)
    deth = Deth(0x22222222, REMOTE_QPN)
    target.send(frame(target, qp, UD_SEND_ONLY, 0, deth, data=b"gram"))
    (done,) = target.completions(qp, count=1, timeout_ns=target.patience.answer_ns)
    assert (done.status, done.byte_len) == ("success", GRH_BYTES + 4)
    assert region.read(GRH_BYTES, 4) == b"gram"


@pytest.mark.parametrize("kind", ["deregistered", "elsewhere", "without the right"])
def test_memory_that_is_not_the_queue_pairs_is_refused(target: VerbsTarget, kind: str) -> None:
    qp = target.open(spec_for(target))
    if kind == "elsewhere":
        region = target.register_elsewhere(64)
    elif kind == "deregistered":
        region = target.register(64)
        region.deregister()
    else:
        region = target.register(64, access=frozenset({"local_write", "remote_read"}))
    target.send(frame(target, qp, WRITE_ONLY, 0, reth(region, 4), data=b"evil"))
    assert syndrome(target) == ACCESS_NAK
    if kind != "deregistered":
        assert region.read(0, 4) == bytes(4)


def test_what_is_dropped_is_counted(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target))
    region = target.register(64)
    before = target.counters()["out_of_seq_request"]
    target.send(frame(target, qp, WRITE_ONLY, 5, reth(region, 4), data=b"late"))
    assert syndrome(target) == SEQUENCE_NAK
    assert target.counters()["out_of_seq_request"] == before + 1


def test_ipv6_is_served(target: VerbsTarget) -> None:
    remote = Host(verbs_peer.MAC, bytes.fromhex("fd77" + "00" * 13 + "66"))
    qp = target.open(spec_for(target, remote=remote))
    region = target.register(64)
    target.send(frame(target, qp, WRITE_ONLY, 0, reth(region, 3), data=b"six"))
    got = answer(target)
    assert (got.ip.src, got.ip.dst) == (target.host_for(qp.spec).ip, remote.ip)
    assert region.read(0, 3) == b"six"


def test_frames_come_in_their_order_with_times_of_the_case(target: VerbsTarget) -> None:
    qp = target.open(spec_for(target))
    region = target.register(64)
    start = target.now_ns
    for psn in range(20):
        target.send(frame(target, qp, WRITE_ONLY, psn, reth(region, 1), data=b"x"))
    arrivals = [target.receive(target.patience.answer_ns) for _ in range(20)]
    times = [arrival.time_ns for arrival in arrivals if arrival]
    assert len(times) == 20
    assert times == sorted(times)
    assert start <= times[0] <= times[-1] <= target.now_ns


def test_a_peer_that_moves_to_another_mac_is_found_there(target: VerbsTarget) -> None:
    region = target.register(64)
    for mac in (b"\x02\0\0\0\1\1", b"\x02\0\0\0\1\2"):
        remote = peer_of(target.host, last=120)._replace(mac=mac)
        qp = target.open(spec_for(target, remote=remote))
        target.send(frame(target, qp, WRITE_ONLY, 0, reth(region, 1), data=b"m"))
        assert answer(target).dst_mac == mac


def test_a_kernels_own_frames_are_left_out_and_counted(target: VerbsTarget) -> None:
    target.open(spec_for(target, remote=peer_of(target.host, last=121)))
    assert target.host_traffic["ARP"] >= 1
    silence(target)


def test_a_ping_is_answered(target: VerbsTarget) -> None:
    assert target.ping(peer_of(target.host, last=122), timeout_ns=target.patience.answer_ns)
    silence(target)


def test_a_queue_pair_on_a_vlan_answers_with_its_tag(
    source: VerbsFactory, target: VerbsTarget
) -> None:
    if Capability.VLAN not in source.claims.capabilities:
        pytest.skip(source.claims.absent[Capability.VLAN])
    tag = 3 << 13 | 7
    remote = Host(verbs_peer.MAC, bytes((10, 78, 0, 102)))
    qp = target.open(spec_for(target, remote=remote, vlan=tag))
    region = target.register(64)
    target.send(frame(target, qp, WRITE_ONLY, 0, reth(region, 4), data=b"vlan"))
    got = answer(target)
    assert (got.vlans, got.ip.dst) == (b"\x81\0" + tag.to_bytes(2, "big"), remote.ip)
    assert region.read(0, 4) == b"vlan"
