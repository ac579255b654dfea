# SPDX-License-Identifier: BSD-2-Clause
"""No signature is named on less than its floor of evidence; what fits is then a candidate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address

import pytest
from explained import cases_of, corrupt, explain, healthy, planted, with_icrc

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.diagnosis.icrc.data_path.beat_parts import Boundary, parts_in_next_beat
from roceproof.conformance.diagnosis.icrc.data_path.beats import ORIGINS, DeadLane, Origin
from roceproof.conformance.diagnosis.icrc.endings import ending_alike
from roceproof.conformance.diagnosis.icrc.hypothesis import Recipe
from roceproof.conformance.diagnosis.icrc.parts.changes import CHANGES
from roceproof.conformance.diagnosis.icrc.parts.coverage import OPTIONS, Coverage
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.engine import ENGINES, Engine, Reordering
from roceproof.conformance.diagnosis.icrc.parts.floor import FLOORS, floor_of, shortage
from roceproof.conformance.diagnosis.result import CORRUPT, UNDECIDED, Diagnosis
from roceproof.conformance.faults.icrc.catalogue import stream_fault
from roceproof.conformance.rules.signatures import SIGNATURES
from roceproof.conformance.wire import icrc

Rule = Callable[[CrcInput], int | None]
BLAMING = [each for each, floor in FLOORS.items() if floor.right]
NO_ICRC_IS_WRONG = {"S56", "S62"}


def possible(found: list[Diagnosis]) -> set[str]:
    return {name for each in found for name in (each.id, *each.equivalent)}


def own(frames: list[bytes]) -> list[bytes]:
    return [frame for frame in frames if frame[6:12] == frames[0][6:12]]


def split(frames: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Frames with a wrong ICRC and with a right one."""
    cases = cases_of(own(frames))
    wrong = [case.seen.frame for case in cases if case.seen.wrong]
    return wrong, [case.seen.frame for case in cases if not case.seen.wrong]


@pytest.mark.sampled(every=7)
@pytest.mark.parametrize("fault", sorted(FLOORS.keys() - NO_ICRC_IS_WRONG - {"S59"}))
def test_one_wrong_packet_names_none_of_those_with_a_floor(fault: str) -> None:
    for variant in range(len(stream_fault(fault).engines)):
        cases = cases_of(own(planted(fault, 1, variant=variant)))
        bad = [case.seen.number for case in cases if case.seen.wrong]
        chosen = bad[len(bad) // 2]
        one = [
            case.seen.frame
            if case.seen.number == chosen
            else with_icrc(case.seen.frame, case.right)
            for case in cases
        ]
        assert not {each.id for each in explain(one)} & FLOORS.keys()


def test_where_all_packets_end_alike_their_ends_tell_little() -> None:
    cases = cases_of(own(healthy(1, tagged=(False,), ip_versions=(4,))))
    place, beat = (
        Recipe(Engine(), (), Coverage((option,)), Reordering(), Reordering())
        for name in ("S36", "S40")
        for option in [next(each for each in OPTIONS if each.id == name)]
    )
    alike = [case for case in cases if case.size % 64 == cases[0].size % 64]
    assert {*ending_alike(place, alike)} == {"S36", "S38", "S39"}
    assert {*ending_alike(beat, alike)} == {"S40"}
    assert {*ending_alike(place, cases)} == {"S36"} and not [*ending_alike(beat, cases)]


@pytest.mark.parametrize(("both", "name"), [(1, "S29"), (3, "S29+S34")])
def test_a_fault_more_takes_more_than_one_packet(both: int, name: str) -> None:
    frames = own(healthy(1, ip_versions=(4,), tagged=(False,)))[:40]
    for place, frame in enumerate(frames):
        frames[place] = frame[:18] + bytes([place < both, 0]) + frame[20:]
    ids, engine, implied = next(row for row in ENGINES if row[0] == ("S29",))
    zeroed = next(change for change in CHANGES if change.id == "S34" and not change.note)
    device = Recipe(engine, ids, Coverage(), Reordering(), Reordering((), implied), (zeroed,))
    found = explain(corrupt(frames, device.predict))
    assert found[0].id == name
    assert all(each.id == UNDECIDED for each in found[1:])


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["S57", "S64", "S66"])
def test_without_contrast_a_property_is_not_blamed(fault: str) -> None:
    wrong, right = split(planted(fault, 1))
    found = explain(wrong)
    assert {each.id for each in found} == {UNDECIDED}
    assert {each.id for each in explain([*wrong, *right])} == {fault}


@pytest.mark.slow
def test_one_length_all_wrong_blames_no_last_beat() -> None:
    size = max(len(case.payload) for case in cases_of(healthy(1)[:80]))
    frames = own(healthy(1))

    def rule(case: CrcInput) -> int | None:
        return case.right ^ hash((case.right, 1)) & 0xFFFFFFFF if case.size > 500 else None

    assert size > 500
    found = explain(corrupt(frames, rule))
    assert not possible(found) & {"S58", "S61", "S65", "S66"}
    assert {each.id for each in found} == {UNDECIDED}


