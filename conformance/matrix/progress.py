# SPDX-License-Identifier: BSD-2-Clause
"""The bar of work that several processes do piece by piece."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def progress(total: int, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yields what to call with the name of each piece that is done; draws on a terminal only."""
    console = Console(stderr=True, quiet=quiet)
    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    ) as display:
        task = display.add_task("", total=total)
        yield lambda name: display.update(task, advance=1, description=name)
