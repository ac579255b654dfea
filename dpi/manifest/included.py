# SPDX-License-Identifier: BSD-2-Clause
"""What the sources of a device include."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_INCLUDE = re.compile(rb'`include\s+"([^"\n\0]+)"')


def included(sources: Iterable[Path], folders: Sequence[Path]) -> list[Path]:
    """What they include, from these folders; what else lies there, such as a log, may change."""
    found: dict[Path, None] = {}
    left = [*sources]
    while left:
        for name in map(os.fsdecode, _INCLUDE.findall(left.pop().read_bytes())):
            here = (path for folder in folders if (path := folder / name).is_file())
            new = [path for path in here if path not in found]
            found |= dict.fromkeys(new)
            left += new
    return [*found]
