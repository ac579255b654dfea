# SPDX-License-Identifier: BSD-2-Clause
"""Progress of a suite names the cases that are running, those that take longest first."""

from __future__ import annotations

import sys
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest

from roceproof.conformance.regression.report import Listener


def ended(nodeid: str) -> Any:
    return SimpleNamespace(nodeid=nodeid, when="teardown", failed=False)


def test_a_beat_says_what_runs_and_for_how_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waivers: Any = None
    listener = Listener(quiet=False, as_json=False, waivers=waivers)
    for seconds, case in ((1, "test_a.py::test_slow[RC]"), (5, "test_a.py::test_new")):
        monkeypatch.setattr(Listener, "seconds", seconds)
        listener.pytest_runtest_logstart(case)
    listener.pytest_runtest_logstart("test_a.py::test_quick")
    listener.pytest_runtest_logreport(ended("test_a.py::test_quick"))
    monkeypatch.setattr(Listener, "seconds", 13)
    listener.say_how_far()
    assert "preparing; a.slow[RC] for 12 s; a.new for 8 s\n" in capsys.readouterr().err


def test_a_beat_is_seen_while_the_output_of_a_case_is_kept(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waivers: Any = None
    kept = StringIO()
    with Listener(quiet=False, as_json=False, waivers=waivers) as listener:
        with monkeypatch.context() as case:
            case.setattr(sys, "stderr", kept)
            listener.say_how_far()
        assert "preparing\n" in capfd.readouterr().err
    assert kept.getvalue() == ""
