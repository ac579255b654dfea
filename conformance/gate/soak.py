# SPDX-License-Identifier: BSD-2-Clause
"""The share of random stimulus in a gate: plans that are always the same, and fresh ones."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from roceproof.common.progress import Progress
from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.coverage.document import Coverage
from roceproof.conformance.coverage.run_report import COVERAGE, PAGE, write_page
from roceproof.conformance.coverage.summary import summarized
from roceproof.conformance.gate.seeds import Kept
from roceproof.conformance.regression.soak_workers import come, soak_workers
from roceproof.conformance.rules.table import is_warning
from roceproof.conformance.runner.outcomes import WARNING
from roceproof.conformance.runner.plan_player import PlanFinding
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.runner.soak import Chunk, play
from roceproof.conformance.stimulus.drawing.weights import Weights

_CHUNK = 6
_SECONDS, _LEAST_SECONDS, _HUNG_SECONDS = 30.0, 5.0, 2.5
"""For making plans small that fail: all together, those of a chunk, those where cases have hung."""
_SEEDS = 1_000_000
"""Seeds of a gate with one seed and the next lie so far apart."""


@dataclass(kw_only=True)
class Soaked:
    """What came of it; `coverage` is that of the suite as well."""

    plans: int = 0
    findings: list[dict[str, Any]] = field(default_factory=list)
    waived: list[dict[str, Any]] = field(default_factory=list)
    """Those that break only rules whose breaking is accepted."""
    warned: list[dict[str, Any]] = field(default_factory=list)
    """Those that break no must, as the warnings of cases."""
    broke: list[str] = field(default_factory=list)
    """What plans have broken themselves: they have not judged the device."""
    coverage: dict[str, Any] = field(default_factory=dict)
    depth: str | None = None
    kept: int = 0
    """Plans of seeds that have found something before, which were played first."""
    fresh: int | None = None
    """The first of the fresh seeds, if there are any."""
    added: list[int] = field(default_factory=list)
    """Those of the fresh seeds that are kept from now on."""


def parts_of(
    widths: Sequence[int], *, plans: int, kept: Sequence[Kept], firsts: Sequence[int]
) -> list[tuple[int, int, int]]:
    """Width, first seed and count of what a process plays: what is kept goes first."""
    return [(each.width, each.seed, 1) for each in kept] + [
        (width, first + start, min(_CHUNK, plans - start))
        for first in firsts
        for width in widths
        for start in range(0, plans, _CHUNK)
    ]


def soak(
    options: Options,
    widths: Sequence[int],
    *,
    plans: int,
    jobs: int,
    out: Path,
    waives: Callable[[Iterable[str]], list[str]],
    progress: Progress,
    soaked: Soaked,
    look: Callable[[], None],
    has_hung: bool = False,
    kept: Sequence[Kept] = (),
    fresh: int | None = None,
) -> None:
    """Play so many plans at each width, and add what they reach to the coverage of the suite.

    Those of seeds that are `kept` go first; from the seed `fresh` on come as many more.
    `waives` gives the reasons why breaking some rules is accepted, or none; `soaked` has what came
    of the plans until then if it is interrupted, or `look` raises, which is called meanwhile.
    """
    reached = Coverage.read(out / COVERAGE)
    again = [each for each in kept if each.width in widths]
    soaked.kept, soaked.fresh = len(again), fresh
    firsts = [options.seed * _SEEDS, *([] if fresh is None else [fresh])]
    parts = parts_of(widths, plans=plans, kept=again, firsts=firsts)
    seconds = max(_LEAST_SECONDS, _SECONDS / max(1, len(parts)))
    if has_hung:
        seconds = _HUNG_SECONDS
    chunks = [
        Chunk(
            options=options,
            width=width,
            first=first,
            count=count,
            weights=Weights(),
            seconds=seconds,
        )
        for width, first, count in parts
    ]
    if chunks:
        with (
            soak_workers(jobs) as pool,
            progress.bar("playing random plans", total=len(chunks), unit="parts") as bar,
        ):
            for found in come(pool.imap(play, chunks), look=look):
                bar.advance()
                soaked.plans += found.seeds
                soaked.broke += found.broke
                reached.counts.merge(Counts.from_json(found.counts))
                for plan in found.findings:
                    reasons = waives(plan.rules)
                    take(soaked, plan, found.width, out=out, options=options, reasons=reasons)
        reached.write(out / COVERAGE)
    summary = summarized(reached)
    write_page(summary, out / PAGE)
    soaked.coverage, soaked.depth = summary.to_json()["groups"], summary.depth


def take(
    soaked: Soaked,
    plan: PlanFinding,
    width: int | None,
    *,
    out: Path,
    options: Options,
    reasons: Sequence[str],
) -> None:
    """A plan that fails: accepted for these reasons, no must broken, or a finding."""
    where = {"seed": plan.seed, "width": width, "rules": list(plan.rules)}
    if reasons:
        soaked.waived.append({**where, "waived": reasons})
        return
    path = out / f"test_found_{width}bit_{plan.seed}.py"
    path.write_text(plan.text)
    if is_warning(plan.rules):
        warned = {"case": path.name, "file": path.name, "broken": list(plan.rules)}
        soaked.warned.append({**warned, WARNING: plan.head})
        return
    told: dict[str, Any] = {
        "case": path.name,
        "head": plan.head,
        "story": plan.story,
        "replay": options.replay_file(path, width),
    }
    told |= {"explained": plan.explained, "tempted": plan.tempted}
    soaked.findings.append({**where, **told})
