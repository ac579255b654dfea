# SPDX-License-Identifier: BSD-2-Clause
"""Colours and tables for commands that answer at once: what Terminal does, without loading rich.

NO_COLOR, FORCE_COLOR and pipes are honoured. In a pipe a row is one line; on a
terminal the last column is wrapped under itself.
"""

import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_CODES = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_LEAST_WIDTH = 20
_GAP = "  "


class Cell(NamedTuple):
    """A text and how it looks; the name of a colour, bold, or nothing."""

    text: str
    style: str = ""


def styled(text: str, style: str) -> str:
    """The text as standard output shows it."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style and _wants_colours() else text


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[Cell | str]], *, right: int = 0
) -> None:
    """Print a heading and rows; the last `right` columns are numbers."""
    head = [Cell(heading, "bold") for heading in headings]
    body = [[Cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    lines = [head, *body]
    widths = [max(len(line[column].text) for line in lines) for column in range(len(head))]
    numbers = len(head) - right
    for line in lines:
        print(_line(line, widths, numbers))


def wrapped(text: str, *, indent: int) -> str:
    """The text behind so many columns, wrapped under itself on a terminal."""
    room = _room(indent)
    return text if room is None else ("\n" + " " * indent).join(textwrap.wrap(text, room) or [""])


def _line(line: Sequence[Cell], widths: Sequence[int], numbers: int) -> str:
    *front, last = line
    shown = ""
    at = 0
    for column, cell in enumerate(front):
        fill = " " * (widths[column] - len(cell.text))
        text = styled(cell.text, cell.style)
        shown += (fill + text if column >= numbers else text + fill) + _GAP
        at += widths[column] + len(_GAP)
    if len(line) > numbers:
        fill = " " * (widths[-1] - len(last.text))
        return shown + fill + styled(last.text, last.style)
    return (shown + styled(wrapped(last.text, indent=at), last.style)).rstrip()


def _room(indent: int) -> int | None:
    if not sys.stdout.isatty():
        return None
    import shutil

    return max(shutil.get_terminal_size().columns - indent, _LEAST_WIDTH)


def _wants_colours() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
