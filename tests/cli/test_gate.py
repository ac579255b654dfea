# SPDX-License-Identifier: BSD-2-Clause
"""The verdict of a gate: what fails has a name, a baseline excuses it, and every file says so."""

from __future__ import annotations

import json
import tomllib
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browser import DESKTOP, PHONE, resize, start_browser
from gate_documents import DUT, FAILING, PASSING, REPLAY, case, judged, session
from selenium.webdriver.common.by import By

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REPOSITORY
from roceproof.conformance.gate.document import Baseline, read_baseline
from roceproof.conformance.gate.guest import Landed
from roceproof.conformance.gate.junit import add_to_junit
from roceproof.conformance.gate.page import page
from roceproof.conformance.gate.proposals import proposals_of
from roceproof.conformance.gate.soak import Soaked, take
from roceproof.conformance.gate.stories import stories_of
from roceproof.conformance.gate.text import print_gate
from roceproof.conformance.runner.connectivity import Check
from roceproof.conformance.runner.outcomes import FAILED
from roceproof.conformance.runner.plan_player import PlanFinding
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.stimulus.plan import Plan
from roceproof.dpi import load_manifest
from roceproof.verbs.limits import Limits

PASS, FAIL, UNUSABLE, NO_BUILD = 0, 1, 2, 3
STORY = {"text": "want  psn=+1\ngot   psn=+2", "ladder": "1 ├─ WRITE ▶", "capture": "psn.pcapng"}


def test_a_device_passes_if_nothing_fails_and_what_was_left_out_is_told(capsys) -> None:
    document = judged(PASSING)
    assert (document["verdict"], document["failures"]) == ("pass", [])
    assert document["limits"] == [
        "sends UC: WRITE, WRITE_IMM",
        "no responder: nothing can be sent to it",
        "nothing is repeated",
        "queue pairs: 2",
    ]
    print_gate(document, out=Path("out"), quiet=False)
    told = capsys.readouterr().out
    for words in ("1 skipped: it has no RC", "7 of 9 bins", "--no-guest", "PASS uc_writer"):
        assert words in told
    print_gate(document, out=Path("out"), quiet=True)
    assert capsys.readouterr().out == ""


ROW = {"service": "UC", "path_mtu": 1024, "operation": "WRITE", "landed": 3, "messages": 4}
DEAF = Check(name="frame", says="it sends", outcome=FAILED, words="want a frame\ngot nothing")


@pytest.mark.parametrize(
    ("told", "more", "failures"),
    [
        (FAILING, {}, ["case test_mine.py::test_psn"]),
        (session(case("test_a", "not_reached")), {}, ["case test_mine.py::test_a"]),
        (None, {"checks": {64: [DEAF]}}, ["connectivity 64bit frame"]),
        (
            PASSING,
            {
                "soaked": Soaked(
                    findings=[
                        {
                            "seed": 7,
                            "width": 64,
                            "case": "c",
                            "rules": [],
                            "head": "no",
                            "story": "s",
                            "replay": "",
                        }
                    ]
                )
            },
            ["plan 64bit 7"],
        ),
        (PASSING, {"landed": Landed(outcome=FAILED, rows=[ROW])}, ["guest UC 1024 WRITE"]),
        (PASSING, {"landed": Landed(outcome=FAILED, findings=["ICRC"])}, ["guest frames"]),
        (PASSING, {"landed": Landed(outcome=FAILED, words="it died")}, ["guest end"]),
        (
            {**PASSING, "waivers": [{"rule": "PSN-01", "case": None, "finding": "expired"}]},
            {},
            ["waiver PSN-01"],
        ),
    ],
)
def test_what_fails_at_any_stage_has_a_name(told, more, failures) -> None:
    document = judged(told, **more)
    assert (document["verdict"], document["failures"]) == ("fail", failures)


