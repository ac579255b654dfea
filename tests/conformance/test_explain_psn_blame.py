# SPDX-License-Identifier: BSD-2-Clause
"""Who is blamed for what a connection shows, on evidence put together by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from explained import healthy, records

from roceproof.conformance.diagnosis import report
from roceproof.conformance.diagnosis.observation import Station, observe
from roceproof.conformance.diagnosis.psn import diagnosis
from roceproof.conformance.diagnosis.psn.evidence import Cause, Evidence
from roceproof.conformance.diagnosis.psn.timeline import Key
from roceproof.conformance.diagnosis.result import CORRUPT, LOST, UNDECIDED, Diagnosis

ONE, OTHER = Station(0, b"one"), Station(0, b"other")


def evidence(
    cause: Cause,
    *ids: str,
    by: Station = ONE,
    asked_by: Station = ONE,
    queue: int = 1,
    frames: tuple[int, ...] = (1,),
    weak: tuple[str, ...] = (),
) -> Evidence:
    connection = frozenset({Key(0, bytes(4), bytes(4), queue)})
    return Evidence(by, connection, cause, ids, frames, "it does", asked_by, weak)


def said(
    monkeypatch: pytest.MonkeyPatch, *gathered: Evidence, deaf: bool = False
) -> list[tuple[str, ...]]:
    monkeypatch.setattr(diagnosis, "_gathered", lambda *_, **__: [*gathered])
    found = diagnosis.explain_psns([], None, deaf=deaf)
    return [(each.id, *each.equivalent) for each in found]


def test_answers_to_who_begins_wrongly_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = evidence(Cause.REACTION, "P22", by=OTHER)
    assert said(monkeypatch, answer) == [("P22",)]
    begins = evidence(Cause.START, "P02")
    assert said(monkeypatch, begins, answer) == [("P02",)]
    elsewhere = evidence(Cause.START, "P02", queue=2)
    assert said(monkeypatch, elsewhere, answer) == [("P02",), ("P22",)]


def test_answers_to_who_repeats_wrongly_elsewhere_are_no_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = evidence(Cause.REACTION, "P22", by=OTHER)
    repeats = [evidence(Cause.REACTION, "P18", queue=queue, frames=(1, 2)) for queue in (2, 3)]
    assert said(monkeypatch, *repeats, answer) == [("P18",)]
    answers = [evidence(Cause.REACTION, "P22", by=OTHER, queue=queue) for queue in (1, 4, 5)]
    assert ("P22",) in said(monkeypatch, *repeats[:1], *answers)


def test_what_fits_weakly_counts_where_it_fits_well_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clear = evidence(Cause.COUNTING, "P06", frames=(1, 2))
    doubtful = evidence(Cause.COUNTING, LOST, "P12", queue=2, frames=(3, 4, 5), weak=("P06",))
    assert said(monkeypatch, clear, doubtful) == [("P06",)]
    assert said(monkeypatch, doubtful) == [(LOST, "P12")]


def test_what_is_sure_of_one_connection_is_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    maybe = evidence(Cause.REACTION, weak=("P19",))
    assert said(monkeypatch, maybe) == [(UNDECIDED, "P19")]
    sure = evidence(Cause.REACTION, "P19", queue=2)
    assert said(monkeypatch, maybe, sure) == [("P19",)]


def test_losses_do_not_take_a_wrong_start_away(monkeypatch: pytest.MonkeyPatch) -> None:
    begins = evidence(Cause.START, "P01")
    gap = evidence(Cause.COUNTING, LOST, "P12", "P25")
    assert said(monkeypatch, gap, begins) == [(LOST, "P12", "P25"), ("P01",)]
    assert said(monkeypatch, begins, evidence(Cause.START, queue=2)) == [(UNDECIDED, "P01")]
    shares = evidence(Cause.COUNTING, "P25", LOST, frames=(1, 2, 3))
    assert said(monkeypatch, shares, begins) == [("P25", LOST)]


def test_what_fits_elsewhere_stays_possible_beside_what_fits_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    most = evidence(Cause.COUNTING, "P06", frames=(1, 2, 3, 4, 5, 6))
    elsewhere = evidence(Cause.COUNTING, "P12", queue=2, frames=(7, 8, 9))
    assert said(monkeypatch, most, elsewhere) == [("P06", "P12")]
    lost = evidence(Cause.COUNTING, LOST, "P12", queue=2, frames=(7, 8, 9))
    assert said(monkeypatch, most, lost) == [("P06", "P12")]
    assert said(monkeypatch, most, lost._replace(frames=(7, 8))) == [("P06",)]


def test_few_wrong_steps_do_not_tell_what_fits_weakly_from_what_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = evidence(Cause.COUNTING, "P16", frames=(1, 2), weak=("P06",))
    assert said(monkeypatch, few) == [(UNDECIDED, "P16", "P06")]
    many = evidence(Cause.COUNTING, "P16", frames=(1, 2, 3, 4), weak=("P06",))
    assert said(monkeypatch, many) == [("P16",)]


def test_a_step_that_may_be_a_loss_does_not_decide_between_ways_of_counting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    either = evidence(Cause.COUNTING, "P16", "P23", frames=(1, 2, 3, 4, 5))
    maybe_lost = evidence(Cause.COUNTING, LOST, "P16", queue=2, frames=(6,))
    assert said(monkeypatch, either, maybe_lost) == [("P16", "P23")]
    steps = evidence(Cause.COUNTING, "P16", queue=2, frames=(6,))
    assert said(monkeypatch, either, steps) == [("P16",)]


def test_losses_make_up_for_no_more_than_a_way_of_counting_explains(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    either = evidence(Cause.COUNTING, "P16", "P06", frames=(1, 2, 3))
    lost = evidence(Cause.COUNTING, LOST, "P16", queue=2, frames=(4, 5, 6))
    assert said(monkeypatch, either, lost) == [("P16", "P06")]
    many_lost = evidence(Cause.COUNTING, LOST, "P16", queue=2, frames=(4, 5, 6, 7))
    assert said(monkeypatch, either, many_lost) == [("P16",)]


def test_a_loss_is_not_counted_where_a_way_of_counting_fits_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only = evidence(Cause.COUNTING, "P16", frames=(1, 2))
    either = evidence(Cause.COUNTING, "P06", "P16", queue=2, frames=(3, 4, 5))
    maybe_lost = evidence(Cause.COUNTING, "P06", LOST, "P16", queue=3, frames=(6, 7, 8))
    assert said(monkeypatch, only, either, maybe_lost) == [("P16",)]


def test_where_several_take_damaged_packets_the_capture_may_have_damaged_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = evidence(Cause.REACTION, "P21", CORRUPT, by=OTHER)
    assert said(monkeypatch, one) == [("P21", CORRUPT)]
    both = [one, evidence(Cause.REACTION, "P21", CORRUPT, asked_by=OTHER, queue=2)]
    assert said(monkeypatch, *both) == [(CORRUPT, "P21")] * 2


def test_what_no_icrc_bears_out_takes_several_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    begins = [evidence(Cause.START, "P02", queue=queue, frames=(queue,)) for queue in range(4)]
    assert said(monkeypatch, begins[0]) == [("P02",)]
    unproven = [found._replace(is_proven=False) for found in begins]
    assert said(monkeypatch, unproven[0]) == [(UNDECIDED, "P02")]
    assert said(monkeypatch, *unproven) == [("P02",)]


def test_what_any_step_fits_is_told_with_what_fits_late_packets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frames = tuple(range(1, 9))
    gaps = evidence(Cause.COUNTING, "P16", frames=frames)._replace(held_back=("P06",))
    assert said(monkeypatch, gaps) == [("P16",)]
    assert said(monkeypatch, gaps._replace(frames=frames[:7])) == [("P16", "P06")]
    assert said(monkeypatch, gaps, deaf=True) == [("P16", "P06")]
    exact = evidence(Cause.COUNTING, "P07", frames=frames)._replace(held_back=("P06",))
    assert said(monkeypatch, exact, deaf=True) == [("P07",)]


def test_a_name_takes_more_frames_of_its_own_the_more_is_wrong_beside_it() -> None:
    def told(id_: str, *frames: int, sent: tuple[int, ...] = ()) -> Diagnosis:
        count = len(frames)
        return Diagnosis(id_, (), frames, count, count, "", "", frozenset(sent))

    def ids(*found: Diagnosis, built: tuple[Diagnosis, ...] = ()) -> list[str]:
        return [each.id for each in report.told_findings(built, found, seen)]

    seen = [*observe(records(healthy(1)))]
    own = [each.number for each in seen if each.frame[6:12] == seen[0].frame[6:12]]
    peers = [each.number for each in seen if each.frame[6:12] != seen[0].frame[6:12]]
    first, other, third = own[0], told("P14", *own[3:13]), told(UNDECIDED, *peers[:4])
    assert ids(told("P02", first)) == ["P02"]
    assert ids(told("P02", *own[:2]), other) == [UNDECIDED, "P14"]
    assert ids(told("P02", *own[:3]), other) == ["P02", "P14"]
    assert ids(told("P02", *own[1:4]), other) == [UNDECIDED, "P14"]  # one may be the other's
    assert ids(told("P02", *own[:3]), other, third) == [UNDECIDED, "P14", UNDECIDED]
    assert ids(told("P14", *own[:8]), told("OPC-05", *own[:8])) == ["P14", "OPC-05"]
    assert ids(told("P14", *own[:7]), told("OPC-05", *own[:7])) == [UNDECIDED] * 2
    computed = told("S01", *own[:9], sent=tuple(own[:9]))
    assert ids(told("P02", first), computed) == ["P02", "S01"]
    shape = told("PAD-01", *own[9:13])
    assert ids(told("P02", first), computed, built=(shape,)) == ["PAD-01", "P02", "S01"]
    assert ids(told("P02", first), built=(shape,)) == ["PAD-01", UNDECIDED]
    assert ids(told("P02", own[9]), computed, built=(shape,)) == ["PAD-01", UNDECIDED, "S01"]
    moved = told("S65", *own[:9], sent=tuple(own[:9]))
    assert ids(told("P02", *own[:3]), moved) == [UNDECIDED, "S65"]
    assert ids(told("P02", first), told(CORRUPT, *peers[:9])) == ["P02", CORRUPT]


def test_what_is_wrong_between_others_raises_no_floor() -> None:
    seen = [*observe(records(healthy(1)))]
    elsewhere = [
        replace(each, number=each.number + 1000, frame=b"else" * 3 + each.frame[12:])
        for each in seen
    ]
    found = [
        Diagnosis("P02", (), (seen[0].number,), 1, 1, "", ""),
        Diagnosis("P14", (), tuple(each.number for each in elsewhere), 9, 9, "", ""),
    ]
    assert [each.id for each in report.told_findings((), found, [*seen, *elsewhere])] == [
        "P02",
        "P14",
    ]
