# SPDX-License-Identifier: BSD-2-Clause
"""Cases written with Scapy packets: they pass, and fail, as those written with patterns do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from own_cases import COMMAND, Suite
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet, Raw
from scapy.utils import rdpcap, wrpcap

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import ACK, WRITE_ONLY
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.frame_edits import bad_icrc, flip_ip, flip_udp
from roceproof.conformance.wire.scapy import AETH, BTH, RETH, refresh
from roceproof.conformance.wire.scapy.edits import NotAFrame, corrupted, resealed
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region


@pytest.fixture
def bench() -> Iterator[Bench]:
    source = ModelFactory()
    with source.device(CasePlace(name="test", seed=1)) as target:
        yield Bench(target, source.claims, seed=1)


def write(region: Region, psn: int, data: bytes = b"hello") -> Packet:
    return BTH(opcode="WRITE ONLY", psn=psn, ackreq=1) / RETH(**reth(region)) / data


def reth(region: Region) -> dict[str, int]:
    place = at(region, 0)
    return {"address": place["va"], "rkey": place["rkey"]}


def test_requests_and_responses_of_both_kinds_go_together(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    qp.send(write(region, 0), WRITE_ONLY(psn=1, a=1, **at(region, 8), payload=b"there"))
    qp.expect(BTH(opcode="ACKNOWLEDGE", psn=0) / AETH(msn=1), ACK(psn=1, msn=2))
    assert (region.read(0, 5), region.read(8, 5)) == (b"hello", b"there")
    qp.send(write(region, 2), write(region, 3))
    qp.expect(BTH(psn=3), allowing=[ACK(psn=2), BTH(psn=9)])
    qp.drops(corrupted(qp.crafted(write(region, 4)), bad_icrc()), fence=4)
    qp.expect_silence(allowing=[BTH()])


def test_a_device_that_asks_is_answered_with_scapy_packets(bench: Bench) -> None:
    qp = bench.connect()
    message = qp.post(Op.WRITE, b"hello")
    qp.expect(BTH(opcode="WRITE ONLY", psn=0) / RETH(length=5) / b"hello")
    good = BTH(opcode="ACKNOWLEDGE", psn=0) / AETH(msn=1)
    qp.ignores(message, corrupted(qp.crafted(good), flip_ip(10)), BTH(opcode="CNP", psn=0))
    qp.answer_with = lambda packet: [good.copy()]


def test_uc_takes_the_service_of_the_connection(bench: Bench) -> None:
    qp = bench.connect(Service.UC)
    region = qp.region()
    qp.send(write(region, 0))
    assert bench.comes_true(lambda: region.read(0, 5) == b"hello")
    qp.fence(1)


def fails(qp: Connection, wanted: Packet | None) -> CaseFailed:
    with pytest.raises(CaseFailed) as caught:
        qp.expect_silence() if wanted is None else qp.expect(wanted)
    return caught.value


def test_a_wrong_field_fails_by_its_name_with_both_packets(bench: Bench, tmp_path: Path) -> None:
    qp = bench.connect()
    region = qp.region()
    qp.send(write(region, 0))
    failure = fails(qp, BTH(opcode="ACKNOWLEDGE", psn=0) / AETH(msn=7))
    assert "want  BTH(opcode=RC ACKNOWLEDGE psn=+0) / AETH(msn=0x7)" in str(failure)
    assert "      AETH.msn: want 0x7, got 0x1" in str(failure)
    assert failure.rules == ()
    (got,), (wanted,) = failure.got, failure.wanted
    assert (got[AETH].msn, wanted[AETH].msn, got[BTH].psn) == (1, 7, wanted[BTH].psn)
    assert got.time == wanted.time > 0
    assert "msn       = 0x1" in failure.shown()
    wrpcap(str(tmp_path / "got.pcap"), failure.got, nano=True)
    (kept,) = rdpcap(str(tmp_path / "got.pcap"))
    assert (bytes(kept), kept.time) == (bytes(got), got.time)


def test_failures_without_one_of_both_have_none(bench: Bench) -> None:
    qp = bench.connect()
    failure = fails(qp, BTH(psn=0))
    assert "got   nothing in time" in str(failure)
    assert (len(failure.got), len(failure.wanted)) == (0, 0)
    qp.send(write(qp.region(), 0))
    failure = fails(qp, None)
    assert (failure.got[0][AETH].msn, len(failure.wanted)) == (1, 0)


def test_a_failure_of_patterns_has_scapy_packets_too(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(write(qp.region(), 0))
    with pytest.raises(CaseFailed) as caught:
        qp.expect(ACK(psn=1))
    got, wanted = caught.value.got[0], caught.value.wanted[0]
    assert (wanted[BTH].psn - got[BTH].psn) % (1 << 24) == 1


def test_sniff_yields_both_directions_and_check_finds_nothing(bench: Bench, tmp_path: Path) -> None:
    qp = bench.connect(path_mtu=256)
    qp.serve()
    qp.post(Op.WRITE, 700)
    assert len(bench.sniff()) == 0
    assert len(bench.sniff(timeout=1.0, count=2)) == 2
    bench.settle()
    packets = bench.sniff()
    assert [(p.direction, p.sniffed_on) for p in packets] == [
        *([(2, "device")] * 3),
        (1, "device"),
    ]
    assert [p.time for p in packets] == sorted(p.time for p in packets)
    assert [p[Raw].load for p in bench.sniff(lfilter=lambda p: Raw in p, count=1)] == [
        packets[0][Raw].load
    ]
    path = tmp_path / "sniffed.pcap"
    wrpcap(str(path), packets)
    done = subprocess.run([COMMAND, "check", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_whole_frames_go_out_through_the_bench(bench: Bench) -> None:
    bench.send(Ether(dst="ff:ff:ff:ff:ff:ff") / ARP(pdst="0.0.0.0"))
    qp = bench.connect()
    region = qp.region()
    frame = qp.crafted(write(region, 0))
    frame[Raw].load = b"other words"
    frame[RETH].length = 11
    bench.send(refresh(frame))
    qp.expect(BTH(psn=0) / AETH(msn=1))
    assert region.read(0, 11) == b"other words"
    assert [ARP in packet for packet in bench.sniff()] == [True, False, False]


def test_edits_are_seen_by_the_icrc_or_not(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    frame = qp.crafted(write(region, 0))
    tver = flip_udp(9, 0x01)
    assert corrupted(frame, tver)[BTH].version == resealed(frame, tver)[BTH].version == 1
    assert corrupted(frame, tver)[BTH].icrc == frame[BTH].icrc != resealed(frame, tver)[BTH].icrc
    assert frame[BTH].version == 0
    qp.drops(corrupted(frame, tver), resealed(frame, tver), fence=0)
    with pytest.raises(NotAFrame, match=r"qp\.crafted"):
        corrupted(write(region, 0), tver)


FAILING = """
from roceproof.conformance.wire.scapy import BTH, RETH

