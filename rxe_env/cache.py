# SPDX-License-Identifier: BSD-2-Clause
"""A cache whose entries are either whole or absent.

An entry is a directory named by what it was made from. It is built and sealed
beside its place and renamed into it, under a lock, so that readers and parallel
runs never see half of one. Its seal is read at every use; an entry that was
damaged since is said to be so and made anew.
"""

import contextlib
import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from roceproof.common.checksum_stamp import flaw, seal, seal_of
from roceproof.common.lock import locked as file_locked
from roceproof.common.notice import notice
from roceproof.common.paths import cache_dir
from roceproof.rxe_env.errors import Unavailable

KEEP_ENTRIES = 4
# Of what there is one for each kernel, and of what each kernel has some.
KEEP_OF_KIND = {"kernels": 8, "accel": 8, "initramfs": 24, "state": 16}
UNFINISHED = ".new-"
MEND_FULL = "free some space, or set ROCEPROOF_CACHE to a directory that has some"
MEND_REFUSED = "make it yours or remove it, or set ROCEPROOF_CACHE to a directory of yours"
# Each kind of entry: what it holds, and what its maker does.
KINDS = {
    "kernel": ("guest kernel", "fetches the guest's kernel"),
    "initramfs": ("guest's root", "prepares the machine"),
    "agent": ("verbs agent", "compiles the verbs agent"),
    "kernels": ("guest kernel", "fetches a kernel for the guest"),
    "apt": ("", "asks Debian's archive for kernels"),
    "accel": ("verdict on KVM", "probes KVM"),
    "kbuild": ("root to build modules in", "fetches what builds modules"),
    "state": ("saved machine", "prepares the machine"),
    "env": ("", "starts or ends the background peer"),
}


def digest(*parts: str | bytes) -> str:
    """Return a short name for the sequence of parts."""
    total = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        total.update(len(raw).to_bytes(8, "big"))
        total.update(raw)
    return total.hexdigest()[:20]


@contextlib.contextmanager
def locked(kind: str) -> Iterator[None]:
    """Hold the cache's lock for `kind`; other processes wait for it and say so."""
    with contextlib.ExitStack() as stack:
        with _told():
            stack.enter_context(file_locked(cache_dir() / f"{kind}.lock", KINDS[kind][1]))
        yield


def entry(kind: str, key: str, build: Callable[[Path], None]) -> Path:
    """Return the directory of entry `key` of `kind`, whole; `build` makes it where it is not."""
    home = cache_dir() / kind
    place = home / key
    if flaw(place):
        with locked(kind), _told():
            reason = flaw(place)
            if reason:
                if os.path.lexists(place):
                    tell_damage(kind, place, reason)
                _forget_unfinished(home)
                _build_into(place, build)
                _forget_old(home)
    with contextlib.suppress(OSError):  # a cache that cannot be written to can still be used
        os.utime(place)
    return place


def tell_damage(kind: str, place: Path, reason: str) -> None:
    """Say that an entry is not what it was and is made anew."""
    notice(f"the {KINDS[kind][0]} in {place} was damaged ({reason}); making it anew")


def discard(kind: str, place: Path, reason: str, *, made: bytes) -> None:
    """Forget an entry that is of no use though whole, unless its seal is no longer `made`."""
    with locked(kind):
        if seal_of(place) == made:
            tell_damage(kind, place, reason)
            shutil.rmtree(place, ignore_errors=True)


def discard_damaged(kind: str, place: Path) -> None:
    """Forget an entry that is not whole."""
    with locked(kind):
        reason = flaw(place)
        if reason and os.path.lexists(place):
            tell_damage(kind, place, reason)
            shutil.rmtree(place, ignore_errors=True)


def _build_into(place: Path, build: Callable[[Path], None]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=place.parent))
    new, old = scratch / "new", scratch / "old"
    try:
        new.mkdir(mode=0o700)
        build(new)
        seal(new)
        if os.path.lexists(place):
            with contextlib.suppress(OSError):
                place.chmod(0o700)  # else its owner could not move it
            place.rename(old)
        new.rename(place)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Turn what the file system refuses into one line with the mend."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        reason = f"{error.filename or cache_dir()}: {error.strerror}"
        raise Unavailable(f"{reason}: {MEND_FULL if full else MEND_REFUSED}") from None
    except Unavailable as error:
        if os.strerror(errno.ENOSPC) not in str(error):
            raise
        raise Unavailable(f"{cache_dir()}: {error}: {MEND_FULL}") from None


def _forget_unfinished(home: Path) -> None:
    # The lock is ours, so nobody works on these any more: their builders were killed.
    for scratch in home.glob(f"{UNFINISHED}*"):
        shutil.rmtree(scratch, ignore_errors=True)


def _forget_old(home: Path) -> None:
    entries = [path for path in home.iterdir() if not path.name.startswith(UNFINISHED)]
    entries.sort(key=lambda path: path.lstat().st_mtime, reverse=True)
    for old in entries[KEEP_OF_KIND.get(home.name, KEEP_ENTRIES) :]:
        shutil.rmtree(old, ignore_errors=True)
