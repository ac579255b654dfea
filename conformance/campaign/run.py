# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof fuzz run``: parts of a campaign spread over processes, until time is up.

A run first plays all entries of its folder as they are, and then seeds that no other run has: its
number says which. What it has come to is written down all the time, so it may end in any way.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from roceproof.common.errors import RoceproofError
from roceproof.common.exit_codes import Exit
from roceproof.common.notice import notice
from roceproof.common.progress import Progress
from roceproof.common.whole_file import whole_file
from roceproof.conformance.campaign.crowd import crowd
from roceproof.conformance.campaign.folder import Folder
from roceproof.conformance.campaign.report import fails, findings_told, is_new, story_of
from roceproof.conformance.campaign.worker import Came, Part
from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.coverage.document import Coverage
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.regression.plan_devices import PlanDevices, Wanted

_SEEDS = 1 << 32
"""Seeds of one run and the next lie so far apart."""
_FIRST, _MOST = 1, 200
"""Programs of a part."""
_SECONDS = 1.0
_PARTS = 8
"""So many parts for each player make a round: one that makes a plan small holds up no other."""
_TOLD = 5
_METRICS = {
    "programs_total": "counter",
    "seconds_total": "counter",
    "failed_programs_total": "counter",
    "findings": "gauge",
    "empty_bins": "gauge",
}


@dataclass(frozen=True, kw_only=True)
class Campaign(Wanted):
    folder: Path
    minutes: float
    seed: int
    jobs: int
    cluster: str | None
    """The scheduler of a Dask cluster, whose workers play instead of `jobs` processes."""
    quiet: bool


def run_campaign(wanted: Campaign) -> int:
    """Play until time is up; 1 if anything new was found, 2 if not and programs broke."""
    options = wanted.options()
    with Progress(quiet=wanted.quiet) as progress:
        run = Run(wanted, PlanDevices.prepared(options, progress))
        end: BaseException | None = None
        try:
            run.play(progress)
        except (KeyboardInterrupt, RoceproofError) as error:  # what is known is told all the same
            end = error
    run.tell(is_over=end is None)
    if end is not None:
        raise end
    if any(map(fails, run.findings())):
        return Exit.FINDINGS
    return Exit.UNUSABLE if run.broke else Exit.FINE


