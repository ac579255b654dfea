# SPDX-License-Identifier: BSD-2-Clause
"""How a process of ours ends: with the job's exit code, or one line on stderr and a code for it."""

import errno
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from io import TextIOWrapper
from typing import NoReturn, TextIO

import click

from roceproof.common.errors import RoceproofError
from roceproof.common.exit_codes import Exit
from roceproof.common.interruption import (
    ignore_interruptions,
    raise_interruptions,
    signal_of_interruption,
)
from roceproof.common.printable import printable_lines

_CANNOT_BE_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Our files are named where they are written, so what has no name is the output."""


def end_with(job: Callable[[], int]) -> NoReturn:
    """Run the job and exit; the project's errors, an interruption and a lost reader have codes.

    What nobody has thought of says nothing of a device: it never ends with the code for findings.
    """
    _open_missing_streams()
    raise_interruptions()
    try:
        try:
            sys.exit(job())
        finally:
            ignore_interruptions()
            sys.stdout.flush()  # here a broken pipe can still be told from others
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except (click.exceptions.Abort, KeyboardInterrupt):
        _say("interrupted")
        sys.exit(exit_interrupted())
    except click.exceptions.NoArgsIsHelpError as error:
        with suppress(OSError):
            error.show()
        sys.exit(Exit.UNUSABLE)
    except click.ClickException as error:
        _say(error.format_message() + _help_of(error))
        sys.exit(Exit.UNUSABLE)
    except RoceproofError as error:
        _say(str(error))
        sys.exit(error.exit_code)
    except BrokenPipeError:
        _leave(sys.stdout, sys.stderr)
        sys.exit(Exit.UNREAD)
    except OSError as error:
        unnamed = error.filename is None and error.errno in _CANNOT_BE_WRITTEN
        place = "standard output" if unnamed else error.filename
        _say(f"{place}: {error.strerror}" if place else error.strerror or str(error))
        if unnamed:
            _leave(sys.stdout)
        sys.exit(Exit.UNUSABLE)
    except Exception:  # a fault of ours
        with suppress(OSError):
            traceback.print_exc()
        sys.exit(Exit.UNUSABLE)


def end_as(command: click.Command) -> NoReturn:
    """Run a command that is a program of its own (`python -m`)."""
    end_with(lambda: command.main(standalone_mode=False) or 0)


def exit_interrupted() -> int:
    """The code of a shell for a process that the signal has ended."""
    return Exit.of_signal(signal_of_interruption())


def _help_of(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f" (see: {context.command_path} --help)" if context else ""


def _say(text: str) -> None:
    with suppress(OSError):  # the exit code tells it, too, where nobody reads stderr
        click.echo(f"roceproof: {printable_lines(text)}", err=True)


def _open_missing_streams() -> None:
    """Let what was closed (`>&-`) lead nowhere, or the next file opened would take its place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):  # signs that its encoding lacks are spelled out
        sys.stdout.reconfigure(errors="backslashreplace")


def _leave(*streams: TextIO) -> None:
    # What is still buffered must go somewhere when Python flushes it at its end.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())
