# SPDX-License-Identifier: BSD-2-Clause
"""The root of every error that the console command prints as one line."""

from roceproof.common.exit_codes import Exit


class RoceproofError(Exception):
    """Something the user can act on: the text names the thing, the reason and the mend."""

    exit_code = Exit.UNUSABLE


def first_line(error: BaseException) -> str:
    """What it says in one line; its kind where it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0]


class Skipped(RoceproofError):
    """This machine cannot run the job; the text says what it lacks."""

    exit_code = Exit.SKIPPED
