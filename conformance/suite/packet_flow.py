# SPDX-License-Identifier: BSD-2-Clause
"""Packets between the case and one queue pair of the device, in both directions.

PSNs are relative: of requests and their responses to where that direction starts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

from roceproof.conformance.suite.exchange import Exchange, Taking
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.intent import NOTHING, Rules, meant_by
from roceproof.conformance.suite.limits.within_limits import Lengths
from roceproof.conformance.suite.notation import Mismatch, got, with_owner
from roceproof.conformance.suite.packets import (
    Sendable,
    Wanted,
    described,
    example,
    filled,
    frames_of,
    mismatches,
)
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.suite.reporting.answers_told import completed_again
from roceproof.conformance.suite.reporting.divergence import named
from roceproof.conformance.suite.reporting.ends import ended, rules_of_end, wrong_syndrome
from roceproof.conformance.suite.reporting.failure import is_aside, is_harmless, rule_of
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import LOCAL_ERRORS, Outcome

if TYPE_CHECKING:
    from scapy.packet import Packet as ScapyPacket

SUCCESS, FLUSHED = "success", "wr_flush_err"
_ONE_NAK, _ONE_DATAGRAM = "NAK-02", "UD-04"
WORK, RECEIVE = "work {:#x} completed with", "receive {:#x} done with"
"""Whose completion it is, before its status."""


class PacketFlow:
    """What the case sends to a queue pair of the device, and what it waits for."""

    def __init__(self, exchange: Exchange, qp: Qp, *, thought_mtu: int | None = None) -> None:
        self._exchange = exchange
        self.random: Random = exchange.random
        self.qp = qp
        self.inbox: deque[Packet] = deque()
        self.answer_with: Callable[[Packet], Iterable[Sendable]] | None = None
        self.lacks: Kind | None = None
        """What the case waited for last and did not get."""
        self.succeeded: set[int] = set()
        """The work that the case saw complete with success."""
        self.came: dict[int, int] = {}
        """The work all of whose packets a storm saw come as they must, and how many messages
        were then unanswered, that one included."""
        self.asks_data = False
        """Whether the case has posted any READ or atomic."""
        self.has_flushed = False
        """Whether any work completed as flushed."""
        self.has_failed = False
        """Whether any work completed otherwise in this life."""
        self.was_refused = False
        """Whether the case has sent any NAK."""
        self._settle(qp, thought_mtu=thought_mtu)

    def _settle(self, qp: Qp, *, thought_mtu: int | None = None) -> None:
        """Begin with a queue pair as it now is; `thought_mtu` is the case's, where it says one."""
        self.qp = qp
        self.has_failed = False
        real = qp.spec.path_mtu
        self.lengths = Lengths(self._exchange.claims.limits, thought_mtu or real, real)
        self.inbox.clear()
        self._outcomes: list[Outcome] = []
        self.ended: set[int] = set()
        self._completed: dict[int, Outcome] = {}
        spec = qp.spec
        device = self._exchange.target.host_for(spec)
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

    def send(self, *packets: Sendable, breaks: Rules = NOTHING) -> None:
        """Send packets to the device; a payload given as a length is random bytes.

        They may break these rules, and those that they say themselves.
        """
        for packet in packets:
            self._send(packet, breaks=breaks)

    def frame(self, packet: Sendable) -> bytes:
        """The (first) frame that `send` would send."""
        return next(self._frames(packet))

    def crafted(self, packet: Sendable) -> ScapyPacket:
        """That frame as a Scapy packet, to be changed and sent."""
        from roceproof.conformance.wire.scapy.dissection import dissected

        return dissected(self.frame(packet))

    def filled(self, pattern: Pattern) -> Pattern:
        """The pattern with bytes for a payload that was given as a length."""
        return filled(self.lengths.fit_answer(pattern), self.random)

    def take(self, packet: Packet) -> None:
        """Keep a packet of the device for `next`, and answer it where answers are due."""
        self.inbox.append(packet)
        if self.answer_with is not None and is_request(packet):
            self.send(*self.answer_with(packet))

    def expect(
        self, *packets: Wanted, allowing: Collection[Wanted] = (), within_ns: int | None = None
    ) -> list[Packet]:
        """The next packets of the device on this queue pair are these.

        Packets that fit one of `allowing` may come in front of each; each may take `within_ns`.
        """
        return [
            self._expect_one(
                packet, allowing=allowing, within_ns=within_ns, later=packets[place + 1 :]
            )
            for place, packet in enumerate(packets)
        ]

    def expect_silence(self, *, allowing: Collection[Wanted] = ()) -> None:
        """The device sends nothing on this queue pair but packets that fit one of `allowing`."""
        packet = self.next(quiet=True)
        while packet is not None and (self._fits(packet, *allowing) or self._may_come(packet)):
            packet = self.next(quiet=True)
        if packet is not None:
            text = f"want  nothing\ngot   {got(packet, self.from_device)}"
            raise self._exchange.failed(text, got=packet)

    def next(self, *, quiet: bool = False, timeout_ns: int | None = None) -> Packet | None:
        """The next packet, None when none comes in the time for answers (or for silence).

        That time begins when the device has taken all that it was sent.
        """
        patience = self._exchange.target.patience
        if timeout_ns is None:
            timeout_ns = patience.quiet_ns if quiet else patience.answer_ns
        taking = Taking(self._exchange.target)
        self._exchange.pump(timeout_ns, lambda: bool(self.inbox))
        while not (quiet or self.inbox) and taking.goes_on():
            self._exchange.pump(timeout_ns, lambda: bool(self.inbox))
        self.lacks = None if self.inbox or quiet else Kind.NO_PACKET
        return self.inbox.popleft() if self.inbox else None

    def peek(self) -> Packet | None:
        """The next packet, which stays the next."""
        packet = self.next()
        if packet is not None:
            self.inbox.appendleft(packet)
        return packet

    def has_outcome(self) -> bool:
        """Whether a completion is there; no time passes."""
        if not self._outcomes:
            self._outcomes = self._exchange.target.completions(self.qp, count=0, timeout_ns=0)
        return bool(self._outcomes)

    def _refused(self) -> Outcome | None:
        """Work that has ended because it may not be sent, where that is the next to be told."""
        refused = self.has_outcome() and self._outcomes[0].status in LOCAL_ERRORS
        return self._outcomes[0] if refused else None

    def _expect_one(
        self,
        wanted: Wanted,
        *,
        allowing: Collection[Wanted] = (),
        is_predicted: bool = False,
        within_ns: int | None = None,
        later: Collection[Wanted] = (),
    ) -> Packet:
        packet, passed = self.next(timeout_ns=within_ns), None
        found: list[Mismatch] = []
        while packet is not None and (found := self._mismatches(packet, wanted)):
            if self._stands_for(packet, wanted, later):
                self.inbox.appendleft(packet)
                return packet
            if not self._fits(packet, *allowing) and not self._may_come(packet):
                break
            passed, packet = packet, self.next(timeout_ns=within_ns)
        if packet is None and passed is not None and self._is_meant(passed, wanted):
            packet, found = passed, self._mismatches(passed, wanted)
        behind = "" if passed is None else f" but {got(passed, self.from_device)}"
        is_told_again = packet is not None and self._is_told_again(packet)
        if packet is not None:
            self._note(packet)
        fitting = partial(example, wanted, self.from_device)
        if packet is None:
            refused = self._refused() if passed is None else None
            if refused is not None:
                behind = f": work {refused.wr_id:#x} ended with {refused.status}"
            is_too_long = refused is not None and refused.status == "loc_len_err"
            raise self._exchange.failed(
                f"want  {described(wanted)}\ngot   nothing in time{behind}",
                rules=[_ONE_DATAGRAM] if is_too_long and self.spec.service is Service.UD else [],
                example=fitting,
                stop=self._stop_at(Kind.NO_PACKET, wanted),
            )
        found = self._with_reasons(packet, wanted, found)
        if is_predicted:
            found = self._of_its_place(packet, found)
        if found and not self._goes_on(wanted, found, is_predicted=is_predicted):
            shown = got(packet, self.from_device, wanted if isinstance(wanted, Pattern) else None)
            if is_told_again:
                text = f"want  {described(wanted)}\ngot   {shown}, which came once before"
                raise self._exchange.failed(text, rules=[_ONE_NAK], got=packet)
            fields = "\n".join(f"      {m.field}: want {m.want}, got {m.got}" for m in found)
            rules = [rule for m in found if (rule := rule_of(m)) is not None]
            raise self._exchange.failed(
                f"want  {described(wanted)}\ngot   {shown}\n{fields}",
                rules=rules if is_predicted else list(filter(None, (m.rule for m in found))),
                got=packet,
                example=fitting,
                stop=self._stop_at(Kind.WRONG_PACKET, wanted, fields=tuple(found)),
            )
        return packet

    def _goes_on(self, wanted: Wanted, found: list[Mismatch], *, is_predicted: bool) -> bool:
        """Whether the case does: what is wrong with predicted packets is told at its end, too."""
        if is_predicted:
            return all(map(is_harmless, found))
        own = self._exchange.rules
        is_compared = self._stop_at(Kind.WRONG_PACKET, wanted).message is not None
        return own is not None and is_compared and all(is_aside(each, own) for each in found)

    def _with_reasons(
        self, packet: Packet, wanted: Wanted, found: list[Mismatch]
    ) -> list[Mismatch]:
        """The same, with the rules that follow from what is in front of the packet."""
        return found

    def _of_its_place(self, packet: Packet, found: list[Mismatch]) -> list[Mismatch]:
        """What of these is wrong with a packet that is right somewhere else."""
        return found

    def _is_meant(self, packet: Packet, wanted: Wanted) -> bool:
        """Whether it is what was wanted, with other words: nothing else came."""
        wrong = {each.field for each in self._mismatches(packet, wanted)}
        return wrong.isdisjoint({"opcode", "psn"})

    def _note(self, packet: Packet) -> None:
        """Somebody has waited for this packet."""

    def _is_told_again(self, packet: Packet) -> bool:
        """Whether the device has said this, and may say it once."""
        return False

    def _may_come(self, packet: Packet) -> bool:
        """Whether a right device may send this where nobody waits for it."""
        return False

    def _stands_for(self, packet: Packet, wanted: Wanted, later: Collection[Wanted]) -> bool:
        """Whether a right device may send this, for which somebody waits later, instead."""
        return False

    def _stop_at(self, kind: Kind, wanted: Wanted, *, fields: tuple[Mismatch, ...] = ()) -> Stop:
        """Where a case stops that waits for this."""
        return Stop(kind, at=self, fields=fields)

    def _fits(self, packet: Packet, *wanted: Wanted) -> bool:
        return not all(self._mismatches(packet, each) for each in wanted)

    def _mismatches(self, packet: Packet, wanted: Wanted) -> list[Mismatch]:
        frame = self._exchange.entry_of(packet).frame
        wanted = self.lengths.fit_pattern(wanted)
        found = mismatches(wanted, packet, frame, self.from_device)
        return [with_owner(each, packet.payload, self._exchange.beginnings) for each in found]

    def _frames(self, packet: Sendable) -> Iterator[bytes]:
        if isinstance(packet, Pattern):
            packet = self.lengths.fit_answer(packet)
        return frames_of(packet, self.to_device, self.random)

    def _send(self, packet: Sendable, *, breaks: Rules = NOTHING, **notes: Any) -> None:
        breaks |= meant_by(packet)
        for frame in self._frames(packet):
            self._send_frame(frame, parse(frame), breaks=breaks, **notes)

    def _send_frame(self, frame: bytes, packet: Packet | None, **notes: Any) -> None:
        self.was_refused |= is_refusal(packet)
        self._exchange.send(frame, flow=self.to_device, **notes)

    def _expect_outcome(
        self, wr_id: int, status: str, *, within_ns: int | None = None, what: str = WORK
    ) -> Outcome:
        outcome = self._next_outcome(within_ns)
        if outcome is None:
            raise self._exchange.failed(
                f"want  {what.format(wr_id)} {status}\ngot   nothing",
                stop=self._stop_without(wr_id) if status == SUCCESS else None,
            )
        if before := self._completed.get(outcome.wr_id):
            text = completed_again(what.split()[0], [before, outcome])
            raise self._exchange.failed(text, rules=named(text))
        self._completed[outcome.wr_id] = outcome
        if (outcome.wr_id, outcome.status) != (wr_id, status):
            raise self._exchange.failed(
                f"want  {what.format(wr_id)} {status}\ngot   {self.told(outcome, what)}",
                rules=rules_of_end(outcome, self.spec, asks_data=self.asks_data),
            )
        if (wrong := wrong_syndrome(outcome)) and self._exchange.aside is None:
            text, rule = wrong
            self._exchange.aside = self._exchange.failed(text, rules=[rule])
        return outcome

    def _stop_without(self, wr_id: int) -> Stop:
        return Stop(Kind.NO_COMPLETION, at=self)

    def all_outcomes(self, count: int) -> list[Outcome]:
        """So many completions and those that come besides, none of which anybody has looked at."""
        found, self._outcomes = self._outcomes, []
        found += self._exchange.all_completions(self, max(0, count - len(found)))
        self.ended |= {outcome.wr_id for outcome in found}
        return found

    def _next_outcome(self, within_ns: int | None = None) -> Outcome | None:
        if not self._outcomes:
            self._outcomes = self._exchange.completions(self, within_ns=within_ns)
        self.lacks = None if self._outcomes else Kind.NO_COMPLETION
        if not self._outcomes:
            return None
        outcome = self._outcomes.pop(0)
        self.ended.add(outcome.wr_id)
        if outcome.status == SUCCESS:
            self.succeeded.add(outcome.wr_id)
        else:
            self.has_failed = True
            self.has_flushed |= outcome.status == FLUSHED
        return outcome

    def told(self, outcome: Outcome, what: str = WORK) -> str:
        """How that ended, in words; `what` has a place for its number."""
        return f"{what.format(outcome.wr_id)} {ended(outcome, self.spec, asks_data=self.asks_data)}"


def is_refusal(packet: Packet | None) -> bool:
    """Whether a packet looks like a NAK, RNR NAKs included."""
    return packet is not None and packet.aeth is not None and packet.aeth.syndrome >= 0x20


def is_request(packet: Packet) -> bool:
    """Whether a packet is a request, reserved opcodes included."""
    row = OPCODES.get(packet.bth.opcode)
    return row is None or not row.is_response
