# SPDX-License-Identifier: BSD-2-Clause
"""A running QEMU: its keeper process, its sockets, its console. Closing it leaves nothing."""

import contextlib
import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Self

from roceproof.common.cpu_wait import held_up_ns
from roceproof.rxe_env.commands import tool
from roceproof.rxe_env.errors import PeerDied
from roceproof.rxe_env.vm import qemu, rundir

KEEPER = Path(__file__).parent / "keeper.sh"
CONNECT_SECONDS = 5.0
CLOSE_SECONDS = 10.0
TAIL_LINES = 15
PANIC, WHERE = "Kernel panic", "RIP: 0010:"
WHY = ("BUG: ", "kernel BUG at ", "general protection fault")
QEMU_LOG = "qemu.log"

Arguments = Callable[[dict[str, int]], list[str]]


def tail(log: str) -> str:
    """Return the last lines of a log that say something, or why and where a kernel panicked."""
    lines = [line for line in log.splitlines() if line.strip()]
    panic = next((number for number, line in enumerate(lines) if PANIC in line), None)
    if panic is None:
        return "\n".join(lines[-TAIL_LINES:])
    faults = [number for number, line in enumerate(lines[:panic]) if any(w in line for w in WHY)]
    why = lines[faults[-1] : panic] if faults else []  # a warning before that is another matter
    where = [line for line in why if WHERE in line][:1]
    return "\n".join([*why[:1], *where, *lines[panic:]][:TAIL_LINES])


def _text(log: Path) -> str:
    return log.read_text(errors="replace").replace("\r", "") if log.exists() else ""


class Vm:
    """QEMU with the given sockets, each listening in the run directory before QEMU starts.

    `arguments` gets the descriptor of each listening socket by its name. The console's
    log goes with the run directory unless `console_log` names a file to keep.
    """

    def __init__(
        self, sockets: tuple[str, ...], arguments: Arguments, *, console_log: Path | None = None
    ) -> None:
        self.directory = rundir.make_run_dir()
        self._console = (console_log or self.directory / qemu.CONSOLE_LOG).absolute()
        try:
            self._keeper = self._start(sockets, arguments)
        except BaseException:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise

    def _start(self, sockets: tuple[str, ...], arguments: Arguments) -> subprocess.Popen[bytes]:
        with contextlib.ExitStack() as stack:
            listeners = [stack.enter_context(rundir.listen(self.socket_path(s))) for s in sockets]
            fds = {name: socket.fileno() for name, socket in zip(sockets, listeners, strict=True)}
            sockets_of_its_own = " ".join(map(str, fds.values()))
            command = [*arguments(fds), *qemu.console(self._console)]
            tool("setpriv")
            return subprocess.Popen(
                [tool("bash"), KEEPER, self.directory, sockets_of_its_own, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=stack.enter_context((self.directory / QEMU_LOG).open("w")),
                pass_fds=list(fds.values()),
                start_new_session=True,
            )

    def connect(self, name: str) -> socket.socket:
        """Return a connection to one of the machine's sockets; it may still be booting."""
        try:
            return rundir.connect(self.socket_path(name), timeout=CONNECT_SECONDS)
        except OSError as error:
            reason = f"QEMU ended before it served its {name} socket ({error.strerror})"
            raise PeerDied(reason, self.console_tail()) from None

    def socket_path(self, name: str) -> Path:
        return self.directory / f"{name}.sock"

    def console(self) -> str:
        """Return everything that the serial console has said so far."""
        return _text(self._console)

    def console_tail(self) -> str:
        """Return the last lines of the console, after anything that QEMU itself said."""
        return tail(_text(self.directory / QEMU_LOG) + self.console())

    def held_up_ns(self) -> int:
        """Return for how long QEMU could have run and had no processor of the host's."""
        children = Path(f"/proc/{self._keeper.pid}/task/{self._keeper.pid}/children")
        try:
            return held_up_ns(int(children.read_text().split()[0]))
        except (OSError, ValueError, IndexError):  # it has ended, or this kernel does not say
            return 0

    def close(self) -> None:
        """End QEMU and remove the run directory."""
        assert self._keeper.stdin
        self._keeper.stdin.close()
        self._keeper.wait(CLOSE_SECONDS)
        shutil.rmtree(self.directory, ignore_errors=True)  # should the keeper have been killed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
