# SPDX-License-Identifier: BSD-2-Clause
"""A seal tells whether files that were made once are still as their maker left them.

It is one file beside them with the size, the CRC-32 and the executability of each, written last
and whole. CRC-32 finds every cut and every flipped bit and costs some milliseconds for what we
keep; it is no defence against malice, and neither is a cache directory that others can write to.
"""

import json
import os
import zlib
from collections.abc import Iterable
from pathlib import Path

SEAL = ".seal.json"
CHUNK_BYTES = 1 << 20

Print = tuple[int, int, bool]


def seal(place: Path, names: Iterable[str] | None = None) -> None:
    """Seal the named files of a directory, or all that are below it."""
    found = names or sorted(
        str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()
    )
    prints = {name: _print(place / name) for name in found if name != SEAL}
    new = place / f"{SEAL}.new"
    new.write_text(json.dumps(prints, indent=1))
    new.replace(place / SEAL)


def flaw(place: Path) -> str | None:
    """Return what differs from the sealed state, in a few words; None if nothing does."""
    try:
        sealed = _sealed(place)
    except (FileNotFoundError, NotADirectoryError):
        if not os.path.lexists(place):
            return "it is not there"
        return (
            "it has no seal, as those of older versions" if place.is_dir() else "it is no directory"
        )
    except (OSError, ValueError, TypeError, AttributeError):
        return "its seal cannot be read"
    for name, expected in sealed.items():
        try:
            found = _print(place / name, at_most=expected[0])
        except OSError as error:
            return f"{name}: {error.strerror}"
        if found[0] != expected[0]:
            return f"{name} has {found[0]} bytes, not {expected[0]}"
        if found[1] != expected[1]:
            return f"the bytes of {name} have changed"
        if found[2] != expected[2]:
            return f"{name} is {'' if found[2] else 'not '}executable now"
    return None


def seal_of(place: Path) -> bytes:
    """Return the seal's own bytes, by which one making of a thing differs from the next."""
    try:
        return (place / SEAL).read_bytes()
    except OSError:
        return b""


def _sealed(place: Path) -> dict[str, Print]:
    prints = json.loads((place / SEAL).read_bytes())
    return {
        name: (int(size), int(crc), bool(executable))
        for name, (size, crc, executable) in prints.items()
    }


def _print(path: Path, *, at_most: int | None = None) -> Print:
    with path.open("rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        crc = 0
        if at_most is None or status.st_size == at_most:  # else there is no need to read it
            buffer = memoryview(bytearray(CHUNK_BYTES))
            while count := file.readinto(buffer):
                crc = zlib.crc32(buffer[:count], crc)
    return status.st_size, crc, bool(status.st_mode & 0o100)
