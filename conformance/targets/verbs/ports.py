# SPDX-License-Identifier: BSD-2-Clause
"""Ethernet ports of this process: whole frames without FCS, and no wait without an end.

A port is a file to select on. `take` never waits; `send` waits no longer than
SEND_SECONDS for a device that takes nothing.
"""

import select
import socket
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path

from roceproof.conformance.wire.framing import ETHERNET_MINIMUM
from roceproof.rxe_env.vm import rundir

READ_BYTES = 1 << 18
SEND_SECONDS = 5.0
LENGTH_BYTES = 4


class PortGone(Exception):
    """The other end of the port is gone, or takes nothing any more. The text says which."""


class Port(ABC):
    @abstractmethod
    def fileno(self) -> int:
        """Readable when there is something to take."""

    @abstractmethod
    def send(self, frame: bytes) -> None:
        """Send one frame."""

    @abstractmethod
    def take(self) -> list[bytes]:
        """The frames that have arrived; call it when the file is readable."""

    def accept(self, mac: bytes) -> None:
        """Take frames to this MAC from now on, where the port would not otherwise."""
        return

    def lost(self) -> int:
        """How many frames had no room since the last call."""
        return 0

    @abstractmethod
    def close(self) -> None:
        """Give the port back."""


def send_all(to: socket.socket, data: bytes) -> None:
    """Send through a socket that does not block, waiting SEND_SECONDS at most."""
    deadline = time.monotonic() + SEND_SECONDS
    view = memoryview(data)
    while view:
        left = max(0.0, deadline - time.monotonic())
        if not select.select([], [to], [], left)[1]:
            raise PortGone(f"it took no frame for {SEND_SECONDS:g} s")
        with suppress(BlockingIOError):
            view = view[to.send(view) :]


class StreamPort(Port):
    """A Unix stream socket that somebody listens on: each frame behind its length, as QEMU does.

    Short frames come out padded with zeros, which a virtual card leaves to a real one.
    """

    def __init__(self, path: Path) -> None:
        self._socket = rundir.connect(path, timeout=SEND_SECONDS)
        self._socket.setblocking(False)
        self._half = bytearray()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, frame: bytes) -> None:
        try:
            send_all(self._socket, len(frame).to_bytes(LENGTH_BYTES, "big") + frame)
        except OSError as error:
            raise PortGone(f"its link is down ({error.strerror})") from None

    def take(self) -> list[bytes]:
        """Whole frames; the start of the next one is kept."""
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return []
        except OSError as error:
            raise PortGone(f"its link is down ({error.strerror})") from None
        if not data:
            raise PortGone("its link has ended")
        self._half += data
        frames = []
        while (end := self._end()) <= len(self._half):
            frames.append(bytes(self._half[LENGTH_BYTES:end]).ljust(ETHERNET_MINIMUM, b"\0"))
            del self._half[:end]
        return frames

    def _end(self) -> int:
        return LENGTH_BYTES + int.from_bytes(self._half[:LENGTH_BYTES].ljust(LENGTH_BYTES), "big")

    def close(self) -> None:
        self._socket.close()
