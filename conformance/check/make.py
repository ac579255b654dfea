# SPDX-License-Identifier: BSD-2-Clause
"""Builds the C wire oracle with make, which knows what is current; one process at a time.

The checksums that the link leaves tell what has been damaged since.
"""

import os
import shutil
import subprocess
from pathlib import Path

from roceproof.common.children import run_to_end
from roceproof.common.lock import locked
from roceproof.common.notice import notice
from roceproof.common.packages import missing_header, missing_tools
from roceproof.common.paths import REPOSITORY
from roceproof.common.plain_path import unbuildable
from roceproof.conformance.check.stamp import CHECKSUMS, STAMP, TOOL, ToolError, source_state, stamp

TOOLS = ("make", "awk", "cc")
BUILD_SECONDS = 600
_WORDS = ("error", "not found", "No such file", "cannot find", "No rule")


def make_tool(build: Path) -> None:
    """Bring the oracle in that folder up to date."""
    if lack := missing_tools(TOOLS):
        raise ToolError(f"{TOOL} cannot be built: {lack}")
    if lack := unbuildable((build, REPOSITORY)):
        raise ToolError(f"{TOOL} cannot be built: {lack}")
    tool = build / TOOL
    command: list[str | Path] = ["make", "-s", "-C", REPOSITORY / "pcap", f"BUILD={build}", tool]
    with locked(build / ".lock", f"builds {TOOL}"):
        _clear_damaged(build)
        (build / STAMP).unlink(missing_ok=True)
        sources = source_state()
        try:
            done = run_to_end(command, timeout=BUILD_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise ToolError(
                f"{TOOL} was not built within {BUILD_SECONDS} s; see {build}"
            ) from error
        if done.returncode == 0:
            stamp(build, sources=sources)
    if done.returncode != 0:
        (build / CHECKSUMS).unlink(missing_ok=True)
        if lack := missing_header(done.stderr):
            raise ToolError(f"{TOOL} cannot be built: {lack}")
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["make failed"]
        reason = next((line for line in lines if any(word in line for word in _WORDS)), lines[-1])
        raise ToolError(f"{TOOL} cannot be built: {reason.strip()}; run: make setup")


def _clear_damaged(build: Path) -> None:
    """Remove what is not as the last link left it; `checked` and the lock are not part of that."""
    checksums = build / CHECKSUMS
    compare = ["sha256sum", "--status", "--strict", "--check", CHECKSUMS]
    if checksums.exists():
        as_linked = run_to_end(compare, cwd=build, timeout=BUILD_SECONDS).returncode == 0
        if as_linked and os.access(build / TOOL, os.X_OK):
            return
        notice(f"{TOOL} or an object of it in {build} was damaged; building it anew")
    for path in build.iterdir():
        if path.is_dir() and path.name != "checked":
            shutil.rmtree(path)
        elif not path.is_dir() and path.name != ".lock":
            path.unlink()
