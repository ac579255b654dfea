# SPDX-License-Identifier: BSD-2-Clause
"""What is printed to repeat a case can be pasted into a shell, whatever the case is called."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from own_cases import Suite

from roceproof.conformance.runner.session.names import expression_for, plain_name

NAMES = {
    "test_one": "test_one",
    "test_one[RC-64bit]": "test_one[RC-64bit]",
    "test_one[{'tx_stall': 50}-RC]": "test_one[tx_stall_50-RC]",
    "test_one[(4, 2)]": "test_one[4_2]",
    "test_one[the same]": "test_one[the_same]",
    "test_one[a[0]]": "test_one[a_0]",
    "test_one[--1]": "test_one[--1]",
    "test_one[a/b\\c:d;$(e)'\"]": "test_one[a_b_c_d_e]",
    "test_one[]": "test_one[]",
}
ODD = """
import pytest

@pytest.mark.parametrize("what", [
    "a b", "a_b", "a[0]", "(4, 2)", "not", "x and y", "$(touch pasted)", "'", '"', ";", "\\\\", "",
], ids=str)
@case("PSN-02", needs=[Capability.RC])
def test_one(bench, what):
    assert False
"""


@pytest.mark.parametrize(("name", "plain"), NAMES.items())
def test_a_name_has_nothing_that_a_shell_or_an_expression_reads(name: str, plain: str) -> None:
    assert plain_name(name) == plain
    assert expression_for(f"x/test_a.py::{plain}") == f"test_a and {plain}"


def test_a_file_that_cannot_be_named_in_an_expression_is_left_out() -> None:
    assert expression_for("my cases.py::test_one[1]") == "test_one[1]"


@pytest.mark.whole
def test_every_line_can_be_pasted_and_runs_its_case(suite: Callable[[str], Suite]) -> None:
    mine = suite(ODD)
    done = mine.run("--target", "model", "-j1")
    assert done.returncode == 1, done.stderr
    cases = mine.results()
    names = [case["case"] for case in cases]
    assert len(set(names)) == len(names) == 12
    assert all(re.fullmatch(r"test_one\[[\w.+\\-]*\]", name) for name in names), names
    for case in cases[:: len(cases) - 1]:
        again = mine.paste(case["replay"])
        assert again.returncode == 1, again.stderr
        assert f"FAIL test_mine.py::{case['case']}\n" in again.stdout
        assert again.stdout.count("FAIL ") == 1
    assert not list(mine.folder.rglob("pasted"))
