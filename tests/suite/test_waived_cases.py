# SPDX-License-Identifier: BSD-2-Clause
"""`roceproof test --waivers`: a failure whose rules are all waived fails nothing, and says why."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from own_cases import Suite

from roceproof.conformance.regression.waivers import SuiteWaivers, load_suite_waivers
from roceproof.conformance.rules.waivers import WaiverError
from roceproof.conformance.runner.session.options import Options

Make = Callable[[str], Suite]

MANIFEST = """\
schema = 2
name = "mine"
top = "my_top"
sources = ["a.sv"]
clock_ps = 6400
data_widths = [64]
[capabilities]
RC = ["WRITE"]
[[waivers]]
"""
JUNIT = (
    '<testsuites><testsuite tests="1" failures="0" skipped="0">'
    '<testcase classname="test_mine" name="test_psn"/></testsuite></testsuites>'
)

CASES = """
@case("PSN-02")
def test_psn(bench):
    qp = bench.connect(path_mtu=256)
    qp.post(Op.WRITE, 700)
    qp.expect(WRITE_FIRST(psn=0), WRITE_MIDDLE(psn=2))

@case("PSN-02", "MTU-02")
def test_both(bench):
    qp = bench.connect(path_mtu=256)
    qp.post(Op.WRITE, 700)
    qp.expect(WRITE_FIRST(psn=0), WRITE_MIDDLE(psn=2))
