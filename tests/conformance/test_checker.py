# SPDX-License-Identifier: BSD-2-Clause
"""A healthy capture breaks no rule; findings say where and what; nothing stops the checker."""

from __future__ import annotations

import random
from dataclasses import replace
from zlib import crc32

import pytest
from corrupted_requests import with_psns
from healthy_capture import (
    PATH_MTU,
    RECEIVER,
    SEND,
    SEND_IMM,
    SENDER,
    UC,
    WRITE,
    WRITE_IMM,
    Sender,
    ack,
    frames_of,
    one_send,
)
from scenarios import broken_rules

from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.rules.findings import Direction
from roceproof.conformance.rules.table import RULES, Severity
from roceproof.conformance.wire.codec import build
from roceproof.conformance.wire.headers import Reth
from roceproof.conformance.wire.ip import Ipv4

SIZES = (0, 1, 2, 3, 4, 5, PATH_MTU - 1, PATH_MTU, PATH_MTU + 1, 3 * PATH_MTU, 3 * PATH_MTU + 7)


@pytest.mark.parametrize("service", [0, UC])
@pytest.mark.parametrize("opcodes", [SEND, SEND_IMM, WRITE, WRITE_IMM])
def test_every_healthy_message_passes_across_the_psn_wrap(
    service: int, opcodes: tuple[int, ...]
) -> None:
    sender = Sender(service, psn=0xFFFFF8)
    packets = [packet for size in SIZES for packet in sender.message(opcodes, size)]
    assert broken_rules(frames_of(packets), path_mtu=PATH_MTU, ip_mtu=1500) == []


def test_healthy_responses_pass() -> None:
    packets = [
        ack(0xFFFFFF, 0xFFFFFF),
        ack(0, 0),
        ack(5, 3, syndrome=0),
        ack(6, 3, syndrome=0x60),
        ack(6, 4),
        ack(7, 4, syndrome=0x2C),
        ack(7, 5),
        replace(ack(8, 6, opcode=0x0D), payload=bytes(PATH_MTU)),
        replace(ack(9, 6, opcode=0x0E), payload=bytes(PATH_MTU), extensions=()),
        replace(ack(10, 6, opcode=0x0F), payload=bytes(3)),
    ]
    assert broken_rules(frames_of(packets)) == []


def test_other_traffic_and_congestion_notifications_pass() -> None:
    cnp = "020000000002020000000001080045c0003c1a2f400040119c6ec0a80101c0a80102c0de12b7002800008100"
    cnp += "ffff4000002100000000" + "00" * 16 + "713655c7"
    arp = bytes.fromhex("ffffffffffff0200000000010806") + bytes(46)
    marked = build(replace(ack(1, 1), ip=Ipv4(RECEIVER, SENDER, tos=3)))
    assert broken_rules([marked, bytes.fromhex(cnp), arp, b"", b"\0" * 13]) == []


def test_an_rc_retransmission_is_no_violation() -> None:
    frames = frames_of(Sender().message(WRITE, 3 * PATH_MTU) + Sender(psn=103).message(SEND, 9))
    assert broken_rules(frames + frames[1:]) == []


@pytest.mark.parametrize("address", [0x1000, (1 << 64) - 1])
def test_the_rest_of_a_read_is_asked_for_beyond_the_last_address_too(address: int) -> None:
    sender = Sender()
    read = sender.read(3 * PATH_MTU, address=address)
    rest = Reth((address + PATH_MTU) % (1 << 64), 0xABCD, 2 * PATH_MTU)
    again = replace(read, bth=replace(read.bth, psn=read.bth.psn + 1), extensions=(rest,))
    assert broken_rules(frames_of([read, again]), path_mtu=PATH_MTU) == []


def test_a_capture_may_begin_inside_a_message() -> None:
    frames = frames_of(Sender().message(WRITE_IMM, 4 * PATH_MTU))
    for start in range(1, 4):
        assert broken_rules(frames[start:]) == []


