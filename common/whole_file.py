# SPDX-License-Identifier: BSD-2-Clause
"""Files that are written whole or not at all: a full disk or Ctrl-C leaves what was there."""

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Give the block a name to write to, and take that file's place when the block has ended well.

    An error of the system names `path`. What is no regular file (a pipe, a
    device) is written as it stands.
    """
    special = path.exists() and not path.is_file()
    target = path if special else path.resolve()  # a symbolic link stays one
    part = target if special else target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        yield part
        if not special:
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)
    except OSError as error:
        if error.filename not in (None, str(part)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        if not special:
            part.unlink(missing_ok=True)
