# SPDX-License-Identifier: BSD-2-Clause
"""A cache whose entries are either whole or absent.

An entry is a directory named by what it was made from. It is built beside its
place and renamed into it, under a lock, so that readers and parallel runs never
see half of one.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from roceproof.common.paths import cache_dir
from roceproof.rxe_env.errors import Unavailable

KEEP_ENTRIES = 4


def digest(*parts: str | bytes) -> str:
    """Return a short name for the sequence of parts."""
    total = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        total.update(len(raw).to_bytes(8, "big"))
        total.update(raw)
    return total.hexdigest()[:20]


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the cache's lock called `name`; other processes wait for it."""
    try:
        cache_dir().mkdir(parents=True, exist_ok=True)
        lock = (cache_dir() / f"{name}.lock").open("w")
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}"
        raise Unavailable(f"{reason}: set ROCEPROOF_CACHE to a directory of yours") from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def entry(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """Return the directory of entry `key` of `kind`, built by `build` if it is not there yet."""
    home = cache_dir() / kind
    place = home / key
    if not place.is_dir():
        with locked(kind):
            if not place.is_dir():
                _forget_unfinished(home)
                _build_into(place, build)
                _forget_old(home)
    with contextlib.suppress(OSError):  # a cache that cannot be written to can still be used
        os.utime(place)
    return place


def _build_into(place: Path, build: Callable[[Path], None]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=place.parent))
    try:
        build(scratch)
        scratch.rename(place)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _forget_unfinished(home: Path) -> None:
    # The lock is ours, so nobody works on these any more: their builders were killed.
    for scratch in home.glob(".new-*"):
        shutil.rmtree(scratch, ignore_errors=True)


def _forget_old(home: Path) -> None:
    entries = [path for path in home.iterdir() if not path.name.startswith(".new-")]
    entries.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for old in entries[KEEP_ENTRIES:]:
        shutil.rmtree(old, ignore_errors=True)
