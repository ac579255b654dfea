# SPDX-License-Identifier: BSD-2-Clause
"""Plays parts in a process of their own, from a thread of whatever process this is.

A program's limit of processor seconds is a signal, which only a main thread gets. The process
hears of parts on its standard input, and ends where that ends: with whoever started it.
"""

import pickle
import subprocess
import sys

from roceproof.common.children import told_status
from roceproof.common.errors import RoceproofError
from roceproof.conformance.campaign.worker import Came, Part, play

IDLE: list[subprocess.Popen[bytes]] = []
"""Started, and without a part; a thread takes one or starts one."""


def play_apart(part: Part) -> Came:
    """Play all of a part, and raise what playing it raises."""
    process = IDLE.pop() if IDLE else _started()
    assert process.stdin is not None and process.stdout is not None
    try:
        pickle.dump(part, process.stdin)
        process.stdin.flush()
        came: Came | Exception = pickle.load(process.stdout)
    except (EOFError, OSError):
        raise RoceproofError(
            f"a process that played programs has died ({told_status(process.wait())})"
        ) from None
    IDLE.append(process)
    if isinstance(came, Exception):
        raise came
    return came


def _started() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", __name__]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, process_group=0)


def main() -> None:
    """Play what comes until nothing comes any more."""
    parts, told = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    while True:
        try:
            part = pickle.load(parts)
        except EOFError:
            return
        came: Came | Exception
        try:
            came = play(part)
        except Exception as error:  # whoever gave the part is told
            came = error
        try:
            pickle.dump(came, told)
            told.flush()
        except BrokenPipeError:  # nobody waits for it any more
            return


if __name__ == "__main__":
    main()
