# SPDX-License-Identifier: BSD-2-Clause
"""``roceproof wireshark``: the plugin and the profile, into Wireshark and out of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from roceproof.common.printable import printable
from roceproof.pcap.wireshark.folders import Folders, below, find_folders
from roceproof.pcap.wireshark.install import PROFILE, Action, Deed, install, uninstall


def run_install(*, directory: Path | None, force: bool) -> None:
    """Install, and say what was written and how to use it."""
    show(install(_folders(directory), force=force))
    scope = f"WIRESHARK_CONFIG_DIR={directory.absolute()} " if directory else ""
    print(f"use it with: {scope}wireshark -C {PROFILE}")


def run_uninstall(*, directory: Path | None) -> None:
    """Uninstall, and say what was removed and what was not."""
    actions = uninstall(_folders(directory))
    show(actions)
    if not actions:
        print("was not installed")
    elif any(action.deed is Deed.KEPT for action in actions):
        print("kept files were changed since they were installed; remove them yourself")


def show(actions: Iterable[Action]) -> None:
    for action in actions:
        print(f"{action.deed:9}  {printable(action.path)}")


def _folders(directory: Path | None) -> Folders:
    return below(directory.absolute()) if directory else find_folders()
