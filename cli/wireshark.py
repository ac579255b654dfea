# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof wireshark`` and its commands; the rest is imported when they run."""

from __future__ import annotations

from pathlib import Path

import click

from roceproof.cli.help_examples import examples
from roceproof.common.arguments import OUTPUT_FOLDER


@click.group(epilog=examples("wireshark"))
def wireshark() -> None:
    """ICRC verdicts, relative PSNs and findings inside Wireshark."""


@wireshark.command("install", epilog=examples("wireshark install"))
@click.option(
    "--directory",
    type=OUTPUT_FOLDER,
    help="Wireshark's personal configuration folder; the user's own if not given.",
)
@click.option("--force", is_flag=True, help="Overwrite files that are not ours, too.")
def wireshark_install(directory: Path | None, force: bool) -> None:
    """Add the plugin and a profile to the user's Wireshark."""
    from roceproof.cli.wireshark_command import run_install

    run_install(directory=directory, force=force)


@wireshark.command("uninstall", epilog=examples("wireshark uninstall"))
@click.option(
    "--directory",
    type=OUTPUT_FOLDER,
    help="Where it was installed; the user's own configuration folder if not given.",
)
def wireshark_uninstall(directory: Path | None) -> None:
    """Remove them again, unless they were changed since."""
    from roceproof.cli.wireshark_command import run_uninstall

    run_uninstall(directory=directory)
