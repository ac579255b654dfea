# SPDX-License-Identifier: BSD-2-Clause
"""The receive side of a queue pair as coverage follows it: what a request is there, and why not.

It knows just enough to name what stimulus was: where a packet stands, the message that it belongs
to, and the first thing that is wrong with it. Whether the device answers rightly others judge; what
it answers sets right what was guessed wrongly here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import Struct
from typing import NamedTuple

from roceproof.conformance.coverage.frame_peek import Glimpse
from roceproof.conformance.targets.bus_events import Provided, Registered
from roceproof.conformance.wire.headers import AtomicEth, Ieth, Reth
from roceproof.conformance.wire.opcodes import Family, Opcode, Payload, Position
from roceproof.conformance.wire.operations import operations_of
from roceproof.conformance.wire.psn import distance, packet_count
from roceproof.verbs.limit_table import LONGEST_MESSAGE
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service

NO_RECEIVE = "no receive"
_RIGHTS = {Family.WRITE: "write", Family.READ: "read", Family.ATOMIC: "atomic"}
_RETH, _IETH = Struct(">QII"), Struct(">I")
_WORD = 8


class Request(NamedTuple):
    """A request packet. `va`, `rkey` and `length` are those of its RETH or AtomicETH."""

    row: Opcode
    seen: Glimpse
    va: int = 0
    rkey: int = 0
    length: int = 0
    killed: int | None = None  # the key that it names to be invalid

    @classmethod
    def of(cls, row: Opcode, seen: Glimpse, frame: bytes) -> Request:
        """Read the headers that matter here."""
        if row.headers[:1] == (Ieth,):
            return cls(row, seen, killed=_IETH.unpack_from(frame, seen.behind)[0])
        if row.headers[:1] not in ((Reth,), (AtomicEth,)):
            return cls(row, seen)
        va, rkey, length = _RETH.unpack_from(frame, seen.behind)
        return cls(row, seen, va, rkey, _WORD if row.headers[0] is AtomicEth else length)

    @property
    def right(self) -> str:
        """What it needs, in one word; '' of a SEND."""
        return _RIGHTS.get(self.row.family, "")


class Standing(NamedTuple):
    """Where a request stood when it came. Steps are PSNs from the one that was expected."""

    steps: int
    refusal: str = ""  # the first thing wrong with one that is in its place
    receives: int | None = None  # so many were there, of one that takes one


@dataclass
class Message:
    """One that is under way; of a finished one the operation is known."""

    family: Family
    va: int
    length: int  # of all, where the first packet says it; else of the receive
    done: int = 0
    receive: Provided | None = None


@dataclass
class Served:
    """One life of one queue pair's receive side."""

    spec: QpSpec
    expected: int
    receives: deque[Provided] = field(default_factory=deque)
    before: int | None = None  # what the life before expected at its end
    message: Message | None = None
    is_failed: bool = False
    reads: list[int] = field(default_factory=list)  # last PSNs of those not yet answered
    finished: Message | None = None  # by the packet that came last

    @property
    def resource(self) -> str:
        """What there is for a message that needs a receive."""
        if self.message is not None and self.message.receive is not None:
            return "in use"
        return "posted" if self.receives else "missing"

    def take(
        self, request: Request, memory: Mapping[int, Registered], *, executes: bool
    ) -> Standing:
        """A request has come; what it is in this life."""
        self.finished = None
        steps = distance(request.seen.psn, self.expected)
        if self.spec.service is Service.RC and steps:
            return Standing(steps)
        if self.spec.service is Service.UC and steps:
            self.message = None
        receives = len(self.receives) if _takes_receive(request.row) else None
        refusal = self._refusal(request, memory, executes=executes)
        if self.spec.service is Service.RC:
            if refusal:
                self.is_failed |= refusal != NO_RECEIVE
                return Standing(0, refusal, receives)
        else:
            self.expected = request.seen.psn
        span = packet_count(request.length, self.spec.path_mtu) if _is_read(request) else 1
        self.expected = (self.expected + span) % (1 << 24)
        if refusal:
            self.message = None
        else:
            self._go_on(request)
        return Standing(steps, refusal, receives)

    def answered(self, psn: int, syndrome: int) -> None:
        """The device has said where it is."""
        steps = distance(psn, self.expected)
        if syndrome & 0x60 == 0:
            if steps >= 0:
                self.expected, self.is_failed, self.message = (psn + 1) % (1 << 24), False, None
        elif syndrome in range(0x61, 0x64):
            self.is_failed = True
        else:
            self.expected = psn

    # what a request does

    def _go_on(self, request: Request) -> None:
        row, size = request.row, request.seen.payload
        if row.position & Position.FIRST:
            length = request.length
            receive = None
            if row.family is Family.SEND:
                receive = self.receives.popleft()
                length = receive.length
            self.message = Message(row.family, request.va, length, receive=receive)
        if _is_read(request):
            self.reads.append((self.expected - 1) % (1 << 24))
        message = self.message
        if message is None:
            return
        if row.family is Family.WRITE and _takes_receive(row):
            self.receives.popleft()
        message.done += request.length if _is_read(request) else size
        if row.position & Position.LAST:
            self.finished, self.message = message, None

    # what is wrong with one

    def _refusal(
        self, request: Request, memory: Mapping[int, Registered], *, executes: bool
    ) -> str:
        row, message = request.row, self.message
        begins = bool(row.position & Position.FIRST)
        if not executes:
            return "no such operation"
        if begins and message is not None and self.spec.service is Service.RC:
            return "FIRST inside"
        if not begins and message is None:
            return "no FIRST"
        if not begins and message is not None and message.family is not row.family:
            return "other family"
        if begins and request.right and f"remote_{request.right}" not in self.spec.access:
            return f"queue pair: {request.right}"
        if _takes_receive(row) and not self.receives:
            return NO_RECEIVE
        return self._wrong_length(request) or self._wrong_memory(request, memory)

    def _wrong_length(self, request: Request) -> str:
        row, size, begins = request.row, request.seen.payload, request.row.position & Position.FIRST
        if not row.payload.admits(size, self.spec.path_mtu):
            return "size" if row.payload is not Payload.NONE else ""
        if request.length > LONGEST_MESSAGE:
            return "longer than any"
        if row.family is Family.SEND:
            left = self.receives[0].length if begins else self._left()
            return "receive too short" if size > left else ""
        if row.family is Family.WRITE:
            left = request.length if begins else self._left()
            if size > left or (size == left and not row.position & Position.LAST):
                return "more than said"
            return "less than said" if row.position & Position.LAST and size < left else ""
        return "unaligned" if row.family is Family.ATOMIC and request.va % _WORD else ""

    def _left(self) -> int:
        return 0 if self.message is None else self.message.length - self.message.done

    def _wrong_memory(self, request: Request, memory: Mapping[int, Registered]) -> str:
        if request.row.family is Family.SEND:
            if not request.row.position & Position.FIRST or not self.receives:
                return ""
            receive = self.receives[0]
            place = memory.get(receive.rkey)
            if place is None or "local_write" not in place.access:
                return "receive's memory"
            end = receive.addr + receive.length
            return "receive's memory" if end > place.addr + place.size else ""
        if not request.row.position & Position.FIRST or not request.length:
            return ""
        return _wrong_range(request, memory.get(request.rkey))


def _wrong_range(request: Request, place: Registered | None) -> str:
    if place is None:
        return "key"
    if place.is_foreign:
        return "domain"
    if f"remote_{request.right}" not in place.access:
        return f"region: {request.right}"
    end = place.addr + place.size
    if request.va < place.addr:
        return "below"
    if request.va >= end:
        return "above"
    return "across the end" if request.va + request.length > end else ""


def _takes_receive(row: Opcode) -> bool:
    if row.family is Family.SEND:
        return bool(row.position & Position.FIRST)
    return any(operation.name == "WRITE_IMM" for operation in operations_of(row)) and bool(
        row.position & Position.LAST
    )


def _is_read(request: Request) -> bool:
    return request.row.family is Family.READ
