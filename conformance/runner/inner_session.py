# SPDX-License-Identifier: BSD-2-Clause
"""A session of pytest inside a command: pytest keeps a Ctrl-C to itself, and this passes it on."""

from __future__ import annotations

from collections.abc import Sequence

import pytest


def run_inside(arguments: Sequence[str], plugin: object) -> int | pytest.ExitCode:
    """Run it with one more plug-in; pytest's exit code."""
    watch = _Watch()
    code = pytest.main([*arguments], plugins=[plugin, watch])
    if watch.is_interrupted:
        raise KeyboardInterrupt
    return code


class _Watch:
    is_interrupted = False

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Cases that cannot be collected end a session likewise, but by a kind of its own."""
        self.is_interrupted = excinfo.type is KeyboardInterrupt
