# SPDX-License-Identifier: BSD-2-Clause
"""What may stand on a command line: numbers with both ends, paths and words that are not empty.

Every option of every command has a type of these where it takes a number, a path or a name, so that
what cannot be meant is refused before anything runs.
"""

import math
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_SHOWN = 40


class Number(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """A number between two ends, both included; neither NaN nor infinite.

    A whole one may be written in hexadecimal, as 0x1f.
    """

    def __init__(self, least: float, most: float, *, whole: bool = True) -> None:
        self.least = least
        self.most = most
        self.name = "integer" if whole else "number"
        self._read: Callable[[Any], int | float] = _integer if whole else float

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float:
        """The number of a text, or one that is a default."""
        try:
            number = self._read(value)
        except (ValueError, OverflowError):
            number = math.nan
        if not self.least <= number <= self.most:
            ends = f"{self.least:,} to {self.most:,}"
            self.fail(f"{str(value)[:_SHOWN]!r} is no {self.name} from {ends}", param, ctx)
        return number


def _integer(value: Any) -> int:
    return int(value, 16) if str(value)[:2] in ("0x", "0X") else int(value)


class PlacePath(click.Path):
    """A path that names something: an empty one would be the current folder."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(path_type=Path, **settings)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path of a text, or one that is a default."""
        if value == "":
            self.fail("it is empty; name a file or folder", param, ctx)
        return super().convert(value, param, ctx)


class Word(click.ParamType):  # type: ignore[type-arg]
    """A name of something, which an empty text is not, such as that of a variable not set."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value).strip():
            self.fail("it is empty; name something, or leave the option out", param, ctx)
        return str(value)


def command_line(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> str | None:
    """A callback: what was typed for an option, if anything, is a command with its arguments."""
    try:
        is_command = text is None or bool(shlex.split(text))
    except ValueError as error:
        raise click.BadParameter(f"{error} in: {text}", context, parameter) from None
    if not is_command:
        raise click.BadParameter("it is empty", context, parameter)
    return text


WORD = Word()
SEED = Number(0, (1 << 64) - 1)
DATA_WIDTH = Number(8, 1024)
JOBS = Number(1, 64)
COUNT = Number(0, 10**9)
MANIFEST = PlacePath()
INPUT_FILE = PlacePath(exists=True, dir_okay=False)
CAPTURE = PlacePath(exists=True, dir_okay=False, allow_dash=True)
RESULTS = PlacePath(exists=True)
OUTPUT_FILE = PlacePath(dir_okay=False)
OUTPUT_FOLDER = PlacePath(file_okay=False)
