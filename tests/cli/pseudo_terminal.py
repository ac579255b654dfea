# SPDX-License-Identifier: BSD-2-Clause
"""What a command shows on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def shown_on_terminal(
    command: Sequence[str | Path], *, env: Mapping[str, str], streams: Sequence[str]
) -> str:
    """Run a command whose named streams are one terminal, and return all that it got."""
    ours, theirs = pty.openpty()
    surroundings = {**env, "TERM": "xterm"}
    said = b""
    with subprocess.Popen(command, env=surroundings, **dict.fromkeys(streams, theirs)):
        os.close(theirs)
        try:
            while chunk := os.read(ours, 4096):
                said += chunk
        except OSError:  # how Linux says that nobody holds the other end any more
            pass
    os.close(ours)
    return said.decode()
