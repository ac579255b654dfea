# SPDX-License-Identifier: BSD-2-Clause
"""Other commands of ours, as whoever uses them runs them."""

import subprocess
import sys
from pathlib import Path

from roceproof.common.errors import RoceproofError


def told_by(*words: str | int | Path, place: Path, scenario: str) -> str:
    """What `roceproof` prints in a folder; that it finds something is no error."""
    command = [str(Path(sys.executable).with_name("roceproof")), *map(str, words)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        said = done.stderr.strip().splitlines()[-1:] or [f"it ended with {done.returncode}"]
        raise RoceproofError(f"{scenario}: roceproof {words[0]}: {said[0]}")
    return done.stdout
