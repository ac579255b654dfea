# SPDX-License-Identifier: BSD-2-Clause
"""Posted receives, in the order in which messages take them; a queue may serve several QPs."""

from collections import deque
from dataclasses import dataclass

from roceproof.conformance.model.memory import Region


@dataclass(frozen=True)
class Receive:
    """Where one message may go."""

    wr_id: int
    region: Region
    offset: int
    length: int
    is_misnamed: bool = False
    """Whether its key names nothing."""

    def usable(self, domain: int) -> bool:
        """Whether the device may write there for a queue pair of that protection domain."""
        region = self.region
        is_named = region.valid and region.domain == domain and not self.is_misnamed
        inside = self.offset >= 0 and self.offset + self.length <= region.extent
        return is_named and inside and "local_write" in region.access

    def write(self, at: int, data: bytes) -> None:
        """Place part of a message, `at` bytes behind its start."""
        self.region.write(self.offset + at, data)


class ReceiveQueue:
    """The receive queue of one QP, or a shared one."""

    def __init__(self, *, shared: bool = False) -> None:
        self.shared = shared
        self._waiting: deque[Receive] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def head(self) -> Receive | None:
        """The receive that the next message will take."""
        return self._waiting[0] if self._waiting else None

    def post(self, receive: Receive) -> None:
        """Add one behind the others."""
        self._waiting.append(receive)

    def take(self) -> Receive:
        """The head, which belongs to a message from now on."""
        return self._waiting.popleft()

    def give_back(self, receive: Receive) -> None:
        """The message was abandoned: its receive serves the next."""
        self._waiting.appendleft(receive)

    def flush(self) -> list[Receive]:
        """All that wait; nothing is left."""
        flushed = list(self._waiting)
        self._waiting.clear()
        return flushed
