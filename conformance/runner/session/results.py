# SPDX-License-Identifier: BSD-2-Clause
"""What came of every case: a JSON document in a fixed order, and the summary's last lines.

A session that is cut short leaves a document, too; it says so, and how many cases had not run.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from roceproof import __version__
from roceproof.common.printable import printable
from roceproof.common.whole_file import whole_file
from roceproof.conformance.runner.findings.kin import with_kin
from roceproof.conformance.runner.findings.root_findings import roots
from roceproof.conformance.runner.findings.words.documents import documents
from roceproof.conformance.runner.judging.device_counters import COUNTERS
from roceproof.conformance.runner.outcomes import (
    CASE_BROKE,
    DEVIATION,
    ERROR,
    FAILED,
    FAILING,
    MARKED,
    NOT_REACHED,
    RUNS_AGAIN,
    WAIVED,
    WARNING,
)
from roceproof.conformance.runner.session import resume_journal as journal
from roceproof.conformance.runner.session.ending import NO_ROOM, end_session
from roceproof.conformance.runner.session.endurance import UNREACHABLE, Endurance
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.suite.limits.skips import PREFIX

SCHEMA = 1
OBSERVED = "roceproof_observed"


class Results:
    """Gathers the reports of all workers in the controlling process."""

    def __init__(
        self, options: Options, *, made_of: Callable[[], Mapping[str, str]] = dict
    ) -> None:
        """`made_of` says what the device is and which versions it runs on, once it is known."""
        self._options = options
        self._made_of = made_of
        self._session: pytest.Session | None = None
        self._endurance = Endurance()
        self._cases: dict[str, dict[str, Any]] = {}
        self._observed: dict[str, dict[str, Any]] = {}
        self._collected = 0
        for nodeid, over in options.cases_over().items():
            self._cases[nodeid] = over.entry
            if over.observed is not None:
                self._observed[nodeid] = over.observed
        self._resumed = len(self._cases)
        self._interrupted = False
        self._stopped = ""
        self._start = time.monotonic()

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Know how many cases there are."""
        self._collected = len(session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Know how many the workers have."""
        self._collected = len(ids)

    def pytest_keyboard_interrupt(self) -> None:
        """Remember that it is not all."""
        self._interrupted = True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the verdict; a failing set-up counts like a failing case."""
        if self._endurance.is_over(report) and self._options.target == "nic":
            self._stop(self._endurance.reason)
        if report.outcome == RUNS_AGAIN or (report.when != "call" and report.passed):
            return
        if report.when == "teardown" and report.nodeid in self._cases and not report.failed:
            return
        entry: dict[str, Any] = {"case": report.nodeid.partition("::")[2]}
        entry["file"] = report.nodeid.partition("::")[0].rpartition("/")[2]
        entry["outcome"] = _outcome(report)
        entry |= {name: value for name, value in report.user_properties}
        if (seen := getattr(report, OBSERVED, None)) is not None and WARNING not in entry:
            self._observed[report.nodeid] = seen
        if entry["outcome"] == DEVIATION and DEVIATION not in entry:
            entry[DEVIATION] = printable(f"{MARKED}{report.wasxfail}")
        if NOT_REACHED in entry and entry["outcome"] == FAILED:
            entry["outcome"] = NOT_REACHED
        if entry["outcome"] == "skipped" and isinstance(report.longrepr, tuple):
            entry["reason"] = report.longrepr[2].partition(PREFIX)[2]
        for name in ("rules", "broken", "explained", "differed", COUNTERS):
            if name in entry:
                entry[name] = str(entry[name]).split()
        self._cases[report.nodeid] = entry
        if NO_ROOM in entry:
            self._stop(str(entry[NO_ROOM]))
        elif (path := self._options.journal) is not None:
            try:
                self._note(path, report.nodeid)
            except OSError as error:
                self._stop(f"{path}: {error.strerror}; make room")

    def _note(self, path: Path, nodeid: str) -> None:
        journal.add(path, nodeid, journal.Over(self._cases[nodeid], self._observed.get(nodeid)))
        if self._endurance.reason and self._stopped:
            journal.run_again(path, self._endurance.undecided())

    def _stop(self, reason: str) -> None:
        if self._session and not self._stopped:
            self._stopped = reason
            end_session(self._session, reason)

    def waive(self, reasons: Callable[[str, Iterable[str]], list[str]]) -> None:
        """Accept the failures for which there are reasons; no finding is made of them."""
        for case in self._cases.values():
            if case["outcome"] not in FAILING:
                continue
            if found := reasons(case["case"], case.get("broken", ())):
                case["outcome"], case[WAIVED] = WAIVED, found

    def document(self) -> dict[str, Any]:
        """All cases in the order of their names; nothing in it depends on the wall clock."""
        cases = [self._cases[nodeid] for nodeid in sorted(self._cases)]
        return {
            "schema": SCHEMA,
            "target": self._options.target,
            "suite": self._options.suite,
            "seed": self._options.seed,
            "made_of": {"roceproof": __version__, **self._made_of()},
            "interrupted": self._interrupted,
            **({"stopped": self._stopped} if self._stopped else {}),
            "not_run": max(0, self._collected + self._resumed - len(cases)),
            "cases": cases,
            "findings": with_kin(
                documents(roots(self._cases, self._observed), self._cases, self._observed)
            ),
        }

    def pytest_sessionfinish(self) -> None:
        self.write()

    def write(self) -> None:
        if self._options.report is not None:
            text = json.dumps(self.document(), indent=1, sort_keys=True)
            try:
                self._options.report.parent.mkdir(parents=True, exist_ok=True)
                with whole_file(self._options.report) as part:
                    part.write_text(text + "\n")
            except OSError as error:
                self._stopped = self._stopped or f"{self._options.report}: {error.strerror}"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how fast it went."""
        ran = sum(case["outcome"] != "skipped" for case in self._cases.values())
        seconds = max(1e-3, time.monotonic() - self._start)
        terminalreporter.write_line(
            f"{ran} cases in {seconds:.1f} s, {ran / seconds:.1f} cases/s; "
            f"seed {self._options.seed}"
        )


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail") and report.skipped:
        return DEVIATION
    if {UNREACHABLE, CASE_BROKE} & dict(report.user_properties).keys():
        return ERROR
    return str(report.outcome)
