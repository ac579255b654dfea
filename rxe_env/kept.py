# SPDX-License-Identifier: BSD-2-Clause
"""What the project keeps on this machine: how much of it there is, and what of it is damaged."""

import os
from pathlib import Path

from roceproof.common.checksum_stamp import flaw
from roceproof.common.paths import cache_dir
from roceproof.rxe_env.cache import KINDS, UNFINISHED


def megabytes(place: Path) -> str:
    """Return how much the files below a directory take, in words."""
    total = 0
    for folder, _, names in os.walk(place):
        for name in names:
            try:
                total += (Path(folder) / name).lstat().st_size
            except FileNotFoundError:  # another process has just removed it
                continue
    return f"{total / 1e6:.0f} MB"


def damaged_entries() -> list[str]:
    """Return a phrase for each entry of the cache that its next user will make anew."""
    phrases = []
    for kind, (thing, _) in KINDS.items():
        if not thing:
            continue
        for place in sorted((cache_dir() / kind).glob("*")):
            reason = None if place.name.startswith(UNFINISHED) else flaw(place)
            if reason:
                phrases.append(f"the {thing} in {place} ({reason})")
    return phrases
