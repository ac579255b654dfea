# SPDX-License-Identifier: BSD-2-Clause
"""A queue pair whose device sends requests: work that it is given, and what must come of it."""

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any, NoReturn

from roceproof.conformance.suite.expect.prediction import Posted, elsewhere, predict
from roceproof.conformance.suite.expect.wrong_psn import rule_of_psn
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.limits.within_limits import allowed_depth, allowed_work
from roceproof.conformance.suite.notation import Mismatch
from roceproof.conformance.suite.packet_flow import FLUSHED, SUCCESS, PacketFlow, is_request
from roceproof.conformance.suite.packets import Sendable, Wanted
from roceproof.conformance.suite.pattern import ACK, Pattern
from roceproof.conformance.suite.peer import Peer
from roceproof.conformance.suite.reporting.ends import rules_of_end
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.targets.interface import Refused
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.headers import Aeth
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.conformance.wire.psn import PSN_MODULUS, packet_count
from roceproof.verbs.limit_table import ONCE
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Work

_MSNS = 1 << 24
_OF_COPIES = "RTX-03"
_ACK = 0x1F
"""No syndrome above it says that a request was executed."""


@dataclass(frozen=True)
class Life:
    """A queue pair from one configuration to the next, and all that was posted in it."""

    spec: QpSpec
    codec: FlowCodec
    answers: FlowCodec
    """Of what the device is sent."""
    posted: list[Posted] = field(default_factory=list)
    refused: set[int] = field(default_factory=set)
    """So much had been posted when the device was given work that it had to refuse."""


