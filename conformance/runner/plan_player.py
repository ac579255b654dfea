# SPDX-License-Identifier: BSD-2-Clause
"""Plays plans on fresh devices of one kind, and tells what fails as small cases.

What plays, judges, groups and shrinks is here once, for seeds without end and for campaigns.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from roceproof.conformance.coverage.collector import Collector
from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.runner.findings.tempted import temptations_of
from roceproof.conformance.runner.judging.evidence import explained, names_of
from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.runner.session.options import Options, open_factory
from roceproof.conformance.stimulus.plan import Plan
from roceproof.conformance.stimulus.run_plan import REDUCTION_SECONDS, Finding, try_plan
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import head_of
from roceproof.conformance.suite.reporting.failure_heads import likeness as kind_of
from roceproof.conformance.targets.interface import CasePlace, DeviceDied, DeviceFactory
from roceproof.verbs.addresses import Host


class PlanFinding(NamedTuple):
    """A plan that fails: the rules that it breaks, what was wrong, the small case, its story."""

    seed: int
    rules: tuple[str, ...]
    head: str
    text: str
    story: str
    plan: Plan
    """The small one."""
    explained: tuple[str, ...] = ()
    """What `explain` makes of it, of the first of its kind."""
    tempted: tuple[str, ...] = ()
    """The checks of a receiver that it tries, by their rules."""

    @property
    def kind(self) -> str:
        """What is alike in all plans that fail so."""
        return kind_of(self.head)


@cache
def _factory(options: Options, width: int | None) -> DeviceFactory:
    """That of this process, which remembers how often its device has hung."""
    return open_factory(options, width)


class PlanPlayer:
    """The first plan of each kind of failure is made small, of the others only the kind is told.

    One that was cut short and waited in vain shows nothing that those before it did not.
    """

    def __init__(
        self,
        options: Options,
        width: int | None,
        *,
        known: Iterable[str] = (),
        seconds: float,
        each: float = REDUCTION_SECONDS,
    ) -> None:
        """Failures of `known` kinds have small cases; `seconds` is for all plans to be made small.

        `each` is the most of it that one plan may have.
        """
        self.claims = (factory := _factory(options, width)).claims
        self.counts = Counts()
        """What of functional coverage the plans have reached."""
        self._factory = factory
        self._options = options
        self._known = set(known)
        self._left = seconds
        self._each = each
        self._in_vain = 0

    def play(self, seed: int, plan: Plan) -> PlanFinding | None:
        """Play one on a device of that seed; `CaseBreaks` or a `TargetError` accuses no device."""
        began, self._in_vain = time.monotonic(), 0
        finding = try_plan(
            plan,
            seed,
            self._open,
            seconds=max(0.0, min(self._each, self._left)),
            is_worth=lambda failure: self._is_new(plan, failure),
        )
        if self._in_vain:
            self._factory.hung()
        if finding is None:
            return None
        self._left -= time.monotonic() - began
        return self._told(finding)

    def begins(self, plan: Plan) -> None:
        """A plan of a new kind of failure, before it is made small."""

    def ends(self, finding: Finding, told: PlanFinding) -> None:
        """The first of a kind of failure is small now, and may be of another kind."""

    def _is_new(self, plan: Plan, failure: CaseFailed) -> bool:
        is_new = kind_of(head_of(failure)) not in self._known
        if is_new:
            self.begins(plan)
        return is_new

    def _told(self, finding: Finding) -> PlanFinding:
        name, rules = f"found_by_random_stimulus_{finding.seed}", finding.rules
        text = finding.plan.case(name, rules=rules or ("LIVE-02",))
        head = head_of(finding.failure)
        is_first = kind_of(head) not in self._known
        kinds = {kind_of(head_of(finding.first)), kind_of(head)}
        is_new = not kinds <= self._known
        self._known |= kinds
        told = PlanFinding(
            finding.seed,
            rules,
            head,
            text,
            finding.told(),
            finding.plan,
            self._explained(finding) if is_first else (),
            tuple(temptations_of(finding.bench)) if finding.bench else (),
        )
        if is_new:
            self.ends(finding, told)
        return told

    def _explained(self, finding: Finding) -> tuple[str, ...]:
        if finding.bench is None:
            return ()
        found = explained(
            finding.bench.transcript, finding.rules, simulated=self._options.simulated
        )
        return tuple(map(names_of, found))

    @contextmanager
    def _open(self, seed: int, host: Host | None) -> Iterator[Bench]:
        with self._factory.device(CasePlace(name="soak", seed=seed, host=host)) as device:
            collector = Collector(device, self.claims, self.counts)
            bench = Bench(collector.target, self.claims, seed=seed)
            try:
                yield bench
                for failure in judge(bench):
                    raise failure
            except (CaseFailed, DeviceDied):
                self._in_vain += device.waited_in_vain
                if not (device.waited_in_vain and device.cut_short):
                    raise
                return
            collector.finish()
