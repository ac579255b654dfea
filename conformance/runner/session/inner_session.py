# SPDX-License-Identifier: BSD-2-Clause
"""A session of pytest inside a command: nothing outside steers it, and it passes on a Ctrl-C."""

import os
import sys
from collections.abc import Sequence

import pytest

from roceproof.common.errors import RoceproofError

_STEERING = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")


def run_alone(arguments: Sequence[str], plugins: Sequence[object]) -> int | pytest.ExitCode:
    """Run a session that nothing but its arguments steers: cases left out would look passed."""
    if sys.flags.optimize:
        raise RoceproofError(
            "Python leaves out assertions, so that cases could not fail: unset PYTHONOPTIMIZE"
        )
    for name in _STEERING:
        os.environ.pop(name, None)
    return pytest.main([*arguments], plugins=[*plugins])


def run_inside(arguments: Sequence[str], *plugins: object) -> int | pytest.ExitCode:
    """Run it with these plug-ins; pytest's exit code."""
    watch = _Watch()
    code = run_alone(arguments, [*plugins, watch])
    if watch.is_interrupted:
        raise KeyboardInterrupt
    return code


class _Watch:
    is_interrupted = False

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Cases that cannot be collected end a session likewise, but by a kind of its own."""
        self.is_interrupted = excinfo.type is KeyboardInterrupt
