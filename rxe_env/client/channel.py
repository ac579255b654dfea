# SPDX-License-Identifier: BSD-2-Clause
"""JSON lines to the verbs agent over file descriptors, every wait with a deadline."""

import json
import os
import secrets
import select
import time
from typing import Any

from roceproof.rxe_env.client.answers import agreed, answer
from roceproof.rxe_env.errors import PeerDied

READ_BYTES = 1 << 16
MOST_BYTES = 4 << 20
"""Until an answer has come: memory is read in pieces of 64 KiB."""


class AgentChannel:
    """One conversation with the agent. Not for use by two threads at a time."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._received = bytearray()
        self._heard = 0
        # Answers to an earlier conversation's requests must not be taken for ours.
        self._last_id = secrets.randbits(32)
        os.set_blocking(read_fd, False)
        os.set_blocking(write_fd, False)

    def wait_ready(self, *, timeout: float) -> None:
        self._line("the start of the agent", time.monotonic() + timeout)

    def restart(self, *, timeout: float) -> None:
        """Begin afresh with an agent that may be in the middle of another conversation.

        Whatever that one left half sent, unread or allocated is gone afterwards.
        """
        deadline = time.monotonic() + timeout
        self._last_id += 1
        request = {"id": self._last_id, "op": "reset"}
        self._send(b"\n" + json.dumps(request).encode() + b"\n", "reset", deadline)
        while answer("reset", self._line("reset", deadline)).get("id") != self._last_id:
            pass

    def call(self, op: str, fields: dict[str, Any], *, timeout: float) -> dict[str, Any]:
        """Send a request and return the agent's answer to it."""
        deadline = time.monotonic() + timeout
        self._last_id += 1
        request = {"id": self._last_id, "op": op, **fields}
        self._send(json.dumps(request).encode() + b"\n", op, deadline)
        while True:
            found = answer(op, self._line(op, deadline))
            if "event" not in found and agreed(op, found).get("id") == self._last_id:
                return found

    def _send(self, data: bytes, op: str, deadline: float) -> None:
        self._heard = len(self._received)
        view = memoryview(data)
        while view:
            self._wait([], [self._write_fd], op, deadline)
            try:
                view = view[os.write(self._write_fd, view) :]
            except OSError as error:
                raise PeerDied(f"the peer went away before it took '{op}' ({error})") from None

    def _line(self, op: str, deadline: float) -> bytes:
        while (end := self._received.find(b"\n")) < 0:
            self._wait([self._read_fd], [], op, deadline)
            try:
                data = os.read(self._read_fd, READ_BYTES)
            except OSError as error:
                raise PeerDied(f"the peer went away during '{op}' ({error})") from None
            if not data:
                raise PeerDied(f"the peer went away during '{op}'")
            self._received += data
            self._heard += len(data)
            if self._heard > MOST_BYTES:
                raise PeerDied(f"the peer said {MOST_BYTES:,} bytes and no answer to '{op}'")
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _wait(self, reading: list[int], writing: list[int], op: str, deadline: float) -> None:
        left = max(0.0, deadline - time.monotonic())
        ready = select.select(reading, writing, [], left)
        if not (ready[0] or ready[1]):
            raise PeerDied(f"the peer did not answer '{op}' in time")
