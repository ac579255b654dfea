# SPDX-License-Identifier: BSD-2-Clause
"""How far a capture is read: a bar on a terminal, a line every so often in a log."""

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

from roceproof.common.heartbeat import Heartbeat
from roceproof.common.printable import printable
from roceproof.common.terminal import Terminal

Advance = Callable[[int, int], None]
"""Told the bytes read and all bytes, 0 if their number is unknown."""


@contextmanager
def reading(name: str, *, quiet: bool) -> Iterator[Advance]:
    """Say it while the block runs; a bar leaves nothing behind."""
    console = Terminal(stderr=True, quiet=quiet)
    display = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )
    name = printable(name)
    task = display.add_task(name, total=None)

    def say() -> None:
        now = display.tasks[0]
        far = f"{now.percentage:.0f} %" if now.total else f"{now.completed / 1e6:.0f} MB"
        console.print(f"{now.elapsed or 0:6.1f} s  checking {name}: {far}", markup=False)

    heartbeat = Heartbeat(say)
    if not quiet and not console.is_terminal:
        heartbeat.start()
    try:
        with display:
            yield lambda done, total: display.update(task, completed=done, total=total or None)
    finally:
        heartbeat.stop()
