# SPDX-License-Identifier: BSD-2-Clause
"""Runs the console command as a user does, and tells what a run left behind."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from roceproof.conformance.check.build import find_oracle

sys.path.insert(0, str(Path(__file__).parent))  # for the helper modules beside this file

COMMAND = Path(sys.executable).parent / "roceproof"
MARK = "ROCEPROOF_TEST_MARK"


def heed_ctrl_c() -> None:
    """Background jobs of scripts ignore Ctrl-C, and so would what the tests start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass
class Console:
    """A place to run the command in: its own temporary and runtime directories."""

    scratch: Path
    mark: str
    command: Path = COMMAND

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            MARK: self.mark,
            "TMPDIR": str(self.scratch),
            "XDG_RUNTIME_DIR": str(self.scratch),
            "CCACHE_TEMPDIR": str(self.scratch.with_name("ccache")),
            "NO_COLOR": "1",
        }

    def run(
        self, *arguments: str, timeout: float = 240, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.command, *arguments],
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def spawn(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.command, *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=heed_ctrl_c,
        )

    def run_without_reader(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run with a stdout that nobody reads."""
        reader, writer = os.pipe()
        os.close(reader)
        try:
            return subprocess.run(
                [self.command, *arguments],
                env=self.environment,
                stdout=writer,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        finally:
            os.close(writer)

    def processes(self) -> dict[int, str]:
        """Pid and command line of every live process that this run started."""
        found = {}
        for directory in Path("/proc").iterdir():
            if not directory.name.isdigit():
                continue
            try:
                ours = f"{MARK}={self.mark}".encode() in (directory / "environ").read_bytes()
                command = (
                    (directory / "cmdline")
                    .read_bytes()
                    .replace(b"\0", b" ")
                    .decode(errors="replace")
                )
            except OSError:
                continue
            if ours and command:
                found[int(directory.name)] = command
        return found

    def leftovers(self) -> list[str]:
        """Processes and files that should be gone once the command has ended."""
        files = [str(path) for path in self.scratch.rglob("*") if not path.is_dir()]
        return [*self.processes().values(), *files]


@pytest.fixture(scope="session", autouse=True)
def oracle_is_built() -> None:
    """In a fresh clone two workers would build it, and one would say on stderr that it waits."""
    find_oracle()


@pytest.fixture
def console(tmp_path_factory: pytest.TempPathFactory) -> Console:
    return Console(scratch=tmp_path_factory.mktemp("s"), mark=secrets.token_hex(8))


@pytest.fixture(scope="session")
def session_console(tmp_path_factory: pytest.TempPathFactory) -> Console:
    return Console(scratch=tmp_path_factory.mktemp("s"), mark=secrets.token_hex(8))
