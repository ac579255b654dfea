# SPDX-License-Identifier: BSD-2-Clause
"""The simulator process: started with a control channel, ended for certain, heard to the last."""

import os
import re
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from roceproof.common.children import told_status
from roceproof.common.errors import RoceproofError

END_SECONDS = 10.0
LAST_WORDS = 8
_TAIL_BYTES = 1 << 16
_FROM_OUTSIDE = (-signal.SIGKILL, -signal.SIGTERM)
_STOP = "Verilog $stop"
_LOADER = re.compile(r".*(error while loading shared libraries|\(required by |Exec format error).*")


class SimulationError(RoceproofError):
    """A simulation failed. `log` is the file with all that it printed, where it is kept."""

    def __init__(self, text: str, *, log: Path | None = None):
        super().__init__(text)
        self.log = log


class Unstartable(SimulationError):
    """The executable does not start on this machine; the text is one line."""


class Disturbed(SimulationError):
    """Not the simulation has ended itself, but somebody or something else: one line."""


class SimulationTimeout(SimulationError):
    """The simulation is alive but what was waited for did not come in time."""


class SimulatorProcess:
    """One running simulator. Its output goes to `log`; a log of our own naming goes with it."""

    def __init__(
        self,
        executable: Path,
        arguments: Sequence[str],
        *,
        log: Path | None = None,
        pass_fds: Sequence[int] = (),
        netns: str | None = None,
    ):
        enter = [] if netns is None else ["ip", "netns", "exec", netns]
        self._own_log = log is None
        if log is None:
            handle, name = tempfile.mkstemp(prefix="roceproof-", suffix=".log")
            os.close(handle)
            log = Path(name)
        self.log = log
        self.control, theirs = socket.socketpair()
        try:
            with theirs, log.open("wb") as out:
                self._process = subprocess.Popen(
                    [*enter, executable, f"+roceproof_control=fd:{theirs.fileno()}", *arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    pass_fds=(theirs.fileno(), *pass_fds),
                    start_new_session=True,  # Ctrl-C is for us to handle
                )
        except BaseException as error:
            self.control.close()
            self.drop_log()
            if isinstance(error, OSError) and error.filename == executable:
                raise Unstartable(f"{executable.name}: {error.strerror}") from None
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def first_error(self) -> str:
        """What it has said first of all that is wrong; nothing, if nothing is."""
        if not self.log.stat().st_size:
            return ""
        with self.log.open(errors="replace") as log:
            return next((line.strip() for line in log if "%Error" in line or _STOP in line), "")

    def wait(self, seconds: float = END_SECONDS) -> int | None:
        """Close the channel and return the exit status, or None if it does not end by then."""
        self.control.close()
        try:
            return self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        self.control.close()
        self._process.kill()
        self._process.wait()

    def drop_log(self) -> None:
        """Remove the log unless the caller named it."""
        if self._own_log:
            self.log.unlink(missing_ok=True)

    def refused(self, text: str) -> SimulationError:
        """An error in the simulation's own words; nothing needs to be looked up."""
        if self.wait() is None:
            self.kill()
        self.drop_log()
        return SimulationError(text, log=None if self._own_log else self.log)

    def died(self, text: str | None = None) -> SimulationError:
        """An error made of how the process ended and what it printed last."""
        status = self.wait()
        if status is None:
            self.kill()
            end = f"killed after {END_SECONDS:g} s"
        else:
            end = told_status(status)
        if status in _FROM_OUTSIDE:
            self.drop_log()
            return Disturbed(
                f"the simulation was {end} from outside, which says nothing of the device: "
                "is there memory enough?"
            )
        words, is_all = self._last_words()
        errors = [line for line in words if "%Error" in line or "%Fatal" in line]
        ended = [line for line in errors if _STOP not in line] or errors
        text = text or (ended or ["the simulation ended unexpectedly"])[-1]
        tail = "".join(f"\n  {line}" for line in words)
        unstartable = next(filter(_LOADER.fullmatch, words), None)
        if unstartable:
            self.drop_log()
            return Unstartable(unstartable.strip())
        if is_all and self._own_log:
            self.drop_log()
            return SimulationError(f"{text} ({end}){tail}")
        return SimulationError(f"{text} ({end}; log: {self.log}){tail}", log=self.log)

    def _last_words(self) -> tuple[list[str], bool]:
        """The last lines that it has printed, and whether there were no others."""
        with self.log.open("rb") as log:
            start = max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES)
            log.seek(start)
            lines = log.read().decode(errors="replace").splitlines()
        return lines[-LAST_WORDS:], not start and len(lines) <= LAST_WORDS
