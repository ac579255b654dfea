# SPDX-License-Identifier: BSD-2-Clause
"""QEMU's control protocol, as far as saving a machine's state needs it."""

import json
import socket
from typing import Any

from roceproof.rxe_env.errors import RxeError

COMMAND_SECONDS = 20.0


class Qmp:
    """A connection that is ready for commands."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(COMMAND_SECONDS)
        self._stream = connection.makefile("rwb")
        self._receive()
        self.command("qmp_capabilities")

    def command(self, name: str, **arguments: Any) -> Any:
        """Run a command and return its result."""
        request = {"execute": name, "arguments": arguments}
        self._stream.write(json.dumps(request).encode() + b"\n")
        self._stream.flush()
        while True:
            answer = self._receive()
            if "error" in answer:
                raise RxeError(f"QEMU refused {name}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]

    def wait_event(self, name: str, field: str, values: tuple[str, ...]) -> str:
        """Wait for an event whose `field` is one of `values`, and return it."""
        while True:
            message = self._receive()
            value = message.get("data", {}).get(field)
            if message.get("event") == name and value in values:
                return str(value)

    def _receive(self) -> dict[str, Any]:
        try:
            line = self._stream.readline()
        except TimeoutError:
            raise RxeError(f"QEMU's monitor said nothing for {COMMAND_SECONDS:g} s") from None
        if not line:
            raise RxeError("QEMU ended while its monitor was in use")
        return dict(json.loads(line))
