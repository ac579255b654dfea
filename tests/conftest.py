# SPDX-License-Identifier: BSD-2-Clause
"""Samples sweeps, starts long files first, tells what tests cost, and lets them be interrupted.

A shell that runs the tests in the background hands SIGINT down as ignored (and nohup SIGHUP), and
so it would stay for every child.
"""

import gc
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the helper modules beside this file

from balance import long_files_first
from processor_time import ProcessorTime
from sampling import mark_slow

gc.disable()  # while thousands of items are made, none of which is garbage

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ProcessorTime(config), "processor-time")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before pytest looks which items are slow."""
    mark_slow(items)
    long_files_first(items)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A scheduler of Dask and one worker with two threads, in this process."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()
