# SPDX-License-Identifier: BSD-2-Clause
"""What all responders have in common: requests go in, responses come out one by one.

The owner takes responses as fast as the wire carries them; `receive` takes all at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection

from roceproof.conformance.model.memory import Memory
from roceproof.conformance.model.receive_queue import Receive, ReceiveQueue
from roceproof.conformance.model.responder.policy import ResponderPolicy
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.opcodes import Opcode
from roceproof.conformance.wire.operations import has_operation
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.work import Op, Outcome


class Responder(ABC):
    """The receive side of one queue pair, from its first PSN on."""

    def __init__(
        self,
        spec: QpSpec,
        *,
        memory: Memory,
        receives: ReceiveQueue,
        policy: ResponderPolicy | None = None,
        executes: Collection[Op] | None = None,
    ) -> None:
        self.spec = spec
        self.memory = memory
        self.receives = receives
        self.policy = policy or ResponderPolicy()
        self.executes = executes
        """The operations that the device has; all where nothing is said."""
        self.outcomes: list[Outcome] = []
        self.failed = False
        self.now_ns = 0

    def receive(self, request: Segment, network_header: bytes = b"") -> list[Segment]:
        """Take a request; all responses that then can leave."""
        self.accept(request, network_header)
        return list(iter(self.next_response, None))

    def has(self, row: Opcode) -> bool:
        return self.executes is None or has_operation(row, self.executes)

    @abstractmethod
    def accept(self, request: Segment, network_header: bytes = b"") -> None:
        """Take a request; its responses wait for `next_response`."""

    def next_response(self) -> Segment | None:
        """The response that leaves next, if one waits; unreliable services have none."""
        return None

    def next_deadline(self) -> int | None:
        """When something leaves that waits for its time."""
        return None

    def silence(self) -> None:  # noqa: B027
        """Forget the responses that wait."""

    def fail(self, status: str = "wr_flush_err", used: Receive | None = None) -> None:
        """Enter the error state: the receive in use ends with `status`, the others are flushed."""
        self.failed = True
        if used is not None:
            self.complete(used, status)
        if not self.receives.shared:
            for receive in self.receives.flush():
                self.complete(receive, "wr_flush_err")

    def complete(
        self,
        receive: Receive,
        status: str,
        *,
        byte_len: int | None = None,
        immediate: int | None = None,
        invalidated: int | None = None,
    ) -> None:
        """Say how a receive ended."""
        self.outcomes.append(
            Outcome(
                wr_id=receive.wr_id,
                status=status,
                is_receive=True,
                byte_len=byte_len,
                immediate=immediate,
                invalidated=invalidated,
            )
        )
