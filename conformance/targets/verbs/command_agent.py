# SPDX-License-Identifier: BSD-2-Clause
"""The verbs agent behind any command that is its standard input and output, such as ssh."""

import os
import shlex
import subprocess
from collections.abc import Sequence
from threading import Thread
from typing import Any

from roceproof.common.printable import printable
from roceproof.conformance.targets.interface import TargetError
from roceproof.rxe_env.client.channel import AgentChannel
from roceproof.rxe_env.client.verbs import CALL_SECONDS, Verbs
from roceproof.rxe_env.errors import AgentError, PeerDied

START_SECONDS = 20.0
END_SECONDS = 5.0
TAIL_LINES = 5
KEPT_BYTES = 1 << 12
LAST_WORDS_SECONDS = 0.3


class CommandAgent(Verbs):
    """A running agent. `hello` is its greeting (docs/agent.md).

    One whose host has no device it could use is of no use, but where that is what is asked:
    then `hello` is empty, and `refusal` says why.
    """

    def __init__(self, command: Sequence[str], *, may_lack_device: bool = False) -> None:
        super().__init__()
        self._errors = bytearray()
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            raise TargetError(f"cannot start the agent: {error.strerror}: {command[0]}") from None
        assert self._process.stdin
        assert self._process.stdout
        self._listener = Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._channel = AgentChannel(self._process.stdout.fileno(), self._process.stdin.fileno())
        self.hello: dict[str, Any] = {}
        self.refusal = ""
        try:
            self._channel.wait_ready(timeout=START_SECONDS)
            self._greet(may_lack_device=may_lack_device)
        except (PeerDied, AgentError) as error:
            said = self.last_words()
            self.close()
            reason = f"{error}" + (f": {said}" if said else "")
            raise TargetError(
                f"the agent does not start ({shlex.join(command)}): {reason}"
            ) from None

    def call(self, op: str, *, within: float = CALL_SECONDS, **fields: Any) -> dict[str, Any]:
        return self._channel.call(op, fields, timeout=within)

    def _greet(self, *, may_lack_device: bool) -> None:
        try:
            self.hello = self.call("hello")
        except AgentError as error:
            if not may_lack_device:
                raise
            self.refusal = printable(error.text)

    def last_words(self) -> str:
        """The last lines that the command has complained with."""
        self._listener.join(LAST_WORDS_SECONDS)  # which has ended if the command has
        lines = bytes(self._errors).decode(errors="replace").split("\n")
        told = [printable(line.rstrip()) for line in lines if line.strip()]
        return "\n".join(told[-TAIL_LINES:])

    def _listen(self) -> None:
        """Keep the end of what the command complains with, however much that is."""
        assert self._process.stderr
        with self._process.stderr as stream:
            while heard := os.read(stream.fileno(), KEPT_BYTES):
                self._errors += heard
                del self._errors[:-KEPT_BYTES]

    def close(self) -> None:
        """End the agent, which frees what it holds."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._listener.join(LAST_WORDS_SECONDS)
