# SPDX-License-Identifier: BSD-2-Clause
"""A simulated device with a responder: its memory, its receives, and what comes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.targets.hdl.device import HdlTarget
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import (
    Beyond,
    CasePlace,
    Refused,
    Target,
    TargetError,
)
from roceproof.conformance.targets.model.limited import LimitedModelFactory
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.headers import Bth, Reth
from roceproof.conformance.wire.ip import Ipv4
from roceproof.dpi import load_manifest
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Work

pytestmark = pytest.mark.sim

OWN = Host(bytes.fromhex("020000000002"), bytes((192, 168, 1, 2)))
PEER = Host(bytes.fromhex("020000000b02"), bytes((192, 168, 1, 9)))
SPEC = QpSpec(service=Service.RC, remote=PEER, local_qpn=0x11, remote_qpn=0x22)
SEND_ONLY, WRITE_ONLY = 4, 10
ANSWER_NS = 100_000


@pytest.fixture
def target() -> Iterator[Target]:
    manifest = load_manifest(REPOSITORY / "rtl" / "responder.toml")
    with HdlFactory(manifest, data_width=512).device(
        CasePlace(name="responder", seed=1, host=OWN)
    ) as device:
        yield device


def sent(opcode: int, psn: int, payload: bytes, *headers: Reth) -> bytes:
    bth = Bth(opcode=opcode, dest_qpn=0x11, psn=psn, ack_req=True, pad_count=-len(payload) % 4)
    ip = Ipv4(src=PEER.ip, dst=OWN.ip)
    return build(Packet(OWN.mac, PEER.mac, ip, 0xC000, bth, headers, payload))


def answer(target: Target) -> tuple[int, int]:
    """PSN and syndrome of the next acknowledgement."""
    arrival = target.receive(ANSWER_NS)
    assert arrival is not None
    packet = parse(arrival.frame)
    assert packet is not None and packet.aeth is not None
    return packet.bth.psn, packet.aeth.syndrome


def test_a_write_is_in_memory_when_it_is_acknowledged(target: Target) -> None:
    region = target.register(4096)
    target.open(SPEC)
    region.write(8, b"before")
    target.send(sent(WRITE_ONLY, 0, b"hello, memory", Reth(region.addr + 100, region.rkey, 13)))
    assert answer(target) == (0, 0x1F)
    assert region.read(100, 14) == b"hello, memory\0"
    assert region.read(8, 6) == b"before"
    with pytest.raises(IndexError):
        region.write(4090, b"too much")


def test_memory_that_is_read_before_it_is_written_is_late(target: Target) -> None:
    region = target.register(4096)
    target.open(SPEC)
    target.send(sent(WRITE_ONLY, 0, b"hello", Reth(region.addr, region.rkey, 5)))
    assert region.read(0, 5) == bytes(5)
    assert target.memory_is_late()
    assert region.read(0, 5) == b"hello"
    assert not target.memory_is_late()
    target.wait(1)
    assert not target.memory_is_late(), "nothing was read since"


def test_frames_wait_until_the_configuration_of_their_queue_pair_is_taken(target: Target) -> None:
    region = target.register(64)
    target.disturb(qpc_gap=99)
    qp = target.open(SPEC)
    for turn in range(6):
        target.send(sent(WRITE_ONLY, turn, b"word", Reth(region.addr, region.rkey, 4)))
        assert answer(target) == (turn, 0x1F)
        qp = target.reopen(qp, replace(SPEC, rq_psn=turn + 1))


@pytest.mark.parametrize("slow", ["tx_stall", "memory_stall", "memory_gap"])
def test_answers_through_slow_streams_are_waited_for_longer(target: Target, slow: str) -> None:
    usual = target.patience.answer_ns
    target.disturb(**{slow: 90})
    assert target.patience.answer_ns > usual
    target.disturb()
    assert target.patience.answer_ns == usual


def test_memory_of_another_domain_and_forgotten_memory_are_refused(target: Target) -> None:
    elsewhere, gone = target.register_elsewhere(64), target.register(64)
    gone.deregister()
    for region in (elsewhere, gone):
        qp = target.open(SPEC)
        target.send(sent(WRITE_ONLY, 0, b"hello", Reth(region.addr, region.rkey, 5)))
        assert answer(target) == (0, 0x62)
        assert region.read(0, 5) == bytes(5)
        target.reopen(qp, SPEC)


@pytest.mark.parametrize("factory", [HdlFactory, LimitedModelFactory])
def test_where_the_domain_is_fixed_all_memory_is_of_that(
    factory: type[HdlFactory | LimitedModelFactory],
) -> None:
    manifest = load_manifest(REPOSITORY / "rtl" / "responder.toml")
    limits = replace(manifest.limits, fixed={"pd": 7})
    one = replace(manifest, limits=limits, data_widths=(512,))
    with factory(one).device(CasePlace(name="domain", seed=1, host=OWN)) as device:
        device.watch()
        with pytest.raises(Beyond, match="one protection domain"):
            device.register_elsewhere(64)
        region = device.register(64)
        device.open(SPEC)
        device.send(sent(WRITE_ONLY, 0, b"hello", Reth(region.addr, region.rkey, 5)))
        assert answer(device)[0] == 0
        assert region.read(0, 5) == b"hello"
        if isinstance(device, HdlTarget):
            seen = device.records()
            assert seen is not None
            seven = {f"pd.{bit}/{7 >> bit & 1}" for bit in range(16)}
            for hits in (dict(seen.bins())[name] for name in ("qp_config_t", "memory_region_t")):
                assert {hit for hit in hits if hit.startswith("pd.")} == seven


def test_a_receive_completes_with_what_came(target: Target) -> None:
    region = target.register(4096)
    qp: Qp = target.open(SPEC)
    target.send(sent(SEND_ONLY, 0, b"too early"))
    assert answer(target)[1] >> 5 == 1  # RNR
    target.post_receive(qp, wr_id=7, region=region, offset=50, length=100)
    target.send(sent(SEND_ONLY, 0, b"in time"))
    assert answer(target) == (0, 0x1F)
    (outcome,) = target.completions(qp, count=1, timeout_ns=ANSWER_NS)
    assert outcome == Outcome(wr_id=7, status="success", is_receive=True, byte_len=7)
    assert region.read(50, 7) == b"in time"


def test_a_queue_pair_goes_through_its_states(target: Target) -> None:
    region = target.register(4096)
    write = sent(WRITE_ONLY, 0, b"hello", Reth(region.addr, region.rkey, 5))
    qp = target.open(replace(SPEC, state=State.INIT))
    target.post_receive(qp, wr_id=7, region=region, length=8)
    target.send(write)
    assert target.receive(ANSWER_NS) is None
    target.set_state(qp, State.RTR)
    target.send(write)
    assert answer(target) == (0, 0x1F)
    work = Work(wr_id=9, op=Op.WRITE, data=b"too early", remote_addr=0, rkey=0)
    target.post(qp, work)
    (early,) = target.completions(qp, count=1, timeout_ns=ANSWER_NS)
    assert early == Outcome(wr_id=9, status="loc_qp_op_err")
    target.set_state(qp, State.RTS)
    target.post(qp, work)
    assert target.receive(ANSWER_NS) is not None
    target.set_state(qp, State.ERR)
    outcomes = target.completions(qp, count=2, timeout_ns=ANSWER_NS)
    assert {(each.wr_id, each.status) for each in outcomes} == {
        (7, "wr_flush_err"),
        (9, "wr_flush_err"),
    }
    target.send(write)
    assert target.receive(ANSWER_NS) is None


def test_more_regions_than_the_device_holds_are_refused(target: Target) -> None:
    with pytest.raises(Refused, match="no more memory regions"):
        for _ in range(257):
            target.register(64)


def test_a_count_of_messages_begins_where_it_is_told(target: Target) -> None:
    region = target.register(64)
    target.open(replace(SPEC, completed_messages=0x123400))
    target.send(sent(WRITE_ONLY, 0, b"word", Reth(region.addr, region.rkey, 4)))
    arrival = target.receive(ANSWER_NS)
    assert arrival is not None
    packet = parse(arrival.frame)
    assert packet is not None and packet.aeth is not None
    assert packet.aeth.msn == 0x123401
    with pytest.raises(TargetError, match="multiple of 256"):
        target.open(replace(SPEC, completed_messages=255))
