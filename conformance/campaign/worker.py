# SPDX-License-Identifier: BSD-2-Clause
"""Plays a part of a campaign in any process, and writes down at once what it finds."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from roceproof.conformance.campaign.folder import CAPTURE, CASE, ENTRY, STORY, Folder, plans_of
from roceproof.conformance.campaign.programs import is_for, program_of
from roceproof.conformance.runner.judging.bench_law import CaseBreaks
from roceproof.conformance.runner.known_deviations import Cause
from roceproof.conformance.runner.plan_player import PlanFinding, PlanPlayer
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.stimulus.plan import Plan
from roceproof.conformance.stimulus.plan_text import text_of
from roceproof.conformance.stimulus.run_plan import Finding
from roceproof.conformance.targets.interface import TargetError

_REDUCTION_SECONDS = 60.0
_MOST_DONORS = 50
"""Entries of which the programs of a part may come: to read thousands would take longer."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Seeds that one process plays on one kind of device, or entries as they are."""

    folder: Path
    options: Options
    width: int | None
    first: int
    count: int
    entries: tuple[Path, ...] = ()
    """Played instead, on devices of the seeds from `first` on."""


@dataclass(kw_only=True)
class Came:
    """What came of a part."""

    programs: int = 0
    found: Counter[str] = field(default_factory=Counter)
    """How many programs failed, by the names of the findings."""
    broke: list[str] = field(default_factory=list)
    """What programs have broken themselves, which says nothing of the device."""
    counts: dict[str, Any] = field(default_factory=dict)


class _Keeper(PlanPlayer):
    """Writes down each finding: its entry before it is made small, the rest behind that."""

    def __init__(self, part: Part, folder: Folder) -> None:
        self.causes = folder.causes()
        super().__init__(
            part.options,
            part.width,
            known=self.causes.keys(),
            declared=folder.declared(self.causes),
            seconds=_REDUCTION_SECONDS,
        )
        self._part = part
        self._folder = folder
        self._begun = Plan(steps=())

    def begins(self, plan: Plan) -> None:
        self._folder.keep(plan)
        self._begun = plan

    def ends(self, finding: Finding, told: PlanFinding, cause: Cause) -> None:
        if told.declared is not None:  # changes of the whole plan would show the same again
            self._folder.forget(self._begun)
            self._folder.keep(told.plan)
        place = self._folder.place_of(told.kind, told.rules)
        replay = self._part.options.replay_file(place / CASE, self._part.width)
        facts = {
            "head": told.head,
            "rules": told.rules,
            "explained": told.explained,
            "steps": len(told.plan.steps),
            "seed": told.seed,
            "width": self._part.width,
            "replay": replay,
            "declared": told.declared,
            "may_be": told.may_be,
        }
        with self._folder.finding(place, facts) as part:
            (part / CASE).write_text(told.text)
            (part / ENTRY).write_text(text_of(told.plan))
            (part / STORY).write_text(f"{told.story}\n")
            if finding.bench is not None:
                finding.bench.transcript.write(part / CAPTURE, comment=replay)
        for kind in cause.kinds:
            self._folder.is_like(place, kind)
            self.causes[kind] = place.name


def play(part: Part) -> Came:
    """Play all of a part."""
    folder, came = Folder(part.folder), Came()
    player = _Keeper(part, folder)
    for seed, plan in _programs(part, folder, player):
        came.programs += 1
        try:
            finding = player.play(seed, plan)
        except (CaseBreaks, TargetError) as broke:
            came.broke.append(f"seed {seed}: {broke}")
            continue
        if finding is not None:
            came.found[player.causes[finding.kind]] += 1
    came.counts = player.counts.to_json()
    return came


def _programs(part: Part, folder: Folder, player: PlanPlayer) -> Iterator[tuple[int, Plan]]:
    paths: Sequence[Path] = part.entries
    if not paths:
        there = folder.entries()
        paths = Random(part.first).sample(there, min(_MOST_DONORS, len(there)))
    entries = [plan for plan in plans_of(paths) if is_for(plan, player.claims)]
    if part.entries:
        yield from enumerate(entries, part.first)
        return
    for seed in range(part.first, part.first + part.count):
        yield seed, program_of(seed, player.claims, entries)
