# SPDX-License-Identifier: BSD-2-Clause
"""Random stimulus without end: seeds cut into chunks that any process can play by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from roceproof.conformance.coverage.collector import Collector
from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.runner.options import Options, open_factory
from roceproof.conformance.runner.scoreboard import judge
from roceproof.conformance.stimulus.trial import draws_of, try_seed
from roceproof.conformance.stimulus.weights import Weights
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.interface import CasePlace
from roceproof.verbs.addresses import Host

_FULLY_REDUCED = 1
"""Findings of a chunk that are made small; a device that fails always is not worth more."""


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Seeds that one process plays on one kind of device."""

    options: Options
    width: int | None
    first: int
    count: int
    weights: Weights


@dataclass(kw_only=True)
class Found:
    """What came of a chunk."""

    width: int | None
    seeds: int = 0
    findings: list[tuple[int, tuple[str, ...], str, str]] = field(default_factory=list)
    """Seed, broken rules, the small case, and its story."""
    counts: dict[str, Any] = field(default_factory=dict)


def play(chunk: Chunk) -> Found:
    """Play all seeds of a chunk."""
    factory = open_factory(chunk.options, chunk.width)
    counts, found = Counts(), Found(width=chunk.width)
    draws = draws_of(factory.claims)

    @contextmanager
    def open_bench(seed: int, host: Host | None) -> Iterator[Bench]:
        with factory.device(CasePlace(name="soak", seed=seed, host=host)) as device:
            collector = Collector(device, factory.claims, counts)
            bench = Bench(collector.target, factory.claims, seed=seed)
            yield bench
            for failure in judge(bench):
                raise failure
            collector.finish()

    try:
        for seed in range(chunk.first, chunk.first + chunk.count):
            seconds = 20.0 if len(found.findings) < _FULLY_REDUCED else 0.0
            finding = try_seed(
                seed,
                factory.claims,
                open_bench,
                weights=chunk.weights,
                draws=draws[seed % len(draws)],
                seconds=seconds,
            )
            found.seeds += 1
            if finding is not None:
                rules = finding.failure.rules or ("LIVE-02",)
                text = finding.plan.case(f"found_by_random_stimulus_{seed}", rules=rules)
                found.findings.append((seed, finding.failure.rules, text, finding.told()))
    finally:
        factory.close()
    found.counts = counts.to_json()
    return found
