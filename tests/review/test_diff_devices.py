# SPDX-License-Identifier: BSD-2-Clause
"""An FPGA's and a NIC's capture of one transfer: aligned, and told in one sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stories import frames_of
from two_captures import TRANSFER, Recording, arp, compared, cut_transfer, management, others

from roceproof.conformance.faults.catalogue import plant
from roceproof.conformance.review.conclusion import conclude, kinds_of
from roceproof.conformance.review.diff import Comparison, compare
from roceproof.conformance.review.story import Kind, tell
from roceproof.conformance.wire.codec import Packet

NIC = Recording(seed=2, preamble=[*management(6), *arp(2), *others(2, seed=5)])


def migreq_clear(packet: Packet) -> Packet:
    if packet.src_mac != TRANSFER.stations[0].mac:
        return packet
    return replace(packet, bth=replace(packet.bth, migreq=False))


def aligned(found: Comparison) -> int:
    return sum(track.aligned for track in found.tracks)


TOTAL = len(TRANSFER.frames())


def test_the_same_transfer_is_the_same() -> None:
    found = compared(Recording(seed=1, preamble=arp(3)), NIC)
    assert conclude(found) == "the same traffic"
    assert aligned(found) == TOTAL
    assert not found.matters
    assert found.b.management == 6
    assert sum(direction.packets for direction in found.preamble_b) == 2


def test_the_case_that_it_is_for() -> None:
    fpga = Recording(
        seed=1,
        same_starts=True,
        change=migreq_clear,
        fault="S01",
        preamble=[*arp(9), *others(4, seed=9)],
    )
    found = compared(fpga, NIC)
    assert conclude(found, ["S01"]) == (
        "same but for: ICRC wrong in every packet of A, S01;"
        " PSNs of both directions start at one value in A; MigReq"
    )
    assert aligned(found) == TOTAL
    assert found.matters
    assert conclude(found, ["S01", "P01"]) == (
        "same but for: ICRC wrong in every packet of A, S01;"
        " PSN starts at the other direction's value in A, P01; MigReq"
    )


def test_a_preamble_in_another_order_is_no_difference() -> None:
    fpga = Recording(seed=1, preamble=[*others(3, seed=5), *arp(1), *management(2)])
    nic = Recording(seed=2, preamble=[*reversed(others(2, seed=6)), *management(4), *arp(7)])
    found = compared(fpga, nic)
    assert conclude(found) == "the same traffic"
    assert aligned(found) == TOTAL


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_side_that_retransmits_stays_aligned(seed: int) -> None:
    noisy = replace(TRANSFER, seed=TRANSFER.seed, loss=0.03, connections=2)
    calm = replace(TRANSFER, connections=2)
    found = compared(Recording(calm, seed=seed), Recording(noisy, seed=seed + 10))
    assert not found.matters
    text = conclude(found)
    assert text.startswith("same but for: B repeats ") and "lacks" not in text
    assert not [kind for kind in kinds_of(found) if kind.example.field.matters]


def test_connections_are_known_by_what_they_carry_and_not_by_their_order() -> None:
    a, b = Recording(seed=1), Recording(seed=2)
    found = compared(a, b)
    pairs = {(one.flow.qpn, other.flow.qpn) for one, other in found.pairs}
    names = list(zip(a.pairs, b.pairs, strict=True))
    assert pairs == {(one.qpn, other.qpn) for one, other in names}
    assert len(pairs) == 6


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_lost_frames_are_missed_and_nothing_else(seed: int) -> None:
    found = compared(Recording(seed=seed), Recording(seed=seed + 7, lost=0.04))
    names = {kind.example.field.name for kind in kinds_of(found)}
    assert not names, names
    text = conclude(found)
    assert text.startswith("same but for: B lacks ")
    missing = sum(len(t.only_a) for t in found.tracks if t.kind is Kind.REQUEST)
    assert f"B lacks {missing} request packet" in text


def test_another_path_mtu_is_said_once() -> None:
    a = tell(frames_of(cut_transfer(256, seed=1)))
    b = tell(frames_of(cut_transfer(1024, seed=2)))
    assert conclude(compare(a, b)) == "same but for: path MTU 256 against 1024"
    shorter = tell(frames_of(cut_transfer(1024, seed=2, lengths=(3000, 0, 4000, 700))))
    text = conclude(compare(a, shorter))
    assert "message length in 1 of 4 packets" in text
    assert "PSN" not in text and "opcode" not in text


def test_a_flow_in_the_middle_of_one_side_matters() -> None:
    more = Recording(replace(TRANSFER, connections=4), seed=2)
    found = compared(Recording(seed=1), more)
    assert found.matters
    assert "2 flows only in B" in conclude(found)


def test_nothing_in_common_is_said_and_not_told_field_by_field() -> None:
    other = replace(TRANSFER, seed=99, messages=(1, 0), connections=1, lengths=(77,))
    found = compared(Recording(seed=1), Recording(other, seed=2))
    assert "flows only in A" in conclude(found)


@pytest.mark.parametrize("fault", ["P02", "P03", "P07", "P15"])
def test_a_psn_fault_is_a_difference_of_psns_and_not_of_data(fault: str) -> None:
    talk = replace(TRANSFER, connections=1)
    (bad, *_) = plant(fault, talk)
    found = compare(tell(frames_of(bad.frames)), tell(frames_of(talk.frames())))
    names = {kind.example.field.name for kind in kinds_of(found)}
    assert "payload" not in names and "opcode" not in names
    assert len(conclude(found)) < 400