def test_a_plan_that_breaks_only_what_is_waived_fails_nothing_and_is_told(capsys) -> None:
    plan = {"seed": 7, "width": 64, "rules": ["IP-04"], "waived": ["waived until ..."]}
    waived = Soaked(plans=3, waived=[plan])
    document = judged(PASSING, soaked=waived)
    assert document["verdict"] == "pass"
    print_gate(document, out=Path("out"), quiet=False)
    assert "3 played, 0 fail, 1 waived" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rules", "came"),
    [(("PAD-02",), (0, 1)), (("PAD-02", "PSN-02"), (1, 0)), ((), (1, 0))],
    ids=["no must", "a must, too", "of no rule"],
)
def test_a_plan_that_breaks_no_must_is_a_warning_as_a_case_is(tmp_path, rules, came) -> None:
    soaked = Soaked(plans=1)
    found = PlanFinding(
        seed=7, rules=rules, head="pad is 1", text="it", story="s", plan=Plan(steps=())
    )
    take(soaked, found, 64, out=tmp_path, options=Options(target="hdl", dut=DUT), reasons=[])
    assert (len(soaked.findings), len(soaked.warned)) == came
    assert (tmp_path / "test_found_64bit_7.py").read_text() == "it"
    document = judged(PASSING, soaked=soaked)
    assert document["verdict"] == ("fail" if came[0] else "pass")
    warned = {"case": "test_found_64bit_7.py", "file": "test_found_64bit_7.py"}
    assert document["warnings"] == [{**warned, "broken": [*rules], "warning": "pad is 1"}] * came[1]
    stories = [STORY] * len(document["findings"])
    assert ("<li>PAD-02: test_found_64bit_7.py: pad is 1" in page(document, stories)) is bool(
        came[1]
    )


def test_a_waiver_that_only_a_plan_needs_is_of_use(tmp_path) -> None:
    stale = {"rule": "IP-04", "case": None, "expired": False, "finding": "it waived nothing"}
    plan = {"seed": 7, "width": 64, "rules": ["IP-04"], "waived": ["waived until ..."]}
    told = {**PASSING, "waivers": [stale]}
    assert judged(told)["failures"] == ["waiver IP-04"]
    document = judged(told, soaked=Soaked(plans=3, waived=[plan]))
    assert document["verdict"] == "pass"
    path = tmp_path / "junit.xml"
    path.write_text(
        '<testsuites><testsuite name="pytest" tests="2" failures="1"><testcase name="a"/>'
        '<testcase classname="waivers" name="IP-04"><failure message="it waived nothing"/>'
        "</testcase></testsuite></testsuites>"
    )
    add_to_junit(path, document)
    suite = ElementTree.parse(path).getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")
    assert [case.get("name") for case in suite] == ["a"]


def test_against_a_baseline_only_what_is_new_fails_and_what_is_better_is_told(
    tmp_path, capsys
) -> None:
    path = tmp_path / "gate.json"
    path.write_text(json.dumps(judged(FAILING)))
    baseline = read_baseline(path)
    same = judged(FAILING, baseline=baseline)
    assert (same["verdict"], same["baseline"]["new"]) == ("pass", [])
    better = judged(PASSING, baseline=baseline)
    assert better["baseline"]["better"] == ["case test_mine.py::test_psn"]
    worse = session(*FAILING["cases"][:1], case("test_mtu", "failed"))
    document = judged(worse, baseline=baseline)
    assert (document["verdict"], document["baseline"]["new"]) == (
        "fail",
        ["case test_mine.py::test_mtu"],
    )
    print_gate(document, out=tmp_path, quiet=False)
    told = capsys.readouterr().out
    assert "1 failures are known" in told
    assert "1 new: case test_mine.py::test_mtu" in told


def test_streams_are_told_of_the_first_finding_alone(capsys) -> None:
    document = judged(FAILING)
    (finding,) = document["findings"]
    document["findings"] = [{**finding, "streams": [f"stream {n}"]} for n in range(2)]
    print_gate(document, out=Path("out"), quiet=False)
    told = capsys.readouterr().out
    assert "\n     stream 0\n" in told
    assert "stream 1" not in told


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"schema": 9, "failures": []}'])
def test_what_is_no_baseline_is_refused(tmp_path, text: str) -> None:
    path = tmp_path / "gate.json"
    path.write_text(text)
    with pytest.raises(RoceproofError, match=r"gate\.json is no gate\.json"):
        read_baseline(path)


def test_junit_has_the_stages_beside_the_cases(tmp_path) -> None:
    path = tmp_path / "junit.xml"
    landed = Landed(outcome=FAILED, rows=[ROW], words="it died")
    for _ in range(2):  # without a file, and with one
        add_to_junit(path, judged(None, checks={64: [DEAF]}, landed=landed))
    *_, suite = ElementTree.parse(path).getroot()
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == ["3", "3", "0"]
    assert "got nothing" in (next(suite.iter("failure")).text or "")


