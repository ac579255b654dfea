# SPDX-License-Identifier: BSD-2-Clause
"""Requests by where they stand: in their place, repeated, too far, refused, astray."""

from collections import defaultdict, deque
from collections.abc import Iterator

from roceproof.conformance.coverage.frame_peek import Glimpse
from roceproof.conformance.coverage.queue_pairs import Answer, QueuePair
from roceproof.conformance.coverage.samplers.messages import length_class
from roceproof.conformance.coverage.samplers.sampler import Life, Sampler
from roceproof.conformance.coverage.served import Message, Request, Served, Standing
from roceproof.conformance.targets.bus_events import (
    Configured,
    Grant,
    Provided,
    Received,
    Registered,
    Sent,
)
from roceproof.conformance.wire.framing import ICRC_BYTES
from roceproof.conformance.wire.opcodes import OPCODES, Family, Position, Transport
from roceproof.conformance.wire.operations import has_operation, operations_of
from roceproof.conformance.wire.psn import distance
from roceproof.dpi.session.options import Flow
from roceproof.verbs.service import Service

_STATES = {"activate": "RTS", "reset": "RESET", "error": "ERR"}
_PAUSED = ("tx_stall", "rx_gap", "cpl_stall", "memory_stall", "memory_gap")
_NEAR = 64  # packets: as far as what is left of a life before may be
_BYTE, _WORD_END = 1 << 8, 1 << 32
_CODES = {"no receive": "RNR NAK", "receive's memory": "NAK 3"}
_OF_ACCESS = ("region:", "key", "domain", "below", "above", "across the end")


