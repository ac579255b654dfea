# SPDX-License-Identifier: BSD-2-Clause
"""Tells at the end what the tests cost: processor minutes, load, and the ten dearest.

Processor time says the same on a quiet and on a busy machine, so nothing here fails a test: who
adds one sees its place. Children count where the test waits for them; a guest or a simulation
that several tests share counts where it ends.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

COST = "processor_s"
DEAREST = 10


def spent() -> float:
    """Processor seconds of this process and of the children that it waited for."""
    return sum(os.times()[:4])


class ProcessorTime:
    """Measures in whoever runs tests, adds up in whoever reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._costs: defaultdict[str, float] = defaultdict(float)
        self._workers = 0.0
        self._began = time.monotonic()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._item_began = spent()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        report = yield
        report.processor_s = spent() - self._item_began
        self._item_began = spent()
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._costs[report.nodeid] += getattr(report, COST, 0.0)

    def pytest_sessionfinish(self) -> None:
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[COST] = spent()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._workers += getattr(node, "workeroutput", {}).get(COST, 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if hasattr(self._config, "workeroutput") or not self._costs:
            return
        wall = time.monotonic() - self._began
        terminalreporter.section("cost")
        for test, cost in sorted(self._costs.items(), key=lambda each: -each[1])[:DEAREST]:
            terminalreporter.write_line(f"{cost:7.1f} s  {test}")
        total = sum(os.times()[:2]) + self._workers if self._workers else spent()
        terminalreporter.write_line(
            f"{total / 60:.1f} processor minutes in {wall / 60:.1f} minutes;"
            f" load {os.getloadavg()[1]:.1f} on {os.cpu_count()} processors"
        )
