# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof fuzz minimise``: an entry that fails, made small."""

from dataclasses import dataclass
from pathlib import Path

import click

from roceproof.common.exit_codes import Exit
from roceproof.common.printable import printable_lines
from roceproof.common.progress import Progress
from roceproof.common.whole_file import whole_file
from roceproof.conformance.campaign.folder import read_entry
from roceproof.conformance.regression.plan_devices import PlanDevices, Wanted
from roceproof.conformance.rules.table import is_warning
from roceproof.conformance.runner.plan_player import PlanPlayer
from roceproof.conformance.stimulus.plan_text import text_of


@dataclass(frozen=True, kw_only=True)
class Minimised(Wanted):
    entry: Path
    output: Path | None
    seconds: float
    seed: int
    quiet: bool


def run_minimise(wanted: Minimised) -> int:
    """Play it at each data width; 1 if it fails at one, where it is made small."""
    plan, options = read_entry(wanted.entry), wanted.options()
    with Progress(quiet=wanted.quiet) as progress:
        devices = PlanDevices.prepared(options, progress)
        for width in devices.widths:
            player = PlanPlayer(options, width, seconds=wanted.seconds, each=wanted.seconds)
            progress.step(f"playing {wanted.entry}" + (f" at {width} bits" if width else ""))
            finding = player.play(wanted.seed, plan)
            if finding is None:
                continue
            if wanted.output is not None:
                with whole_file(wanted.output) as part:
                    part.write_text(text_of(finding.plan))
            click.echo(printable_lines(finding.story))
            if finding.explained:
                click.echo(f"explain: {', '.join(finding.explained)}")
            if finding.declared is not None:
                click.echo(f"declared: {finding.declared}")
                return Exit.FINE
            if finding.may_be:
                click.echo(f"may be: {', '.join(finding.may_be)}")
            if is_warning(finding.rules):
                click.echo(f"a warning: {' '.join(finding.rules)} is no must")
                return Exit.FINE
            return Exit.FINDINGS
    click.echo(f"{wanted.entry} passes on {devices.claims[0].device}")
    return Exit.FINE