class RequestSampler(Sampler):
    """Follows the receive side of each queue pair."""

    def __init__(self, life: Life) -> None:
        super().__init__(life)
        ranges = life.table.ranges
        self._steps, self._age = ranges("steps"), ranges("age")
        self._posted, self._packets = ranges("receives"), ranges("packets")
        self._reads = ranges("reads")
        self._msn, self._last_msns = ranges("msn"), ranges("msn_at_its_end")
        self._served: dict[int, Served] = {}
        self._shared: dict[int, deque[Provided]] = defaultdict(deque)
        self._states: dict[int, str] = {}
        self._memory: dict[int, Registered] = {}
        self._refused: dict[tuple[int, int], str] = {}
        self._meanwhile: dict[tuple[Flow, str], int] = defaultdict(int)

    def configured(self, movement: Configured, *, is_restart: bool) -> None:
        """A life begins, goes on or ends."""
        command, qpn, spec = movement.command, movement.qpn, movement.spec
        self._states[qpn] = _STATES.get(command, command.upper())
        former = self._served.get(qpn)
        if former is None or command in ("activate", "init"):
            before = None if former is None else former.expected
            receives = self._shared[spec.shared_queue] if spec.shared_receive else deque()
            self._served[qpn] = Served(spec, spec.rq_psn, receives, before=before)
        elif command == "rtr":
            former.spec, former.expected = spec, spec.rq_psn
        elif command == "error":
            former.is_failed = True

    def granted(self, grant: Grant) -> None:
        """Memory is known by its key, receives by their queue pair, or all share them."""
        if isinstance(grant, Registered):
            self._memory[grant.rkey] = grant
        elif isinstance(grant, Provided) and grant.qpn in self._served:
            self._served[grant.qpn].receives.append(grant)

    def received(
        self, movement: Received, seen: Glimpse | None, qp: QueuePair | None, answer: Answer | None
    ) -> None:
        row = OPCODES.get(seen.opcode) if seen is not None else None
        if seen is None or row is None or row.is_response or row.transport is Transport.CNP:
            return
        service = row.transport.name
        headers = sum(kind.SIZE for kind in row.headers) + ICRC_BYTES
        if movement.is_damaged or not seen.is_sound:
            self.add("responder.stray", service, "damaged" if movement.is_damaged else "bad ICRC")
            return
        side = self._served.get(seen.dest_qpn)
        if len(movement.frame) - seen.trailer < seen.behind + headers:
            self.add("responder.stray", service, "cut short")
        elif side is None:
            relation = self.life.queue_pairs.relation(seen.dest_qpn)
            self.add("responder.stray", service, relation)
        elif service != side.spec.service.name:
            self.add("responder.stray", service, "other service")
        elif seen.source != side.spec.remote.ip and service != "UD":
            self.add("responder.stray", service, "stranger")
        else:
            self._came(side, Request.of(row, seen, movement.frame), movement.frame)

    def _came(self, side: Served, request: Request, frame: bytes) -> None:
        service, seen = side.spec.service.name, request.seen
        state = "ERR" if side.is_failed else self._states[seen.dest_qpn]
        self.add("responder.state", service, state)
        if state not in ("RTR", "RTS"):
            return
        if side.spec.service is Service.UD and not self._is_for(side, frame, seen):
            return
        queue = "shared" if side.spec.shared_receive else "own"
        self.add("responder.resource", service, queue, state, side.resource)
        if _is_stale(side, seen.psn):
            self.add("responder.stray", service, "life before")
        executed = self._executes(side, request)
        standing = side.take(request, self._memory, executes=executed)
        if side.spec.service is Service.RC and standing.steps:
            self._out_of_place(request, standing.steps)
            return
        if side.spec.service is Service.UC and standing.steps:
            self.add("responder.ahead", service, self._steps.of(abs(standing.steps)))
        self._in_place(side, request, standing)

    def _executes(self, side: Served, request: Request) -> bool:
        executes = self.life.executes
        service = side.spec.service
        executed = None if executes is None else executes.get(service, frozenset())
        return executed is None or has_operation(request.row, executed)

    def _is_for(self, side: Served, frame: bytes, seen: Glimpse) -> bool:
        qkey = int.from_bytes(frame[seen.behind : seen.behind + 4])
        kind = "right" if qkey == side.spec.qkey else "wrong"
        self.add("responder.qkey", self.life.width, kind)
        return kind == "right"

    def _out_of_place(self, request: Request, steps: int) -> None:
        if steps > 0:
            self.add("responder.ahead", "RC", self._steps.of(steps))
        else:
            self.add("responder.behind", self._steps.of(-steps))
            self.add("responder.duplicate", request.row.name, self._age.of(-steps))

    def _in_place(self, side: Served, request: Request, standing: Standing) -> None:
        row, service, mtu = request.row, side.spec.service.name, side.spec.path_mtu
        if standing.receives is not None:
            kind = f"{service} {row.family.name}"
            self.add("responder.receives", kind, self._posted.of(standing.receives))
        if standing.refusal:
            if side.spec.service is Service.RC:
                self._refused[request.seen.dest_qpn, request.seen.psn] = standing.refusal
            else:
                self.add("responder.refusal", service, standing.refusal)
            return
        self.add("responder.request", self.life.width, mtu, row.name)
        if row.may_solicit:
            kind = "solicited" if request.seen.solicited else "plain"
            self.add("responder.solicited", row.name, kind)
        if request.killed is not None:
            self._memory.pop(request.killed, None)
        if row.family is Family.READ:
            packets = -(-request.length // mtu) or 1
            self.add("responder.read", self.life.width, mtu, self._packets.of(packets))
            self.add("responder.reads", self._reads.of(len(side.reads)))
        self._reached(side, request)
        if side.finished is not None:
            self._finished(side, request, side.finished)

    def _reached(self, side: Served, request: Request) -> None:
        """Memory that the first packet of a message names, or its receive."""
        message, row = side.finished or side.message, request.row
        if message is None or not row.position & Position.FIRST or row.family is Family.ATOMIC:
            return
        rkey = request.rkey if message.receive is None else message.receive.rkey
        if (place := self._memory.get(rkey)) is not None:
            for edge in edges_of(place.addr, place.size):
                self.add("responder.edge", row.family.name, edge)

    def _finished(self, side: Served, request: Request, message: Message) -> None:
        (operation,) = operations_of(request.row) or (None,)
        if operation is None:
            return
        service, touch = side.spec.service.name, message.family.name
        if message.family is not Family.ATOMIC:
            against = length_class(message.done, side.spec.path_mtu)
            name = f"{service} {operation.name}"
            self.add("responder.message", name, side.spec.path_mtu, against)
            if message.done > _BYTE * side.spec.path_mtu:
                self.add("responder.long", self.life.width, touch)
        self._meanwhile[self.life.flow, touch] += 1
        if self.life.lanes and message.done and message.family is not Family.ATOMIC:
            receive = message.receive
            start = (message.va if receive is None else receive.addr) % self.life.lanes
            last = (start + message.done - 1) % self.life.lanes
            self.add("responder.first_lane", touch, f"{self.life.width}/{start}")
            self.add("responder.last_lane", touch, f"{self.life.width}/{last}")

    def sent(
        self, movement: Sent, seen: Glimpse | None, qp: QueuePair | None, *, is_wrap: bool
    ) -> None:
        """An answer says where the device is, and why it refused."""
        if seen is None or not seen.is_response:
            return
        qpn = self.life.queue_pairs.local_of(seen.dest_qpn)
        side = self._served.get(-1 if qpn is None else qpn)
        if side is None or qpn is None:
            return
        row = OPCODES[seen.opcode]
        if seen.syndrome >= 0:
            msn = int.from_bytes(movement.frame[seen.behind + 1 : seen.behind + 4])
            self.add("responder.msn", self._msn.of(msn))
            self.add("responder.msn_at_its_end", self._last_msns.of(msn))
        if row.position & Position.LAST and seen.psn in side.reads:
            side.reads = side.reads[side.reads.index(seen.psn) + 1 :]
        if row.name == "RC ACKNOWLEDGE":
            self._acknowledged(side, qpn, seen)

    def _acknowledged(self, side: Served, qpn: int, seen: Glimpse) -> None:
        refusal = self._refused.pop((qpn, seen.psn), "")
        if seen.syndrome & 0x60 == 0x20:
            self.add("responder.rnr_timer", seen.syndrome & 31)
        if refusal and answer_to(refusal) == _kind(seen.syndrome):
            self.add("responder.refusal", "RC", refusal)
        side.answered(seen.psn, seen.syndrome)

    def finish(self) -> None:
        often = self.life.table.ranges("percent")
        for (flow, touch), times in self._meanwhile.items():
            for stream in _PAUSED:
                percent = often.of(getattr(flow, stream))
                name = f"{self.life.width}/{touch}/{stream}/{percent}"
                self.life.counts.add("responder.stall", name, times)


def edges_of(start: int, size: int) -> Iterator[str]:
    """Where on the number line so many bytes lie, if at an edge."""
    end = start + size
    if start == 0:
        yield "begins at 0"
    if start < _WORD_END < end:
        yield "across 2^32"
    for name, edge in (("ends at 2^32", _WORD_END), ("ends at 2^64", _WORD_END**2)):
        if end == edge:
            yield name


def answer_to(refusal: str) -> str:
    """How a reliable responder says it."""
    return _CODES.get(refusal) or ("NAK 2" if refusal.startswith(_OF_ACCESS) else "NAK 1")


def _kind(syndrome: int) -> str:
    kind = syndrome >> 5 & 3
    return "RNR NAK" if kind == 1 else f"NAK {syndrome & 31}" if kind == 3 else "ACK"


def _is_stale(side: Served, psn: int) -> bool:
    if side.before is None or abs(distance(psn, side.expected)) <= _NEAR:
        return False
    return abs(distance(psn, side.before)) <= _NEAR