def test_no_packet_may_exceed_the_ip_mtu() -> None:
    frames = frames_of(Sender().message(SEND, 200))
    assert broken_rules(frames, ip_mtu=20 + 8 + 12 + 200 + 4) == []
    assert broken_rules(frames, ip_mtu=20 + 8 + 12 + 200 + 3) == ["MTU-09"]


def test_a_given_path_mtu_binds_the_first_packet() -> None:
    frames = frames_of(Sender().message(SEND, 3 * PATH_MTU))
    assert broken_rules(frames, path_mtu=512) == ["MTU-01", "MTU-02"]


def test_a_finding_says_where_who_and_what() -> None:
    good, bad = with_psns(5, 8)
    checker = Checker()
    assert checker.feed(good, Direction.RECEIVED) == checker.feed(bad, Direction.RECEIVED) == []
    (finding,) = checker.finish()
    assert finding.frame == 2
    assert str(finding.flow) == "192.168.1.1 > 192.168.1.2 QPN 0x11"
    assert finding.severity is Severity.MUST
    assert finding.message == (
        "PSN-02 frame 2 (sent by the peer): expected PSN 0x000006, got 0x000008. "
        + RULES["PSN-02"].sentence
    )


def test_counts_tell_what_became_of_every_icrc() -> None:
    frame = one_send()
    checker = Checker()
    checker.feed(frame)
    checker.feed(frame[:-1] + b"\0")
    checker.feed(frame[:-1], full_size=len(frame))
    checker.feed(b"no RoCE at all")
    counts = checker.counts
    assert (counts.frames, counts.roce_frames) == (4, 3)
    assert (counts.icrc_ok, counts.icrc_bad, counts.icrc_unchecked) == (1, 1, 1)


def test_an_fcs_is_taken_off_whether_declared_or_found() -> None:
    for frame in (one_send(0), one_send(40)):
        assert broken_rules([frame + crc32(frame).to_bytes(4, "little")]) == []
        assert Checker().feed(frame + bytes(4), fcs_bytes=4) == []
        assert [f.rule.id for f in Checker().feed(frame + bytes(4))] == ["ETH-02"]


def test_a_cut_frame_is_judged_by_what_is_there() -> None:
    frames = frames_of(Sender().message(WRITE_IMM, 3 * PATH_MTU + 5))
    for size in range(14, len(frames[0])):
        checker = Checker()
        found = [f for frame in frames for f in checker.feed(frame[:size], full_size=len(frame))]
        assert found + checker.finish() == [], size


def test_a_corrupt_packet_in_a_healthy_flow_counts_as_lost() -> None:
    frames = with_psns(*range(5, 10))
    frames[2] = frames[2][:54] + b"\xff" + frames[2][55:]
    assert broken_rules(frames) == ["ICRC-02"]


def test_a_capture_that_lost_packets_accuses_nobody() -> None:
    frames = frames_of(Sender().message(WRITE, 4 * PATH_MTU))
    proof = build(ack(103, 1))
    assert broken_rules([*frames[:1], *frames[3:], proof]) == []
    assert broken_rules([*frames[:1], *frames[3:], *frames[1:]]) == []
    assert broken_rules([*frames[:1], *frames[3:], *frames[1:2]]) == ["PSN-02"]


def test_a_queue_pair_that_is_set_up_again_starts_anew() -> None:
    frames = [*with_psns(5, 6), *with_psns(0x700000, 0x700001), *with_psns(5, 6)]
    assert broken_rules(frames) == []


@pytest.mark.parametrize("seed", range(3))
def test_random_bytes_never_stop_the_checker(seed: int) -> None:
    rng = random.Random(seed)
    frames = frames_of([*Sender().message(WRITE_IMM, 3 * PATH_MTU), ack(1, 1)])
    checker = Checker()
    for _ in range(3000):
        bent = bytearray(rng.choice(frames))
        for _ in range(rng.randrange(1, 8)):
            bent[rng.randrange(12, len(bent))] = rng.randrange(256)
        bent = bent[: rng.randrange(len(bent) + 1)] if rng.random() < 0.2 else bent
        full_size = len(bent) + rng.choice((0, 0, 4, 100))
        for finding in checker.feed(bytes(bent), full_size=full_size):
            assert finding.message
