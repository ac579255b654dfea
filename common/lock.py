# SPDX-License-Identifier: BSD-2-Clause
"""One process at a time: a lock file that names its holder, and a word to those who wait long."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from roceproof.common.notice import notice

PATIENCE_SECONDS = 1.0
POLL_SECONDS = 0.02


@contextmanager
def locked(path: Path, work: str) -> Iterator[None]:
    """Hold the lock of that file; `work` tells the others what the holder does meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        _wait(file, work)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _wait(file: TextIO, work: str) -> None:
    patient_until = time.monotonic() + PATIENCE_SECONDS
    while not _taken(file):
        if time.monotonic() > patient_until:
            file.seek(0)
            pid = file.read() or "unknown"
            notice(f"waiting for another roceproof that {work} (pid {pid})")
            fcntl.flock(file, fcntl.LOCK_EX)
            return
        time.sleep(POLL_SECONDS)


def _taken(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
