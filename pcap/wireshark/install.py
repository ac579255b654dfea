# SPDX-License-Identifier: BSD-2-Clause
"""Put the plugin and the profile into Wireshark's personal folders, and take them out again.

A ledger in the profile remembers what was written. A file that is not ours, or that
was changed since, is never overwritten unless asked for, and never removed.
"""

import hashlib
import json
from collections.abc import Iterator
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from roceproof.common.errors import RoceproofError
from roceproof.pcap.wireshark.folders import Folders

PROFILE = "roceproof"
PLUGIN = "roceproof.lua"
PROFILE_FILES = ("preferences", "colorfilters", "dfilter_buttons", "heuristic_protos")
LEDGER = "roceproof.installed"


class ForeignFileError(RoceproofError):
    """A file is in the way that this program did not write, or that was changed since."""


class Deed(StrEnum):
    """What was done with one file."""

    INSTALLED = "installed"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REPLACED = "replaced"
    REMOVED = "removed"
    KEPT = "kept"


class Action(NamedTuple):
    """One file and what was done with it."""

    deed: Deed
    path: Path


def profile_of(folders: Folders) -> Path:
    return folders.configuration / "profiles" / PROFILE


def install(folders: Folders, *, force: bool = False) -> list[Action]:
    """Write every file, or none if one is in the way."""
    ledger = _read_ledger(folders)
    plan = [(_deed(path, content, ledger), path, content) for path, content in _contents(folders)]
    in_the_way = [path for deed, path, _ in plan if deed is Deed.REPLACED]
    if in_the_way and not force:
        listed = ", ".join(map(str, in_the_way))
        raise ForeignFileError(
            f"{listed}: not written by roceproof, or changed since; "
            "move away, or overwrite with --force"
        )
    for deed, path, content in plan:
        if deed is not Deed.UNCHANGED:
            _write(path, content)
    sums = {str(path): _sum(content) for _, path, content in plan}
    document = json.dumps({"schema": 1, "files": sums}, indent=1)
    _write(profile_of(folders) / LEDGER, document.encode())
    return [Action(deed, path) for deed, path, _ in plan]


def uninstall(folders: Folders) -> list[Action]:
    """Remove what was installed and is still as it was; nothing if nothing was installed."""
    ledger = _read_ledger(folders)
    actions = []
    for name, known in ledger.items():
        path = Path(name)
        content = _read(path)
        if content is None:
            continue
        ours = _sum(content) == known
        if ours:
            path.unlink()
        actions.append(Action(Deed.REMOVED if ours else Deed.KEPT, path))
    profile = profile_of(folders)
    (profile / LEDGER).unlink(missing_ok=True)
    if profile.is_dir() and not any(profile.iterdir()):
        profile.rmdir()
    return actions


def _contents(folders: Folders) -> Iterator[tuple[Path, bytes]]:
    source = files("roceproof.pcap.wireshark")
    yield folders.plugins / PLUGIN, (source / PLUGIN).read_bytes()
    for name in PROFILE_FILES:
        yield profile_of(folders) / name, (source / "profile" / name).read_bytes()


def _deed(path: Path, content: bytes, ledger: dict[str, str]) -> Deed:
    present = _read(path)
    if present is None:
        return Deed.INSTALLED
    if present == content:
        return Deed.UNCHANGED
    return Deed.UPDATED if ledger.get(str(path)) == _sum(present) else Deed.REPLACED


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(path.name + ".new")
    scratch.write_bytes(content)
    scratch.replace(path)


def _read_ledger(folders: Folders) -> dict[str, str]:
    path = profile_of(folders) / LEDGER
    content = _read(path)
    if content is None:
        return {}
    try:
        document = json.loads(content)
        return {str(name): str(known) for name, known in document["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RoceproofError(f"{path}: not readable as a list of files; remove it") from error


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
