# SPDX-License-Identifier: BSD-2-Clause
"""`roceproof test`: what passes, how it fails, and what it leaves behind."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from own_cases import COMMAND, Suite

from roceproof.conformance.capture.reader import read

Make = Callable[[str], Suite]

PASSING = """
@case("PSN-02", needs=[Capability.WRITE])
def test_two_messages(bench):
    qp = bench.connect(path_mtu=256)
    qp.transfer(Op.WRITE, 700)
    qp.transfer(Op.WRITE, 5)
"""
FAILING = """
@case("PSN-02")
def test_wants_too_much(bench):
    qp = bench.connect(path_mtu=256)
    qp.post(Op.WRITE, 700)
    qp.expect(WRITE_FIRST(psn=0), WRITE_MIDDLE(psn=2, payload=200))
"""


def test_a_passing_case_leaves_no_capture_and_exit_code_0(suite: Make) -> None:
    mine = suite(PASSING)
    done = mine.run("--target", "model", "-j1")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    assert not mine.captures()


def test_a_failing_case_says_want_got_frames_rules_capture_and_replay(suite: Make) -> None:
    mine = suite(FAILING)
    done = mine.run("--target", "model", "-j1", "-q")
    assert done.returncode == 1
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert "want  WRITE_MIDDLE psn=+2 payload=200" in lines
    assert any(line.startswith("got   WRITE_MIDDLE psn=+1 payload=256") for line in lines)
    assert "psn: want +2, got +1" in lines
    assert any(
        line.endswith("us < WRITE_FIRST psn=+0") or "WRITE_FIRST psn=+0" in line for line in lines
    )
    assert "rules: PSN-02" in lines
    capture = next(line for line in lines if line.startswith("capture: ")).split()[1]
    assert len(list(read(Path(capture)))) >= 2
    assert Path(capture).with_suffix(".qps.json").exists()
    replay = next(line for line in lines if line.startswith("replay: ")).partition(" ")[2]
    again = subprocess.run(
        [COMMAND, *shlex.split(replay)[1:], "-q", "-j1", "--out", mine.folder / "again"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 1
    assert "psn: want +2, got +1" in again.stdout


def test_junit_has_the_rules_and_the_failure(suite: Make) -> None:
    mine = suite(PASSING + FAILING)
    assert mine.run("--target", "model").returncode == 1
    root = ElementTree.parse(mine.folder / "out" / "junit.xml").getroot()
    cases = list(root.iter("testcase"))
    assert [case.get("name") for case in cases] == ["test_two_messages", "test_wants_too_much"]
    properties = {p.get("name"): p.get("value") for p in cases[1].iter("property")}
    assert properties["rules"] == "PSN-02"
    assert properties["replay"].startswith("roceproof test ")
    failure = cases[1].find("failure")
    assert failure is not None
    assert "want +2, got +1" in (failure.text or "")


@pytest.mark.sampled(every=2)
@pytest.mark.sim
@pytest.mark.parametrize("target", ["model", "hdl"])
def test_the_same_seed_gives_the_same_captures_and_results(suite: Make, target: str) -> None:
    mine = suite(PASSING + FAILING)
    for out, jobs in (("one", "1"), ("two", "2")):
        done = mine.run("--target", target, "--keep-all", "--seed", "9", "-j", jobs, out=out)
        assert done.returncode == 1
    files = [path.name for path in mine.captures("one")]
    assert len(files) >= 2
    for name in files:
        one, two = ((mine.folder / out / name).read_bytes() for out in ("one", "two"))
        assert one == two, name
    one, two = ((mine.folder / out / "results.json").read_text() for out in ("one", "two"))
    assert one == two.replace(str(mine.folder / "two"), str(mine.folder / "one"))


@pytest.mark.slow
def test_another_seed_draws_other_numbers(suite: Make) -> None:
    mine = suite(PASSING)
    for out, seed in (("one", "1"), ("two", "2")):
        mine.run("--target", "model", "--keep-all", "--seed", seed, "-j1", out=out)
    one, two = (mine.captures(out)[0].read_bytes() for out in ("one", "two"))
    assert one != two


def test_what_a_target_does_not_claim_is_skipped_with_that_reason(suite: Make) -> None:
    mine = suite(
        """
        @case("READ-01", needs=[Capability.READ])
        def test_reads(bench):
            bench.connect().post(Op.READ, 5)
        """
    )
    done = mine.run("--target", "hdl", "-j1", "--width", "64")
    assert done.returncode == 0
    assert "1 skipped: reference does not send RDMA READ" in done.stdout


def test_a_skip_for_an_unknown_reason_is_an_error(suite: Make) -> None:
    mine = suite("import pytest\ndef test_lazy(bench):\n    pytest.skip('no time')\n")
    done = mine.run("--target", "model", "-j1")
    assert done.returncode == 2
    assert "skipped for an unknown reason" in done.stdout
    assert "1 error" in done.stdout


def test_a_case_that_names_no_rule_of_the_table_is_refused(suite: Make) -> None:
    mine = suite("@case('PSN-99')\ndef test_it(bench): ...\n")
    done = mine.run("--target", "model", "-j1")
    assert done.returncode == 2
    assert "PSN-99 is no rule" in done.stderr


def test_nothing_to_run_is_an_error_of_usage(suite: Make) -> None:
    done = suite(PASSING).run("--target", "model", "-k", "nothing_like_it", "-j1")
    assert done.returncode == 2
    assert "fits no case" in done.stderr


def test_json_is_one_document(suite: Make) -> None:
    mine = suite(PASSING)
    done = mine.run("--target", "model", "--json", "-q", "-j1")
    document = json.loads(done.stdout)
    assert document["cases"][0]["outcome"] == "passed"
    assert document["cases"][0]["rules"] == ["PSN-02"]


@pytest.mark.slow  # a build of its own
@pytest.mark.sim
def test_waves_of_one_case_on_demand(suite: Make) -> None:
    mine = suite(PASSING)
    done = mine.run("--target", "hdl", "--width", "64", "--waves", "-k", "two_messages", "-j1")
    assert done.returncode == 0, done.stderr
    assert list((mine.folder / "out").glob("*.fst"))


def test_the_observer_judges_behind_a_case_that_sees_nothing(suite: Make) -> None:
    mine = suite(
        """
        @case("OPC-01")
        def test_looks_away(bench):
            qp = bench.connect(path_mtu=256)
            qp.post(Op.WRITE, 300)
            bench.settle()
        """
    )
    assert mine.run("--target", "model", "-j1").returncode == 0
    done = mine.run("--target", "model", "-j1", "--mutant", "icrc-s46")
    assert done.returncode == 1
    assert "the observer says" in done.stdout


def test_the_plug_in_sleeps_without_a_target(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text("def test_other():\n    pass\n")
    done = subprocess.run(
        [COMMAND.with_name("python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "target" not in done.stdout


def test_plain_pytest_runs_cases_with_the_header(suite: Make) -> None:
    mine = suite(PASSING)
    done = subprocess.run(
        [
            *(COMMAND.with_name("python"), "-m", "pytest", "-p", "no:cacheprovider"),
            *(mine.folder, "--roce-target", "model", "--roce-seed", "7"),
        ],
        cwd=mine.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "suite full, seed 7" in done.stdout
    assert "cases/s" in done.stdout


HOSTILE = """
def test_red(bench):
    assert False, "\\x1b[31m red \\u202e \\ud800"


def test_fail(bench):
    pytest.fail("\\x1b[2J its own words")


def test_breaks(bench):
    raise ValueError("\\x1b]0;owned\\x07 \\ud800")
"""


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_what_a_case_says_is_told_and_steers_nothing(suite, jobs: str) -> None:
    mine = suite("import pytest\n" + HOSTILE)
    done = mine.run("--target", "model", jobs)
    assert done.returncode == 1, done.stderr
    said = done.stdout + done.stderr
    assert "\x1b" not in said and "\u202e" not in said and "without a word" not in said
    assert "shows: \\x1b[31m red \\u202e \\ud800\n" in said
    assert "shows: \\x1b[2J its own words" in said
    assert "ValueError: \\x1b]0;owned\\x07 \\ud800" in said
