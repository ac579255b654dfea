# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof wireshark``: the plugin and the profile, into Wireshark and out of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from roceproof.cli.console.help_examples import examples
from roceproof.common.arguments import OUTPUT_FOLDER
from roceproof.common.printable import printable

if TYPE_CHECKING:
    from roceproof.pcap.wireshark.folders import Folders
    from roceproof.pcap.wireshark.install import Action


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
    from roceproof.pcap.wireshark.install import PROFILE, install

    _show(install(_folders(directory), force=force))
    scope = f"WIRESHARK_CONFIG_DIR={directory.absolute()} " if directory else ""
    print(f"use it with: {scope}wireshark -C {PROFILE}")


@wireshark.command("uninstall", epilog=examples("wireshark uninstall"))
@click.option(
    "--directory",
    type=OUTPUT_FOLDER,
    help="Where it was installed; the user's own configuration folder if not given.",
)
def wireshark_uninstall(directory: Path | None) -> None:
    """Remove them again, unless they were changed since."""
    from roceproof.pcap.wireshark.install import Deed, uninstall

    actions = uninstall(_folders(directory))
    _show(actions)
    if not actions:
        print("was not installed")
    elif any(action.deed is Deed.KEPT for action in actions):
        print("kept files were changed since they were installed; remove them yourself")


def _show(actions: Iterable[Action]) -> None:
    for action in actions:
        print(f"{action.deed:9}  {printable(action.path)}")


def _folders(directory: Path | None) -> Folders:
    from roceproof.pcap.wireshark.folders import below, find_folders

    return below(directory.absolute()) if directory else find_folders()
