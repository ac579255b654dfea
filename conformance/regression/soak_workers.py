# SPDX-License-Identifier: BSD-2-Clause
"""Processes that play random stimulus, and nothing of them in the temporary folder behind a Ctrl-C.

The log of a simulation that fails by itself is kept there, and named where that is told.
"""

from __future__ import annotations

import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import TimeoutError, active_children, get_context
from multiprocessing.pool import IMapIterator, Pool
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TypeVar

from roceproof.common.children import told_status
from roceproof.common.errors import RoceproofError

T = TypeVar("T")
_LOOK_SECONDS = 1.0


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


def come(results: IMapIterator[T], *, look: Callable[[], None] = lambda: None) -> Iterator[T]:
    """Each when it comes; meanwhile `look` is called again and again, and may end it by raising.

    A pool waits for ever for what a process that has ended had to do.
    """
    seen: set[BaseProcess] = set()
    while True:
        look()
        seen.update(active_children())
        try:
            yield results.next(timeout=_LOOK_SECONDS)
        except StopIteration:
            return
        except TimeoutError:
            ends = [each.exitcode for each in seen if each.exitcode is not None]
            if ends:
                raise RoceproofError(
                    f"a process that played random plans has died ({told_status(ends[0])}), "
                    "which says nothing of the device: is there memory enough?"
                ) from None


def _begin(place: Path) -> None:
    """Ctrl-C reaches all of a terminal's processes; the parent ends these."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tempfile.tempdir = str(place)
