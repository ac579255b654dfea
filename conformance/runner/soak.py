# SPDX-License-Identifier: BSD-2-Clause
"""Random stimulus without end: seeds cut into chunks that any process can play by itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from roceproof.common.errors import RoceproofError
from roceproof.conformance.coverage.collector import Collector
from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.runner.findings.tempted import temptations_of
from roceproof.conformance.runner.judging.bench_law import CaseBreaks
from roceproof.conformance.runner.judging.evidence import explained, names_of
from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.runner.session.options import Options, open_factory
from roceproof.conformance.stimulus.drawing.weights import Weights
from roceproof.conformance.stimulus.run_plan import REDUCTION_SECONDS, Finding, draws_of, try_seed
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import head_of
from roceproof.conformance.suite.reporting.failure_heads import likeness as kind_of
from roceproof.conformance.targets.interface import (
    CasePlace,
    DeviceDied,
    DeviceFactory,
    TargetError,
)
from roceproof.verbs.addresses import Host


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Seeds that one process plays on one kind of device."""

    options: Options
    width: int | None
    first: int
    count: int
    weights: Weights
    known: frozenset[str] = frozenset()
    """Kinds of failures of which a small case is there."""
    seconds: float = 60.0
    """For making all its plans small that fail; each has at most so many as one alone."""


class PlanFinding(NamedTuple):
    """A plan that fails: the rules that it breaks, what was wrong, the small case, its story."""

    seed: int
    rules: tuple[str, ...]
    head: str
    text: str
    story: str
    explained: tuple[str, ...] = ()
    """What `explain` makes of it, of the first of its kind."""
    tempted: tuple[str, ...] = ()
    """The checks of a receiver that it tries, by their rules."""

    @property
    def kind(self) -> str:
        """What is alike in all plans that fail so."""
        return kind_of(self.head)


@dataclass(kw_only=True)
class Found:
    """What came of a chunk."""

    width: int | None
    seeds: int = 0
    findings: list[PlanFinding] = field(default_factory=list)
    broke: list[str] = field(default_factory=list)
    """What plans have broken themselves, which says nothing of the device."""
    counts: dict[str, Any] = field(default_factory=dict)


@cache
def _factory(options: Options, width: int | None) -> DeviceFactory:
    """That of this process, which remembers how often its device has hung."""
    return open_factory(options, width)


def play(chunk: Chunk) -> Found:
    """Play all seeds of a chunk; the first plan of each kind of failure is made small.

    One that was cut short and waited in vain shows nothing that those before it did not.
    """
    factory = _factory(chunk.options, chunk.width)
    in_vain = 0
    counts, found, known = Counts(), Found(width=chunk.width), set(chunk.known)
    draws = draws_of(factory.claims)
    if not draws:
        raise RoceproofError(f"{factory.claims.device} sends no payload and answers nothing")

    @contextmanager
    def open_bench(seed: int, host: Host | None) -> Iterator[Bench]:
        with factory.device(CasePlace(name="soak", seed=seed, host=host)) as device:
            collector = Collector(device, factory.claims, counts)
            bench = Bench(collector.target, factory.claims, seed=seed)
            try:
                yield bench
                for failure in judge(bench):
                    raise failure
            except (CaseFailed, DeviceDied):
                nonlocal in_vain
                in_vain += device.waited_in_vain
                if not (device.waited_in_vain and device.cut_short):
                    raise
                return
            collector.finish()

    def is_new(failure: CaseFailed) -> bool:
        return kind_of(head_of(failure)) not in known

    left = chunk.seconds
    for seed in range(chunk.first, chunk.first + chunk.count):
        began, in_vain = time.monotonic(), 0
        found.seeds += 1
        try:
            finding = try_seed(
                seed,
                factory.claims,
                open_bench,
                weights=chunk.weights,
                draws=draws[seed % len(draws)],
                seconds=max(0.0, min(REDUCTION_SECONDS, left)),
                is_worth=is_new,
            )
        except (CaseBreaks, TargetError) as broke:
            found.broke.append(f"seed {seed}: {broke}")
            continue
        if in_vain:
            factory.hung()
        if finding is not None:
            left -= time.monotonic() - began
            name, rules = f"found_by_random_stimulus_{seed}", finding.rules
            text = finding.plan.case(name, rules=rules or ("LIVE-02",))
            head = head_of(finding.failure)
            is_first = kind_of(head) not in known
            known |= {kind_of(head_of(finding.first)), kind_of(head)}
            names = _explained(finding, chunk.options) if is_first else ()
            tempted = tuple(temptations_of(finding.bench)) if finding.bench else ()
            told = PlanFinding(seed, rules, head, text, finding.told(), names, tempted)
            found.findings.append(told)
    found.counts = counts.to_json()
    return found


def _explained(finding: Finding, options: Options) -> tuple[str, ...]:
    if finding.bench is None:
        return ()
    found = explained(finding.bench.transcript, finding.rules, simulated=options.simulated)
    return tuple(map(names_of, found))
