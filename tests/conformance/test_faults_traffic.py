# SPDX-License-Identifier: BSD-2-Clause
"""Healthy conversations are strictly conformant, varied, and the same for the same seed."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from pcap_writer import write_pcap

from roceproof.conformance.capture import reader as capture
from roceproof.conformance.faults.conversation.network import TimedFrame
from roceproof.conformance.faults.conversation.plan import Kind
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.rules.findings import Direction
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.ip import Ipv4
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.verbs.service import Service

MIX = Conversation()
VARIANTS = {
    "mix": MIX,
    "loss": replace(MIX, loss=0.05, rereads_whole=True),
    "receivers not ready": replace(MIX, rnr_rate=0.5),
    "reconnections": replace(MIX, reconnects=2, reconnect_ns=3_000_000),
    "congestion": replace(MIX, ce_rate=0.5),
    "all at once": replace(
        MIX, loss=0.05, rnr_rate=0.1, rereads_whole=True, reconnects=1, ce_rate=0.2
    ),
}


def packets_of(frames: list[TimedFrame]) -> list[Packet]:
    packets = [parse(frame) for _, frame in frames]
    assert None not in packets
    return [packet for packet in packets if packet]


def traffic_class(packet: Packet) -> int:
    return packet.ip.tos if isinstance(packet.ip, Ipv4) else packet.ip.traffic_class


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", VARIANTS)
def test_checker_finds_nothing_in_healthy_traffic(name: str) -> None:
    for seed in range(1, 6):
        frames = replace(VARIANTS[name], seed=seed).frames()
        checker = Checker()
        findings = [each for _, frame in frames for each in checker.feed(frame, Direction.SENT)]
        findings += checker.finish()
        assert [finding.message for finding in findings] == [], f"seed {seed}"


@pytest.mark.parametrize("name", VARIANTS)
def test_every_frame_is_what_the_codec_builds_and_carries_the_right_icrc(name: str) -> None:
    for _, frame in VARIANTS[name].frames():
        packet = parse(frame)
        assert packet is not None
        assert build(packet) == frame
        assert icrc.check(frame).judgement is icrc.Judgement.OK


def test_same_seed_gives_the_same_frames_and_times_and_another_seed_others() -> None:
    assert MIX.capture() == replace(MIX).capture()
    assert MIX.frames() != replace(MIX, seed=2).frames()


def test_times_never_go_back() -> None:
    times = [time for time, _ in VARIANTS["all at once"].frames()]
    assert times == sorted(times)


def test_the_default_mix_holds_everything_that_is_legal() -> None:
    frames = [frame for seed in range(1, 4) for frame in replace(MIX, seed=seed).frames()]
    packets = packets_of(frames)
    opcodes = {packet.bth.opcode for packet in packets}
    assert opcodes == set(OPCODES) - {0x1C, 0x1D}, "all but FLUSH and ATOMIC WRITE"
    assert {type(packet.ip).__name__ for packet in packets} == {"Ipv4", "Ipv6"}
    assert {bool(packet.vlans) for packet in packets} == {True, False}
    assert {packet.bth.migreq for packet in packets} == {True, False}
    assert {len(packet.payload) % 4 for packet in packets} == {0, 1, 2, 3}
    assert {traffic_class(packet) & 3 for packet in packets} == {2, 3}
    credits = {aeth.syndrome for packet in packets if (aeth := packet.aeth)}
    assert {0, 31} < credits
    assert any(len(frame.frame) == 60 and parse(frame.frame).trailer for frame in frames)  # type: ignore[union-attr]
    full = {256, 512, 1024, 2048, 4096}
    firsts = {len(p.payload) for p in packets if OPCODES[p.bth.opcode].name.endswith("FIRST")}
    assert firsts == full
    assert {0, 0xFFFFFF} < {packet.bth.psn for packet in packets}


def test_congestion_is_notified_only_after_it_was_seen() -> None:
    marked: set[tuple[bytes, bytes]] = set()
    notified = 0
    for packet in packets_of(VARIANTS["congestion"].frames()):
        if traffic_class(packet) & 3 == 3:
            marked.add((packet.ip.src, packet.ip.dst))
        if packet.bth.opcode == 0x81:
            notified += 1
            assert (packet.ip.dst, packet.ip.src) in marked
    assert notified > 10


def test_what_a_queue_pair_keeps_for_life_never_changes() -> None:
    kept: dict[tuple[bytes, bytes, int], set[object]] = {}
    for packet in packets_of(MIX.frames()):
        if packet.bth.opcode == 0x81:
            continue
        key = (packet.ip.src, packet.ip.dst, packet.bth.dest_qpn)
        value = (packet.vlans, packet.udp_sport, packet.bth.migreq, traffic_class(packet) >> 2)
        kept.setdefault(key, set()).add(value)
    assert len(kept) == 16
    assert all(len(values) == 1 for values in kept.values())


def test_acknowledgements_come_one_by_one_or_coalesced() -> None:
    def share(coalesces: bool) -> float:
        made = replace(MIX, services=(Service.RC,), kinds=(Kind.WRITE,), asks_every=(1,))
        made = replace(made, coalesces=(coalesces,), lengths=(64,), pauses_ns=(0,))
        opcodes = Counter(packet.bth.opcode for packet in packets_of(made.frames()))
        return opcodes[0x11] / (sum(opcodes.values()) - opcodes[0x11] - opcodes[0x81])

    assert share(coalesces=False) == 1
    assert share(coalesces=True) < 0.5


def test_losses_are_recovered_from() -> None:
    packets = packets_of(VARIANTS["loss"].frames())
    syndromes = Counter(aeth.syndrome for packet in packets if (aeth := packet.aeth))
    assert syndromes[0x60] > 0, "a sequence NAK"
    copies = Counter(
        (p.ip.src, p.bth.dest_qpn, p.bth.psn, p.bth.opcode, p.payload)
        for p in packets
        if p.bth.opcode < 0x20
    )
    assert max(copies.values()) > 1


def test_rnr_naks_are_followed_by_a_pause_and_a_repetition() -> None:
    frames, facts = VARIANTS["receivers not ready"].capture()
    far_end = {row["qpn"]: row["remote_qpn"] for row in facts["qps"]}
    refused = 0
    for index, (time, frame) in enumerate(frames):
        packet = parse(frame)
        aeth = packet.aeth if packet else None
        if packet is None or aeth is None or aeth.syndrome >> 5 != 1:
            continue
        refused += 1
        wait_ns = {1: 10_000, 12: 640_000, 14: 1_280_000}[aeth.syndrome & 31]
        later = [
            (again_time, again)
            for again_time, again_frame in frames[index:]
            if (again := parse(again_frame))
            and again.bth.psn == packet.bth.psn
            and again.bth.dest_qpn == far_end[packet.bth.dest_qpn]
            and not OPCODES[again.bth.opcode].is_response
        ]
        assert later and later[0][0] - time >= wait_ns
    assert refused > 5


def test_facts_give_both_ends_of_every_queue_pair() -> None:
    made = MIX.capture()
    rows = {(row["address"], row["qpn"]): row for row in made.facts["qps"]}
    assert made.facts["schema"] == 1 and len(rows) == 2 * MIX.connections
    for row in rows.values():
        peer = rows[row["remote_address"], row["remote_qpn"]]
        assert peer["remote_qpn"] == row["qpn"]
        assert row["remote_start_psn"] == peer["start_psn"]
        assert row["path_mtu"] == peer["path_mtu"] and row["service"] == peer["service"]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_the_same_headers_and_finds_no_packet_malformed(tmp_path: Path) -> None:
    frames = VARIANTS["all at once"].frames()
    write_pcap(tmp_path / "mix.pcap", frames)
    wanted = ("bth.opcode", "bth.destqp", "bth.psn", "bth.p_key", "aeth.msn")
    fields = ("frame.protocols", "_ws.malformed", *(f"infiniband.{name}" for name in wanted))
    columns = [word for field in fields for word in ("-e", field)]
    out = subprocess.run(
        ["tshark", "-n", "-r", str(tmp_path / "mix.pcap"), "-T", "fields", *columns],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.splitlines()
    assert len(out) == len(frames)
    for line, packet in zip(out, packets_of(frames), strict=True):
        protocols, malformed, opcode, qpn, psn, pkey, msn = line.split("\t")
        assert int(opcode) == packet.bth.opcode and int(pkey) == packet.bth.pkey
        assert int(qpn, 16) == packet.bth.dest_qpn and int(psn) == packet.bth.psn
        assert (int(msn) if msn else None) == (packet.aeth.msn if packet.aeth else None)
        # Wireshark guesses protocols from random payloads; only its guesses may be malformed.
        assert not malformed or not protocols.endswith("infiniband"), line


def test_pcap_writer_keeps_frames_and_times(tmp_path: Path) -> None:
    frames = MIX.frames()[:50]
    write_pcap(tmp_path / "ns.pcap", frames)
    write_pcap(tmp_path / "us.pcap", frames, ns=False)
    exact = [(r.time_ns, r.frame) for r in capture.read(tmp_path / "ns.pcap")]
    coarse = [(r.time_ns, r.frame) for r in capture.read(tmp_path / "us.pcap")]
    assert exact == frames
    assert coarse == [(time // 1000 * 1000, frame) for time, frame in frames]
