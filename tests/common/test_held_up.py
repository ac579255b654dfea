# SPDX-License-Identifier: BSD-2-Clause
"""How long a process has waited for a processor is what the scheduler says of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack

from roceproof.common.cpu_wait import held_up_ns

SPIN = "while True: pass"
NS_PER_MS = 1_000_000


def test_of_two_that_share_a_processor_each_waits_for_the_other() -> None:
    processor = {min(os.sched_getaffinity(0))}
    with ExitStack() as stack:
        spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(2)]
        for each in spinning:
            stack.callback(each.wait)
            stack.callback(each.kill)
            os.sched_setaffinity(each.pid, processor)
        deadline = time.monotonic() + 30
        while any(held_up_ns(each.pid) < 50 * NS_PER_MS for each in spinning):
            assert time.monotonic() < deadline


def test_one_that_is_gone_has_waited_for_nothing() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert held_up_ns(ended.pid) == 0
