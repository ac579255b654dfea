# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof soak``: rounds of chunks of seeds, spread over processes, until time is up.

Between rounds the weights are steered towards the bins of functional coverage that are empty; it
ends early when none is. Each failing plan is left as a small case of its own.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.common.exit_codes import Exit
from roceproof.common.notice import notice
from roceproof.common.output import output_directory
from roceproof.common.progress import Progress
from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.coverage.document import Coverage
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.regression.plan_devices import PlanDevices, Wanted
from roceproof.conformance.regression.soak_workers import come, soak_workers
from roceproof.conformance.rules.table import is_warning
from roceproof.conformance.runner.plan_player import PlanFinding
from roceproof.conformance.runner.soak import Chunk, Found, play
from roceproof.conformance.stimulus.drawing.steering import steered
from roceproof.conformance.stimulus.drawing.weights import Weights

_CHUNK = 12
_TOLD = 5
_ONLY_DIRECTED = ("rules.", "responder.", "life.")
"""Points that random stimulus of this length does not aim at."""


@dataclass(frozen=True, kw_only=True)
class Soak(Wanted):
    minutes: float
    seed: int
    out: Path
    jobs: int
    quiet: bool


def run_soak(wanted: Soak) -> int:
    """Play until time is up; 1 if anything new was found, 2 if not and plans broke."""
    options = wanted.options()
    with output_directory(wanted.out), Progress(quiet=wanted.quiet) as progress:
        devices = PlanDevices.prepared(options, progress)
        night = Night(wanted, devices)
        end: BaseException | None = None
        try:
            night.run(progress)
        except (KeyboardInterrupt, RoceproofError) as error:  # what is known is told all the same
            end = error
    night.tell()
    if end is not None:
        raise end
    return verdict(night.findings, broke=night.broke)


def verdict(findings: Mapping[str, Sequence[PlanFinding]], *, broke: Sequence[str]) -> Exit:
    """What is declared of a kernel is nothing new; what broke by itself was not judged.

    A plan that breaks no must is told, as a warning, and fails nothing.
    """
    if any(
        each.declared is None and not is_warning(each.rules)
        for plans in findings.values()
        for each in plans
    ):
        return Exit.FINDINGS
    return Exit.UNUSABLE if broke else Exit.FINE


class Night:
    def __init__(self, wanted: Soak, devices: PlanDevices) -> None:
        self._wanted = wanted
        self._devices = devices
        self._counts = Counts()
        self._seeds = 0
        self._started = time.monotonic()
        self.findings: dict[str, list[PlanFinding]] = {}
        """By what is alike in how they fail."""
        self._replays: dict[int, str] = {}
        """By seed the command that plays its case again."""
        self.broke: list[str] = []
        """What plans have broken themselves."""

    def run(self, progress: Progress) -> None:
        """Rounds until time is up, or nothing is left to reach."""
        wanted, next_seed = self._wanted, self._wanted.seed
        widths = self._devices.widths
        end = self._started + 60 * wanted.minutes
        weights, count = Weights(), _CHUNK
        with soak_workers(wanted.jobs) as pool:
            while time.monotonic() < end:
                began, chunks = time.monotonic(), []
                for index in range(wanted.jobs):
                    width = widths[index % len(widths)]
                    chunks.append(
                        Chunk(
                            options=self._devices.options,
                            width=width,
                            first=next_seed,
                            count=count,
                            weights=weights,
                            known=frozenset(self.findings),
                        )
                    )
                    next_seed += count
                widths = [*widths[1:], *widths[:1]]
                for found in come(pool.imap_unordered(play, chunks), look=self._devices.look):
                    self.take(found)
                left = self._left()
                progress.step(self._status(len(left)))
                if not left:
                    return
                weights = steered(left)
                pace = count / (time.monotonic() - began)
                count = max(1, min(_CHUNK * 8, int(pace * (end - time.monotonic()) / 2) or 1))

    def take(self, found: Found) -> None:
        self._seeds += found.seeds
        self.broke += found.broke
        self._counts.merge(Counts.from_json(found.counts))
        for each in found.findings:
            self.findings.setdefault(each.kind, []).append(each)
            path = self._wanted.out / f"test_found_{each.seed}.py"
            path.write_text(each.text)
            self._replays[each.seed] = self._devices.options.replay_file(path, found.width)

    def _left(self) -> list[str]:
        empty = self._counts.empty(*self._devices.claims)
        return [each.point for each in empty if not each.point.startswith(_ONLY_DIRECTED)]

    def _status(self, left: int) -> str:
        rate = self._seeds / (time.monotonic() - self._started)
        plans = sum(map(len, self.findings.values()))
        of_plans = f" in {plans} plans" if plans else ""
        return (
            f"{self._seeds} seeds, {rate:.1f} seeds/s, {len(self.findings)} findings{of_plans}, "
            f"{left} bins empty"
        )

    def tell(self) -> None:
        """What was found, and what was not reached."""
        groups = sorted(self.findings.values(), key=len, reverse=True)
        for plans in groups[:_TOLD]:
            shortest = min(plans, key=lambda each: len(each.text))
            declared = f"declared: {shortest.declared}\n" if shortest.declared else ""
            if is_warning(shortest.rules):
                declared += f"a warning: {' '.join(shortest.rules)} is no must\n"
            print(f"{shortest.story}\n{declared}replay: {self._replays[shortest.seed]}\n")
            if others := [str(each.seed) for each in plans if each is not shortest]:
                more = ", ..." if len(others) > _TOLD else ""
                print(f"as seeds {', '.join(others[:_TOLD])}{more} fail\n")
        for broke in self.broke[:_TOLD]:
            notice(f"a plan broke by itself, whatever the device: {broke}")
        left = self._left()
        first = self._devices.claims[0]
        run = {"suite": "soak", "seed": self._wanted.seed, "expression": ""}
        scope = Scope.of(self._devices.claims)
        reached = Coverage(first.target, first.device, scope, [run], self._counts)
        reached.write(self._wanted.out / "coverage.json")
        print(self._status(len(left)))
        points = sorted(set(left), key=left.index)
        if left and not self._wanted.quiet:
            print("empty: " + ", ".join(f"{point} ({left.count(point)})" for point in points))
