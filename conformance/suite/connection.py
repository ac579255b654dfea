# SPDX-License-Identifier: BSD-2-Clause
"""A queue pair of the device and the case at its other end.

PSNs are relative everywhere: of requests and their responses to where that direction starts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from roceproof.conformance.suite.failure import FIELD_RULES
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.notation import Mismatch, got
from roceproof.conformance.suite.packets import (
    Sendable,
    Wanted,
    described,
    example,
    filled,
    frames_of,
    mismatches,
)
from roceproof.conformance.suite.pattern import (
    ACK,
    READ_REQUEST,
    READ_RESP_ONLY,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.suite.peer import Peer
from roceproof.conformance.suite.prediction import Posted, predict
from roceproof.conformance.targets.interface import Refused
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.verbs.queue_pair import FULL_ACCESS, Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Region, Work

if TYPE_CHECKING:
    from scapy.packet import Packet as ScapyPacket

    from roceproof.conformance.suite.bench import Bench

SUCCESS = "success"
_SCRATCH_BYTES = 64


class Connection:
    """One queue pair, from the case's side. Made by `Bench.connect`."""

    def __init__(self, bench: Bench, qp: Qp) -> None:
        self._bench = bench
        self.random: Random = bench.random
        self.qp = qp
        self.inbox: deque[Packet] = deque()
        self.answer_with: Callable[[Packet], Iterable[Sendable]] | None = None
        self._scratch: Region | None = None
        self._settle(qp)

    def _settle(self, qp: Qp) -> None:
        self.qp = qp
        self.inbox.clear()
        self._posted: list[Posted] = []
        self._outcomes: list[Outcome] = []
        self._next_psn = 0
        spec = qp.spec
        device = self._bench.target.host_for(spec)
        common: dict[str, Any] = {
            "service": int(spec.service),
            "vlan": spec.vlan,
            "qkey": spec.qkey,
        }
        self.from_device = FlowCodec(
            src=device,
            dst=spec.remote,
            dest_qpn=spec.remote_qpn,
            src_qpn=qp.qpn,
            request_start=spec.sq_psn,
            response_start=spec.rq_psn,
            sport=spec.udp_sport,
            tos=spec.traffic_class,
            ttl=spec.hop_limit,
            **common,
        )
        self.to_device = FlowCodec(
            src=spec.remote,
            dst=device,
            dest_qpn=qp.qpn,
            src_qpn=spec.remote_qpn,
            request_start=spec.rq_psn,
            response_start=spec.sq_psn,
            sport=0xC000 | spec.remote_qpn & 0x3FFF,
            **common,
        )

    @property
    def spec(self) -> QpSpec:
        """What the device was told."""
        return self.qp.spec

    @property
    def mtu(self) -> int:
        """The path MTU in bytes."""
        return self.spec.path_mtu

    def spec_of_the_other_end(self) -> QpSpec:
        """The queue pair as its peer would have it."""
        return replace(
            self.spec,
            remote=self._bench.target.host_for(self.spec),
            remote_qpn=self.qp.qpn,
            local_qpn=self.spec.remote_qpn,
            sq_psn=self.spec.rq_psn,
            rq_psn=self.spec.sq_psn,
        )

    def reconnect(self, **changes: Any) -> None:
        """Take the queue pair through RESET; unsaid PSNs are drawn anew."""
        fresh = {name: self.random.randrange(1 << 24) for name in ("sq_psn", "rq_psn")}
        spec = replace(self.spec, **(fresh | changes))
        self._settle(self._bench.reopen(self, spec))
        if isinstance(self.answer_with, Peer):
            self.serve()

    # the device as requester

    def post(self, op: Op, payload: int | bytes = 0, **fields: Any) -> Posted:
        """Post one message of given or random bytes; what it must put on the wire is known then."""
        work = self._work(op, payload, fields)
        self._bench.target.post(self.qp, work)
        posted = predict(self.spec, work, self._next_psn, ordinal=len(self._posted) + 1)
        self._next_psn = posted.end_psn
        self._posted.append(posted)
        return posted

    def refuses(self, op: Op, payload: int | bytes = 0, **fields: Any) -> None:
        """Work that the device ends with an error, and for which it sends nothing."""
        work = self._work(op, payload, fields)
        try:
            self._bench.target.post(self.qp, work)
        except Refused:
            self.expect_silence()
            return
        self.expect_silence()
        outcome = self._next_outcome()
        if outcome is None or outcome.wr_id != work.wr_id or outcome.status == SUCCESS:
            told = "nothing" if outcome is None else _told(outcome)
            raise self._bench.failed(f"want  work {work.wr_id} refused\ngot   {told}")

    def _work(self, op: Op, payload: int | bytes, fields: dict[str, Any]) -> Work:
        data = b""
        if op in (Op.READ, Op.CMP_SWAP, Op.FETCH_ADD):
            size = payload if isinstance(payload, int) else len(payload)
            fields = {"length": size if op is Op.READ else 8} | fields
        else:
            data = self.random.randbytes(payload) if isinstance(payload, int) else payload
        if op not in (Op.SEND, Op.SEND_IMM, Op.SEND_INV):
            fields = {
                "remote_addr": self.random.getrandbits(64) & ~7,
                "rkey": self.random.getrandbits(32),
            } | fields
        if op in (Op.SEND_IMM, Op.WRITE_IMM):
            fields = {"immediate": self.random.getrandbits(32)} | fields
        return Work(wr_id=self._bench.next_wr_id(), op=op, data=data, **fields)

    def expect_message(self, *messages: Posted) -> list[Packet]:
        """Whole messages, one behind the other, exactly as predicted."""
        return [
            self._expect_one(pattern, is_predicted=True)
            for message in messages
            for pattern in message.packets
        ]

    def follow(self, *messages: Posted) -> list[Packet]:
        """The same, where a wrong field breaks the rules of the case and not the field's own."""
        return self.expect(*(pattern for message in messages for pattern in message.packets))

    def ack(self, message: Posted, **fields: Any) -> None:
        """Acknowledge everything up to the end of a message."""
        self.send(ACK(**{"psn": message.last_psn, "msn": message.ordinal} | fields))

    def completes(
        self, *messages: Posted, status: str = SUCCESS, within_ns: int | None = None
    ) -> None:
        """These messages complete next, in this order, all with one status.

        Each may take `within_ns`.
        """
        for message in messages:
            self._expect_outcome(message.work.wr_id, status, within_ns=within_ns)

    def does_not_complete(self) -> None:
        """No completion comes while the wire is quiet; nothing is sent either."""
        self.expect_silence()
        early = self._outcomes or self._bench.target.completions(self.qp, count=0, timeout_ns=0)
        if early:
            raise self._bench.failed(f"a completion came too early: {_told(early[0])}")

    def ignores(self, message: Posted, *responses: Sendable) -> None:
        """The device takes none of these for an answer: only a good ACK completes the message."""
        self.send(*responses)
        self.does_not_complete()
        self.ack(message)
        self.completes(message)

    def serve(self, *, expected: int = 0) -> None:
        """From now on the other end answers requests as a healthy responder does.

        `expected` is the PSN that it waits for; to what is ahead it says nothing.
        """
        if self.spec.service is Service.RC:
            self.answer_with = Peer(
                self.from_device, path_mtu=self.mtu, random=self.random, expected=expected
            )

    def transfer(self, op: Op, payload: int | bytes = 0, **fields: Any) -> Posted:
        """One message from post to completion, the other end acknowledging it."""
        message = self.post(op, payload, **fields)
        self.expect_message(message)
        self.finish(message)
        return message

    def finish(self, *messages: Posted) -> None:
        """Acknowledge these messages, where that is done, and see them complete."""
        if self.spec.service is Service.RC:
            self.ack(messages[-1])
        self.completes(*messages)

    # packets in both directions

    def send(self, *packets: Sendable) -> None:
        """Send packets to the device; a payload given as a length is random bytes."""
        for packet in packets:
            self._send(packet)

    def frame(self, packet: Sendable) -> bytes:
        """The (first) frame that `send` would send."""
        return next(frames_of(packet, self.to_device, self.random))

    def crafted(self, packet: Sendable) -> ScapyPacket:
        """That frame as a Scapy packet, to be changed and sent."""
        from roceproof.conformance.wire.scapy.dissection import dissected

        return dissected(self.frame(packet))

    def filled(self, pattern: Pattern) -> Pattern:
        """The pattern with bytes for a payload that was given as a length."""
        return filled(pattern, self.random)

    def expect(
        self,
        *packets: Wanted,
        allowing: Collection[Wanted] = (),
        within_ns: int | None = None,
    ) -> list[Packet]:
        """The next packets of the device on this queue pair are these.

        Packets that fit one of `allowing` may come in front of each; each may take `within_ns`.
        """
        return [
            self._expect_one(packet, allowing=allowing, within_ns=within_ns) for packet in packets
        ]

    def expect_silence(self, *, allowing: Collection[Wanted] = ()) -> None:
        """The device sends nothing on this queue pair but packets that fit one of `allowing`."""
        packet = self.next(quiet=True)
        while packet is not None and self._fits(packet, *allowing):
            packet = self.next(quiet=True)
        if packet is not None:
            text = f"want  nothing\ngot   {got(packet, self.from_device)}"
            raise self._bench.failed(text, got=packet)

    def next(self, *, quiet: bool = False, timeout_ns: int | None = None) -> Packet | None:
        """The next packet, None when none comes in the time for answers (or for silence)."""
        patience = self._bench.target.patience
        if timeout_ns is None:
            timeout_ns = patience.quiet_ns if quiet else patience.answer_ns
        self._bench.pump(timeout_ns, lambda: bool(self.inbox))
        return self.inbox.popleft() if self.inbox else None

    # the device as responder

    def region(
        self, size: int = 4096, *, access: frozenset[str] = FULL_ACCESS, filled: bool = False
    ) -> Region:
        """Memory of the device that this queue pair may reach: zeros, or random bytes."""
        region = self._bench.target.register(size, access=access)
        if filled:
            region.write(0, self.random.randbytes(size))
        return region

    def post_receive(self, region: Region, *, offset: int = 0, length: int | None = None) -> int:
        """Post one receive; its work request's number."""
        wr_id = self._bench.next_wr_id()
        size = region.size - offset if length is None else length
        self._bench.target.post_receive(
            self.qp, wr_id=wr_id, region=region, offset=offset, length=size
        )
        return wr_id

    def receives(self, wr_id: int, **fields: Any) -> Outcome:
        """This receive completes next; fields of its outcome as said."""
        outcome = self._expect_outcome(wr_id, fields.pop("status", SUCCESS))
        for name, want in fields.items():
            have = getattr(outcome, name)
            if have != want:
                raise self._bench.failed(f"receive {wr_id}: want {name}={want}, got {have}")
        return outcome

    def drops(self, *packets: Sendable, fence: int, msn: int | None = None) -> None:
        """The device drops these without a word, and lives: a good request behind them is served.

        `fence` is the PSN that the device must still expect.
        """
        for packet in packets:
            self._send(packet, comment="must be dropped", is_void=True)
        self.fence(fence, msn=msn)

    def fence(self, psn: int, *, msn: int | None = None) -> None:
        """A valid request at the PSN that the device must expect is served, and nothing else came.

        RC: an empty READ is answered, which no ACK of something else can be taken for; an empty
        WRITE where the queue pair allows no READ. UC: a WRITE of eight bytes reaches the memory.
        """
        if self.spec.service is Service.RC:
            can_read = "remote_read" in self.spec.access
            self.send((READ_REQUEST if can_read else WRITE_ONLY)(psn=psn, a=1))
            answer = READ_RESP_ONLY(psn=psn, payload=0) if can_read else ACK(psn=psn)
            self.expect(answer if msn is None else answer.but(msn=msn))
            return
        self._scratch = self._scratch or self._bench.target.register(_SCRATCH_BYTES)
        mark = self.random.randbytes(8)
        self.send(WRITE_ONLY(psn=psn, va=self._scratch.addr, rkey=self._scratch.rkey, payload=mark))
        scratch = self._scratch
        if not self._bench.comes_true(lambda: scratch.read(0, 8) == mark):
            raise self._bench.failed("the fence, a good WRITE behind it all, did not reach memory")
        self.expect_silence()

    def read_back(self, region: Region, psn: int, offset: int, length: int) -> bytes:
        """Fetch memory over the wire with one READ that fits one packet; uses one PSN."""
        va = region.addr + offset
        self.send(READ_REQUEST(psn=psn, va=va, rkey=region.rkey, dmalen=length, a=1))
        packet = self.next()
        if packet is None or packet.bth.opcode != 0x10:
            raise self._bench.failed(f"READ at {psn:+d} was not answered by READ_RESP_ONLY")
        return packet.payload

    # how it fails

    def _expect_one(
        self,
        wanted: Wanted,
        *,
        allowing: Collection[Wanted] = (),
        is_predicted: bool = False,
        within_ns: int | None = None,
    ) -> Packet:
        packet = self.next(timeout_ns=within_ns)
        while packet is not None and self._fits(packet, wanted) < self._fits(packet, *allowing):
            packet = self.next(timeout_ns=within_ns)
        fitting = partial(example, wanted, self.from_device)
        head = f"want  {described(wanted)}\ngot   "
        if packet is None:
            raise self._bench.failed(f"{head}nothing in time", example=fitting)
        found = self._mismatches(packet, wanted)
        if found:
            shown = got(packet, self.from_device, wanted if isinstance(wanted, Pattern) else None)
            fields = "\n".join(f"      {m.field}: want {m.want}, got {m.got}" for m in found)
            rules = [FIELD_RULES[m.field] for m in found if m.field in FIELD_RULES]
            raise self._bench.failed(
                f"{head}{shown}\n{fields}",
                rules=rules if is_predicted else (),
                got=packet,
                example=fitting,
            )
        return packet

    def _fits(self, packet: Packet, *wanted: Wanted) -> bool:
        return not all(self._mismatches(packet, each) for each in wanted)

    def _mismatches(self, packet: Packet, wanted: Wanted) -> list[Mismatch]:
        frame = self._bench.entry_of(packet).frame
        return mismatches(wanted, packet, frame, self.from_device)

    def _send(self, packet: Sendable, **notes: Any) -> None:
        for frame in frames_of(packet, self.to_device, self.random):
            self._bench.send(frame, flow=self.to_device, **notes)

    def _expect_outcome(self, wr_id: int, status: str, *, within_ns: int | None = None) -> Outcome:
        outcome = self._next_outcome(within_ns)
        if outcome is None:
            raise self._bench.failed(f"want  work {wr_id} completed with {status}\ngot   nothing")
        if (outcome.wr_id, outcome.status) != (wr_id, status):
            raise self._bench.failed(
                f"want  work {wr_id} completed with {status}\ngot   {_told(outcome)}"
            )
        return outcome

    def has_outcome(self) -> bool:
        """Whether a completion is there; no time passes."""
        if not self._outcomes:
            self._outcomes = self._bench.target.completions(self.qp, count=0, timeout_ns=0)
        return bool(self._outcomes)

    def _next_outcome(self, within_ns: int | None = None) -> Outcome | None:
        if not self._outcomes:
            self._outcomes = self._bench.completions(self, within_ns=within_ns)
        return self._outcomes.pop(0) if self._outcomes else None


def _told(outcome: Outcome) -> str:
    return f"work {outcome.wr_id} completed with {outcome.status}"


def is_request(packet: Packet) -> bool:
    """Whether a packet is a request, reserved opcodes included."""
    row = OPCODES.get(packet.bth.opcode)
    return row is None or not row.is_response