def test_zeros_of_one_packet_are_no_constant() -> None:
    frames = own(healthy(2))
    frames[30] = with_icrc(frames[30], 0)
    (found,) = explain(frames)
    assert found.id == UNDECIDED and {"S46", CORRUPT} <= {*found.equivalent}
    (found,) = explain(frames[30:31])
    assert found.id == UNDECIDED and "S46" in found.equivalent
    assert "S46 takes 3 different errors; there are 1" in found.text


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "rule",
    [
        lambda case: case.right ^ 0xFFFF0000,
        lambda case: case.right & 0xFFFF,
        lambda case: case.right & 0xFFFF | (case.previous.right & 0xFFFF0000),
        lambda case: case.right & 0xFFFF | case.right << 16 & 0xFFFF0000,
        lambda case: case.right & 0xFFFF | hash((case.right, 5)) << 16 & 0xFFFF0000,
    ],
    ids=["inverted", "zeros", "stale", "another lane", "garbage"],
)
def test_bytes_in_the_next_beat_alone(rule: Rule) -> None:
    frames = own(healthy(3))
    crossing = corrupt(frames, lambda case: rule(case) if case.covered_end % 16 == 14 else None)
    (found,) = explain(crossing)
    assert (found.id, found.equivalent) == ("S66", ()) and found.explained == found.of
    first = next(place for place, case in enumerate(cases_of(crossing)) if case.seen.wrong)
    (found,) = explain([*frames[:first], crossing[first], *frames[first + 1 :]])
    assert found.id == UNDECIDED and "S66" in found.equivalent


def test_icrcs_that_are_wrong_as_a_whole_do_not_lie_across_beats() -> None:
    cases = cases_of(healthy(3)[:1])
    (part, *_) = parts_in_next_beat(cases)
    for left in (0, 2):
        origin = Origin("", lambda packet, left=left: -packet.size - left)
        assert bool(replace(part, boundary=Boundary(16, origin)).lacks(cases)) == (left == 0)


def test_one_beat_alone_tells_no_lane_from_a_field() -> None:
    cases = cases_of(own(healthy(3)))
    lane = DeadLane(64, 12, 0, Origin("", lambda packet: 0), masks_last=False)
    short = [case for case in cases if len(case.masked + case.seen.body) < 64 + 12]
    assert short and lane.lacks(short)
    assert not lane.lacks(cases)


def test_dummy_bytes_show_no_lane_of_ones() -> None:
    (origin,) = [each for each in ORIGINS if "dummy" in each.words]
    cases = cases_of(own(healthy(3)))
    one_more = [case for case in cases if 64 - 6 < len(case.masked + case.seen.body) < 128 - 6]
    assert one_more and DeadLane(64, 2, 0xFF, origin, masks_last=False).lacks(one_more)
    assert not DeadLane(64, 2, 0, origin, masks_last=False).lacks(one_more)


def test_few_bits_that_differ_may_have_changed_on_the_way() -> None:
    frames = [frame for frame in healthy(3, ip_versions=(4,)) if frame[12:14] == b"\x08\x00"]
    still = [icrc.reseal(frame[:18] + bytes(2) + frame[20:]) for frame in own(frames)[:40]]
    for place, bit in ((3, 1), (9, 16), (21, 128)):
        frame = bytearray(still[place])
        frame[19] ^= bit
        still[place] = bytes(frame)
    assert "S34" not in {each.id for each in explain(still)}


def test_an_icrc_that_lies_in_the_next_beat_as_a_whole_may_be_right() -> None:
    (case,) = cases_of(healthy(3)[:1])
    for left, spared, as_a_whole in ((0, 0, 4), (2, 2, 2), (5, 4, 4)):
        origin = Origin("", lambda packet, left=left: -packet.size - left)
        assert Boundary(16, origin).front(case) == spared
        assert Boundary(16, origin, spares_whole=True).front(case) == as_a_whole


@pytest.mark.parametrize("fault", sorted(NO_ICRC_IS_WRONG))
def test_signs_in_the_packets_have_a_floor_too(fault: str) -> None:
    whole = own(planted(fault, 1))
    right = {frame for frame in healthy(1)}
    bad = [place for place, frame in enumerate(whole) if frame not in right]
    found = explain(whole[: bad[1] + 1])
    assert {each.id for each in found} == {UNDECIDED} and fault in possible(found)
    assert fault in {each.id for each in explain(whole)}


def test_a_leak_of_one_field_takes_packets_that_lack_it() -> None:
    frames = planted("S56", 1, variant=2)
    assert {each.id for each in explain(frames)} == {"S56"}
    assert {each.id for each in explain(own(frames))} == {UNDECIDED}


def test_a_leak_of_what_is_configured_may_be_a_fixed_value() -> None:
    frames = own(planted("S56", 1, variant=1))
    hosts = {str(ip_address(frame[26:30])) for frame in frames if frame[12:14] == b"\x08\x00"}
    facts = {"qps": [{"address": host, "ttl": 64} for host in hosts]}
    (leak,) = explain(frames, facts)
    assert leak.id == "S56" and "ttl are all ones, as where they are fixed so" in leak.text


def test_the_floor_of_several_faults_is_the_highest_and_one_error_each() -> None:
    assert floor_of(("S01", "S02")).errors == 2 and floor_of(("S01", "S65")).errors == 3
    assert shortage(("S01",), 1, 0) == "" and "2 different errors" in shortage(("S01", "S02"), 1, 9)
    assert set(FLOORS) <= set(SIGNATURES) and all(FLOORS[each].contrast for each in BLAMING)


def test_the_document_has_the_same_floors() -> None:
    text = (REPOSITORY / "docs" / "explain.md").read_text(encoding="utf-8")
    rows = [row.split("|") for row in text.splitlines() if row.count("|") == 5]
    told = {
        name.strip(" `"): (int(errors), int(right))
        for _, names, errors, right, *_ in rows
        if errors.strip().isdigit()
        for name in names.split(",")
    }
    assert told.pop("all others") == (1, 0)
    assert told == {name: (floor.errors, floor.right) for name, floor in FLOORS.items()}
