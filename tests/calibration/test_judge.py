# SPDX-License-Identifier: BSD-2-Clause
"""The judge of the calibration fails on a wrong name, and on nothing that is true."""

from __future__ import annotations

from roceproof.conformance.calibration.judge import Truth, Verdict, judge
from roceproof.conformance.calibration.run import Outcome
from roceproof.conformance.calibration.table import by_fault, by_traffic, lines, reached
from roceproof.conformance.diagnosis.result import CORRUPT, LOST, UNDECIDED, Diagnosis


def said(name: str, *equivalent: str, frames: tuple[int, ...] = (1, 2)) -> Diagnosis:
    return Diagnosis(name, equivalent, frames, len(frames), len(frames), "", "")


def truth(*faults: str, changed: tuple[int, ...] = (), lost: bool = False) -> Truth:
    return Truth(tuple(frozenset(each.split("|")) for each in faults), frozenset(changed), lost)


def verdict(about: Truth, *diagnoses: Diagnosis) -> Verdict:
    return judge(about, diagnoses).verdict


def test_a_name_that_is_not_true_is_wrong() -> None:
    found = judge(truth("S01"), [said("S02")])
    assert found.verdict is Verdict.WRONG
    assert found.reasons == ("S02: the device does not do that",)


def test_one_wrong_name_among_right_ones_is_wrong() -> None:
    assert verdict(truth("S01"), said("S01"), said("P03")) is Verdict.WRONG
    assert verdict(truth("S01"), said("S01+S02")) is Verdict.WRONG


def test_the_truth_is_named_or_in_the_class() -> None:
    assert verdict(truth("S01"), said("S01", "S02")) is Verdict.NAMED
    assert verdict(truth("S01"), said("S02", "S01")) is Verdict.CLASS
    assert verdict(truth("S25|S27"), said("S27")) is Verdict.NAMED
    assert verdict(truth("S01", "S26"), said("S01+S26")) is Verdict.NAMED
    assert verdict(truth("S01", "P03"), said("S01"), said("P03")) is Verdict.NAMED


def test_sets_of_faults_that_are_one_function_count_as_named() -> None:
    assert verdict(truth("S11", "S19"), said("S13")) is Verdict.NAMED
    assert verdict(truth("S13"), said("S11+S19")) is Verdict.NAMED
    assert verdict(truth("S12", "S21"), said("S13+S20")) is Verdict.NAMED
    assert verdict(truth("S11"), said("S13")) is Verdict.WRONG
    assert verdict(truth("S12", "S21"), said("S13")) is Verdict.WRONG


def test_what_is_left_open_is_not_wrong() -> None:
    assert verdict(truth("S01", "P03"), said("S01")) is Verdict.PARTLY
    assert verdict(truth("S01"), said(UNDECIDED)) is Verdict.UNDECIDED
    assert verdict(truth("S01")) is Verdict.MISSED


def test_the_link_is_blamed_rightly_or_wrongly() -> None:
    assert verdict(truth(changed=(1, 2)), said(CORRUPT)) is Verdict.CLEAN
    assert verdict(truth("S01", changed=(1,)), said("S01"), said(CORRUPT)) is Verdict.WRONG
    assert verdict(truth("S01"), said(CORRUPT, "S01")) is Verdict.CLASS
    assert verdict(truth(changed=(1, 2)), said("S46")) is Verdict.WRONG
    assert verdict(truth(lost=True), said(LOST)) is Verdict.CLEAN
    assert verdict(truth("P12"), said(LOST)) is Verdict.WRONG


def test_a_clean_device_is_left_in_peace() -> None:
    assert verdict(truth()) is Verdict.CLEAN
    assert verdict(truth(), said("S01")) is Verdict.WRONG
    assert verdict(truth(), said(UNDECIDED)) is Verdict.WRONG
    assert verdict(truth(lost=True), said("P12", LOST)) is Verdict.CLASS


def test_the_table_counts_and_the_bars_tell_what_is_missed() -> None:
    right = Outcome(1, "rich", ("S01",), (), Verdict.NAMED, (), (("S01",),))
    wrong = Outcome(2, "rich", ("S65",), (), Verdict.WRONG, ("S60: no",), (("S60",),))
    assert all(bar.enough for bar in reached([right]))
    missed = [bar.bar.words for bar in reached([right, wrong]) if not bar.enough]
    assert missed == ["no name is wrong", "single faults, rich", "slips alone, rich"]
    assert by_traffic([right, wrong])[0][:4] == ["rich", "one", "2", "0"]
    assert [row[0] for row in by_fault([right, wrong], rich=True)] == ["S01", "S65"]
    assert len({len(line) for line in lines(by_traffic([right, wrong]), ("traffic", "n"))}) == 1
