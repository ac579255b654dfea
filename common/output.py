# SPDX-License-Identifier: BSD-2-Clause
"""A directory for one run's products: made when missing, written by one run at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from roceproof.common.errors import RoceproofError


@contextmanager
def output_directory(path: Path) -> Iterator[None]:
    """Hold the directory; a second run that wants it is told so at once."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise RoceproofError(f"{path}: {error.strerror}; name another directory") from error
    try:
        _take(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RoceproofError(f"{path}: another run writes there; wait for its end") from None
    if not os.access(path, os.W_OK):
        raise RoceproofError(f"{path}: no permission to write; name another directory")