@case("PSN-02")
def test_wants_too_much(bench):
    qp = bench.connect(path_mtu=256)
    qp.post(Op.WRITE, 700)
    qp.expect(WRITE_FIRST(psn=0), BTH(opcode="WRITE MIDDLE", psn=2) / bytes(256))
"""


def test_the_command_tells_it_as_with_patterns_and_shows_it_on_request(
    suite: Callable[[str], Suite],
) -> None:
    mine = suite(FAILING)
    done = mine.run("--target", "model", "-j1", "-q")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert "BTH.psn: want +2, got +1" in lines
    assert "rules: PSN-02" in lines
    assert "###[ BTH ]###" not in lines
    shown = mine.run("--target", "model", "-j1", "-q", "--show")
    assert shown.stdout.count("###[ BTH ]###") == 1
    assert "solicited = 0" in shown.stdout


def test_the_observers_findings_are_shown_too(suite: Callable[[str], Suite]) -> None:
    mine = suite(
        "def test_looks_away(bench):\n    bench.connect().post(Op.WRITE, 5)\n    bench.settle()\n"
    )
    done = mine.run("--target", "model", "-j1", "-q", "--show", "--mutant", "icrc-s46")
    assert "the observer says" in done.stdout
    assert "icrc      = 0x0" in done.stdout


def test_a_suite_without_scapy_packets_does_not_load_scapy() -> None:
    modules = "bench, connection, packets, sweep"
    code = (
        f"import sys\nfrom roceproof.conformance.suite import {modules}\n"
        "from roceproof.conformance.suite.reporting import failure\n"
        "import roceproof.conformance.runner.plugin\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'scapy'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
