# SPDX-License-Identifier: BSD-2-Clause
"""The manifest and the sources of a device as they were when a run began.

A run that goes on with others judges two devices and names one of them.
"""

import hashlib
from pathlib import Path

from roceproof.common.errors import RoceproofError
from roceproof.dpi.manifest.dut import Manifest, load_manifest
from roceproof.dpi.manifest.included import included

_State = tuple[int, int, int]


class Snapshot:
    """What each file held; reading one again only if its inode, size or time is another."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest.path
        self._sources = manifest.sources
        headers = included(manifest.sources, (*manifest.circuit.includes, Path.cwd()))
        files = [manifest.path, *manifest.sources, *headers]
        self._held = {file: _content(file) for file in files}
        self._states = {file: _state(file) for file in files}

    def changed(self) -> Path | None:
        """The first that holds something else now."""
        for file, before in self._states.items():
            try:
                now = _state(file)
                if now != before and _content(file) != self._held[file]:
                    return file
            except OSError:
                return file
            self._states[file] = now
        return None

    def must_hold(self) -> None:
        """Raise what tells the user of a change; of sources that have come beside them, too."""
        changed = self.changed()
        if changed is None and load_manifest(self._manifest).sources != self._sources:
            changed = self._manifest
        if changed is not None:
            raise RoceproofError(told(changed))


def told(changed: Path) -> str:
    """What has happened, and what to do."""
    return f"{changed} has changed since the run began, which judges neither: run it again"


def _state(file: Path) -> _State:
    found = file.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _content(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()
