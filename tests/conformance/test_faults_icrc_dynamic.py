# SPDX-License-Identifier: BSD-2-Clause
"""S53-S66 in a stream, and planting any fault in one station of a conversation."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from zlib import crc32

import pytest

from roceproof.conformance.faults.catalogue import FAULTS, Kind, plant
from roceproof.conformance.faults.conversation.network import TimedFrame
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.faults.icrc.catalogue import (
    STATIC,
    STREAM_FAULTS,
    FaultError,
    corrupt,
    sent_from,
    stream_fault,
)
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.framing import locate
from roceproof.conformance.wire.icrc import Judgement
from roceproof.conformance.wire.opcodes import OPCODES, Position

MIX = Conversation()
FRAMES = MIX.frames()
OWN = sent_from(MIX.stations[0].mac)
Pairs = list[tuple[bytes, bytes]]

ENGINES = [
    (fault, variant, stalls)
    for fault in (*STATIC, *STREAM_FAULTS)
    for variant in range(len(stream_fault(fault).engines))
    for stalls in stream_fault(fault).runs
]


def planted(fault: str, variant: int = 0, *, stalls: bool = False) -> Pairs:
    """(right, corrupted) frames of the faulty station, after a look at all others."""
    made = corrupt(fault, FRAMES, OWN, variant=variant, stalls=stalls)
    assert [t for t, _ in made] == [t for t, _ in FRAMES]
    pairs = [(right.frame, bad.frame) for right, bad in zip(FRAMES, made, strict=True)]
    assert all(right == bad for right, bad in pairs if not OWN(right))
    return [(right, bad) for right, bad in pairs if OWN(right)]


def field(frame: bytes) -> bytes:
    layout = locate(frame)
    assert layout is not None
    return frame[layout.end - 4 : layout.end]


def wrong(pairs: Pairs) -> Pairs:
    return [(right, bad) for right, bad in pairs if right != bad]


def test_rows_are_s01_to_s66_and_p01_to_p25() -> None:
    assert list(FAULTS) == [f"S{n:02}" for n in range(1, 67)] + [f"P{n:02}" for n in range(1, 26)]
    assert Counter(fault.kind for fault in FAULTS.values()) == {
        Kind.STATIC: 52,
        Kind.DYNAMIC: 14,
        Kind.PSN: 25,
    }
    for fault in FAULTS.values():
        assert fault.signature.id == fault.id
        assert all(other in FAULTS or " " in other for other in fault.equivalent)


@pytest.mark.parametrize(("fault", "variant", "stalls"), ENGINES)
def test_fault_shows_in_the_mix_and_changes_no_more_than_it_should(
    fault: str, variant: int, stalls: bool
) -> None:
    pairs = planted(fault, variant, stalls=stalls)
    changed = wrong(pairs)
    assert bool(changed) == (stalls or fault != "S59")
    if fault in ("S56", "S62"):
        return
    for right, bad in changed:
        assert icrc.check(bad).judgement is Judgement.BAD
        assert icrc.reseal(bad) == right


def test_s53_sends_the_icrc_of_the_packet_before() -> None:
    pairs = planted("S53")
    assert field(pairs[0][1]) == bytes(4)
    assert [field(bad) for _, bad in pairs[1:]] == [field(right) for right, _ in pairs[:-1]]


def test_s54_goes_on_from_the_register_of_the_packet_before() -> None:
    pairs = planted("S54")
    assert pairs[0][0] == pairs[0][1]
    for (_, before), (right, bad) in pairwise(pairs):
        start = int.from_bytes(field(before), "little")
        covered = icrc.masked_input(right)[8:]
        assert crc32(covered, start).to_bytes(4, "little") == field(bad)


def test_s55_is_right_where_the_later_stage_changes_nothing() -> None:
    for right, bad in planted("S55", 0):
        packet = parse(right)
        assert packet is not None
        assert (right != bad) == packet.bth.ack_req


def test_s56_leaks_ones_and_keeps_the_icrc_right() -> None:
    for right, bad in planted("S56"):
        packet = parse(bad)
        assert packet is not None and right != bad
        assert icrc.check(bad).judgement is Judgement.OK
        assert packet.udp_checksum == 0xFFFF
        assert packet.bth.fecn and packet.bth.becn and packet.bth.reserved6 == 63
        hops = packet.ip.ttl if hasattr(packet.ip, "ttl") else packet.ip.hop_limit
        assert hops == 255


@pytest.mark.parametrize(("variant", "width"), [(0, 8), (1, 16), (2, 32), (3, 64)])
def test_s57_is_wrong_for_exactly_one_residue_of_the_bus(variant: int, width: int) -> None:
    tails: dict[bool, set[int]] = {True: set(), False: set()}
    for right, bad in planted("S57", variant):
        layout = locate(right)
        assert layout is not None
        tails[right != bad].add((layout.end - 4) % width)
    assert len(tails[True]) == 1 and not tails[True] & tails[False]


def test_s58_does_not_see_the_lane() -> None:
    lane, width, probed = 5, 8, 0
    for right, bad in planted("S58")[:60]:
        layout = locate(right)
        assert layout is not None
        for at in range(layout.udp + 20, layout.end - 4):
            if at % width != lane:
                continue
            flipped = icrc.reseal(right[:at] + bytes((right[at] ^ 0x55,)) + right[at + 1 :])
            (again,) = corrupt("S58", [TimedFrame(0, flipped)], OWN)
            assert field(again.frame) == field(bad)
            probed += 1
            break
    assert probed > 40


def test_s59_needs_stalls() -> None:
    assert not wrong(planted("S59"))
    assert 0 < len(wrong(planted("S59", stalls=True))) < len(planted("S59"))


def test_s60_exchanges_icrcs_between_queue_pairs() -> None:
    pairs = planted("S60")
    assert Counter(field(right) for right, _ in pairs) == Counter(field(bad) for _, bad in pairs)
    assert len(wrong(pairs)) >= 20


@pytest.mark.parametrize(("variant", "period"), [(0, 512), (1, 256)])
def test_s61_touches_long_packets_only(variant: int, period: int) -> None:
    sizes: dict[bool, set[int]] = {True: set(), False: set()}
    for right, bad in planted("S61", variant):
        sizes[right != bad].add(len(right) - 14)
    assert min(sizes[True]) > period
    assert max(sizes[False]) <= period + 64


@pytest.mark.parametrize("variant", [0, 1])
def test_s62_cuts_the_field_off_first_and_middle(variant: int) -> None:
    for right, bad in planted("S62", variant):
        packet = parse(right)
        assert packet is not None
        ends = bool(OPCODES[packet.bth.opcode].position & Position.LAST)
        assert (right == bad) == ends
        if not ends:
            assert len(bad) == len(right) - 4
            counted = icrc.check(bad).judgement is Judgement.MALFORMED
            assert counted == (variant == 1)


def test_s63_mixes_right_and_stale_bytes() -> None:
    pairs = planted("S63")
    before = bytes(4)
    for right, bad in pairs:
        assert field(bad) == field(right)[:2] + before[2:]
        before = field(right)
    assert all(field(bad)[3:] == b"\0" for _, bad in planted("S63", 1))


def test_two_static_faults_are_planted_together_and_others_refused() -> None:
    alone = corrupt("S01", FRAMES, OWN)
    for first, two in zip(alone, corrupt(("S01", "S26"), FRAMES, OWN), strict=True):
        if OWN(first.frame):
            assert field(two.frame) == field(first.frame)[::-1]
    with pytest.raises(FaultError, match="do not compose"):
        plant(("S26", "S28"), MIX)
    with pytest.raises(FaultError, match="do not compose"):
        plant(("S53", "S01"), MIX)
    with pytest.raises(FaultError, match=r"S67; the ids are S01 to S\d\d$"):
        plant("S67", MIX)
    with pytest.raises(FaultError, match="one PSN fault"):
        plant(("P01", "P03"), MIX)


def test_a_correct_peer_never_answers_what_has_a_wrong_icrc() -> None:
    (made,) = plant("S26", MIX)
    packets = [packet for _, frame in made.frames if (packet := parse(frame))]
    theirs = [p for p in packets if p.src_mac == MIX.stations[1].mac]
    assert made.facts == MIX.capture().facts
    assert theirs and not any(OPCODES[p.bth.opcode].is_response for p in theirs)
    first = [p.bth.psn for p in packets if p.bth.dest_qpn == made.facts["qps"][1]["qpn"]]
    assert first.count(first[0]) == 4, "sent once and three times more"


@pytest.mark.parametrize("fault", ["S03", "S56", "S57", "S60"])
def test_only_the_planted_station_sends_wrong_packets(fault: str) -> None:
    (made,) = plant(fault, MIX)
    wrong_ones = [f for _, f in made.frames if icrc.check(f).judgement is not Judgement.OK]
    assert all(OWN(frame) for frame in wrong_ones)
    assert bool(wrong_ones) == (fault != "S56")


def test_a_psn_fault_and_an_icrc_fault_are_planted_together() -> None:
    (both,) = plant(("P03", "S26"), MIX)
    for _, frame in both.frames:
        right = field(icrc.reseal(frame))
        assert field(frame) == (right[::-1] if OWN(frame) else right)
    starts = {row["remote_qpn"]: row for row in both.facts["qps"][::2]}
    shared = 0
    for (_, one), (_, two) in pairwise(item for item in both.frames if OWN(item.frame)):
        first, second = parse(one), parse(two)
        assert first and second
        same = first.bth.dest_qpn == second.bth.dest_qpn in starts
        middle = OPCODES[first.bth.opcode].position == Position.FIRST
        shared += same and middle and first.bth.psn == second.bth.psn
    assert shared > 0


@pytest.mark.parametrize("fault", ["S59", "P16"])
def test_a_fault_of_back_pressure_takes_two_runs(fault: str) -> None:
    assert FAULTS[fault].runs == 2
    smooth, stalled = plant(fault, MIX)
    assert smooth.frames == FRAMES and stalled.frames != FRAMES


def test_the_mix_meets_the_diversity_that_diagnosis_needs() -> None:
    for seed in range(1, 9):
        mix = Conversation(seed=seed)
        own = [frame for _, frame in mix.frames() if frame[6:12] == mix.stations[0].mac]
        packets = [packet for frame in own if (packet := parse(frame))]
        assert any(packet.trailer for packet in packets), "a frame under 60 bytes"
        assert any(packet.vlans for packet in packets)
        assert any(packet.bth.becn for packet in packets), "a CNP"
        assert {packet.bth.migreq for packet in packets} == {True, False}
        assert {len(packet.payload) % 4 for packet in packets} == {0, 1, 2, 3}
        assert len({len(frame) % 64 for frame in own}) > 12
