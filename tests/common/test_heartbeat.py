# SPDX-License-Identifier: BSD-2-Clause
"""A heartbeat that is interrupted while it starts can still be stopped."""

import os
import signal
import threading

import pytest

from roceproof.common.heartbeat import Heartbeat
from roceproof.common.interruption import SIGNALS, raise_interruptions


@pytest.fixture
def interruptible():
    before = {number: signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)}
    raise_interruptions()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_an_interruption_of_its_start_waits_until_it_can_be_stopped(interruptible, monkeypatch):
    start = threading.Thread.start

    def interrupted(thread):
        os.kill(os.getpid(), signal.SIGINT)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    heartbeat = Heartbeat(lambda: None)
    with pytest.raises(KeyboardInterrupt):
        heartbeat.start()
    heartbeat.stop()
