# SPDX-License-Identifier: BSD-2-Clause
"""When to give a device up: before a pulled cable has failed a thousand cases.

A case that a device did not even begin says nothing about it, and neither does the case in which
it went away, when it does not come back: cable, firmware and case are all suspects then.
"""

import pytest

UNREACHABLE = "unreachable"
"""The property of a case whose device was not there, with the reason."""
TRIES = 3


class Endurance:
    """Counts in how many cases on end the device was not there."""

    def __init__(self) -> None:
        self.reason = ""
        self._streak: list[str] = []
        self._before = ""

    def is_over(self, report: pytest.TestReport) -> bool:
        """Whether to give up, once this has been reported."""
        if report.when != "setup" or report.skipped:
            return False  # what is skipped never met the device
        properties = dict(report.user_properties)
        if UNREACHABLE not in properties:
            self._streak, self._before = [], report.nodeid
            return False
        self._streak.append(report.nodeid)
        self.reason = str(properties[UNREACHABLE])
        return len(self._streak) == TRIES

    def undecided(self) -> list[str]:
        """The cases to run again when it is back."""
        return [*([self._before] if self._before else []), *self._streak]
