# SPDX-License-Identifier: BSD-2-Clause
"""The exact packets that work must put on the wire when it first leaves, and how others differ."""

from collections import deque

from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import Message, refusal
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.wire.headers import Extension, Ieth, ImmDt, Reth
from roceproof.conformance.wire.opcodes import name_of
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.work import Work

_RULE_OF_HEADER: dict[type[Extension], str] = {Reth: "RETH-04", ImmDt: "IMM-02", Ieth: "INV-01"}


class Expected:
    """What one queue pair must still send for the first time; PSNs are told as they come."""

    def __init__(self, spec: QpSpec) -> None:
        self.next_psn = spec.sq_psn
        self._spec = spec
        self._works: deque[Work] = deque()
        self._message: Message | None = None
        self._taken = 0

    def post(self, work: Work) -> None:
        """Work was posted; what is refused sends nothing."""
        if refusal(self._spec, work) is None:
            self._works.append(work)

    @property
    def is_owed(self) -> bool:
        """Whether a packet is still to come."""
        return self._message is not None or bool(self._works)

    def take(self, psn: int) -> Segment:
        """The next packet; a message begins at that PSN."""
        if self._message is None:
            self._message = Message(self._spec, self._works.popleft(), psn)
            self._taken = 0
        message = self._message
        segment = message.request(self._taken)
        self._taken += 1
        if self._taken == message.packets:
            self._message, self.next_psn = None, message.end
        else:
            self.next_psn = (segment.bth.psn + 1) % (1 << 24)
        return segment


def difference(expected: Segment, got: Segment) -> Violation | None:
    """The first field in which a packet is not what it should be; AckReq may be set early."""
    if got.bth.opcode != expected.bth.opcode:
        return Violation("OPC-01", name_of(expected.bth.opcode), name_of(got.bth.opcode))
    if got.bth.dest_qpn != expected.bth.dest_qpn:
        return Violation("BTH-10", f"{expected.bth.dest_qpn:#08x}", f"{got.bth.dest_qpn:#08x}")
    if got.bth.solicited != expected.bth.solicited:
        return Violation("BTH-02", f"SE={expected.bth.solicited:d}", f"SE={got.bth.solicited:d}")
    for right, other in zip(expected.extensions, got.extensions, strict=True):
        if right != other:
            rule = _RULE_OF_HEADER.get(type(right), "ATOM-01")
            return Violation(rule, str(right), str(other))
    if len(got.payload) != len(expected.payload):
        sizes = (len(expected.payload), len(got.payload))
        return Violation("MTU-03", f"{sizes[0]} bytes of payload", f"{sizes[1]}")
    if got.payload != expected.payload:
        pairs = enumerate(zip(expected.payload, got.payload, strict=True))
        wrong = [at for at, (right, other) in pairs if right != other]
        told = f"{len(wrong)} other bytes, the first at {wrong[0]} of {len(got.payload)}"
        return Violation("RETH-13", "the payload of the work", told)
    if got.bth.pad_count != expected.bth.pad_count:
        pads = (expected.bth.pad_count, got.bth.pad_count)
        return Violation("PAD-01", f"PadCnt {pads[0]}", f"PadCnt {pads[1]}")
    return None
