# SPDX-License-Identifier: BSD-2-Clause
"""The command goes from kernel to kernel; one that is of no use does not keep the others."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from roceproof.common.interruption import SIGNALS, raise_interruptions
from roceproof.conformance.regression import kernels as kernels_command
from roceproof.conformance.regression.kernels import Runs, run_kernels
from roceproof.conformance.regression.request import Output, Request
from roceproof.conformance.regression.run import Session
from roceproof.conformance.regression.waivers import SuiteWaivers
from roceproof.rxe_env import Unavailable

RELEASES = {"6.1": "6.1.0-56-amd64", "6.12": "6.12.117+deb12-amd64", "newest": "7.3.4+deb13-amd64"}


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """Kernels that need no network, and a suite of one case; 7.3 fails it."""
    requests: list[Request] = []

    def find(wanted: str, _: object) -> SimpleNamespace:
        if wanted not in RELEASES:
            raise Unavailable(f"apt has no kernel {wanted}: take another one")
        release = RELEASES[wanted]
        return SimpleNamespace(release=release, directory=Path("kernels", release))

    def run(request: Request, output: Output) -> Session:
        requests.append(request)
        is_new = str(request.kernel).startswith("7.")
        case = {"case": "test_it", "file": "test_a.py", "rules": ["PSN-02"], "broken": ["PSN-02"]}
        document: dict[str, Any] = {
            "target": "rxe",
            "suite": request.suite,
            "seed": request.seed,
            "cases": [{**case, "outcome": "failed" if is_new else "passed"}],
        }
        waivers = SuiteWaivers.__new__(SuiteWaivers)
        return Session(document=document, seconds=1.0, waivers=waivers, is_interrupted=False)

    monkeypatch.setattr(kernels_command.versions, "find", find)
    monkeypatch.setattr(kernels_command.versions, "pinned", RELEASES.__getitem__)
    monkeypatch.setattr(kernels_command, "run_session", run)
    return requests


def runs(out: Path, *kernels: str) -> Runs:
    return Runs(kernels=kernels, suite="full", seed=7, expression=None, out=out, jobs=2, quiet=True)


def test_every_kernel_runs_the_same_suite_and_the_matrix_has_a_column_for_each(
    ran: list[Request], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_kernels(runs(tmp_path, "6.12", "6.1")) == 0
    assert [(each.kernel, each.seed, each.suite) for each in ran] == [
        (RELEASES["6.12"], 7, "full"),
        (RELEASES["6.1"], 7, "full"),
    ]
    document = json.loads((tmp_path / "kernels.json").read_text())
    assert [row["version"] for row in document["devices"]] == ["6.1", "6.12"]
    assert "Linux 6.12" in (tmp_path / "kernels.md").read_text()
    assert "Soft-RoCE" in (tmp_path / "kernels.html").read_text()
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"Linux {RELEASES['6.12']}: 1 passed, 0 show 0 known deviations, 0 undeclared"


def test_what_nobody_has_declared_fails_the_command_and_names_the_rules(
    ran: list[Request], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_kernels(runs(tmp_path, "6.1", "newest")) == 1
    said = capsys.readouterr().out
    assert "1 undeclared" in said
    assert "breaks PSN-02: " in said


def test_a_kernel_that_cannot_be_had_is_told_and_the_others_still_run(
    ran: list[Request], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_kernels(runs(tmp_path, "6.6", "6.12")) == 2
    assert capsys.readouterr().err == "roceproof: 6.6: apt has no kernel 6.6: take another one\n"
    assert len(json.loads((tmp_path / "kernels.json").read_text())["devices"]) == 1


def test_two_words_for_one_kernel_are_one_run(
    ran: list[Request], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RELEASES, "newest", RELEASES["6.12"])
    assert run_kernels(runs(tmp_path, "6.12", "newest")) == 0
    assert len(ran) == 1


def test_two_kernels_of_one_release_are_two_runs(
    ran: list[Request], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {
        name: SimpleNamespace(release="6.12.0-mine", directory=Path("kernels", name))
        for name in ("./before", "./after")
    }
    monkeypatch.setattr(kernels_command.versions, "find", lambda wanted, _: found[wanted])
    monkeypatch.setattr(kernels_command.versions, "pinned", lambda wanted: wanted)
    assert run_kernels(runs(tmp_path, *found)) == 0
    assert [each.kernel for each in ran] == list(found)
    assert len(json.loads((tmp_path / "kernels.json").read_text())["devices"]) == 2
    folders = sorted(path.name for path in tmp_path.iterdir() if path.is_dir())
    assert folders == ["6.12.0-mine", "6.12.0-mine-2"]


def test_nothing_of_an_earlier_run_is_taken_for_this_one(
    ran: list[Request], tmp_path: Path
) -> None:
    assert run_kernels(runs(tmp_path, "6.12")) == 0
    assert run_kernels(runs(tmp_path, "6.6")) == 2
    assert not list(tmp_path.glob("kernels.*"))


def test_an_interruption_is_put_off_until_the_results_are_whole(
    ran: list[Request], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what the session lets through cuts it short."""
    ended: list[str] = []

    def run(request: Request, output: Output) -> None:
        signal.raise_signal(signal.SIGINT)
        ended.append(str(request.kernel))

    monkeypatch.setattr(kernels_command, "run_session", run)
    before = {number: signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)}
    hook = sys.unraisablehook
    try:
        raise_interruptions()
        with pytest.raises(KeyboardInterrupt):
            run_kernels(runs(tmp_path, "6.12"))
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)
    assert ended == [RELEASES["6.12"]]


def test_an_entry_out_of_date_is_told_as_one_and_not_as_a_rule_that_is_broken(
    ran: list[Request],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = kernels_command.run_session

    def run(request: Request, output: Output) -> Session:
        session = whole(request, output)
        assert session
        session.document["cases"][0] |= {"outcome": "failed", "deviation": "rxe-unpadded-send"}
        return session

    monkeypatch.setattr(kernels_command, "run_session", run)
    assert run_kernels(runs(tmp_path, "6.12")) == 1
    said = capsys.readouterr().out
    assert "0 undeclared" in said
    assert "no longer shows rxe-unpadded-send in 1 cases" in " ".join(said.split())
    assert "breaks" not in said
