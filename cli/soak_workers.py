# SPDX-License-Identifier: BSD-2-Clause
"""Processes that play random stimulus, and nothing of them in the temporary folder behind a Ctrl-C.

The log of a simulation that fails by itself is kept there, and named where that is told.
"""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path


@contextmanager
def soak_workers(jobs: int) -> Iterator[Pool]:
    """So many processes, which end with the block."""
    place = Path(tempfile.mkdtemp(prefix="roceproof-soak-"))
    try:
        with get_context("spawn").Pool(jobs, initializer=_begin, initargs=(place,)) as pool:
            yield pool
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    with suppress(OSError):  # it holds such a log
        place.rmdir()


def _begin(place: Path) -> None:
    """Ctrl-C reaches all of a terminal's processes; the parent ends these."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tempfile.tempdir = str(place)
