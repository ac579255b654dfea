# SPDX-License-Identifier: BSD-2-Clause
"""How a command ends: every exit code, and what it says whatever the command."""

from __future__ import annotations

from enum import IntEnum

_SIGNALLED = 128


class Exit(IntEnum):
    """The codes; documents say of each command what its findings are."""

    says: str

    def __new__(cls, code: int, says: str) -> Exit:
        """One with its meaning."""
        self = int.__new__(cls, code)
        self._value_, self.says = code, says
        return self

    FINE = 0, "fine"
    FINDINGS = 1, "findings"
    UNUSABLE = 2, "usage or environment"
    BROKEN_BUILD = 3, "the device does not build"
    SKIPPED = 77, "skipped because the machine lacks something"
    HUNG_UP = _SIGNALLED + 1, "the terminal was closed"
    INTERRUPTED = _SIGNALLED + 2, "interrupted"
    UNREAD = _SIGNALLED + 13, "nobody reads what is printed"
    TERMINATED = _SIGNALLED + 15, "ended by SIGTERM"

    @classmethod
    def of_signal(cls, number: int) -> int:
        """That of a shell for a process that the signal has ended."""
        return _SIGNALLED + number


EXIT_CODES = "Exit codes: " + ", ".join(f"{code.value} {code.says}" for code in Exit) + "."