class RequesterSide(PacketFlow):
    """The device as requester, the case as responder."""

    lives: tuple[Life, ...] = ()

    def _settle(self, qp: Qp, *, thought_mtu: int | None = None) -> None:
        super()._settle(qp, thought_mtu=thought_mtu)
        self.lives += (Life(self.spec, self.from_device, self.to_device),)
        self._posted = self.lives[-1].posted
        self._next_psn = 0
        self._given: set[int] = set()
        self._first: dict[str, int] = {}

    def _stop_at(self, kind: Kind, wanted: Wanted, *, fields: tuple[Mismatch, ...] = ()) -> Stop:
        for message in reversed(self._posted):
            for index, packet in enumerate(message.packets):
                if packet is wanted:
                    return Stop(kind, self, message, index, fields)
        return super()._stop_at(kind, wanted, fields=fields)

    def _with_reasons(
        self, packet: Packet, wanted: Wanted, found: list[Mismatch]
    ) -> list[Mismatch]:
        is_another = any(each.field in ("psn", "opcode") for each in found)
        if found and not is_another and self._has_come_before(packet):
            return [e if e.field == "a" else e._replace(rule=_OF_COPIES) for e in found]
        return [
            each._replace(rule=self._rule_of_psn(packet, wanted)) if each.field == "psn" else each
            for each in found
        ]

    def _has_come_before(self, packet: Packet) -> bool:
        """Whether the device has sent a request of that PSN in this life twice."""
        alike = (
            other.bth.psn == packet.bth.psn and is_request(other)
            for other, entry in self._exchange.arrived()
            if entry.flow is self.from_device
        )
        return sum(alike) > 1

    def _of_its_place(self, packet: Packet, found: list[Mismatch]) -> list[Mismatch]:
        if elsewhere(self._posted, packet, self.from_device) is None:
            return found
        return [each for each in found if each.field == "psn"] or found

    def _rule_of_psn(self, packet: Packet, wanted: Wanted) -> str:
        place = self._stop_at(Kind.WRONG_PACKET, wanted)
        if place.message is None or place.packet:
            return ""
        in_front: list[Work | None] = []
        for number, message in enumerate(self._posted):
            in_front += [None] if number in self.lives[-1].refused else []
            if message is place.message:
                break
            in_front.append(message.work)
        start = self.spec.sq_psn
        return rule_of_psn(
            in_front,
            want=(start + place.message.psn) % PSN_MODULUS,
            got=packet.bth.psn,
            start=start,
            lives=len(self.lives),
            others=self._exchange.transcript.next_psns(but=self.spec.remote_qpn),
        )

    def _stop_without(self, wr_id: int) -> Stop:
        waiting = [message for message in self._posted if message.work.wr_id == wr_id]
        return (
            Stop(Kind.NO_COMPLETION, self, waiting[0]) if waiting else super()._stop_without(wr_id)
        )

    def post(self, op: Op, payload: int | bytes = 0, **fields: Any) -> Posted:
        """Post one message of given or random bytes; what it must put on the wire is known then.

        A datagram goes to the other end, with the queue pair's own Q_Key.

        Of random bytes there are others where the device lacks the length or the path MTU. Where
        it can hold no more and what is under way ends by itself, that is waited for.
        """
        posted = self._predicted(op, payload, fields)
        if self._exchange.claims.limits.limits_depth:
            self._exchange.room.make(self, posted, self._exchange)
        self._plan(posted)
        self.hand_over(posted)
        return posted

    def post_some(self, op: Op, *lengths: int) -> list[Posted]:
        """Post as many of these messages, in order, as the device may have outstanding.

        That is one at least, or the case is skipped.
        """
        posted = [self.post(op, lengths[0])]
        for length in lengths[1:]:
            if not self._exchange.room.holds(self, packet_count(length, self.mtu)):
                break
            posted.append(self.post(op, length))
        return posted

    def plan(self, op: Op, payload: int | bytes = 0, **fields: Any) -> Posted:
        """A message that the device gets later, after all that were planned before it."""
        posted = self._predicted(op, payload, fields)
        self._plan(posted)
        return posted

    def hand_over(self, posted: Posted) -> None:
        self._given.add(posted.work.wr_id)
        self._exchange.target.post(self.qp, posted.work)

    def begin(self, op: Op, *, length: int) -> None:
        """Post a message whose end nobody waits for: only what the case expects of it is judged."""
        work = self._work(op, b"", {"length": length}, service=self.spec.service)
        allowed_depth(self._exchange.claims, 1, packet_count(length, self.spec.path_mtu))
        self._exchange.target.post(self.qp, work)

    def refuses(
        self, op: Op, payload: int | bytes = 0, *, status: str | None = None, **fields: Any
    ) -> None:
        """Work that the device ends with an error, that one if said, and sends nothing for."""
        self.lives[-1].refused.add(len(self._posted))
        work = self._work(op, payload, fields, service=None)
        try:
            self._exchange.target.post(self.qp, work)
        except Refused:
            self.expect_silence()
            return
        self.expect_silence()
        outcome = self._next_outcome()
        is_it = outcome is not None and outcome.wr_id == work.wr_id
        told = outcome.status if outcome is not None and is_it else SUCCESS
        if told == SUCCESS or told != (status or told):
            got = "nothing" if outcome is None else self.told(outcome)
            how = f" with {status}" if status else ""
            raise self._exchange.failed(f"want  work {work.wr_id:#x} refused{how}\ngot   {got}")

    def _predicted(self, op: Op, payload: int | bytes, fields: dict[str, Any]) -> Posted:
        to: dict[str, Any] = {}
        if self.spec.service is Service.UD:
            to = {"datagram_qpn": self.spec.remote_qpn, "datagram_qkey": self.spec.qkey}
        work = self._work(op, payload, to | fields, service=self.spec.service)
        return predict(self.spec, work, self._next_psn, ordinal=len(self._posted) + 1)

    def _plan(self, posted: Posted) -> None:
        self._next_psn = posted.end_psn
        self._posted.append(posted)
        self.asks_data |= posted.work.into is not None
        self._exchange.turns[posted.work.wr_id] = len(self._exchange.turns)

    @property
    def ends_by_itself(self) -> bool:
        """Whether what is posted completes without anything that the case must do."""
        return self.spec.service is not Service.RC or self.answer_with is not None

    def lack(self, message: Posted) -> NoReturn:
        """Fail, since a message is not completed."""
        self.lacks = Kind.NO_COMPLETION
        wr_id = message.work.wr_id
        raise self._exchange.failed(
            f"want  work {wr_id:#x} completed with {SUCCESS}\ngot   nothing",
            stop=self._stop_without(wr_id),
        )

    def under_way(self) -> list[Posted]:
        """What is posted in this life and not known to be complete."""
        ended = self.ended | {outcome.wr_id for outcome in self._outcomes}
        open_ones = self._given - ended
        return [each for each in self._posted if each.work.wr_id in open_ones]

    def has_more_outcomes(self) -> bool:
        """Take in what has completed; whether anything has."""
        more = self._exchange.target.completions(self.qp, count=0, timeout_ns=0)
        self._outcomes += more
        return bool(more)

    def _work(
        self, op: Op, payload: int | bytes, fields: dict[str, Any], *, service: Service | None
    ) -> Work:
        data, said = b"", fields
        if op in (Op.READ, Op.CMP_SWAP, Op.FETCH_ADD):
            size = payload if isinstance(payload, int) else len(payload)
            size = self.lengths.fit(size) if isinstance(payload, int) else size
            fields = {"length": size if op is Op.READ else 8} | fields
        else:
            if isinstance(payload, int):
                payload = self.random.randbytes(self.lengths.fit(payload))
            data = payload
        once = self._exchange.claims.limits.per_queue_pair
        if once or op not in (Op.SEND, Op.SEND_IMM, Op.SEND_INV):
            fields = {
                "remote_addr": self.random.getrandbits(64) & ~7,
                "rkey": self.random.getrandbits(32),
            } | fields
        if "immediate" in once or op in (Op.SEND_IMM, Op.WRITE_IMM):
            fields = {"immediate": self.random.getrandbits(32)} | fields
        claims = self._exchange.claims
        chosen = claims.limits.chosen(self._first)
        work = Work(wr_id=self._exchange.next_wr_id(), op=op, data=data, **(fields | chosen))
        allowed_work(claims, service, work, said=said, first=self._first)
        self._first = {name: getattr(work, name) for name in ONCE} | self._first
        self._exchange.remember(work)
        return work

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

    def _send(self, packet: Sendable, **notes: Any) -> None:
        super()._send(self._counted(packet), **notes)

    def _counted(self, packet: Sendable) -> Sendable:
        """A response whose MSN is not said has that of a responder which has taken all before."""
        if not isinstance(packet, Pattern) or "msn" in packet.said:
            return packet
        row = OPCODES.get(packet.opcode)
        if row is None or Aeth not in row.headers:
            return packet
        syndrome = packet.said.get("syndrome", _ACK)
        is_refused = syndrome == "RNR" or (isinstance(syndrome, int) and syndrome > _ACK)
        taken = packet.said.get("psn", 0) - is_refused
        done = bisect_right(self._posted, taken, key=lambda message: message.last_psn)
        return packet.but(msn=done % _MSNS)

    def ack(self, message: Posted, **fields: Any) -> None:
        """Acknowledge everything up to the end of a message."""
        self.send(ACK(**{"psn": message.last_psn, "msn": message.ordinal} | fields))

    def completes(
        self, *messages: Posted, status: str = SUCCESS, within_ns: int | None = None
    ) -> None:
        """These messages complete next, in this order, all with one status.

        Each may take `within_ns`. Of a device that does not flush, what is flushed never completes.
        """
        if status == FLUSHED and not self._exchange.claims.limits.flushes:
            self.forgets(*messages)
            return
        for message in messages:
            self._expect_outcome(message.work.wr_id, status, within_ns=within_ns)

    def forgets(self, *messages: Posted) -> None:
        """The device need not complete these, and they take no room any more."""
        self.ended |= {message.work.wr_id for message in messages}

    def does_not_complete(self) -> None:
        """No completion comes while the wire is quiet; nothing is sent either."""
        self.expect_silence()
        early = self._outcomes or self._exchange.target.completions(self.qp, count=0, timeout_ns=0)
        if early:
            raise self._exchange.failed(
                f"a completion came too early: {self.told(early[0])}",
                rules=rules_of_end(early[0], self.spec, asks_data=self.asks_data),
            )

    def ignores(self, message: Posted, *responses: Sendable) -> None:
        """The device takes none of these for an answer: only a good ACK completes the message."""
        for response in responses:
            self._send(response, comment="must be ignored", is_void=True)
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
