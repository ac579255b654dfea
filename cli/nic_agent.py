# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof nic agent``: the verbs agent as one file to copy."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import click

from roceproof.common.output import output_directory
from roceproof.common.printable import printable
from roceproof.common.progress import Progress
from roceproof.common.whole_file import whole_file
from roceproof.rxe_env.client.agent_build import build_static_agent


def write_agent(output: Path) -> None:
    """Put it there and say what it is."""
    with Progress(quiet=False) as progress:
        progress.step("building the agent")
        built = build_static_agent()
    with output_directory(output.parent), whole_file(output) as part:
        shutil.copy(built, part)
    digest = hashlib.sha256(output.read_bytes()).hexdigest()
    click.echo(f"{printable(output)}: {output.stat().st_size:,} bytes, sha256 {digest}")
