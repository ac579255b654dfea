# SPDX-License-Identifier: BSD-2-Clause
"""Builds the C wire oracle when it is needed; make knows when it is not."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from roceproof.children import run_to_end
from roceproof.dpi.build import locked
from roceproof.errors import RoceproofError
from roceproof.paths import BUILD, REPOSITORY

TOOL = "roce-check"
BUILD_SECONDS = 600
_WORDS = ("error", "not found", "No such file", "cannot find", "No rule")


class ToolError(RoceproofError):
    """The oracle could not be built, or ended in a way that it should not."""


@cache
def build_tool(build: Path = BUILD / "pcap") -> Path:
    """The path of roce-check, which is current."""
    tool = build / TOOL
    command: list[str | Path] = ["make", "-s", "-C", REPOSITORY / "pcap", f"BUILD={build}", tool]
    with locked(build / ".lock"):
        try:
            done = run_to_end(command, timeout=BUILD_SECONDS)
        except FileNotFoundError as error:
            raise ToolError(
                f"{TOOL} cannot be built: make is not installed; run: make setup"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise ToolError(
                f"{TOOL} was not built within {BUILD_SECONDS} s; see {build}"
            ) from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["make failed"]
        reason = next((line for line in lines if any(word in line for word in _WORDS)), lines[-1])
        raise ToolError(f"{TOOL} cannot be built: {reason.strip()}; run: make setup")
    return tool
