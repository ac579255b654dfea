# SPDX-License-Identifier: BSD-2-Clause
"""Runs the C wire oracle and hands over what it says, line by line, while it runs.

The oracle prints JSON lines, and one line of text on stderr where it must give
up. Ctrl-C ends it; in a live capture it is the wish for the report.
"""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from roceproof.common.errors import RoceproofError
from roceproof.common.interruption import interruptions_held
from roceproof.common.printable import printable
from roceproof.conformance.check.build import ToolError, find_oracle
from roceproof.conformance.check.decode import Decoder

CLEAN, FINDINGS, UNREADABLE = 0, 1, 2
END_SECONDS = 3.0
_CHUNK_BYTES = 1 << 16


class UnreadableError(RoceproofError):
    """Nothing of the capture could be judged; the text is the oracle's own."""


def lines_of(arguments: Sequence[str], *, live: bool = False) -> Iterator[dict[str, Any]]:
    """Each JSON line of a run; a run that could not do its job raises what it said."""
    with running(arguments) as process:
        assert process.stdout is not None
        decoder = Decoder()
        for line in _lines(process, process.stdout, live=live):
            yield decoder.row(line)


@contextmanager
def running(arguments: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """The oracle while it runs; what it prints is to be read, and then it is asked how it ended."""
    command: list[str | Path] = [find_oracle(), *arguments]
    with ExitStack() as stack:
        with interruptions_held():
            process = stack.enter_context(
                subprocess.Popen(
                    command,
                    stdin=None if "-" in arguments else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    process_group=0,
                )
            )
            stack.callback(_end, process)
        yield process
        assert process.stderr is not None
        words = process.stderr.read().decode(errors="surrogateescape").strip()
        status = process.wait()
    if status == UNREADABLE and words:
        raise UnreadableError(printable(words))
    if status == -signal.SIGINT:  # told to end before it had begun
        raise KeyboardInterrupt
    if status not in (CLEAN, FINDINGS, UNREADABLE):
        raise ToolError(f"roce-check ended with status {status}: {words or 'no reason given'}")


def _lines(process: subprocess.Popen[bytes], output: IO[bytes], *, live: bool) -> Iterator[bytes]:
    pending = b""
    patient = live
    while True:
        try:
            chunk = os.read(output.fileno(), _CHUNK_BYTES)
        except KeyboardInterrupt:
            if not patient:
                raise
            patient = False
            process.send_signal(signal.SIGINT)
            continue
        if not chunk:
            return
        *lines, pending = (pending + chunk).split(b"\n")
        yield from lines


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
