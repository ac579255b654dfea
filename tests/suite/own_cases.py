# SPDX-License-Identifier: BSD-2-Clause
"""Cases of a user's own, run by the console command in a folder of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

COMMAND = Path(sys.executable).parent / "roceproof"
HEAD = """\
from roceproof.conformance.suite.case import *
from roceproof.conformance.suite.pattern import *
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op
"""


@dataclass
class Suite:
    """A folder with cases, and runs of them."""

    folder: Path

    def write(self, text: str) -> None:
        (self.folder / "test_mine.py").write_text(HEAD + dedent(text))

    def run(self, *arguments: str, out: str = "out") -> subprocess.CompletedProcess[str]:
        words = [COMMAND, "test", self.folder, "--out", self.folder / out, *arguments]
        return subprocess.run(
            words,
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def paste(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a printed line in a shell, as somebody would who stands in the folder."""
        path = f"{COMMAND.parent}:{os.environ['PATH']}"
        return subprocess.run(
            line,
            shell=True,
            cwd=self.folder,
            env={**os.environ, "NO_COLOR": "1", "PATH": path},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def results(self, out: str = "out") -> list[dict[str, Any]]:
        document = json.loads((self.folder / out / "results.json").read_text())
        return list(document["cases"])

    def captures(self, out: str = "out") -> list[Path]:
        return sorted((self.folder / out).glob("*.pcapng"))
