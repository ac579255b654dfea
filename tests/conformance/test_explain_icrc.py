# SPDX-License-Identifier: BSD-2-Clause
"""Planted ICRC faults are named, one by one and in pairs, and nothing else is.

The frames come from conformance/faults, which shares no code with the diagnosis.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from random import Random
from zlib import crc32

import pytest
from explained import cases_of, corrupt, explain, healthy, planted, with_icrc

from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.result import CORRUPT, UNDECIDED
from roceproof.conformance.faults.catalogue import FAULTS, Kind
from roceproof.conformance.faults.icrc.catalogue import FaultError
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.ip import Ipv4

EXPECTED = {
    ("S27", 0): ("S25", ("S27",)),
    ("S25", 0): ("S25", ("S27",)),
    ("S63", 0): ("S63", ("S66",)),  # on a bus of four bytes, which lets half an ICRC cross
}
ICRC_FAULTS = [name for name, fault in FAULTS.items() if fault.kind is not Kind.PSN]
STATIC = [name for name, fault in FAULTS.items() if fault.kind is Kind.STATIC]
WITH_VARIANTS = [
    (name, variant) for name in ICRC_FAULTS for variant in range(FAULTS[name].variants)
]
NEEDS_FACTS = {("S56", 1)}


def names(frames: list[bytes]) -> list[str]:
    return [found.id for found in explain(frames)]


def check(fault: str, seed: int, variant: int) -> None:
    found = explain(planted(fault, seed, variant=variant))
    assert [(each.id, each.equivalent) for each in found] == [
        EXPECTED.get((fault, variant), (fault, ()))
    ]
    unjudged = re.search(r"(\d+) cannot be judged", found[0].text)
    judged = found[0].of - int(unjudged[1] if unjudged else 0)
    assert found[0].explained == judged == len(found[0].frames)
    assert unjudged is None or int(unjudged[1]) <= 10


@pytest.mark.sampled(every=13)
@pytest.mark.parametrize(("fault", "variant"), WITH_VARIANTS)
def test_every_fault_is_named_in_mixed_traffic(fault: str, variant: int) -> None:
    if (fault, variant) in NEEDS_FACTS:
        assert explain(planted(fault, 1, variant=variant)) == []
    else:
        check(fault, 1, variant)


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "variant"), sorted({*WITH_VARIANTS} - NEEDS_FACTS))
def test_every_fault_is_named_over_many_seeds(
    fault: str, variant: int, subtests: pytest.Subtests
) -> None:
    for seed in range(2, 8):
        with subtests.test(seed=seed):
            check(fault, seed, variant)


def test_alternatives_that_are_one_function_are_said_to_be() -> None:
    (found,) = explain(planted("S25", 1))
    assert "one function" in found.advice


PAIRS = [
    ("S01", "S02"), ("S01", "S26"), ("S03", "S31"), ("S04", "S20"), ("S05", "S37"), ("S10", "S29"),
    ("S01", "S07"), ("S02", "S48"), ("S11", "S34"), ("S15", "S42"), ("S19", "S28"), ("S23", "S33"),
    ("S30", "S31"), ("S38", "S50"), ("S40", "S44"), ("S41", "S51"), ("S06", "S43"), ("S09", "S52"),
]  # fmt: skip


@pytest.mark.sampled(every=9)
@pytest.mark.parametrize("pair", PAIRS)
def test_two_faults_at_once_are_found_together(pair: tuple[str, str]) -> None:
    found = explain(planted(pair, 2))
    assert [(each.id, each.equivalent) for each in found] == [("+".join(pair), ())]
    assert found[0].explained == found[0].of


ONE_FUNCTION = {  # pairs that amount to something simpler, or to a healthy sender
    ("S06", "S14"): "S45",
    ("S11", "S15"): "S14",
    ("S11", "S19"): "S13",
    ("S11", "S21"): "S13+S20",
    ("S11", "S22"): None,
    ("S12", "S19"): "S13",
    ("S12", "S21"): "S13+S20",
    ("S13", "S19"): None,
    ("S13", "S21"): "S20",
    ("S13", "S22"): "S19",
    ("S14", "S22"): "S15",
    ("S19", "S20"): "S21",
    ("S24", "S25"): "S23",
    ("S24", "S26"): "S23",
    ("S24", "S27"): "S23",
    # The planted CRC-32C takes its input reflected whatever else is wrong.
    ("S23", "S29"): "S25+S29",
    ("S24", "S29"): "S25+S26+S29",
}

APART = {("S08", "S48"), ("S09", "S48")}
"""Pairs of which one shows in packets with IPv4 alone, the other with IPv6."""
UNDECIDED_PAIRS = {("S14", "S16"), ("S22", "S23"), ("S22", "S24"), ("S31", "S43")}
"""Not gone through together, and said so: both change what enters the CRC first, or last."""
PARTLY = {("S41", "S51"), ("S42", "S51")}
"""The first is named with both beside it; what shows the second is left undecided."""


@pytest.mark.slow
@pytest.mark.parametrize("first", STATIC)
def test_any_pair_is_found_unless_one_hides_the_other(first: str) -> None:
    for number, second in enumerate(STATIC[STATIC.index(first) + 1 :]):
        seed = number % 5 + 1
        try:
            frames = planted((first, second), seed)
        except FaultError:
            continue
        if frames in (planted(first, seed), planted(second, seed)):
            continue
        expected = ONE_FUNCTION.get((first, second), f"{first}+{second}")
        found = explain(frames)
        if expected is None:
            assert found == []
        elif (first, second) in UNDECIDED_PAIRS:
            assert [each.id for each in found] == [UNDECIDED]
        elif (first, second) in APART:
            assert {each.id for each in found} == {first, second}
            assert all(each.explained == each.of for each in found)
        else:
            assert expected in (found[0].id, *found[0].equivalent)
            assert found[0].explained == found[0].of or (first, second) in PARTLY


@pytest.mark.parametrize("seed", [1, 2])
def test_healthy_traffic_needs_no_explanation(seed: int) -> None:
    assert explain(healthy(seed)) == []
    assert explain(healthy(seed, loss=0.02, rnr_rate=0.1, reconnects=1)) == []


def test_two_devices_with_different_faults_get_a_diagnosis_each() -> None:
    first, second = planted("S01", 1), planted("S33", 2)
    found = explain([frame for pair in zip(first, second, strict=False) for frame in pair])
    assert sorted(each.id for each in found) == ["S01", "S33"]
    assert all(each.explained == each.of for each in found)


@pytest.mark.slow
def test_a_fault_of_the_requests_alone_is_found_although_responses_are_right() -> None:
    def rule(case: CrcInput) -> int | None:
        seeded_anew = crc32(case.masked + case.seen.body)
        return seeded_anew if case.kind == "request" and case.seen.frame[6:12] == mac else None

    frames = healthy(1)
    mac = frames[0][6:12]
    (found,) = explain(corrupt(frames, rule))
    assert found.id == "S11" and found.explained == found.of
    assert "requests only" in found.text


def test_single_flipped_bits_are_corruption_and_are_located() -> None:
    frames = healthy(3)
    places = {}
    for index in (20, 90):
        (case,) = cases_of(frames[index : index + 1])
        places[index] = case.covered_end - 1 - index % 4
        frames[index] = flipped(frames[index], places[index], 5)
    found = explain(frames)
    assert {each.id for each in found} == {CORRUPT}
    text = " ".join(each.text for each in found)
    for index, at in places.items():
        assert f"frame {index + 1}: byte {at} bit 5" in text


def test_a_flipped_bit_of_the_icrc_itself_is_located() -> None:
    frames = healthy(3)
    (case,) = cases_of(frames[40:41])
    frames[40] = flipped(frames[40], case.covered_end + 2, 7)
    (found,) = explain(frames)
    assert found.id == CORRUPT
    assert f"byte {case.covered_end + 2} bit 7 (ICRC)" in found.text


def flipped(frame: bytes, at: int, bit: int) -> bytes:
    return frame[:at] + bytes([frame[at] ^ 1 << bit]) + frame[at + 1 :]


def test_a_few_garbled_packets_among_right_ones_are_not_blamed_on_anyone() -> None:
    frames = healthy(4)
    for place in (10, 60):
        frames[place] = with_icrc(frames[place], 0x12345678 + place)
    assert {(each.id, each.equivalent) for each in explain(frames)} == {(UNDECIDED, (CORRUPT,))}


def test_corruption_on_the_way_does_not_hide_a_fault() -> None:
    frames, rng = planted("S26", 5), Random(5)
    hit = sorted(rng.sample(range(len(frames)), 12))
    for place in hit:
        (case,) = cases_of(frames[place : place + 1])
        frames[place] = flipped(frames[place], case.covered_end - 1, rng.randrange(8))
    found = explain(frames)
    assert {each.id for each in found} == {"S26", CORRUPT}
    assert sum(len(each.frames) for each in found if each.id == CORRUPT) == len(hit)
    assert all("One bit changed" in each.text for each in found if each.id == CORRUPT)


@pytest.mark.slow
def test_random_icrcs_are_undecided() -> None:
    rng = Random(6)
    frames = corrupt(healthy(6)[:40], lambda case: rng.getrandbits(32))
    found = explain(frames)
    assert {each.id for each in found} == {UNDECIDED}
    assert all(each.explained == 0 and each.advice for each in found)


def test_one_wrong_packet_gives_what_fits_it_and_not_more() -> None:
    sent = cases_of(planted("S20", 7))
    frame = next(case.seen.frame for case in sent if case.seen.wrong)
    (found,) = explain([frame])
    assert "S20" in (found.id, *found.equivalent)
    assert "errors told apart: 1;" in found.text


def test_traffic_of_one_length_still_shows_where_the_register_starts() -> None:
    wrong = [case for case in cases_of(planted("S19", 8)) if case.seen.wrong]
    sizes = [(case.seen.version, len(case.seen.body)) for case in wrong]
    common = max(set(sizes), key=sizes.count)
    same = [c.seen.frame for c in wrong if (c.seen.version, len(c.seen.body)) == common]
    (found,) = explain(same)
    assert "S19" in (found.id, *found.equivalent)
    assert "start register is 44660075" in found.text


def test_one_packet_with_id_one_leaves_every_cause_possible() -> None:
    packet = parse(healthy(1, ip_versions=(4,))[0])
    assert packet is not None and isinstance(packet.ip, Ipv4)
    frame = build(replace(packet, ip=replace(packet.ip, ident=1)))
    (found,) = explain(corrupt([frame], lambda case: as_if_id_were(case, 0)))
    assert {found.id, *found.equivalent} == {CORRUPT, "S34", "S53", "S55", "S60", "S65"}
    many = corrupt(
        healthy(1), lambda case: as_if_id_were(case, 0) if len(case.head) == 40 else None
    )
    assert {each.id for each in explain(many)} == {"S34"}


def as_if_id_were(case: CrcInput, value: int) -> int:
    head = case.masked[:4] + value.to_bytes(2, "big") + case.masked[6:]
    return crc32(b"\xff" * 8 + head + case.seen.body)


def test_the_first_packet_of_a_pipeline_that_lags_is_not_held_against_it() -> None:
    (found,) = explain(planted("S53", 3))
    assert found.id == "S53" and "1 cannot be judged" in found.text


@pytest.mark.slow
def test_pairs_of_any_two_masks_are_told_apart() -> None:
    seen = {
        tuple(names(planted(pair, 2))) for pair in combinations(("S01", "S02", "S03", "S04"), 2)
    }
    assert len(seen) == 6


@pytest.mark.slow
def test_a_changed_packet_does_not_show_as_a_flipped_bit_in_the_one_behind_it() -> None:
    frames = healthy(1)
    own = [frame for frame in frames if frame[6:12] == frames[0][6:12]][:80]
    stale = corrupt(own, _lowest_byte_of_the_one_before)
    at = len(stale) // 2
    right = cases_of(stale)[at].right
    for place in range(-30 * 8, -4 * 8):
        changed = _flipped(stale, at, place)
        if ((cases_of(changed)[at].right ^ right) & 0xFF).bit_count() == 1:
            break
    found = explain(changed)
    assert found[0].id == "S63"
    assert at + 2 not in {number for each in found[1:] for number in each.frames}


def _lowest_byte_of_the_one_before(case: CrcInput) -> int:
    before = case.previous.right if case.previous else 0
    return case.right & ~0xFF | before & 0xFF


def _flipped(frames: list[bytes], at: int, place: int) -> list[bytes]:
    """The frames with one bit of one of them changed, counted from its end."""
    bits = bytearray(frames[at])
    bits[place // 8] ^= 1 << place % 8
    return [*frames[:at], bytes(bits), *frames[at + 1 :]]
