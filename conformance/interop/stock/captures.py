# SPDX-License-Identifier: BSD-2-Clause
"""Makes a whole set of stock-tool captures and the table that describes it.

python -m roceproof.conformance.interop.stock.captures DIRECTORY [NAME...]
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.common.outcome import end_with
from roceproof.conformance.interop.stock.collection import SCENARIOS
from roceproof.conformance.interop.stock.scenarios import Scenario
from roceproof.conformance.interop.stock.traffic import Bench, Outcome, ToolFailed

SUFFIX = ".pcapng.gz"
STRATEGIES = 3
INTRODUCTION = """\
# Soft-RoCE traffic of stock tools

Two virtual machines with Debian's kernel, `rdma_rxe` and the stock tools, joined by a cable that
loses the frames it is told to. Every frame on the cable is in the capture, the tools' own TCP
exchange and ARP included, with the wall clock in nanoseconds. A frame lost in front of the
recording point is not in the capture; one lost behind it carries the packet comment "lost behind
this point". The section comment holds kernel, command lines and all that the tools printed, with
their QPNs and PSNs.

`make stock-captures` makes them anew. Tools, losses and sizes stay the same; QPNs, PSNs,
addresses and times do not.
"""


def capture_set(
    directory: Path,
    scenarios: Sequence[Scenario] = SCENARIOS,
    *,
    progress: Callable[[str], None] = lambda text: None,
) -> Iterator[Outcome]:
    """Capture each scenario into a file of its name, on one pair of machines."""
    with Bench.start(progress=progress) as bench:
        for scenario in scenarios:
            yield _held(bench, scenario, directory / f"{scenario.name}{SUFFIX}", progress)


def _held(bench: Bench, scenario: Scenario, path: Path, progress: Callable[[str], None]) -> Outcome:
    """Hold a conversation; repeat it when the tools lost a race of their own.

    On a busy host rping now and then trips over its own disconnect, and perftest's client asks
    for its second connection before the server listens for it.
    """
    for _ in range(STRATEGIES - 1):
        try:
            return bench.capture(scenario, path)
        except ToolFailed as error:
            progress(f"again: {str(error).splitlines()[0]}")
    return bench.capture(scenario, path)


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the description of a set in Markdown."""
    rows = [
        f"| {o.path.name} | `{o.scenario.client}` | {o.kernel} | {o.frames} | {o.scenario.shows} |"
        for o in outcomes
    ]
    head = ["| file | client's command | kernel | frames | shows |", "|---|---|---|---|---|"]
    return "\n".join([INTRODUCTION, *head, *rows, ""])


def main(arguments: Sequence[str]) -> int:
    """Make the named captures, or all of them with their table."""
    if not arguments:
        raise RoceproofError("name a directory for the captures, and scenarios if not all")
    directory, *names = arguments
    known = [scenario.name for scenario in SCENARIOS]
    if unknown := [name for name in names if name not in known]:
        raise RoceproofError(f"{unknown[0]!r} is no scenario; there are {', '.join(known)}")
    chosen = [scenario for scenario in SCENARIOS if not names or scenario.name in names]
    outcomes = []
    for outcome in capture_set(Path(directory), chosen, progress=print):
        print(f"{outcome.path}: {outcome.frames} frames, {outcome.lost} lost")
        outcomes.append(outcome)
    if not names:
        (Path(directory) / "README.md").write_text(table(outcomes))
    return 0


if __name__ == "__main__":
    end_with(lambda: main(sys.argv[1:]))
