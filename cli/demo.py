# SPDX-License-Identifier: BSD-2-Clause
"""The main job: a simulated transmitter writes into the memory of a real receiver.

Starts a Soft-RoCE peer and the reference endpoint, connects queue pairs of
both, sends the work list of ``demo_plan`` and compares, message by message,
what the receiver's memory and completions hold with what was sent. Then it
checks every frame of the capture against the rules.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.common.output import output_directory
from roceproof.common.paths import REFERENCE_DUT
from roceproof.common.progress import Progress
from roceproof.conformance.capture.reader import Flow, read
from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.rules.findings import Direction, Finding
from roceproof.conformance.rules.table import Severity
from roceproof.demo_plan import plan
from roceproof.demo_report import MessageResult, PeerFacts, print_table, write_result
from roceproof.demo_sender import Sender
from roceproof.dpi import PortOptions, Simulation, SimulationError
from roceproof.dpi.build import build_simulation
from roceproof.dpi.manifest import load_manifest
from roceproof.rxe_env.errors import AgentError
from roceproof.rxe_env.peer import DUT_IPV4, SoftRoce

ENDPOINT_MAC = "02:00:00:00:00:01"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What to demonstrate, and where to leave its capture."""

    dut: Path | None
    backend: str
    data_width: int
    seed: int
    out: Path
    waves: bool
    short: bool
    command: str
    kernel: str | None = None


@dataclass(kw_only=True)
class Demonstration:
    """What came of it, as far as it got."""

    capture: Path
    facts: PeerFacts | None = None
    results: list[MessageResult] = field(default_factory=list)
    due: int = 0
    frames: int = 0
    findings: list[str] = field(default_factory=list)

    @property
    def landed(self) -> int:
        """Messages that are in the receiver's memory as they were sent."""
        return sum(result.ok for result in self.results)

    @property
    def ok(self) -> bool:
        """Whether every message landed and every frame was right."""
        return self.landed == len(self.results) > 0 and not self.findings


def run_demo(wanted: Wanted, *, quiet: bool) -> int:
    """Run everything; 0 if every message landed and every frame was right, else 1."""
    started = time.monotonic()
    shown = Demonstration(capture=wanted.out / "capture.pcapng")
    try:
        with output_directory(wanted.out), Progress(quiet=quiet) as progress:
            demonstrate(wanted, shown, progress)
    except (RoceproofError, KeyboardInterrupt):
        if shown.results:
            print_table(shown.results)
            print(f"\n{shown.landed} of {shown.due} messages had landed; {shown.capture}")
        raise
    facts = shown.facts
    assert facts is not None
    write_result(wanted.out / "result.json", facts, shown.results, ok=shown.ok)
    print_table(shown.results)
    for finding in shown.findings[:10]:
        print(finding)
    print(
        f"\n{shown.landed} of {len(shown.results)} messages landed; {shown.frames} frames, "
        f"{len(shown.findings)} findings ({facts.backend}, {facts.accel}, Linux {facts.kernel}; "
        f"{time.monotonic() - started:.1f} s)\n{shown.capture}\n{wanted.out / 'result.json'}"
    )
    return 0 if shown.ok else 1


def demonstrate(wanted: Wanted, shown: Demonstration, progress: Progress) -> None:
    """Send all, and note in `shown` what comes of it until the end or an error."""
    manifest = load_manifest(wanted.dut or REFERENCE_DUT)
    connections = list(plan(seed=wanted.seed, device=manifest, short=wanted.short))
    progress.step(f"building the {wanted.data_width}-bit simulation")
    build_simulation(manifest, data_width=wanted.data_width, ports=1, fst=wanted.waves)
    with ExitStack() as stack:
        progress.step("starting the Soft-RoCE receiver")
        peer = stack.enter_context(
            SoftRoce.start(backend=wanted.backend, kernel=wanted.kernel, progress=progress.step)
        )
        shown.facts = PeerFacts(backend=peer.backend, accel=peer.accel, kernel=peer.kernel)
        port_options = PortOptions(
            mac=ENDPOINT_MAC, ipv4=DUT_IPV4, link=peer.link, capture=shown.capture
        )
        simulation = stack.enter_context(
            Simulation.start(
                manifest,
                data_width=wanted.data_width,
                ports=[port_options],
                seed=wanted.seed,
                free_running=True,
                waves=wanted.out / "waves.fst" if wanted.waves else None,
                log=wanted.out / "simulation.log",
                netns=peer.netns,
                command=wanted.command,
            )
        )
        sender = Sender(
            simulation,
            peer,
            device=manifest,
            data_width=wanted.data_width,
            capture=shown.capture,
            report=progress.problem,
        )
        shown.due = sum(len(connection.messages) for connection in connections)
        with (
            progress.bar("sending", total=shown.due, unit="messages") as bar,
            root_cause(simulation, peer),
        ):
            for connection in connections:
                for result in sender.send_all(connection):
                    shown.results.append(result)
                    bar.advance()
    progress.step("checking every frame of the capture")
    shown.frames, shown.findings = check_capture(shown.capture)


@contextmanager
def root_cause(simulation: Simulation, peer: SoftRoce) -> Iterator[None]:
    """When one side fails because the other has died, raise the death instead."""
    try:
        yield
    except AgentError:
        simulation.statistics()
        raise
    except SimulationError:
        peer.call("hello")
        raise


def check_capture(path: Path) -> tuple[int, list[str]]:
    """Number of frames in the capture, and every broken MUST rule as a line of text."""
    checker = Checker()
    findings: list[Finding] = []
    for record in read(path):
        direction = Direction.RECEIVED if record.flow is Flow.INBOUND else Direction.SENT
        findings += checker.feed(record.frame, direction)
    findings += checker.finish()
    broken = [finding.message for finding in findings if finding.severity is Severity.MUST]
    return checker.counts.frames, broken
