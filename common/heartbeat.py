# SPDX-License-Identifier: BSD-2-Clause
"""A word every so often where no clock can be drawn, so that a log shows that work goes on."""

import threading
from collections.abc import Callable
from contextlib import suppress

from roceproof.common.interruption import interruptions_held

BEAT_SECONDS = 12.0


class Heartbeat:
    """Calls `say` again and again between `start` and `stop`, from a thread of its own."""

    def __init__(self, say: Callable[[], None]) -> None:
        self._say = say
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to wait for the first beat."""
        with interruptions_held():  # half a start could be neither joined nor forgotten
            self._thread = threading.Thread(target=self._beat, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """No word comes after this."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _beat(self) -> None:
        with suppress(OSError):  # nobody reads it any more
            while not self._ended.wait(BEAT_SECONDS):
                self._say()
