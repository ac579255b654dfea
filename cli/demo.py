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
from pathlib import Path

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


def run_demo(
    *,
    dut: Path | None,
    backend: str,
    data_width: int,
    seed: int,
    out: Path,
    waves: bool,
    short: bool,
    quiet: bool,
) -> int:
    """Run everything; 0 if every message landed and every frame was right, else 1."""
    started = time.monotonic()
    capture = out / "capture.pcapng"
    manifest = load_manifest(dut or REFERENCE_DUT)
    connections = list(plan(seed=seed, capabilities=manifest.capabilities, short=short))
    results: list[MessageResult] = []
    with output_directory(out), Progress(quiet=quiet) as progress:
        progress.step(f"building the {data_width}-bit simulation")
        build_simulation(manifest, data_width=data_width, ports=1, fst=waves)
        with ExitStack() as stack:
            progress.step("starting the Soft-RoCE receiver")
            peer = stack.enter_context(SoftRoce.start(backend=backend, progress=progress.step))
            facts = PeerFacts(backend=peer.backend, accel=peer.accel, kernel=peer.kernel)
            port_options = PortOptions(
                mac=ENDPOINT_MAC, ipv4=DUT_IPV4, link=peer.link, capture=capture
            )
            simulation = stack.enter_context(
                Simulation.start(
                    manifest,
                    data_width=data_width,
                    ports=[port_options],
                    seed=seed,
                    free_running=True,
                    waves=out / "waves.fst" if waves else None,
                    log=out / "simulation.log",
                    netns=peer.netns,
                    command=f"roceproof demo --width {data_width} --seed {seed}",
                )
            )
            sender = Sender(simulation, peer, lane_bytes=data_width // 8, report=progress.problem)
            total = sum(len(connection.messages) for connection in connections)
            with (
                progress.bar("sending", total=total, unit="messages") as bar,
                root_cause(simulation, peer),
            ):
                for connection in connections:
                    for result in sender.send_all(connection):
                        results.append(result)
                        bar.advance()
        progress.step("checking every frame of the capture")
        frames, findings = check_capture(capture)
    landed = sum(result.ok for result in results)
    ok = landed == len(results) and not findings
    write_result(out / "result.json", facts, results, ok=ok)
    print_table(results)
    for finding in findings[:10]:
        print(finding)
    print(
        f"\n{landed} of {len(results)} messages landed; {frames} frames, {len(findings)} findings "
        f"({facts.backend}, {facts.accel}, Linux {facts.kernel}; "
        f"{time.monotonic() - started:.1f} s)\n{capture}\n{out / 'result.json'}"
    )
    return 0 if ok else 1


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
