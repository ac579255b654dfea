# SPDX-License-Identifier: BSD-2-Clause
"""Captures from stdin and from pipes: it is said what is waited for, and they can be read twice."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from roceproof.common.printable import printable
from roceproof.conformance.capture import STDIN


def say_what_is_awaited(name: Path | str, *, quiet: bool = False) -> None:
    """One line on stderr where nothing happens until somebody writes."""
    path = Path(name)
    if quiet:
        return
    if str(name) == STDIN:
        if sys.stdin.isatty():
            print("roceproof: waiting for a capture on standard input", file=sys.stderr)
    elif path.is_fifo():
        text = f"roceproof: {printable(name)} is a pipe; waiting for what is written to it"
        print(text, file=sys.stderr)


@contextmanager
def rereadable(name: Path | str) -> Iterator[Path]:
    """A path to the same bytes that can be read more than once: a copy of stdin or of a pipe."""
    path = Path(name)
    if str(name) != STDIN and not path.is_fifo():
        yield path
        return
    import shutil
    import tempfile

    with ExitStack() as stack:
        copy = stack.enter_context(tempfile.NamedTemporaryFile(prefix="roceproof-"))
        try:
            source = (
                sys.stdin.buffer if str(name) == STDIN else stack.enter_context(path.open("rb"))
            )
            shutil.copyfileobj(source, copy)
            copy.flush()
        except OSError as error:
            raise _unreadable(name, error, copy.name) from error
        yield Path(copy.name)


def _unreadable(name: Path | str, error: OSError, copy: str) -> Exception:
    from roceproof.conformance.capture.record import CaptureError

    reason = f"cannot be kept in {copy} ({error.strerror})"
    return CaptureError(str(name), 0, reason, "pass a file, or set TMPDIR to a place with room")
