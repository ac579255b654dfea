# SPDX-License-Identifier: BSD-2-Clause
"""How far a capture is read, on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from roceproof.common.printable import printable
from roceproof.common.terminal import Terminal

Advance = Callable[[int, int], None]
"""Told the bytes read and all bytes, 0 if their number is unknown."""


@contextmanager
def reading(name: str, *, quiet: bool) -> Iterator[Advance]:
    """Draw a bar while the block runs, and leave nothing behind."""
    console = Terminal(stderr=True, quiet=quiet)
    display = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )
    with display:
        task = display.add_task(printable(name), total=None)
        yield lambda done, total: display.update(task, completed=done, total=total or None)
