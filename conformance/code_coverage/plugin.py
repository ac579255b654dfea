# SPDX-License-Identifier: BSD-2-Clause
"""In a session with --roce-code-coverage: each worker adds up what its simulations write.

One file of a simulation has megabytes, so none stays.
"""

import os
from collections import defaultdict
from pathlib import Path

import pytest

from roceproof.conformance.code_coverage.points import Sum

SUM = ".sum"


class _Adder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sums: dict[str, Sum] = defaultdict(Sum)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self) -> None:
        for path in self._folder.glob(f"*.{os.getpid()}.*.dat"):
            self._sums[path.name.partition(".")[0]].add(path)
            path.unlink()

    def pytest_sessionfinish(self) -> None:
        for width, total in self._sums.items():
            total.write(self._folder / f"{width}.{os.getpid()}{SUM}")


def pytest_configure(config: pytest.Config) -> None:
    """Add up in every process that has devices."""
    folder = config.getoption("--roce-code-coverage")
    if folder is not None:
        config.pluginmanager.register(_Adder(folder))
