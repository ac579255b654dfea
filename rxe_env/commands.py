# SPDX-License-Identifier: BSD-2-Clause
"""Running the system's tools, each with a deadline and a one-line failure."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from roceproof.common.children import run_to_end
from roceproof.common.packages import find_tool, missing_header, missing_tools
from roceproof.rxe_env.errors import Unavailable


def tool(name: str) -> str:
    """Return the path of a system tool, looking in the sbin directories too."""
    found = find_tool(name)
    if not found:
        raise Unavailable(missing_tools([name]) or name)
    return found


def run(
    command: Sequence[str | Path],
    *,
    timeout: float = 60,
    cwd: Path | None = None,
    stdin: int = subprocess.DEVNULL,
) -> str:
    """Run a command to its end and return its standard output."""
    words = [str(word) for word in command]
    try:
        done = run_to_end(words, timeout=timeout, cwd=cwd, stdin=stdin)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{words[0]} did not end within {timeout:g} s") from None
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        told = lines[-1] if lines else f"exit code {done.returncode}"
        reason = missing_header(done.stderr) or told
        raise Unavailable(f"{Path(words[0]).name} failed: {reason}")
    return done.stdout
