# SPDX-License-Identifier: BSD-2-Clause
"""What the responders of RC and UC have in common: one open message, its checks, its execution.

A check gives None, or the refusal that the fault calls for; a reliable responder says it
on the wire, an unreliable one drops the message. The checks change nothing.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from roceproof.conformance.model.codes import AethType, NakCode, syndrome
from roceproof.conformance.model.receive_queue import Receive
from roceproof.conformance.model.responder.base import Responder
from roceproof.conformance.model.responder.policy import EarlyEnd, ExactFill, PlainSize
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import LONGEST_MESSAGE
from roceproof.conformance.wire.headers import Ieth, ImmDt, Reth
from roceproof.conformance.wire.opcodes import Family, Opcode, Payload, Position


class Refusal(NamedTuple):
    """Why a request is not executed: the syndrome of the NAK, the status of a receive in use."""

    syndrome: int | None  # None: no NAK
    status: str


INVALID = Refusal(syndrome(AethType.NAK, NakCode.INVALID_REQUEST), "rem_inv_req_err")
TOO_LONG = Refusal(syndrome(AethType.NAK, NakCode.INVALID_REQUEST), "loc_len_err")
ACCESS = Refusal(syndrome(AethType.NAK, NakCode.REMOTE_ACCESS_ERROR), "rem_access_err")
LOCAL = Refusal(syndrome(AethType.NAK, NakCode.REMOTE_OPERATIONAL_ERROR), "loc_prot_err")
MALFORMED = Refusal(syndrome(AethType.NAK, NakCode.REMOTE_OPERATIONAL_ERROR), "loc_qp_op_err")


@dataclass(slots=True)
class OpenMessage:
    """A message whose FIRST was executed and whose LAST was not."""

    family: Family
    left: int  # bytes that may still come: of DMALen, or of the receive
    done: int = 0
    address: int = 0
    rkey: int = 0
    receive: Receive | None = None


def right_for(row: Opcode) -> str | None:
    """The right that queue pair and memory must give for the operation; SEND needs none."""
    if row.family is Family.SEND:
        return None
    if row.family is Family.READ:
        return "remote_read"
    is_atomic = row.family is Family.ATOMIC and row.payload is not Payload.EIGHT
    return "remote_atomic" if is_atomic else "remote_write"


def needs_receive(row: Opcode) -> bool:
    """Whether this packet takes a receive: the first of a SEND, the last of a WRITE with Imm."""
    if row.family is Family.SEND:
        return bool(row.position & Position.FIRST)
    return ImmDt in row.headers


class ConnectedResponder(Responder):
    """The receive side of one connected queue pair; subclasses say in which order things happen."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.expected_psn = self.spec.rq_psn
        self.message: OpenMessage | None = None

    # checks

    def check_permission(self, _request: Segment, row: Opcode) -> Refusal | None:
        """Whether the queue pair allows operations of that kind."""
        right = right_for(row)
        return None if right is None or right in self.spec.access else INVALID

    def follows(self, row: Opcode) -> bool:
        """Whether the packet has its place behind the one before."""
        if row.position & Position.FIRST:
            return self.message is None
        return self.message is not None and self.message.family is row.family

    def check_length(self, request: Segment, row: Opcode) -> Refusal | None:
        """The packet's size against the path MTU, DMALen and the receive."""
        size = len(request.payload)
        if not self.is_size_admitted(request, row):
            return INVALID
        reth = request.extension(Reth)
        if reth is not None and reth.length > LONGEST_MESSAGE:
            return INVALID
        if row.family is Family.SEND:
            message = self.message_of(request, row)
            is_too_long = message.receive is not None and size > message.left
            return self.too_long if is_too_long else None
        if row.family is Family.WRITE:
            return self.check_dma_length(request, row, self.message_of(request, row).left)
        return None

    @property
    def too_long(self) -> Refusal:
        """Of a SEND that its receive cannot hold."""
        return TOO_LONG

    def is_size_admitted(self, request: Segment, row: Opcode) -> bool:
        """Whether a packet of that kind may have that size at this path MTU, and fills words."""
        size = len(request.payload)
        fits = row.payload.admits(size, self.spec.path_mtu)
        if fits and not (size + request.bth.pad_count) % 4:
            return True
        if row.family is Family.WRITE or self.policy.plain_size is PlainSize.CHECKED:
            return False
        is_looked_at = self.policy.plain_size is PlainSize.UNPADDED and row.family is Family.SEND
        return fits or not is_looked_at

    def check_dma_length(self, request: Segment, row: Opcode, left: int) -> Refusal | None:
        """The payload of a WRITE packet against what DMALen leaves."""
        size = len(request.payload)
        if size > left:
            return INVALID
        if row.position & Position.LAST:
            return INVALID if size < left and not self.may_end_early(size) else None
        if size == left and self.policy.exact_fill is ExactFill.AT_ONCE:
            return INVALID
        return None

    def may_end_early(self, size: int) -> bool:
        """Whether a packet of that size ends a WRITE that promised more."""
        return size == self.spec.path_mtu and self.policy.early_end is EarlyEnd.EXECUTED

    def check_memory(self, request: Segment, row: Opcode) -> Refusal | None:
        """Whether all that is left of the message may go where it is to go."""
        if row.family is Family.SEND:
            receive = self.message_of(request, row).receive
            return None if receive is None or receive.usable(self.spec.domain) else LOCAL
        if row.family is Family.WRITE:
            message = self.message_of(request, row)
            at = message.address + message.done
            return self.check_access(message.rkey, at, message.left, "remote_write")
        return None

    def check_access(self, rkey: int, address: int, length: int, right: str) -> Refusal | None:
        """Key, protection domain, right and range; nothing of that for no bytes."""
        if length == 0 or self.memory.permitted(
            rkey, address, length, right=right, domain=self.spec.domain
        ):
            return None
        return ACCESS

    # execution

    def message_of(self, request: Segment, row: Opcode) -> OpenMessage:
        """The message that the packet belongs to, as it is before the packet is executed."""
        if not row.position & Position.FIRST:
            assert self.message is not None
            return self.message
        reth = request.extension(Reth)
        if reth is not None:
            return OpenMessage(row.family, reth.length, address=reth.address, rkey=reth.rkey)
        receive = self.receives.head
        return OpenMessage(row.family, receive.length if receive else 0, receive=receive)

    def execute_message(self, request: Segment, row: Opcode) -> None:
        """Place the payload of a SEND or WRITE packet; the last one completes the message."""
        message = self.message = self.message_of(request, row)
        if needs_receive(row):
            message.receive = self.receives.take()
        self.place(message, request.payload)
        if row.position & Position.LAST:
            self.message = None
            self.close(message, request)

    def place(self, message: OpenMessage, data: bytes) -> None:
        """Write the next bytes of a message."""
        if message.family is Family.SEND:
            assert message.receive is not None
            message.receive.write(message.done, data)
        elif data:
            region = self.memory.region(message.rkey)
            assert region is not None
            region.write(message.address + message.done - region.addr, data)
        message.done += len(data)
        message.left -= len(data)

    def close(self, message: OpenMessage, request: Segment) -> None:
        """The message is whole: its receive, if it has one, completes."""
        invalidate, immediate = request.extension(Ieth), request.extension(ImmDt)
        if invalidate is not None and self.can_invalidate(invalidate.rkey):
            self.memory.invalidate(invalidate.rkey)
        if message.receive is not None:
            self.complete(
                message.receive,
                "success",
                byte_len=message.done,
                immediate=None if immediate is None else immediate.value,
                invalidated=None if invalidate is None else invalidate.rkey,
            )

    def can_invalidate(self, rkey: int) -> bool:
        """Whether the key is one that this queue pair may make invalid."""
        region = self.memory.region(rkey)
        return region is not None and region.domain == self.spec.domain

    def abandon(self) -> None:
        """The open message will not be completed; its receive serves the next."""
        if self.message is not None and self.message.receive is not None:
            self.receives.give_back(self.message.receive)
        self.message = None

    def fail(self, status: str = "wr_flush_err", used: Receive | None = None) -> None:
        """Enter the error state; the open message is lost, and its receive in use."""
        if used is None and self.message is not None:
            used = self.message.receive
        self.message = None
        super().fail(status, used)
