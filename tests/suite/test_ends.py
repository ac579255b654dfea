# SPDX-License-Identifier: BSD-2-Clause
"""However a suite ends early, what came of the cases until then is told, and nothing is left."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from own_cases import COMMAND, Suite

Make = Callable[[str], Suite]

MARK = "ROCEPROOF_TEST_MARK"
BEGIN_S, END_S = 240.0, 60.0
# Cases that pass at once, until one says that it has begun and waits.
WAITING = """
import time
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range(12))
@case("PSN-02", needs=[Capability.RC])
def test_one(bench, number):
    bench.connect()
    begun = Path(__file__).with_name("begun")
    if number % 6 == 5:
        begun.touch()
        time.sleep(300)
"""
DYING = """
import os, signal
import pytest

@pytest.mark.parametrize("number", range(6))
@case("PSN-02")
def test_one(bench, number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@dataclass
class Run:
    """A run of the command in a session of its own, and all that belongs to it."""

    suite: Suite
    scratch: Path
    mark: str
    process: subprocess.Popen[str]

    def wait_for(self, name: str) -> None:
        deadline = time.monotonic() + BEGIN_S
        while not (self.suite.folder / name).exists():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def end(self) -> tuple[int, str, str]:
        out, errors = self.process.communicate(timeout=END_S)
        return self.process.returncode, out, errors

    def document(self) -> dict[str, Any]:
        return dict(json.loads((self.suite.folder / "out" / "results.json").read_text()))

    def leftovers(self) -> list[str]:
        """Processes and files that should be gone."""
        found = [str(path) for path in self.scratch.rglob("*") if path.name != "ccache-tmp"]
        for directory in Path("/proc").iterdir():
            try:
                ours = f"{MARK}={self.mark}".encode() in (directory / "environ").read_bytes()
                command = (
                    (directory / "cmdline")
                    .read_bytes()
                    .replace(b"\0", b" ")
                    .decode(errors="replace")
                )
            except OSError:
                continue
            if ours and command:
                found.append(command)
        return found


@pytest.fixture
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Run]]:
    runs: list[Run] = []

    def start(suite: Suite, *arguments: str) -> Run:
        scratch = tmp_path_factory.mktemp("s")
        mark = secrets.token_hex(8)
        process = subprocess.Popen(
            [COMMAND, "test", suite.folder, "--out", suite.folder / "out", *arguments],
            env={
                **os.environ,
                MARK: mark,
                "TMPDIR": str(scratch),
                "XDG_RUNTIME_DIR": str(scratch),
                "CCACHE_TEMPDIR": str(scratch.with_name("ccache")),
                "NO_COLOR": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        runs.append(Run(suite, scratch, mark, process))
        return runs[-1]

    yield start
    for run in runs:
        if run.process.poll() is None:
            run.process.kill()
            run.process.communicate()


def check_interrupted(run: Run, kind: int = signal.SIGINT) -> None:
    code, out, errors = run.end()
    assert code == 128 + kind, errors
    assert errors.splitlines()[-1] == "roceproof: interrupted"
    assert "Traceback" not in errors
    document = run.document()
    ran = len(document["cases"])
    assert document["interrupted"] is True
    assert ran >= 5
    assert document["not_run"] == 12 - ran
    assert {case["outcome"] for case in document["cases"]} == {"passed"}
    assert f"suite, interrupted: {ran} passed, {12 - ran} not run" in out
    junit = ElementTree.parse(run.suite.folder / "out" / "junit.xml").getroot()
    assert len(list(junit.iter("testcase"))) == ran
    assert [p.attrib for p in junit.iter("property") if p.get("name") == "interrupted"]
    assert run.leftovers() == []


@pytest.mark.sampled(every=4)  # one worker and two, the process and the group
@pytest.mark.parametrize("to", [os.kill, os.killpg])
@pytest.mark.parametrize(
    ("kind", "jobs"), [(signal.SIGINT, 1), (signal.SIGTERM, 2), (signal.SIGINT, 2)]
)
def test_an_interruption_is_told_with_what_came_until_then(
    suite: Make, start: Callable[..., Run], to, kind, jobs
) -> None:
    run = start(suite(WAITING), "--target", "model", "-j", str(jobs))
    run.wait_for("begun")
    to(run.process.pid, kind)
    check_interrupted(run, kind)


@pytest.mark.sim
@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("jobs", [2, 1])
def test_an_interruption_ends_simulations(suite: Make, start: Callable[..., Run], jobs) -> None:
    run = start(suite(WAITING), "--target", "hdl", "--width", "64", "-j", str(jobs))
    run.wait_for("begun")
    os.killpg(run.process.pid, signal.SIGINT)
    check_interrupted(run)


@pytest.mark.rxe
@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interruption_ends_machines(suite: Make, start: Callable[..., Run], jobs) -> None:
    run = start(suite(WAITING), "--target", "rxe", "-j", str(jobs))
    run.wait_for("begun")
    os.killpg(run.process.pid, signal.SIGTERM)
    check_interrupted(run, signal.SIGTERM)


@pytest.mark.slow
def test_an_impatient_ctrl_c_does_not_cut_the_tidying_short(
    suite: Make, start: Callable[..., Run]
) -> None:
    run = start(suite(WAITING), "--target", "model")
    run.wait_for("begun")
    while run.process.poll() is None:
        os.killpg(run.process.pid, signal.SIGINT)
        time.sleep(0.05)
    check_interrupted(run)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interruption_while_cases_are_collected(
    suite: Make, start: Callable[..., Run], jobs
) -> None:
    slowly = (
        "import time\nfrom pathlib import Path\n"
        "Path(__file__).with_name('begun').touch()\ntime.sleep(300)\n"
    )
    mine = suite(slowly)
    run = start(mine, "--target", "model", "-j", str(jobs))
    run.wait_for("begun")
    os.killpg(run.process.pid, signal.SIGINT)
    code, out, errors = run.end()
    assert code == 128 + signal.SIGINT, errors
    assert errors.splitlines()[-1] == "roceproof: interrupted"
    assert "Traceback" not in errors
    assert "interrupted: no case had run" in out
    assert (run.document()["interrupted"], run.document()["cases"]) == (True, [])
    assert run.leftovers() == []


def test_a_case_that_breaks_by_itself_accuses_no_device(suite: Make) -> None:
    mine = suite('@case("PSN-02")\ndef test_one(bench):\n    bench.no_such_thing()\n')
    done = mine.run("--target", "model")
    assert done.returncode == 2
    (case,) = mine.results()
    assert case["outcome"] == "error"
    assert "no attribute 'no_such_thing' (test_mine.py:" in case["case_broke"]
    assert "1 broke by themselves, whatever the device: AttributeError" in done.stdout
    assert "1 error" in done.stdout and "show" not in done.stdout


def test_a_case_that_breaks_by_itself_shows_no_deviation(suite: Make) -> None:
    mine = suite('@case("PSN-02")\ndef test_one(bench):\n    bench.no_such_thing()\n')
    (mine.folder / "conftest.py").write_text(
        "from roceproof.conformance.runner import plugin\n"
        "from roceproof.conformance.suite.limits.deviations import load_deviations\n"
        "plugin.declared = lambda identity, name: load_deviations()[0]\n"
    )
    assert mine.run("--target", "model", "-j", "1").returncode == 2
    (case,) = mine.results()
    assert case["outcome"] == "error"
    assert "deviation" not in case


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_cases_that_two_files_call_alike_are_two(suite: Make, jobs: str) -> None:
    mine = suite('@case("PSN-02")\ndef test_one(bench):\n    assert False\n')
    passing = mine.folder / "test_other.py"
    passing.write_text((mine.folder / "test_mine.py").read_text().replace("assert False", "pass"))
    done = subprocess.run(
        [COMMAND, "test", "--target", "model", "test_mine.py", "test_other.py", jobs],
        cwd=mine.folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert "1 passed, 1 failed" in done.stdout
    assert "-k 'test_mine and test_one'" in done.stdout
    assert done.returncode == 1


def test_a_case_that_its_writer_expects_to_fail_is_told_with_the_reason(suite: Make) -> None:
    mine = suite(
        """
        import pytest

        @case("PSN-02")
        @pytest.mark.xfail(reason="\\x1b[31mticket 1")
        def test_one(bench):
            assert False

        @case("PSN-02")
        @pytest.mark.xfail(reason="ticket 2")
        def test_two(bench):
            pass
        """
    )
    done = mine.run("--target", "model", "-j", "1")
    assert done.returncode == 0, done.stderr
    assert "1 show the known deviation xfail: \\x1b[31mticket 1\n" in done.stdout
    assert [case["outcome"] for case in mine.results()] == ["deviation", "passed"]


def test_a_bracket_in_the_place_of_a_case_is_one_line(suite: Make) -> None:
    mine = suite("")
    odd = mine.folder / "test_[1].py"
    odd.touch()
    words = [COMMAND, "test", odd, "--target", "model", "-q", "--out", mine.folder / "out"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "rename it" in done.stderr


def test_a_worker_that_is_killed_is_an_error_of_its_case(suite: Make) -> None:
    mine = suite(DYING)
    done = mine.run("--target", "model", "-j2")
    assert done.returncode == 2
    assert "its worker died twice (killed by SIGKILL)" in done.stdout
    assert "test_one[3]" in done.stdout
    assert "5 passed, 1 error" in done.stdout
    outcomes = {case["case"]: case["outcome"] for case in mine.results()}
    assert outcomes.pop("test_one[3]") == "error"
    assert set(outcomes.values()) == {"passed"}
    assert len(outcomes) == 5


def test_a_case_whose_worker_is_killed_by_something_else_runs_again(suite: Make) -> None:
    once = DYING.replace("import os", "from pathlib import Path\nimport os").replace(
        "    if number == 3:\n",
        """    begun = Path(__file__).with_name("begun")
    if number == 3 and not begun.exists():
        begun.touch()
""",
    )
    mine = suite(once)
    done = mine.run("--target", "model", "-j2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a worker died (killed by SIGKILL) in " in done.stderr
    assert {case["outcome"] for case in mine.results()} == {"passed"}
    assert len(mine.results()) == 6


BEYOND = """
from roceproof.conformance.targets.interface import Beyond

@case("PSN-02", needs=[Capability.RC])
def test_one(bench):
    qp = bench.connect()
    qp.post(Op.WRITE, 700)
    bench.settle()
    raise Beyond("it holds no more")
"""


@pytest.mark.parametrize(
    ("mutant", "outcome"), [(None, "skipped"), ("bth-pkey-of-reset", "failed")], ids=str
)
def test_what_a_case_has_seen_before_it_meets_a_limit_is_judged(
    suite: Make, mutant: str | None, outcome: str
) -> None:
    mine = suite(BEYOND)
    mine.run("--target", "model", "-j1", *(["--mutant", mutant] if mutant else []))
    assert [case["outcome"] for case in mine.results()] == [outcome]
