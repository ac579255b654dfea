# SPDX-License-Identifier: BSD-2-Clause
"""Random stimulus without end: seeds cut into chunks that any process can play by itself."""

from dataclasses import dataclass, field
from typing import Any

from roceproof.common.errors import RoceproofError
from roceproof.conformance.runner.judging.bench_law import CaseBreaks
from roceproof.conformance.runner.plan_player import PlanFinding, PlanPlayer
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.stimulus.drawing.weights import Weights
from roceproof.conformance.stimulus.run_plan import draws_of
from roceproof.conformance.targets.interface import TargetError


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


@dataclass(kw_only=True)
class Found:
    """What came of a chunk."""

    width: int | None
    seeds: int = 0
    findings: list[PlanFinding] = field(default_factory=list)
    broke: list[str] = field(default_factory=list)
    """What plans have broken themselves, which says nothing of the device."""
    counts: dict[str, Any] = field(default_factory=dict)


def play(chunk: Chunk) -> Found:
    """Play all seeds of a chunk."""
    player = PlanPlayer(chunk.options, chunk.width, known=chunk.known, seconds=chunk.seconds)
    found, claims = Found(width=chunk.width), player.claims
    draws = draws_of(claims)
    if not draws:
        raise RoceproofError(f"{claims.device} sends no payload and answers nothing")
    for seed in range(chunk.first, chunk.first + chunk.count):
        found.seeds += 1
        try:
            finding = player.play(seed, draws[seed % len(draws)](seed, claims, chunk.weights))
        except (CaseBreaks, TargetError) as broke:
            found.broke.append(f"seed {seed}: {broke}")
            continue
        if finding is not None:
            found.findings.append(finding)
    found.counts = player.counts.to_json()
    return found