class Run:
    """One run, and what it has come to."""

    def __init__(self, wanted: Campaign, devices: PlanDevices) -> None:
        self._wanted = wanted
        self._devices = devices
        self._folder = Folder(wanted.folder)
        self._counts = Counts()
        self._programs = 0
        self.found = Counter[str]()
        """How many programs failed, by the names of the findings."""
        self._read: dict[str, dict[str, Any]] = {}
        """Findings of the folder as they were read last, by their names."""
        self.broke: list[str] = []
        """What programs have broken themselves."""
        self._began = time.monotonic()
        self._file = self._folder.begin(self._facts(is_over=False))
        self._next = wanted.seed + (int(self._file.stem) - 1) * _SEEDS

    def play(self, progress: Progress) -> None:
        """The entries, and then seeds until time is up."""
        end = self._began + 60 * self._wanted.minutes
        count = _FIRST
        wanted, look = self._wanted, self._devices.look
        with crowd(wanted.jobs, wanted.cluster, look=look) as players:
            parts = [*self._of_entries(players.size)]
            while parts:
                began, before = time.monotonic(), self._programs
                for came in players.play(parts):
                    self._take(came)
                self._note(progress)
                now = time.monotonic()
                if now >= end:
                    return
                size = players.size
                pace = (self._programs - before) / (now - began) / size
                seconds = min(_SECONDS, (end - now) / _PARTS)
                count = max(1, min(2 * count, _MOST, int(pace * seconds)))
                parts = [*self._of_seeds(count, size)]

    def findings(self) -> list[dict[str, Any]]:
        """What it has found, the most frequent first."""
        if not self.found.keys() <= self._read.keys():  # they stay as they are
            self._read = {each["folder"].name: each for each in self._folder.findings()}
        mine = [name for name in self._read if name in self.found]
        return [self._read[name] for name in sorted(mine, key=lambda name: -self.found[name])]

    def tell(self, *, is_over: bool) -> None:
        """What was found, and what was not reached."""
        self._write(is_over=is_over)
        self._read.clear()  # somebody may have removed some
        for each in [*filter(is_new, self.findings())][:_TOLD]:
            print(f"{story_of(each)}\n")
        for broke in self.broke[:_TOLD]:
            notice(f"a program broke by itself, whatever the device: {broke}")
        print(self._status())

    def _of_entries(self, size: int) -> Iterator[Part]:
        entries, parts = self._folder.entries(), _PARTS * size
        if not entries:
            yield from self._of_seeds(_FIRST, size)
        for place in range(min(parts, len(entries))):
            share = tuple(entries[place::parts])
            for width in self._devices.widths:
                yield self._part(width, len(share), entries=share)

    def _of_seeds(self, count: int, size: int) -> Iterator[Part]:
        widths = cycle(self._devices.widths)
        for _ in range(max(_PARTS * size, len(self._devices.widths))):
            yield self._part(next(widths), count)

    def _part(self, width: int | None, count: int, *, entries: tuple[Path, ...] = ()) -> Part:
        first, self._next = self._next, self._next + count
        return Part(
            folder=self._folder.path,
            options=self._devices.options,
            width=width,
            first=first,
            count=count,
            entries=entries,
        )

    def _take(self, came: Came) -> None:
        self._programs += came.programs
        self.found += came.found
        self.broke += came.broke
        self._counts.merge(Counts.from_json(came.counts))
        self._write(is_over=False)

    def _note(self, progress: Progress) -> None:
        facts = self._facts(is_over=False)
        with self._file.with_suffix(".jsonl").open("a") as lines:
            lines.write(json.dumps(facts) + "\n")
        with whole_file(self._file.with_suffix(".prom")) as part:
            part.write_text(metrics_of(facts, run=int(self._file.stem)))
        progress.step(self._status())

    def _write(self, *, is_over: bool) -> None:
        with whole_file(self._file) as part:
            part.write_text(json.dumps(self._facts(is_over=is_over)) + "\n")
        first = self._devices.claims[0]
        run = {"suite": "fuzz", "seed": self._wanted.seed, "expression": ""}
        scope = Scope.of(self._devices.claims)
        coverage = Coverage(first.target, first.device, scope, [run], self._counts)
        coverage.write(self._file.with_name(f"coverage-{self._file.name}"))

    def _facts(self, *, is_over: bool) -> dict[str, Any]:
        return {
            "device": self._devices.claims[0].device,
            "mutant": self._wanted.mutant,
            "seconds": round(time.monotonic() - self._began, 1),
            "programs": self._programs,
            "found": dict(self.found),
            "broke": len(self.broke),
            "empty": len(self._counts.empty(*self._devices.claims)),
            "is_over": is_over,
        }

    def _status(self) -> str:
        facts = self._facts(is_over=False)
        rate = self._programs / max(facts["seconds"], 0.1)
        failed = sum(self.found.values())
        of_programs = f" in {failed} programs" if failed else ""
        return (
            f"run {int(self._file.stem)}: {self._programs} programs, {rate:.1f} programs/s, "
            f"{findings_told(self.findings())}{of_programs}, {facts['empty']} bins empty"
        )


def metrics_of(facts: Mapping[str, Any], *, run: int) -> str:
    """A family for each number, labelled with the run and its device."""
    numbers = {
        "programs_total": facts["programs"],
        "seconds_total": facts["seconds"],
        "failed_programs_total": sum(facts["found"].values()),
        "findings": len(facts["found"]),
        "empty_bins": facts["empty"],
    }
    device = str(facts["device"]).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    lines = []
    for name, kind in _METRICS.items():
        lines.append(f"# TYPE roceproof_fuzz_{name} {kind}")
        lines.append(f'roceproof_fuzz_{name}{{run="{run}",device="{device}"}} {numbers[name]}')
    return "\n".join([*lines, ""])
