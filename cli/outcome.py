# SPDX-License-Identifier: BSD-2-Clause
"""How a process of ours ends: with the job's exit code, or one line on stderr and a code for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn

import click

from roceproof.common.errors import RoceproofError
from roceproof.common.interruption import ignore_interruptions, raise_interruptions

EXIT_ENVIRONMENT = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


def end_with(job: Callable[[], int]) -> NoReturn:
    """Run the job and exit; the project's errors, an interruption and a lost reader have codes."""
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
        click.echo("roceproof: interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        sys.exit(EXIT_ENVIRONMENT)
    except RoceproofError as error:
        click.echo(f"roceproof: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        _leave_pipe()
        sys.exit(EXIT_BROKEN_PIPE)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        click.echo(f"roceproof: {place}{error.strerror or error}", err=True)
        sys.exit(EXIT_ENVIRONMENT)


def _leave_pipe() -> None:
    # What is still buffered must go somewhere when Python flushes it at its end.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.dup2(nowhere, sys.stderr.fileno())
