# SPDX-License-Identifier: BSD-2-Clause
"""The root of every error that the console command prints as one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class RoceproofError(Exception):
    """Something the user can act on: the text names the thing, the reason and the mend."""

    exit_code = 2


@contextmanager
def told_in_a_line() -> Iterator[None]:
    """For a module that is run by itself: such an error is its line, and its exit code."""
    try:
        yield
    except RoceproofError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)


def first_line(error: BaseException) -> str:
    """What it says in one line; its kind where it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0]


class Skipped(RoceproofError):
    """This machine cannot run the job; the text says what it lacks."""

    exit_code = 77