"""


def waiver(rule: str, device: str, expires: str = "2999-12-31") -> str:
    return (
        f"[[waiver]]\nrule = '{rule}'\ndevice = '{device}'\nreason = 'as agreed'\n"
        f"expires = {expires}\n"
    )


def test_a_case_is_waived_if_all_that_it_found_broken_is(suite: Make) -> None:
    mine = suite(CASES)
    path = mine.folder / "waivers.toml"
    path.write_text(waiver("PSN-02", "model") + waiver("MTU-02", "rxe"))
    done = mine.run("--target", "model", "-j1", "--waivers", str(path))
    assert done.returncode == 1
    assert "WAIVED test_mine.py::test_psn: PSN-02 waived until 2999-12-31: as agreed" in done.stdout
    assert "FAIL test_mine.py::test_both" in done.stdout
    assert "1 failed, 1 waived" in done.stdout
    assert "the waiver for MTU-02 of rxe waived nothing" in done.stderr
    document = json.loads((mine.folder / "out" / "results.json").read_text())
    assert [case["outcome"] for case in document["cases"]] == ["failed", "waived"]
    assert document["cases"][1]["waived"] == ["waived until 2999-12-31: as agreed"]
    assert [each["waived"] for each in document["waivers"]] == [1, 0]
    (tree,) = ElementTree.parse(mine.folder / "out" / "junit.xml").getroot()
    skipped = {case.get("name"): case.find("skipped") for case in tree.iter("testcase")}
    assert skipped["test_both"] is None
    assert skipped["test_psn"].get("message") == "waived until 2999-12-31: as agreed"
    assert (tree.get("failures"), tree.get("skipped")) == ("1", "1")


def test_a_run_with_nothing_but_waived_failures_ends_well_until_they_expire(suite: Make) -> None:
    mine = suite(CASES)
    path = mine.folder / "waivers.toml"
    path.write_text(waiver("PSN-02", "model"))
    words = ("--target", "model", "-j1", "-q", "-k", "psn", "--waivers", str(path))
    done = mine.run(*words)
    assert (done.returncode, done.stdout) == (0, "")
    path.write_text(waiver("PSN-02", "model", expires="2020-01-01"))
    done = mine.run(*words)
    assert done.returncode == 1
    assert "the waiver for PSN-02 of model expired on 2020-01-01" in done.stdout


def test_a_case_is_waived_by_its_name_whatever_it_breaks(suite: Make) -> None:
    mine = suite(CASES)
    path = mine.folder / "waivers.toml"
    path.write_text(waiver("PSN-02", "model").replace("rule = 'PSN-02'", "case = 'test_both'"))
    words = ("--target", "model", "-j1", "--suite", "full", "--waivers", str(path))
    done = mine.run(*words)
    assert done.returncode == 1
    assert "1 failed, 1 waived" in done.stdout
    document = json.loads((mine.folder / "out" / "results.json").read_text())
    named = {case for finding in document["findings"] for case in finding["cases"]}
    assert named == {"test_psn"}, "what is waived is no finding"
    path.write_text(path.read_text().replace("test_both", "test_neither"))
    done = mine.run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "test_neither is no case" in done.stderr


@pytest.mark.parametrize(
    ("expires", "suite_name", "word"),
    [("2020-01-01", "smoke", "expired on"), ("2999-12-31", "full", "waived nothing")],
)
def test_a_waiver_in_a_manifest_that_is_out_of_date_is_a_finding(
    tmp_path: Path, expires: str, suite_name: str, word: str
) -> None:
    found = suite_findings(
        tmp_path, f"rule = 'PSN-02'\nreason = 'as agreed'\nexpires = {expires}", suite_name
    )
    assert [word in str(each) for each in found] == [True]


def test_an_unused_waiver_is_no_finding_where_not_all_was_tried(tmp_path: Path) -> None:
    text = "rule = 'PSN-02'\nreason = 'as agreed'\nexpires = 2999-12-31"
    assert suite_findings(tmp_path, text, "smoke") == [None]
    with pytest.raises(WaiverError, match=r"dut\.toml: waivers 1 has an unknown key, device"):
        suite_findings(tmp_path, f"{text}\ndevice = 'mine'", "smoke")


LIMITS = "limits = { length_multiple = 4 }\nreason = 'as agreed'\nexpires = "


def test_a_waiver_of_limits_counts_the_cases_that_lie_beyond(tmp_path: Path) -> None:
    beyond = {
        "case": "test_odd",
        "file": "test_mine.py",
        "outcome": "skipped",
        "reason": "roceproof: mine: its lengths are multiples of 4, not 5",
    }
    assert suite_findings(tmp_path, f"{LIMITS}2999-12-31", "full", beyond) == [None]
    (told,) = suite_findings(tmp_path, f"{LIMITS}2999-12-31", "full")
    assert told == "the waiver for length_multiple = 4 waived nothing: as agreed"
    (told,) = suite_findings(tmp_path, f"{LIMITS}2020-01-01", "smoke", beyond)
    assert told == "the waiver for length_multiple = 4 expired on 2020-01-01: as agreed"


def test_limits_are_waived_in_a_manifest_and_only_those_that_leave_something_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "waivers.toml"
    path.write_text(f"[[waiver]]\n{LIMITS}2999-12-31")
    with pytest.raises(WaiverError, match="limits are waived in the manifest"):
        load_suite_waivers(path, Options(target="model"), cases=())
    with pytest.raises(WaiverError, match="a table with some of path_mtus, qps, length_mul"):
        entry = LIMITS.replace("length_multiple = 4", "quiet_cycles = 9") + "2999-12-31"
        suite_findings(tmp_path, entry, "smoke")


def suite_findings(
    folder: Path, entry: str, suite_name: str, *more: dict[str, Any]
) -> list[str | None]:
    """What comes of a manifest's waiver after a run in which one case of its rule has passed."""
    (folder / "a.sv").touch()
    dut = folder / "dut.toml"
    dut.write_text(MANIFEST + entry)
    options = Options(target="hdl", dut=dut, suite=suite_name)
    waivers = load_suite_waivers(None, options, cases=())
    case = {"case": "test_psn", "file": "test_mine.py", "outcome": "passed", "rules": ["PSN-02"]}
    document: dict[str, Any] = {"interrupted": False, "cases": [case, *more]}
    (folder / "junit.xml").write_text(JUNIT)
    SuiteWaivers(waivers, options, is_whole=suite_name == "full").apply(
        document, results=folder / "results.json", junit=folder / "junit.xml"
    )
    found = [each["finding"] for each in document["waivers"]]
    (tree,) = ElementTree.parse(folder / "junit.xml").getroot()
    told = [failure.get("message") for failure in tree.iter("failure")]
    assert told == [each for each in found if each]
    assert (tree.get("tests"), tree.get("failures")) == (str(1 + len(told)), str(len(told)))
    return found
