# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof interop``: every tool against every peer, each capture judged, and a table of it."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from rich.table import Table

from roceproof.common.errors import RoceproofError
from roceproof.common.output import output_directory
from roceproof.common.paths import RESPONDER_DUT
from roceproof.common.progress import Progress
from roceproof.common.terminal import Terminal
from roceproof.conformance.capture.reader import Flow, read
from roceproof.conformance.check.run import check_file
from roceproof.conformance.interop.conversation import Client
from roceproof.conformance.interop.peers import Peer, hdl_peer, model_peer
from roceproof.conformance.interop.scenarios import BEYOND, SCENARIOS, Scenario
from roceproof.conformance.rules.table import Severity
from roceproof.rxe_env.errors import PeerDied

PASSED, FAILED, CANNOT = "passed", "failed", "cannot"
SCHEMA = 1
RESULTS = "interop.json"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    tools: Sequence[str]
    peers: Sequence[str]
    dut: Path | None
    width: int | None
    kernel: str | None
    seed: int
    out: Path
    quiet: bool


@dataclass(frozen=True)
class Cell:
    """One tool and one peer."""

    tool: str
    peer: str
    result: str
    why: str = ""
    capture: str = ""
    frames: int = 0
    remark: str = ""
    """What no device is to blame for."""


def run_interop(wanted: Wanted) -> int:
    """Hold all conversations; 1 if one of them failed."""
    if "hdl" not in wanted.peers and (wanted.dut is not None or wanted.width is not None):
        raise click.UsageError("--dut and --width are for --peer hdl")
    scenarios = [each for each in SCENARIOS if _is_wanted(each.name, wanted.tools)]
    beyond = {name: why for name, why in BEYOND.items() if _is_wanted(name, wanted.tools)}
    names = [*(each.name for each in SCENARIOS), *BEYOND]
    for tool in wanted.tools:
        if not any(_is_wanted(name, [tool]) for name in names):
            known = ", ".join(dict.fromkeys(name.split()[0] for name in names))
            raise RoceproofError(f"no tool begins with {tool}; there are {known}")
    peers = [_peer(name, wanted) for name in dict.fromkeys(wanted.peers)]
    with output_directory(wanted.out):
        (wanted.out / RESULTS).unlink(missing_ok=True)  # nothing of a run before
        cells: list[Cell] = []
        is_interrupted = True
        try:
            with Progress(quiet=wanted.quiet) as progress:
                for cell in _cells(scenarios, peers, wanted, progress) if scenarios else ():
                    cells.append(cell)
            is_interrupted = False
            cells += [
                Cell(name, peer.name, CANNOT, why) for name, why in beyond.items() for peer in peers
            ]
        finally:
            _write(wanted.out / RESULTS, cells, is_interrupted=is_interrupted)
            _print(cells, peers)
    return int(any(cell.result == FAILED for cell in cells))


def _is_wanted(name: str, tools: Sequence[str]) -> bool:
    return not tools or any(name.startswith(tool) for tool in tools)


def _peer(name: str, wanted: Wanted) -> Peer:
    if name == "hdl":
        return hdl_peer(wanted.dut or RESPONDER_DUT, wanted.width)
    return model_peer()


def _cells(
    scenarios: Sequence[Scenario], peers: Sequence[Peer], wanted: Wanted, progress: Progress
) -> Iterator[Cell]:
    for peer in peers:
        peer.factory.prepare(progress.step)
    guest = Guest(wanted.kernel)
    try:
        guest.booted(progress.step)
        total = len(scenarios) * len(peers)
        with progress.bar("talking", total=total, unit="conversations") as bar:
            for scenario in scenarios:
                for peer in peers:
                    yield guest.cell(scenario, peer, wanted)
                    bar.advance()
    finally:
        guest.close()


class Guest:
    """The machine with the tools; one that is lost to a conversation is booted anew."""

    def __init__(self, kernel: str | None) -> None:
        self._kernel = kernel
        self._client: Client | None = None

    def booted(self, progress: Callable[[str], None] = lambda text: None) -> Client:
        """The machine, booted if need be."""
        if self._client is None:
            self._client = Client.start(progress, kernel=self._kernel)
        return self._client

    def cell(self, scenario: Scenario, peer: Peer, wanted: Wanted) -> Cell:
        """Hold a conversation; that it kills the machine is what came of it."""
        client = self.booted()
        try:
            return _cell(client, scenario, peer, wanted)
        except PeerDied as error:
            self.close()
            name = _capture(scenario, peer)
            return Cell(scenario.name, peer.name, FAILED, str(error), name)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None


def _cell(client: Client, scenario: Scenario, peer: Peer, wanted: Wanted) -> Cell:
    lack = peer.lack(scenario)
    if lack:
        return Cell(scenario.name, peer.name, CANNOT, lack)
    name = _capture(scenario, peer)
    outcome = client.converse(scenario, peer, wanted.out / name, seed=wanted.seed)
    if outcome.is_beyond:
        return Cell(scenario.name, peer.name, CANNOT, outcome.trouble)
    broken, remark = _broken(outcome.capture)
    trouble = outcome.trouble or broken
    if outcome.trouble and outcome.said:
        trouble += f"\n{outcome.said}"
    result = FAILED if trouble else PASSED
    return Cell(scenario.name, peer.name, result, trouble, name, outcome.frames, remark)


def _capture(scenario: Scenario, peer: Peer) -> str:
    return f"{scenario.name} {peer.name}.pcapng".replace(" -", " ").replace(" ", "-")


def _broken(capture: Path) -> tuple[str, str]:
    """The first rule that a frame of the device's host breaks, and the first of the tool's."""
    document = check_file(capture)
    from_the_tool = {record.number for record in read(capture) if record.flow is Flow.INBOUND}
    first: dict[bool, str] = {}
    for row in document["findings"]:
        if row["severity"] == Severity.MUST:
            is_the_tools = row["frame"] in from_the_tool
            whose = "tool" if is_the_tools else "device"
            shown = f"expected {row['expected']}, got {row['got']}"
            told = f"frame {row['frame']} of the {whose}'s host breaks {row['rule']}: {shown}"
            first.setdefault(is_the_tools, told)
    return first.get(False) or document["error"] or "", first.get(True, "")


def _write(path: Path, cells: Sequence[Cell], *, is_interrupted: bool) -> None:
    document = {
        "schema": SCHEMA,
        "interrupted": is_interrupted,
        "conversations": [asdict(cell) for cell in cells],
    }
    path.write_text(json.dumps(document, indent=1) + "\n")


def _print(cells: Sequence[Cell], peers: Sequence[Peer]) -> None:
    if not cells:
        return
    terminal = Terminal()
    table = Table("tool", *(peer.name for peer in peers), box=None, pad_edge=False)
    tools: dict[str, dict[str, str]] = {}
    for cell in cells:
        tools.setdefault(cell.tool, {})[cell.peer] = cell.result
    for tool, results in tools.items():
        table.add_row(tool, *(results.get(peer.name, "") for peer in peers))
    terminal.print(table)
    reasons: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if cell.result != PASSED:
            reasons.setdefault((cell.tool, f"{cell.result}: {cell.why}"), []).append(cell.peer)
        if cell.remark:
            reasons.setdefault((cell.tool, f"remark: {cell.remark}"), []).append(cell.peer)
    for (tool, why), names in reasons.items():
        terminal.print(f"{tool}, {' and '.join(names)}: {why}", markup=False)