JUNIT = """\
<testsuites><testsuite name="cases" tests="4" failures="2" errors="1" skipped="0">
<testcase classname="test_mine" name="test_psn"><failure message="no">want 1</failure></testcase>
<testcase classname="test_mine" name="test_new"><failure message="no">want 2</failure></testcase>
<testcase classname="test_mine" name="test_end"><error message="gone">a crash</error></testcase>
<testcase classname="test_mine" name="test_mtu"/></testsuite></testsuites>
"""


def test_in_junit_what_the_baseline_knows_is_a_skip_and_what_is_new_fails(tmp_path) -> None:
    path = tmp_path / "junit.xml"
    path.write_text(JUNIT)
    known = ["case test_mine.py::test_psn", "case test_mine.py::test_end", "plan 64bit 7"]
    plans = [
        {"seed": n, "width": 64, "case": "c", "rules": [], "head": "no", "story": "s", "replay": ""}
        for n in (7, 8)
    ]
    failing = session(
        case("test_psn", "failed"), case("test_new", "failed"), case("test_end", "error")
    )
    document = judged(
        failing,
        baseline=Baseline("old.json", frozenset(known)),
        soaked=Soaked(findings=plans),
        landed=Landed(outcome=FAILED, words="it died"),
    )
    add_to_junit(path, document)
    cases, gate = ElementTree.parse(path).getroot()
    counts = ("tests", "failures", "errors", "skipped")
    assert [cases.get(name) for name in counts] == ["4", "1", "1", "1"]
    skipped = [(each.get("message"), each.text) for each in cases.iter("skipped")]
    assert skipped == [("known: no", "want 1")]  # what says nothing of a device nobody knows
    assert [gate.get(name) for name in counts] == ["4", "2", "0", "1"]  # a plan, the guest's end
    texts = [story["text"] for story in stories_of(document, junit=path, out=tmp_path)]
    assert texts == ["want 1", "s"]  # of the plans, which fail alike


def test_lines_of_a_manifest_are_proposed_for_what_may_be_a_limit() -> None:
    document = judged(FAILING)
    assert "# Nothing: no finding is a limit" in proposals_of(document)
    (finding,) = document["findings"]
    limit = {"sentence": "show: pad", "cases": ["a", "b"], "count": 2}
    lines = ["[limits] length_multiple = 4", "[fixed] hop_limit = 64"]
    document["findings"].append({**finding, **limit, "manifest": lines})
    other = {"sentence": "stop: a WRITE of 5 bytes never came", "cases": ["b"], "count": 1}
    document["findings"].append({**finding, **other, "manifest": lines[:1]})
    told = proposals_of(document)
    assert "With all of it 1 of 3 failing cases would still fail." in told
    read = tomllib.loads(told)
    assert read == {"limits": {"length_multiple": 4}, "fixed": {"hop_limit": 64}}
    assert "# 2 cases show: pad\nhop_limit = 64\n" in told


@pytest.mark.parametrize(
    ("proposed", "told"), [("[1, 2147483648]", [4, 4096]), ("[0, 512]", [4, 512])]
)
def test_lengths_are_proposed_within_those_that_the_manifest_claims(
    proposed: str, told: list[int]
) -> None:
    claims = replace(load_manifest(DUT), limits=Limits(shortest=4, longest=4096))
    run = deepcopy(FAILING)
    run["findings"][0]["manifest"] = [f"[limits] length = {proposed}", "[fixed] hop_limit = 64"]
    document = judged(run, manifest=claims)
    assert tomllib.loads(proposals_of(document))["limits"] == {"length": told}


