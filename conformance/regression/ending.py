# SPDX-License-Identifier: BSD-2-Clause
"""Ends a session in which going on makes no sense: the device is another one now."""

import pytest

from roceproof.conformance.runner.session.ending import end_session
from roceproof.dpi.manifest.snapshot import Snapshot, told


class Watchman:
    """Looks at what a device is made of whenever something comes of a case."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._session: pytest.Session | None = None
        self.problem = ""

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    def pytest_runtest_logreport(self) -> None:
        if not self.problem and self._session and (changed := self._snapshot.changed()):
            self.problem = told(changed)
            end_session(self._session, self.problem)
