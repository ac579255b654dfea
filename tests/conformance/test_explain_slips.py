# SPDX-License-Identifier: BSD-2-Clause
"""Results in the wrong packets: slips are found in both directions, whole, and nothing else is one.

The results are moved here by hand, so what the diagnosis says can be held against the places.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

import pytest
from explained import cases_of, explain, healthy, planted, with_icrc

from roceproof.conformance.diagnosis.icrc.alignment import Run, align, copies_of_one
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.result import UNDECIDED, Diagnosis
from roceproof.conformance.faults.conversation.plan import Kind
from roceproof.conformance.faults.icrc.catalogue import engine_of
from roceproof.conformance.faults.icrc.engine import outgoing
from roceproof.verbs.service import Service

ONE_LENGTH = {
    "lengths": (256,),
    "path_mtus": (1024,),
    "kinds": (Kind.WRITE,),
    "services": (Service.RC,),
    "tagged": (False,),
    "ip_versions": (4,),
}
ONE_QP = {"connections": 1, "messages": (60, 0)}
Offsets = Callable[[int], int]


def sent(seed: int, **options: object) -> list[bytes]:
    """What the first station sends."""
    frames = healthy(seed, **options)
    return [frame for frame in frames if frame[6:12] == frames[0][6:12]]


def moved(
    frames: list[bytes], offset: Offsets, key: Callable[[CrcInput], object] = lambda _: None
) -> list[bytes]:
    """Each packet with the field of the one so many places later in its queue, or with garbage."""
    rng, queues = Random(1), {}
    cases = cases_of(frames)
    for place, case in enumerate(cases):
        queues.setdefault(key(case), []).append(place)
    made = list(frames)
    for queue in queues.values():
        for place, index in enumerate(queue):
            owner = place + offset(place)
            inside = 0 <= owner < len(queue)
            value = cases[queue[owner]].found if inside else rng.getrandbits(32)
            made[index] = with_icrc(frames[index], value)
    return made


def steps(*steps: tuple[int, int]) -> Offsets:
    """From each place on, an offset."""
    return lambda place: next((offset for at, offset in reversed(steps) if place >= at), 0)


def with_fault(frames: list[bytes], fault: str) -> list[bytes]:
    engine = engine_of(fault)
    return [engine.frame(out) for frame in frames if (out := outgoing(0, frame)) is not None]


def named(found: list[Diagnosis]) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.id, each.equivalent) for each in found]


def slips(found: Diagnosis) -> list[tuple[int, str]]:
    return [(int(at), what) for at, what in re.findall(r"frame (\d+): (\d+ \w+ \w+),", found.text)]


def test_one_overflow_shifts_everything_behind_it_though_all_frames_have_one_length() -> None:
    frames = moved(sent(1, **ONE_LENGTH), steps((20, 1)))
    (found,) = explain(frames)
    assert named([found]) == [("S65", ())]
    assert slips(found) == [(21, "1 entry lost")]
    assert found.explained == found.of - 1 and "at least 1 packet apart" in found.text


def test_several_slips_are_told_with_their_frames_and_the_depth() -> None:
    frames = moved(sent(2, **ONE_LENGTH), steps((30, 1), (60, 3), (90, 2), (120, 0), (140, -1)))
    (found,) = explain(frames)
    assert named([found]) == [("S65", ())]
    expected = [(31, "1 entry lost"), (61, "2 entries lost"), (91, "1 entry doubled")]
    assert slips(found)[:3] == expected
    assert "and 1 times more" in found.text and "in step again" in found.text
    assert "at least 3 packets apart" in found.text and "a queue of 2 results" in found.text


def test_shifted_by_one_or_two_from_the_first_frame_on() -> None:
    frames = moved(sent(3, **ONE_QP), steps((0, 1), (25, 2)))
    (found,) = explain(frames)
    assert named([found]) == [("S65", ())] and "From the first packet on" in found.text


def test_stale_by_one_from_the_first_frame_on_may_be_a_slip_before_it() -> None:
    (found,) = explain(moved(sent(4), steps((0, -1))))
    assert named([found]) == [("S53", ("S65",))]
    (found,) = explain(moved(sent(4), steps((10, -1))))
    assert named([found]) == [("S65", ())]


def test_exchanged_neighbours_are_a_slip_unless_they_are_always_of_two_queue_pairs() -> None:
    swaps = {0: 0, 1: 1, 2: -1}
    (found,) = explain(moved(sent(5, **ONE_QP), lambda place: swaps.get(place % 7, 0)))
    assert named([found]) == [("S65", ())] and "exchanged between frames 2 and 3" in found.text
    assert named(explain(planted("S60", 5))) == [("S60", ())]


@pytest.mark.parametrize("offset", [1, -1, 3])
def test_a_queue_of_each_queue_pair_is_seen_as_such(offset: int) -> None:
    frames = moved(sent(6), steps((4, offset)), lambda case: case.seen.bth.dest_qpn)
    (found,) = explain(frames)
    assert named([found]) == [("S65", ())]
    assert "among the packets to one queue pair" in found.text


@pytest.mark.parametrize(("offset", "loss"), [(1, 0.1), (-2, 0.1), (4, 0.02)])
def test_frames_that_were_not_captured_are_no_slips(offset: int, loss: float) -> None:
    rng = Random(7)
    frames = moved(sent(7), steps((40, offset)))
    kept = [frame for frame in frames if rng.random() >= loss]
    (found,) = explain(kept)
    assert named([found]) == [("S65", ())]
    assert len(slips(found)) == 1 and f"at least {abs(offset)} packet" in found.text


@pytest.mark.parametrize(("fault", "offset"), [("S01", 1), ("S26", -2), ("S31", 1)])
def test_slipped_results_that_are_wrong_besides(fault: str, offset: int) -> None:
    frames = moved(with_fault(sent(8), fault), steps((50, offset)))
    (found,) = explain(frames)
    assert named([found]) == [(f"{fault}+S65", ())]
    assert slips(found)[0][0] == 51


@pytest.mark.parametrize("fault", ["", "S01"])
def test_a_packet_left_like_that_if_another_holds_its_result(fault: str) -> None:
    changed = 70
    frames = moved(with_fault(sent(9), fault) if fault else sent(9), steps((30, 1)))
    frames[changed - 1] = (
        frames[changed - 1][:60] + bytes([frames[changed - 1][60] ^ 4]) + (frames[changed - 1][61:])
    )
    (found,) = (each for each in explain(frames) if "S65" in each.id)
    missing = {*range(1, len(frames) + 1)} - found.as_sent
    assert changed in missing and missing <= {changed, 31}  # whose result was lost
    assert "as_sent" not in found.as_json()


def test_stale_and_wrong_may_be_a_slip_before_the_capture_too() -> None:
    (found,) = explain(moved(with_fault(sent(8), "S01"), steps((0, -1))))
    assert named([found]) == [("S01+S53", ("S01+S65",))]


def test_bits_flipped_on_the_way_do_not_hide_a_slip() -> None:
    frames = moved(sent(9), steps((30, 1)))
    for place in (80, 120):
        frame = frames[place]
        frames[place] = frame[:60] + bytes([frame[60] ^ 4]) + frame[61:]
    (found,) = explain(frames)
    assert found.id == "S65" and found.explained >= found.of - 3


def test_too_few_shifted_frames_are_not_named() -> None:
    frames = moved(sent(10, **ONE_QP), lambda place: int(place in (30, 31)))
    (found,) = explain(frames)
    assert found.id == UNDECIDED and "S65" in found.equivalent and found.explained == 0
    assert "3 different errors" in found.text and "bursts longer than the queue" in found.advice


def test_exchanged_results_of_like_packets_are_not_flipped_bits() -> None:
    frames = sent(13, **ONE_QP, **ONE_LENGTH)
    one = next(case for case in cases_of(frames) if not case.seen.bth.psn & 1)
    psn = one.bth_at + one.seen.ip + 11
    other = one.seen.frame[:psn] + bytes([one.seen.frame[psn] | 1]) + one.seen.frame[psn + 1 :]
    (like,) = cases_of([other])
    pair = [with_icrc(one.seen.frame, like.right), with_icrc(other, one.right)]
    (found,) = explain([*frames[:9], *pair, *frames[11:]])
    assert found.id == UNDECIDED and "S65" in found.equivalent


def test_healthy_and_lossy_and_reordered_traffic_slips_nowhere() -> None:
    rng = Random(11)
    frames = [frame for frame in healthy(11, loss=0.05) if rng.random() > 0.1]
    for place in range(5, len(frames) - 1, 9):
        frames[place], frames[place + 1] = frames[place + 1], frames[place]
    assert explain(frames) == []


@pytest.mark.slow
def test_garbage_is_no_slip() -> None:
    rng = Random(12)
    frames = [with_icrc(frame, rng.getrandbits(32)) for frame in sent(12)[:60]]
    assert named(explain(frames)) == [(UNDECIDED, ())]


def test_a_path_stays_where_equal_results_leave_it_open() -> None:
    results = [1, 2, 2, 2, 3, 4, 5, 6, 7, 8]
    assert align(results, results) == [Run(0, 0)]
    assert align(results, [1, 2, 2, 2, 4, 5, 6, 7, 8, 99]) == [Run(0, 0), Run(4, 1)]
    assert align(results, [99] * 10) == []


@pytest.mark.slow
@pytest.mark.parametrize("traffic", [{}, ONE_LENGTH, ONE_QP, {**ONE_LENGTH, **ONE_QP}])
@pytest.mark.parametrize("loss", [0.0, 0.03])
def test_any_slip_is_named_over_many_seeds(traffic: dict[str, object], loss: float) -> None:
    for seed in range(12):
        rng = Random(seed)
        frames = sent(seed + 1, **traffic)
        at = rng.randrange(5, len(frames) // 2)
        first, second = rng.choice((1, -1, 2, -2, 3)), rng.choice((0, 1, -1, 2))
        made = moved(frames, steps((at, first), (at + len(frames) // 4, second)))
        kept = [frame for frame in made if rng.random() >= loss]
        (said, *rest) = explain(kept)
        where = (seed, at, first, second)
        assert "S65" in (said.id, *said.equivalent) and not rest, where
        assert loss or (said.id, said.equivalent) == ("S65", ()), where


def test_repetitions_far_away_are_no_owners_where_those_nearby_were_damaged() -> None:
    right = [*range(100, 130)] * 2
    found = [99, *right[:-1]]
    for place in (40, 44, 48, 52):
        right[place] = -place
    assert align(right, found) == [Run(0, -1)]
    slipped = [99, *right[:29], *right[28:-2]]
    assert align(right, slipped) == [Run(0, -1), Run(30, -2)]


def test_copies_of_one_entry_stand_in_front_of_a_slip_by_several() -> None:
    right = [*range(100, 110)]
    found = [100, 101, 101, 101, 101, 102, 103, 104, 105, 106]
    path = align(right, found)
    assert path == [Run(0, 0), Run(4, -3)]
    assert copies_of_one(path, found) == {2: -1, 3: -2}


def test_of_alike_places_the_nearest_is_the_owners() -> None:
    right = [1, 2, 3, 4, 1, 2, 3, 4]
    assert align(right, [1, 2, 3, 4, 1, 1, 2, 3])[-1].offset == -1


def test_stale_by_one_all_along_may_be_late_even_if_packets_in_between_are_missing() -> None:
    frames = moved(sent(1, **ONE_LENGTH, **ONE_QP), lambda _: -1)
    thinned = [frame for n, frame in enumerate(frames) if n % 5 != 3]
    (found, *_) = explain(thinned)
    assert {"S53", "S65"} >= {found.id, *found.equivalent} > {"S65"}
