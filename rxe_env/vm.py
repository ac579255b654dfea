# SPDX-License-Identifier: BSD-2-Clause
"""A running QEMU: its keeper process, its sockets, its console. Closing it leaves nothing."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from roceproof.rxe_env import qemu, rundir

KEEPER = Path(__file__).parent / "keeper.sh"
CONNECT_SECONDS = 5.0
CLOSE_SECONDS = 10.0
TAIL_LINES = 15

Arguments = Callable[[dict[str, int]], list[str]]


class Vm:
    """QEMU with the given sockets, each listening in the run directory before QEMU starts.

    `arguments` gets the descriptor of each listening socket by its name.
    """

    def __init__(self, sockets: tuple[str, ...], arguments: Arguments) -> None:
        self.directory = rundir.make_run_dir()
        with contextlib.ExitStack() as listeners:
            fds = {
                name: listeners.enter_context(rundir.listen(self.socket_path(name))).fileno()
                for name in sockets
            }
            self._keeper = subprocess.Popen(
                [
                    *("sh", KEEPER, self.directory),
                    *arguments(fds),
                    *qemu.console(self.directory),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=(self.directory / "qemu.log").open("w"),
                pass_fds=list(fds.values()),
                start_new_session=True,
            )

    def connect(self, name: str) -> socket.socket:
        """Return a connection to one of the machine's sockets; it may still be booting."""
        return rundir.connect(self.socket_path(name), timeout=CONNECT_SECONDS)

    def socket_path(self, name: str) -> Path:
        """Return where a socket lies."""
        return self.directory / f"{name}.sock"

    def console(self) -> str:
        """Return everything that the serial console has said so far."""
        return self._log(qemu.CONSOLE_LOG)

    def console_tail(self) -> str:
        """Return the last lines of the console, after anything that QEMU itself said."""
        text = self._log("qemu.log") + self.console()
        lines = [line for line in text.splitlines() if line.strip()]
        return "\n".join(lines[-TAIL_LINES:])

    def _log(self, name: str) -> str:
        path = self.directory / name
        return path.read_text(errors="replace").replace("\r", "") if path.exists() else ""

    def close(self) -> None:
        """End QEMU and remove the run directory."""
        assert self._keeper.stdin
        self._keeper.stdin.close()
        self._keeper.wait(CLOSE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.close()
