# SPDX-License-Identifier: BSD-2-Clause
"""How soon planted faults are found: by plans as campaigns draw them, and if they were guided.

Each contestant plays seed after seed against each fault until one fails or its time is over.
Processor time of this process and its simulations counts, so that other programs do not. Whoever
is guided changes, half of the time, plans that have hit a bin of functional coverage first.
The faults are those that measure stimulus (`rtl/mutants`), drawn before anybody saw what finds
them, or those of the responder, or of the model and its wire. Behind that, how many programs a
second two workers of a campaign play on devices without a fault, against one.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from statistics import median
from typing import NamedTuple

from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.campaign.crowd import crowd
from roceproof.conformance.campaign.programs import program_of
from roceproof.conformance.campaign.worker import Part
from roceproof.conformance.mutants.rtl import RESPONDER_MUTANTS, load_mutants
from roceproof.conformance.mutants.wire import wire_mutants
from roceproof.conformance.runner.plan_player import PlanPlayer
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.stimulus.plan import Plan

WIDTH = 64
PART = 5
"""Programs of a part of a campaign."""
WARM = 4
"""Parts of one program for each worker, before its pace is measured."""


class Trial(NamedTuple):
    """How many programs one fault took, and how many processor seconds."""

    programs: int
    seconds: float
    is_found: bool

    def __str__(self) -> str:
        return f"{self.programs} ({self.seconds:.1f} s)" if self.is_found else "-"


Programs = Callable[[PlanPlayer], Iterator[Plan]]


def drawn(player: PlanPlayer) -> Iterator[Plan]:
    """Those of a run in a new folder, which are those of a soak."""
    for seed in count():
        yield program_of(seed, player.claims, [])


def guided(player: PlanPlayer) -> Iterator[Plan]:
    """The same, and whatever reaches something new becomes an entry."""
    entries: list[Plan] = []
    reached = 0
    for seed in count():
        yield (plan := program_of(seed, player.claims, entries))
        if (now := sum(map(len, player.counts.to_json().values()))) > reached:
            reached = now
            entries.append(plan)


FAULTS: dict[str, Callable[[], list[str]]] = {
    "requester": lambda: [each.id for each in load_mutants().mutants if each.kind],
    "responder": lambda: [each.id for each in load_mutants(RESPONDER_MUTANTS).mutants],
    "model": lambda: list(wire_mutants()),
}
CONTESTANTS: dict[str, Programs] = {"drawn": drawn, "guided": guided}


def main() -> None:
    """Print a line for each fault, and what they come to."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=float, default=20.0, help="for each fault")
    arguments.add_argument("--every", type=int, default=10, help="take each n-th fault")
    arguments.add_argument("--first", type=int, default=0)
    arguments.add_argument("--of", choices=FAULTS, default="requester")
    arguments.add_argument("--programs", type=int, default=200, help="of each pace; 0: none")
    arguments.add_argument("--paces", action="store_true", help="and no fault")
    wanted = arguments.parse_args()
    if not wanted.paces:
        race(wanted)
    if wanted.programs:
        tell_paces(wanted.programs)


def race(wanted: argparse.Namespace) -> None:
    """What is found, and how soon."""
    target, width = ("model", None) if wanted.of == "model" else ("hdl", WIDTH)
    trials: dict[str, list[Trial]] = {name: [] for name in CONTESTANTS}
    print(f"| fault | {' | '.join(CONTESTANTS)} |\n|---|{'---|' * len(CONTESTANTS)}")
    for fault in FAULTS[wanted.of]()[wanted.first :: wanted.every]:
        options = Options(target=target, dut=REFERENCE_DUT, mutant=fault)
        for name, programs in CONTESTANTS.items():
            player = PlanPlayer(options, width, seconds=0.0)
            trials[name].append(tried(player, programs, wanted.seconds))
        row(fault, [str(of[-1]) for of in trials.values()])
    row("found", [str(sum(each.is_found for each in of)) for of in trials.values()])
    by_all = [each for each in zip(*trials.values(), strict=True) if all(t.is_found for t in each)]
    found = [*zip(*by_all, strict=True)]
    row(
        f"median programs, of {len(by_all)} that all find",
        [str(median(each.programs for each in of)) for of in found],
    )
    row(
        f"median seconds, of {len(by_all)} that all find",
        [f"{median(each.seconds for each in of):.2f}" for of in found],
    )
    rates = [sum(t.programs for t in of) / sum(t.seconds for t in of) for of in trials.values()]
    row("programs per processor second", [f"{rate:.1f}" for rate in rates])


def tell_paces(programs: int) -> None:
    """What a second worker is worth; on a machine that has something else to do, less."""
    loads = " ".join(f"{load:.1f}" for load in os.getloadavg())
    print(f"\nload {loads} on {os.cpu_count()} processors\n")
    print("| programs per second | one worker | two | ratio |\n|---|---|---|---|")
    for target, width in (("model", None), ("hdl", WIDTH)):
        options = Options(target=target, dut=REFERENCE_DUT)
        one, two = (pace(options, width, jobs, programs) for jobs in (1, 2))
        row(target, [f"{one:.1f}", f"{two:.1f}", f"{two / one:.2f}"])


def pace(options: Options, width: int | None, jobs: int, programs: int) -> float:
    """Programs per second of so many workers that have begun; the same seeds for any number."""
    with tempfile.TemporaryDirectory() as folder, crowd(jobs, None, look=lambda: None) as players:

        def played(size: int, stop: int) -> int:
            parts = [
                Part(folder=Path(folder), options=options, width=width, first=first, count=size)
                for first in range(0, stop, size)
            ]
            return sum(came.programs for came in players.play(parts))

        played(1, WARM * jobs)
        began = time.monotonic()
        return played(PART, programs) / (time.monotonic() - began)


def row(head: str, cells: list[str]) -> None:
    """Print a line of the table."""
    print(f"| {head} | {' | '.join(cells)} |", flush=True)


def tried(player: PlanPlayer, programs: Programs, seconds: float) -> Trial:
    """Play until one program fails, or so many processor seconds are over."""
    played, began, is_found = 0, processor_seconds(), False
    for played, plan in enumerate(programs(player), start=1):
        is_found = player.play(played, plan) is not None
        if is_found or processor_seconds() - began > seconds:
            break
    return Trial(played, processor_seconds() - began, is_found)


def processor_seconds() -> float:
    """Of this process and the simulations that have ended."""
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


if __name__ == "__main__":
    main()
