# SPDX-License-Identifier: BSD-2-Clause
"""The main job: a simulated transmitter writes into the memory of a real receiver.

Starts a Soft-RoCE peer and the reference endpoint, connects queue pairs of
both, sends the work list of ``demo_plan`` and compares, message by message,
what the receiver's memory and completions hold with what was sent. Then it
checks every frame of the capture against the rules.
"""

import time
from collections.abc import Callable

from roceproof.common.errors import RoceproofError
from roceproof.common.exit_codes import Exit
from roceproof.common.output import output_directory
from roceproof.common.printable import printable
from roceproof.common.progress import Progress
from roceproof.conformance.demo.meeting import Demonstration, Wanted, meeting, send_all
from roceproof.conformance.demo.plan import plan
from roceproof.conformance.demo.report import print_table, write_result
from roceproof.conformance.demo.sender import Sender
from roceproof.dpi.manifest.dut import load_manifest

Play = Callable[[Wanted, Demonstration, Progress], None]
"""What is demonstrated: it notes what comes of it until its end or an error."""


def run_demo(wanted: Wanted, play: Play, *, quiet: bool) -> int:
    """Run everything; 0 if every message landed and every frame was right, else 1."""
    started = time.monotonic()
    shown = Demonstration(capture=wanted.out / "capture.pcapng")
    try:
        with output_directory(wanted.out), Progress(quiet=quiet) as progress:
            play(wanted, shown, progress)
    except (RoceproofError, KeyboardInterrupt):
        if shown.results:
            print_table(shown.results)
            print(
                f"\n{shown.landed} of {shown.due} messages had landed; {printable(shown.capture)}"
            )
        raise
    facts = shown.facts
    assert facts is not None
    write_result(wanted.out / "result.json", facts, shown.results, ok=shown.ok)
    print_table(shown.results)
    for finding in shown.findings[:10]:
        print(finding)
    print(
        f"\n{shown.landed} of {len(shown.results)} messages landed; {shown.frames} frames, "
        f"{_lost(shown)}{len(shown.findings)} findings "
        f"({facts.backend}, {facts.accel}, Linux {facts.kernel}; "
        f"{time.monotonic() - started:.1f} s)\n"
        f"{printable(shown.capture)}\n{printable(wanted.out / 'result.json')}"
    )
    return Exit.FINE if shown.ok else Exit.FINDINGS


def demonstrate(wanted: Wanted, shown: Demonstration, progress: Progress) -> None:
    """Send all, and note in `shown` what comes of it until the end or an error."""
    manifest = load_manifest(wanted.dut)
    connections = list(plan(seed=wanted.seed, device=manifest, short=wanted.short))
    with meeting(wanted, manifest, shown, progress, peer_is="receiver") as (simulation, peer):
        sender = Sender(
            simulation,
            peer,
            device=manifest,
            data_width=wanted.data_width,
            capture=shown.capture,
            report=progress.problem,
        )
        send_all(connections, sender.send_all, shown, progress, doing="sending")


def _lost(shown: Demonstration) -> str:
    return f"{shown.losses.lost} lost of {shown.losses.frames}, " if shown.losses.frames else ""
