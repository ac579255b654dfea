# SPDX-License-Identifier: BSD-2-Clause
"""Which cases a suite has, and at which data widths."""

from __future__ import annotations

import pytest

from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.runner.session.options import Options, widths_of

pytest_plugins = ["pytester"]

CASES = """
from roceproof.conformance.suite.case import MASSES, case

@case("PSN-01", long=True)
def test_endless(bench): pass

@MASSES
@case("PSN-01", smoke=True)
def test_one_of_many(bench): pass

@case("PSN-01", smoke=True)
def test_quick(bench): pass

@MASSES
@case("PSN-01")
def test_the_others(bench): pass

@case("PSN-01")
def test_usual(bench): pass
"""
MEMBERS = {
    "smoke": {"quick", "one_of_many"},
    "gate": {"quick", "usual", "one_of_many"},
    "full": {"quick", "usual", "one_of_many", "the_others"},
    "long": {"endless"},
}


@pytest.mark.parametrize("suite", MEMBERS)
def test_a_suite_has_what_belongs_to_it_and_nothing_else(
    suite: str, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(CASES)
    done = pytester.runpytest_subprocess("-v", "--roce-target", "model", "--roce-suite", suite)
    done.assert_outcomes(passed=len(MEMBERS[suite]), deselected=5 - len(MEMBERS[suite]))
    done.stdout.fnmatch_lines([f"*test_{name} PASSED*" for name in sorted(MEMBERS[suite])])


@pytest.mark.parametrize("suite", MEMBERS)
def test_every_suite_tests_every_width(suite: str) -> None:
    assert widths_of(Options(target="hdl", dut=REFERENCE_DUT, suite=suite)) == (64, 512)
    assert widths_of(Options(target="hdl", suite=suite, width=(512,))) == (512,)


def test_a_long_case_is_replayed_in_its_suite() -> None:
    replay = Options(target="hdl", suite="long").replay("test_x.py::test_y")
    assert "--suite long" in replay
    assert "--suite" not in Options(target="hdl").replay("test_x.py::test_y")