def test_limits_that_several_findings_ask_for_stand_once_and_forbid_what_any_forbids() -> None:
    document = judged(FAILING)
    (finding,) = document["findings"]
    for lines in (
        ["length = [1, 2147483648]", "outstanding_messages = 4", "path_mtus = [256, 512]"],
        ["length = [0, 4096]", "outstanding_messages = 1", "path_mtus = [512, 1024]"],
        ["length_multiple = 4", 'per_queue_pair = ["rkey"]', "outstanding_shared = true"],
        ["length_multiple = 8", 'per_queue_pair = ["immediate"]'],
    ):
        told = [f"[limits] {line}" for line in lines]
        document["findings"].append({**finding, "manifest": told})
    assert tomllib.loads(proposals_of(document))["limits"] == {
        "length": [1, 4096],
        "outstanding_messages": 1,
        "path_mtus": [512],
        "length_multiple": 8,
        "per_queue_pair": ["immediate", "rkey"],
        "outstanding_shared": True,
    }


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_page_shows_verdict_and_causes_and_nothing_sticks_out(tmp_path, size) -> None:
    file = tmp_path / "gate.html"
    landed = Landed(outcome=FAILED, rows=[ROW], words="it died", details=["cpl_valid_o is low"])
    document = judged(FAILING, landed=landed)
    file.write_text(page(document, [STORY]), encoding="utf-8")
    browser = start_browser()
    try:
        resize(browser, size)
        browser.get(file.as_uri())
        assert browser.find_element(By.TAG_NAME, "h1").text == "FAIL uc_writer, 64 bit"
        cause = browser.find_element(By.CSS_SELECTOR, "details.finding")
        for words in (
            "1. 1 case shows in every packet",
            "got <2>",
            "got   psn=+2",
            REPLAY,
            "WRITE",
            "WAITS for the device",
        ):
            assert words in cause.text
        assert cause.find_element(By.TAG_NAME, "a").get_attribute("href").endswith("psn.pcapng")
        text = browser.find_element(By.TAG_NAME, "main").text
        for words in (
            "1 failed, 1 passed",
            "cpl_valid_o is low",
            "3 of 4",
            "queue pairs: 2",
            "PSN",
            "7 of 9",
        ):
            assert words in text
        outcome = browser.find_element(By.CSS_SELECTOR, ".stages td")
        assert outcome.rect["x"] + outcome.rect["width"] <= size[0]
        width = browser.execute_script(
            "document.querySelectorAll('details').forEach(each => each.open = true);"
            "return document.documentElement.scrollWidth"
        )
        assert width <= size[0]
        assert browser.get_log("browser") == []
    finally:
        browser.quit()


def test_a_device_that_does_not_build_ends_with_3_and_a_wrong_manifest_with_2(
    console, tmp_path
) -> None:
    out = str(tmp_path / "out")
    assert console.run("gate", str(tmp_path / "gone.toml"), "--out", out).returncode == UNUSABLE
    (tmp_path / "broken.sv").write_text("module mine(input x; endmodule\n")
    manifest = tmp_path / "dut.toml"
    manifest.write_text(
        'schema = 2\nname = "mine"\ntop = "mine"\nsources = ["broken.sv"]\nclock_ps = 6400\n'
        'data_widths = [64]\n[capabilities]\nRC = ["WRITE"]\n'
    )
    run = console.run("gate", str(manifest), "--out", out)
    assert (run.returncode, run.stdout) == (NO_BUILD, "")
    assert "broken.sv" in run.stderr


@pytest.mark.sim
@pytest.mark.slow
def test_the_example_passes_and_its_buggy_copy_only_against_its_own_baseline(
    console, tmp_path
) -> None:
    words = ("--suite", "smoke", "--no-guest", "--plans", "2")
    good = console.run("gate", str(DUT), "--out", str(tmp_path / "good"), *words)
    assert good.returncode == PASS, good.stdout + good.stderr
    assert list((tmp_path / "good" / "requests").glob("*_64bit*.pcapng"))
    buggy = str(REPOSITORY / "examples" / "uc_writer_buggy" / "dut.toml")
    before = tmp_path / "before"
    bad = console.run("gate", buggy, "--out", str(before), *words)
    assert bad.returncode == FAIL
    assert "ICRC-02" in bad.stdout
    assert "PAD-01" in bad.stdout
    baseline = str(before / "gate.json")
    later = tmp_path / "later_"  # as long, since sentences are cut to a length
    again = console.run("gate", buggy, "--out", str(later), *words, "--baseline", baseline)
    assert again.returncode == PASS, again.stdout
    kept = json.loads((later / "gate.json").read_text().replace(later.name, before.name))
    told = json.loads((before / "gate.json").read_text())
    assert {**kept, "baseline": None, "verdict": "fail"} == told
