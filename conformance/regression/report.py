# SPDX-License-Identifier: BSD-2-Clause
"""What ``roceproof test`` says: progress while it runs, failures, and the summary."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from roceproof.common.heartbeat import Heartbeat
from roceproof.common.terminal import Terminal
from roceproof.conformance.regression.findings import print_findings
from roceproof.conformance.regression.waivers import SuiteWaivers
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.runner.outcomes import (
    BAD,
    CASE_BROKE,
    FAILING,
    MARKED,
    NOT_REACHED,
    WAIVED,
    WARNING,
)
from roceproof.conformance.runner.session.names import short_name
from roceproof.conformance.runner.session.results import Results

Document = dict[str, Any]
STYLES = {
    "passed": "green",
    "failed": "red",
    "deviation": "yellow",
    NOT_REACHED: "magenta",
    WARNING: "yellow",
}
STYLES |= dict.fromkeys((WAIVED, "skipped"), "cyan") | dict.fromkeys(
    ("deviation", WARNING), "yellow"
)
WORDS = {"deviation": "known deviations", NOT_REACHED: "not reached"}
FEW_SKIPS = 3
"""Reasons of skips that are told beside findings."""
STORIES = 3
"""Failures that are told whole. Others have a line, those not reached are counted; junit.xml has
all."""


class Listener:
    """Sits in the session: draws a bar on a terminal, prints each failure, keeps the results.

    What it says of progress is seen also while a case runs, whose output pytest keeps.
    """

    def __init__(
        self, *, quiet: bool, as_json: bool, waivers: SuiteWaivers, stories: bool = True
    ) -> None:
        self._waivers = waivers
        self._stories = stories
        self.document: Document = {}
        self._results = Terminal(stderr=as_json)
        self.problems: list[str] = []
        self._quiet = quiet
        self._console = Terminal(stderr=True, quiet=quiet)
        self._started = time.monotonic()
        self._display = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            console=self._console,
            transient=True,
            disable=quiet or not self._console.is_terminal,
        )
        self._task = self._display.add_task("preparing", total=None)
        self._failures = 0
        self._begun: dict[str, float] = {}
        self._heartbeat = Heartbeat(self.say_how_far)
        self._until_end = ExitStack()

    def __enter__(self) -> Listener:
        with suppress(OSError):  # who has no file there sees all
            own = os.fdopen(os.dup(sys.stderr.fileno()), "w", errors="replace")
            self._console.file = self._until_end.enter_context(own)
        self._display.start()
        if not self._quiet and not self._console.is_terminal:
            self._heartbeat.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._display.stop()
        self._heartbeat.stop()
        self._console.file = sys.stderr
        self._until_end.close()

    def say_how_far(self) -> None:
        task = self._display.tasks[0]
        if task.total is None:
            far = "preparing"
        else:
            far = f"{task.completed:.0f} of {task.total:.0f} cases, {self._failures} failed"
        running = [f"{name} for {self.seconds - since:.0f} s" for name, since in self._running()]
        told = "; ".join([far, *running])
        self._console.print(f"{self.seconds:6.1f} s  {told}", markup=False)

    def _running(self) -> list[tuple[str, float]]:
        """The cases that are running and since when, the oldest first."""
        return sorted(self._begun.copy().items(), key=lambda each: each[1])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._begun[short_name(nodeid)] = self.seconds
        self._display.update(self._task, description=", ".join(n for n, _ in self._running()))

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return time.monotonic() - self._started

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Say what is tested with what."""
        for lines in session.config.hook.pytest_report_header(
            config=session.config, start_path=session.config.rootpath
        ):
            for line in [lines] if isinstance(lines, str) else lines:
                if not self._quiet and line.startswith(("target", "roceproof")):
                    print(line, file=sys.stderr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep what could not be collected."""
        if report.failed:
            self.problems.append(str(report.longrepr))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Know how many there are."""
        self._display.update(self._task, total=len(session.items), description="")

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Know how many the workers have."""
        self._display.update(self._task, total=len(ids), description="")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count, and print what failed."""
        has_crashed = report.when not in ("setup", "call", "teardown")
        if report.when == "teardown" or (has_crashed and report.failed):
            self._display.advance(self._task)
        if report.when == "teardown" or has_crashed:
            self._begun.pop(short_name(report.nodeid), None)
        if report.failed:
            self._display.stop()
            try:
                self._tell(report)
            except BrokenPipeError:
                pytest.exit("nobody reads the results any more")
            self._display.start()

    def _tell(self, report: pytest.TestReport) -> None:
        name = report.nodeid.rpartition("/")[2]
        broken = str(dict(report.user_properties).get("broken", "")).split()
        if self._waivers.reasons(name.rpartition("::")[2], broken):
            return
        self._failures += 1
        if not self._stories:
            return
        properties = dict(report.user_properties)
        is_reached = NOT_REACHED not in properties
        word = "[red]FAIL[/]" if is_reached else f"[{STYLES[NOT_REACHED]}]NOT REACHED[/]"
        if CASE_BROKE in properties:
            word = "[red]ERROR[/]"
        if self._failures > STORIES and not is_reached:
            return
        if self._failures > STORIES and "head" in properties:
            told = escape(f"{name}: {properties['head']}")
            self._results.print(f"{word} {told}", no_wrap=True, overflow="ellipsis")
            return
        self._results.print(f"{word} {escape(name)}")
        for line in str(report.longrepr).splitlines():
            self._results.print(f"  {line}", markup=False)
        self._results.print()

    def pytest_internalerror(self, excrepr: object) -> None:
        """Keep what broke the session itself."""
        self.problems.append(str(excrepr))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        results = session.config.pluginmanager.getplugin("roceproof-results")
        if isinstance(results, Results):
            results.waive(self._waivers.reasons)
            self.document = results.document()


def print_summary(document: Document, *, seconds: float, quiet: bool) -> None:
    """Counts, the reasons of skips, the known deviations, and the speed."""
    cases = document["cases"]
    counts = Counter(case["outcome"] for case in cases)
    stale = [each["finding"] for each in document.get("waivers", ()) if each["finding"]]
    if quiet and not (stale or any(counts[each] for each in BAD)):
        return
    console = Terminal()
    where = f"{document['target']} {document['suite']} suite"
    if document["interrupted"]:
        where += ", interrupted"
    if not cases and document["interrupted"]:
        console.print(f"{where}: no case had run")
        return
    told = [
        f"[{STYLES.get(outcome, 'red')}]{counts[outcome]} {WORDS.get(outcome, outcome)}[/]"
        for outcome in ("passed", "failed", NOT_REACHED, "error", WAIVED, "deviation", "skipped")
        if counts[outcome]
    ]
    if document["not_run"]:
        told.append(f"{document['not_run']} not run")
    console.print(f"{where}: {', '.join(told)}")
    skips = Counter(case.get("reason", "") for case in cases if case["outcome"] == "skipped")
    few = FEW_SKIPS if document.get("findings") else None
    print_skips(skips, console, few=few, others_in="results.json")
    _print_waived(cases, console)
    deviations = Counter(c["deviation"] for c in cases if c["outcome"] == "deviation")
    for name, count in sorted(deviations.items()):
        where = "" if name.startswith(MARKED) else " (docs/findings.md)"
        console.print(escape(f"  {count:5} show the known deviation {name}{where}"))
    print_warnings(cases, console)
    for heading, name in (("rules of failing cases", "broken"), ("explain", "explained")):
        found = Counter(word for case in _failed(cases) for word in case.get(name, []))
        if found:
            told = [f"{word} ({count})" for word, count in found.most_common()]
            console.print(escape(f"{heading}: {', '.join(told)}"))
    broke = Counter(case[CASE_BROKE] for case in cases if CASE_BROKE in case)
    for words, count in broke.most_common():
        console.print(escape(f"{count:5} broke by themselves, whatever the device: {words}"))
    for finding in stale:
        console.print(f"[red]{escape(finding)}[/]", highlight=False)
    print_findings(document.get("findings", []), counts, console)
    ran = len(cases) - counts["skipped"]
    console.print(
        f"{ran} cases in {seconds:.1f} s, {ran / max(seconds, 1e-3):.1f} cases/s; "
        f"seed {document['seed']}{_told_random(cases)}"
    )


def _told_random(cases: Sequence[Document]) -> str:
    """How many plans nobody has written, and another seed has others."""
    plans = [case["plans"] for case in cases if "plans" in case]
    return f"; {sum(plans)} random plans in {len(plans)} of the cases" if plans else ""


def _print_waived(cases: Sequence[Document], console: Terminal) -> None:
    """A line for all cases that are accepted for the same reasons."""
    accepted: dict[str, list[Document]] = {}
    for case in cases:
        if case["outcome"] == WAIVED:
            accepted.setdefault("; ".join(case[WAIVED]), []).append(case)
    for reasons, several in accepted.items():
        rules = dict.fromkeys(rule for case in several for rule in case.get("broken", ()))
        name = f"{several[0]['file']}::{several[0]['case']}"
        more = f" and {len(several) - 1} more" if several[1:] else ""
        words = f"{name}{more}: {' '.join(rules)} {reasons}"
        console.print(f"[{STYLES[WAIVED]}]WAIVED[/] {escape(words)}", highlight=False)


def print_warnings(cases: Sequence[Document], console: Terminal) -> None:
    """What has passed though it breaks a rule that is no must: a line for all of the same rules."""
    for words in warnings_told(cases):
        console.print(f"[yellow]warning[/] {escape(words)}", highlight=False)


def warnings_told(cases: Sequence[Document]) -> Iterator[str]:
    """The rules, how many cases break them, the first of them and its words."""
    alike: dict[str, list[Document]] = {}
    for case in cases:
        if WARNING in case:
            alike.setdefault(" ".join(case["broken"]), []).append(case)
    for rules, warned in alike.items():
        many = f" in {len(warned)} cases, the first is" if len(warned) > 1 else ":"
        yield f"{rules}{many} {warned[0]['case']}: {warned[0][WARNING]}"


def print_skips(
    reasons: Counter[str], console: Terminal, *, few: int | None, others_in: str
) -> None:
    """How many cases were skipped for each reason, the commonest first; of few alone the words."""
    told = reasons.most_common()
    for reason, count in told[:few]:
        console.print(escape(f"  {count:5} skipped: {reason}"))
    left = [count for _, count in told[len(told) if few is None else few :]]
    if left:
        others = f"{len(left)} other reason{'s' if len(left) > 1 else ''}"
        console.print(f"  {sum(left):5} skipped for {others}: {others_in}")


def _failed(cases: list[Document]) -> list[Document]:
    return [case for case in cases if case["outcome"] in FAILING]


def print_per_rule(document: Document) -> None:
    """One row for each rule that a case names."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("rule", "severity", "verdict", "cases"):
        table.add_column(heading, no_wrap=True)
    table.add_column("what holds on a healthy wire")
    for rule_id, verdict, count in per_rule(document):
        rule = RULES[rule_id]
        style = STYLES.get(verdict, "red")
        row = (rule_id, rule.severity, f"[{style}]{verdict}[/]", str(count), escape(rule.sentence))
        table.add_row(*row)
    Terminal().print(table)


def per_rule(document: Document) -> list[tuple[str, str, int]]:
    """Rule, worst outcome of its cases, and how many ran."""
    outcomes: dict[str, list[str]] = {}
    for case in document["cases"]:
        for rule in case.get("rules", []):
            outcomes.setdefault(rule, []).append(WARNING if WARNING in case else case["outcome"])
    order = ("error", "failed", NOT_REACHED, WAIVED, "deviation", WARNING, "passed", "skipped")
    return [
        (
            rule,
            min(outcomes[rule], key=order.index),
            sum(outcome != "skipped" for outcome in outcomes[rule]),
        )
        for rule in RULES
        if rule in outcomes
    ]
