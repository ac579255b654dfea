# SPDX-License-Identifier: BSD-2-Clause
"""Where a user's Wireshark looks for profiles and Lua plugins.

tshark itself is asked; where there is none, the answer is that of Wireshark on a
system with XDG folders.
"""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

TSHARK_SECONDS = 30


class Folders(NamedTuple):
    """The personal configuration folder and the personal folder for Lua plugins."""

    configuration: Path
    plugins: Path


def below(directory: Path) -> Folders:
    """The folders when the configuration folder is `directory` (WIRESHARK_CONFIG_DIR)."""
    return Folders(directory, directory / "plugins")


def find_folders() -> Folders:
    """The folders of the user who runs this."""
    told = _ask_tshark()
    default = _xdg_folders()
    return Folders(
        told.get("Personal configuration", default.configuration),
        told.get("Personal Lua Plugins", default.plugins),
    )


def _ask_tshark() -> dict[str, Path]:
    try:
        done = subprocess.run(
            ["tshark", "-G", "folders"],
            capture_output=True,
            text=True,
            timeout=TSHARK_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    lines = (line.partition(":") for line in done.stdout.splitlines())
    return {name.strip(): Path(path.strip()) for name, _, path in lines if path.strip()}


def _xdg_folders() -> Folders:
    base = os.environ.get("XDG_CONFIG_HOME")
    configuration = (Path(base) if base else Path.home() / ".config") / "wireshark"
    return Folders(configuration, Path.home() / ".local" / "lib" / "wireshark" / "plugins")
