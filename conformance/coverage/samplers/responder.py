# SPDX-License-Identifier: BSD-2-Clause
"""The device as responder: the requests that it gets, and the answers that it gives."""

from roceproof.conformance.coverage.frame_peek import Glimpse
from roceproof.conformance.coverage.queue_pairs import Answer, QueuePair
from roceproof.conformance.coverage.samplers.received import ANSWERS
from roceproof.conformance.coverage.samplers.sampler import Sampler
from roceproof.conformance.targets.bus_events import Received, Sent
from roceproof.conformance.wire.opcodes import OPCODES

_NEAR = 3  # bytes below the path MTU


class ResponderSampler(Sampler):
    """Requests by opcode and payload, answers by kind."""

    def received(
        self, movement: Received, seen: Glimpse | None, qp: QueuePair | None, answer: Answer | None
    ) -> None:
        row = OPCODES.get(seen.opcode) if seen is not None else None
        if row is None or seen is None or qp is None or row.is_response or not seen.is_sound:
            return
        service, _, name = row.name.partition(" ")
        if service == qp.service:
            self.add("responder.opcode", service, name)
            mtu = qp.spec.path_mtu
            self.add("responder.payload", service, mtu, payload_class(seen.payload, mtu))

    def sent(
        self, movement: Sent, seen: Glimpse | None, qp: QueuePair | None, *, is_wrap: bool
    ) -> None:
        row = OPCODES.get(seen.opcode) if seen is not None else None
        if seen is None or row is None:
            return
        if row.name == "CNP":
            self.add("responder.answer", "CNP")
        elif row.name == "RC ACKNOWLEDGE":
            kind = ANSWERS[seen.syndrome >> 5 & 3]
            code = f" {seen.syndrome & 31}" if kind == "NAK" else ""
            self.add("responder.answer", f"{kind}{code}")
        elif row.is_response:
            self.add("responder.answer", row.name.removeprefix("RC "))


def payload_class(size: int, mtu: int) -> str:
    """The class of a packet's payload against the path MTU."""
    if size <= _NEAR:
        return "1..3" if size else "0"
    if size < mtu:
        return "below" if size < mtu - _NEAR else "mtu-3..mtu-1"
    return "mtu" if size == mtu else "beyond"
