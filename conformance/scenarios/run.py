# SPDX-License-Identifier: BSD-2-Clause
"""Plays scenarios, several points at once, and judges what came of them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from roceproof.conformance.scenarios.event_model import play_all, play_on
from roceproof.conformance.scenarios.scenario import AnyScenario, Check, Row, SceneScenario

SCHEMA = 1


@dataclass(frozen=True)
class Result:
    """What came of one scenario."""

    scenario: AnyScenario
    seed: int
    quick: bool
    rows: Sequence[Row]
    checks: Sequence[Check]

    @property
    def passed(self) -> bool:
        """Whether every law held."""
        return all(check.passed for check in self.checks)

    @property
    def ours(self) -> str:
        """What stands beside the published figure: the range of what is plotted."""
        plot = self.scenario.plot
        values = [row[plot.y] for row in self.rows if plot.y in row]
        return f"{plot.y_title}: {min(values):.4g} to {max(values):.4g}" if values else ""

    def document(self) -> dict[str, Any]:
        """As result.json has it."""
        return {
            "schema": SCHEMA,
            "scenario": self.scenario.id,
            "title": self.scenario.title,
            "published": self.scenario.published,
            "ours": self.ours,
            "seed": self.seed,
            "quick": self.quick,
            "passed": self.passed,
            "checks": [asdict(check) for check in self.checks],
            "rows": list(self.rows),
        }


def rows_of(
    scenario: AnyScenario,
    *,
    quick: bool,
    seed: int,
    jobs: int,
    folder: Path,
    cluster: str | None = None,
) -> Iterator[Row]:
    """The rows of its points, in their order; captures are left in the folder.

    Networks of the event model are played by a process each, or on a cluster: what a scheduler
    of Dask has.
    """
    if isinstance(scenario, SceneScenario):
        for scene in scenario.points(quick, seed):
            yield scene.words | scene.play(folder)
        return
    points = list(scenario.points(quick, seed))
    networks = (point.network for point in points)
    played = play_all(networks, jobs=jobs) if cluster is None else play_on(cluster, networks)
    for point, told in zip(points, played, strict=True):
        yield point.words | scenario.measure(point, told)


def run(
    scenario: AnyScenario, *, quick: bool, seed: int = 1, jobs: int = 2, folder: Path = Path()
) -> Result:
    """Play a scenario."""
    rows = list(rows_of(scenario, quick=quick, seed=seed, jobs=jobs, folder=folder))
    return Result(scenario, seed, quick, rows, list(scenario.checks(rows)))
