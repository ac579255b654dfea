# SPDX-License-Identifier: BSD-2-Clause
"""Which paths the tools can build in: makefiles cannot quote spaces and signs of the shell."""

import re
from collections.abc import Iterable
from pathlib import Path

_HOSTILE = re.compile(r"[^\w/.+@~-]")


def unbuildable(paths: Iterable[Path]) -> str | None:
    """What to do about the first path that a makefile cannot hold; None if it can hold all."""
    for path in paths:
        if sign := _HOSTILE.search(str(path)):
            return (
                f"makefiles cannot build with {sign[0]!r} in {str(path)!r}:"
                " use a folder whose path has letters, digits and /._+@~- only"
            )
    return None
