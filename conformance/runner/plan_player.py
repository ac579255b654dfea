# SPDX-License-Identifier: BSD-2-Clause
"""Plays plans on fresh devices of one kind, and tells what fails as small cases.

What plays, judges, groups and shrinks is here once, for seeds without end and for campaigns.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from functools import cache, partial
from typing import NamedTuple

from roceproof.conformance.coverage.collector import Collector
from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.runner.findings.tempted import temptations_of
from roceproof.conformance.runner.judging.evidence import explained, names_of
from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.runner.known_deviations import Cause, KnownDeviations
from roceproof.conformance.runner.session.options import Options, open_factory
from roceproof.conformance.stimulus.plan import Plan
from roceproof.conformance.stimulus.run_plan import REDUCTION_SECONDS, Finding, played, try_plan
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import head_of
from roceproof.conformance.targets.capability import Capability
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
    kind: str = ""
    """What is alike in all plans that fail so."""
    declared: str | None = None
    """The declared deviation of the device that it is."""
    may_be: tuple[str, ...] = ()
    """Declared deviations that break one of its rules, where it is none of them for certain."""


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
        declared: Mapping[str, str] | None = None,
        seconds: float,
        each: float = REDUCTION_SECONDS,
    ) -> None:
        """Failures of `known` kinds have small cases; `seconds` is for all plans to be made small.

        Those of `declared` kinds are deviations of these names. `each` is the most of the time that
        one plan may have.
        """
        self.claims = (factory := _factory(options, width)).claims
        self.counts = Counts()
        """What of functional coverage the plans have reached."""
        self._factory = factory
        self._is_on_the_wall = Capability.LOCKSTEP not in factory.claims.capabilities
        self._options = options
        self._known = set(known)
        self._deviations = KnownDeviations(factory.identity(), declared or {})
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
            is_worth=lambda failure: self._is_worth(seed, plan, failure),
            hasty=partial(self._open, is_hasty=True) if self._is_on_the_wall else None,
            is_enough=lambda failure: self._deviations.is_enough(seed, failure),
            resembles=self._resembles,
        )
        if self._in_vain:
            self._factory.hung()
        if finding is None:
            return None
        self._left -= time.monotonic() - began
        return self._told(finding)

    def begins(self, plan: Plan) -> None:
        """A plan of a new kind of failure, before it is made small."""

    def ends(self, finding: Finding, told: PlanFinding, cause: Cause) -> None:
        """The first of a kind of failure is small now, and may be of another kind."""

    def _is_worth(self, seed: int, plan: Plan, failure: CaseFailed) -> bool:
        kind = self._deviations.kind_of(failure)
        if is_new := kind not in self._known:
            self.begins(plan)
        return is_new or (
            kind in self._deviations.declared and not self._deviations.is_enough(seed, failure)
        )

    def _resembles(self, failure: CaseFailed, first: CaseFailed) -> bool:
        """Where a device has many faults, what fails as a known one says nothing of another."""
        kind = self._deviations.kind_of(failure)
        if not self._deviations or kind not in self._known:
            return True
        return kind == self._deviations.kind_of(first)

    def _cause_of(self, finding: Finding) -> Cause:
        known = self._deviations
        kind, first = known.kind_of(finding.failure), known.kind_of(finding.first)
        if not known:
            return Cause(kind, frozenset({kind, first}))
        declared, is_new = known.declared.get(kind), kind not in self._known
        if is_new or (declared is not None and finding.is_least):
            declared = known.shown_by(finding, self._passes)
            if declared is None and not is_new:
                kind += " | another"
        return known.cause(kind, declared)

    def _told(self, finding: Finding) -> PlanFinding:
        name, rules = f"found_by_random_stimulus_{finding.seed}", finding.rules
        text = finding.plan.case(name, rules=rules or ("LIVE-02",))
        head, cause = head_of(finding.failure), self._cause_of(finding)
        is_first, is_new = cause.kind not in self._known, not cause.kinds <= self._known
        self._known |= cause.kinds
        told = PlanFinding(
            finding.seed,
            rules,
            head,
            text,
            finding.told(),
            finding.plan,
            self._explained(finding) if is_first else (),
            tuple(temptations_of(finding.bench)) if finding.bench else (),
            cause.kind,
            cause.declared,
            () if cause.declared else self._deviations.may_be(rules),
        )
        if is_new:
            self.ends(finding, told, cause)
        return told

    def _explained(self, finding: Finding) -> tuple[str, ...]:
        if finding.bench is None:
            return ()
        found = explained(
            finding.bench.transcript, finding.rules, simulated=self._options.simulated
        )
        return tuple(map(names_of, found))

    def _passes(self, finding: Finding, tolerates: Collection[Enum]) -> bool:
        """Whether its small plan does, on a device that may deviate like that, too."""
        opened = partial(self._open, tolerates=tolerates)
        return played(finding.plan, finding.seed, opened).failure is None

    @contextmanager
    def _open(
        self,
        seed: int,
        host: Host | None,
        *,
        is_hasty: bool = False,
        tolerates: Collection[Enum] = (),
    ) -> Iterator[Bench]:
        place = CasePlace(name="soak", seed=seed, host=host, is_hasty=is_hasty)
        with self._factory.device(place) as device:
            collector = Collector(device, self.claims, self.counts)
            bench = Bench(
                collector.target,
                self.claims,
                seed=seed,
                version=self._factory.identity()[1],
                tolerates=[*self._deviations.tolerated, *tolerates],
            )
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
