# SPDX-License-Identifier: BSD-2-Clause
"""Progress on stderr: steps as lines, long loops as a bar, nothing when quiet.

Clocks and bars are drawn on a terminal only. A log holds one line per step, and one more
every so often while a step takes long.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as RichProgress

from roceproof.common.heartbeat import Heartbeat
from roceproof.common.printable import printable_lines
from roceproof.common.terminal import Terminal


class Bar:
    """A running count of finished items."""

    def __init__(self, display: RichProgress, total: int) -> None:
        self._display = display
        self._task = display.add_task("", total=total)
        self.done = 0

    def advance(self) -> None:
        """One more item is done."""
        self.done += 1
        self._display.advance(self._task)


class Progress:
    """Prints what is going on and how long it has taken so far."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._console = Terminal(stderr=True, quiet=quiet)
        self._started = time.monotonic()
        self._clock = self._display()
        self._heartbeat: Heartbeat | None = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        sys.stderr.flush()

    def step(self, text: str) -> None:
        """Say what begins now; on a terminal a clock runs until the next step."""
        self._stop()
        self._print(text)
        self._clock = self._display(SpinnerColumn(), TimeElapsedColumn())
        self._clock.add_task("", total=None)
        self._start(lambda: f"still {text}")

    def problem(self, text: str) -> None:
        """Say what went wrong, even when quiet."""
        if self._quiet:
            print(printable_lines(text), file=sys.stderr)
        else:
            self._print(text)

    @contextmanager
    def bar(self, text: str, *, total: int, unit: str) -> Iterator[Bar]:
        """Count to `total`; a bar on a terminal."""
        self._stop()
        self._print(f"{text} ({total} {unit})")
        self._clock = self._display(
            BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn(text, markup=False)
        )
        bar = Bar(self._clock, total)
        self._start(lambda: f"{text}: {bar.done} of {total} {unit}")
        try:
            yield bar
        finally:
            self._stop()

    def _start(self, say: Callable[[], str]) -> None:
        self._clock.start()
        if not self._quiet and not self._console.is_terminal:
            self._heartbeat = Heartbeat(lambda: self._print(say()))
            self._heartbeat.start()

    def _stop(self) -> None:
        self._clock.stop()
        if self._heartbeat is not None:
            self._heartbeat.stop()
            self._heartbeat = None

    def _print(self, text: str) -> None:
        self._console.print(f"{time.monotonic() - self._started:6.1f} s  {text}", markup=False)

    def _display(self, *columns: ProgressColumn) -> RichProgress:
        return RichProgress(
            *columns,
            console=self._console,
            transient=True,
            disable=self._quiet or not self._console.is_terminal,
        )
