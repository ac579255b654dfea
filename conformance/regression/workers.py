# SPDX-License-Identifier: BSD-2-Clause
"""How an interruption reaches a suite: cases end at once, everything around them to its end.

As a plug-in it is loaded by the controlling process and by every worker. An interruption is let
through only while cases are collected and run; what reports, tidies up or starts workers is not
cut short. Workers have sessions of their own, so that a terminal's Ctrl-C does not reach them:
the controlling process tells them.
"""

import os
import shlex
import signal
import sys
from collections.abc import Generator
from contextlib import suppress
from typing import Any

import execnet
import pytest
from xdist.remote import Producer
from xdist.scheduler import WorkStealingScheduling

from roceproof.common.children import told_status
from roceproof.common.interruption import (
    hold_interruptions,
    interruptions_let_through,
    raise_interruptions,
)
from roceproof.common.notice import notice
from roceproof.conformance.runner.outcomes import CASE_BROKE, RUNS_AGAIN

RESTARTS = 20  # a device that kills its bench again and again is not worth more


def worker_arguments(jobs: int) -> list[str]:
    """What starts so many workers; a case whose worker dies is an error, and another goes on."""
    python = f"popen//python=setsid {shlex.quote(sys.executable)}"
    words = ["--tx", f"{jobs}*{python}", "--dist", "worksteal"]
    return [*words, "--max-worker-restart", str(RESTARTS)]


def pytest_configure(config: pytest.Config) -> None:
    """Make a worker heed what the controlling process tells it."""
    if hasattr(config, "workerinput"):
        raise_interruptions()
        hold_interruptions()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    with interruptions_let_through():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop() -> Generator[None, object, object]:
    """Running cases may be interrupted."""
    with interruptions_let_through():
        return (yield)


def _end_of(gateway: execnet.Gateway) -> str:
    """How its process has ended, in words."""
    starter: Any = gateway._io  # noqa: SLF001 (execnet has no public way to the process)
    return told_status(starter.popen.wait())


class _Scheduling(WorkStealingScheduling):  # type: ignore[misc]
    """A worker may have died before anybody has heard of it: its end is told in a moment."""

    def check_schedule(self) -> None:
        """Whoever cannot be told now is left out; what it had goes on elsewhere when it is over."""
        with suppress(OSError):
            super().check_schedule()


class Workers:
    """Those of a session, by their process ids."""

    def __init__(self) -> None:
        self._pids: list[int] = []
        self._died: set[str] = set()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Producer) -> _Scheduling:
        """As `--dist worksteal`, which ends with an internal error where a worker dies unheard."""
        return _Scheduling(config, log)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_newgateway(self, gateway: execnet.Gateway) -> None:
        """Ask a new worker who it is."""
        channel = gateway.remote_exec("import os; channel.send(os.getpid())")
        self._pids.append(channel.receive())
        channel.waitclose()

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(
        self, crashitem: str, report: Any, sched: WorkStealingScheduling
    ) -> None:
        """A case whose worker has died runs again, once: it need not be what the worker died of."""
        end = _end_of(report.node.gateway)
        if crashitem in self._died:
            report.longrepr = (
                f"its worker died twice ({end}), which says nothing of the device: "
                "is there memory enough, or does the case end its process?"
            )
            report.user_properties.append((CASE_BROKE, f"the case's worker died twice ({end})"))
            return
        self._died.add(crashitem)
        report.outcome = RUNS_AGAIN
        notice(f"a worker died ({end}) in {crashitem.rpartition('/')[2]}, which runs again")
        sched.mark_test_pending(crashitem)

    def pytest_keyboard_interrupt(self) -> None:
        """Tell them. They are our children: until we wait for them, no other has their numbers."""
        for pid in self._pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
