# SPDX-License-Identifier: BSD-2-Clause
"""What can go wrong with a Soft-RoCE peer. Every message is one line that says the remedy."""

from roceproof.common.errors import RoceproofError


class RxeError(RoceproofError):
    """Any failure of the Soft-RoCE environment."""


class Unavailable(RxeError):
    """Something this machine lacks. The text names the command that mends it."""


class AgentError(RxeError):
    """The verbs agent refused a request. `errno` is 0 when the request itself was wrong."""

    def __init__(self, op: str, text: str, errno: int) -> None:
        super().__init__(f"{op}: {text}")
        self.op = op
        self.text = text
        self.errno = errno


class PeerDied(RxeError):
    """The peer ended or stopped answering. The console's last lines follow the reason."""

    def __init__(self, reason: str, console: str = "") -> None:
        super().__init__(f"{reason}\nlast console lines:\n{console}" if console else reason)
        self.reason = reason
        self.console = console
