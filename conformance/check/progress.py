# SPDX-License-Identifier: BSD-2-Clause
"""How far a capture is read: a bar on a terminal, a line every so often in a log.

What is read in a blink shows neither, and loads nothing that would draw it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from roceproof.common.heartbeat import Heartbeat
from roceproof.common.printable import printable

if TYPE_CHECKING:
    from rich.progress import Progress

Advance = Callable[[int, int], None]
"""Told the bytes read and all bytes, 0 if their number is unknown."""

BLINK_SECONDS = 0.5


@contextmanager
def reading(name: str, *, quiet: bool, doing: str = "checking") -> Iterator[Advance]:
    """Say it while the block runs; a bar leaves nothing behind."""
    if quiet:
        yield lambda done, total: None
    elif sys.stderr.isatty():
        with _bar(printable(name)) as advance:
            yield advance
    else:
        with _lines(f"{doing} {printable(name)}") as advance:
            yield advance


@contextmanager
def _bar(name: str) -> Iterator[Advance]:
    began = time.monotonic()
    display: Progress | None = None

    def advance(done: int, total: int) -> None:
        nonlocal display
        if display is None and time.monotonic() - began > BLINK_SECONDS:
            display = _display(name)
            display.start()
        if display is not None:
            display.update(display.task_ids[0], completed=done, total=total or None)

    try:
        yield advance
    finally:
        if display is not None:
            display.stop()


def _display(name: str) -> Progress:
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    from roceproof.common.terminal import Terminal

    display = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Terminal(stderr=True),
        transient=True,
    )
    display.add_task(name, total=None)
    return display


@contextmanager
def _lines(task: str) -> Iterator[Advance]:
    began = time.monotonic()
    far = "0 MB"

    def advance(done: int, total: int) -> None:
        nonlocal far
        far = f"{100 * done / total:.0f} %" if total else f"{done / 1e6:.0f} MB"

    def say() -> None:
        seconds = time.monotonic() - began
        print(f"{seconds:6.1f} s  {task}: {far}", file=sys.stderr, flush=True)

    heartbeat = Heartbeat(say)
    heartbeat.start()
    try:
        yield advance
    finally:
        heartbeat.stop()
