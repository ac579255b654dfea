# SPDX-License-Identifier: BSD-2-Clause
"""What a play lets others say to the device: answers, flawed ones, questions, frames of nobody."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from math import inf
from random import Random

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.stimulus.requester.answers import DAMAGED, flawed, response
from roceproof.conformance.stimulus.requester.bounds import hears_only_acks, soon
from roceproof.conformance.stimulus.requester.foreign import FOREIGN
from roceproof.conformance.stimulus.requester.queue_pair import QueuePair
from roceproof.conformance.stimulus.requester.scene import Scene
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.pattern import CNP, Pattern
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.mac_control import (
    CLASSES,
    LONGEST,
    is_pause_of,
    priority_pause,
)
from roceproof.conformance.wire.psn import PSN_MODULUS, distance
from roceproof.verbs.addresses import Host, parse_mac
from roceproof.verbs.service import Service

_ACK = 0x1F
_OTHER_KIND = "opcode"
_CODES = 32
_WHOLE = 1000
_ON_ITS_WAY = 1 << 10
_LOW = 32
_HEARD_NS, _LONG = 3_100, 8
"""60 pause quanta at 10 Gbit/s, in which a station may still begin frames (802.3 annex 31B)."""


class FarSide:
    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.scene = Scene(bench)
        self._sent = 0

    def answer(
        self,
        key: int,
        *,
        back: int = 0,
        oldest: int | None = None,
        share: int | None = None,
        ahead: int | None = None,
        flip: int | None = None,
        syndrome: int = _ACK,
        count: int = 1,
        flaw: str | None = None,
        bit: int = 0,
        trailer: int = 0,
        brink: int | None = None,
        **fields: int,
    ) -> None:
        """Answer at a PSN: so far back from the newest seen, from the oldest, ahead of all posted.

        `share` is a place between the oldest and the newest, in thousandths; `flip` turns a bit
        of the PSN over. A `flaw` is one that makes the device ignore the answer (`answers`);
        `brink` says how near the sum of its IPv4 header is to turning over, `fields` are a
        pattern's.
        """
        known = self._reliable(key)
        if known is None:
            return
        syndrome = soon(self.bench.claims, syndrome)
        psn = _place(known, back=back, oldest=oldest, share=share, ahead=ahead)
        psn ^= 0 if flip is None else 1 << flip
        psn = _seen(known, psn, repeats=self._claims(Capability.RETRANSMISSION))
        if flaw == "alias" and self.scene.is_known(known.qp.qpn ^ 1 << bit % 24):
            return
        if flaw == _OTHER_KIND and not hears_only_acks(self.bench.claims):
            return
        fields |= _counted(known, fields)
        answer = response(
            known.codec,
            psn=psn,
            syndrome=syndrome,
            flaw=flaw,
            bit=bit,
            trailer=trailer,
            brink=brink,
            **fields,
        )
        known.is_refused |= syndrome > _ACK
        known.is_settled = False
        for turn in range(count):
            if flaw is None:
                self.scene.say(known, answer, is_void=turn > 0)  # the same again says nothing new
                told = self.scene.sent_now(psn, syndrome, msn=fields.get("msn", 0))
                known.judge.answered(told)
            else:
                self.scene.say(known, answer, is_void=True, is_damaged=flaw == DAMAGED)

    def respond(
        self,
        key: int,
        packets: int = _WHOLE,
        *,
        skip: int = 0,
        syndrome: int = _ACK,
        twist: str | None = None,
        flaw: str | None = None,
        bit: int = 0,
        **fields: int,
    ) -> None:
        """Answer READs and atomics with data: so many of the next responses, in order.

        `skip` of them are lost in front of these. A `twist` makes the last one of a kind or a
        length that does not fit its place (`data_responses`); a `flaw` makes the device ignore
        each (`answers`), and they are still to come.
        """
        known = self._reliable(key)
        if known is None:
            return
        due = [
            each
            for each in self.scene.data_due(known)
            if known.due_psn is None or distance(each.psn, known.due_psn) >= 0
        ][skip:][:packets]
        fields |= _counted(known, fields)
        for place, each in enumerate(due):
            if flaw is not None:
                self._spoil(known, each.with_other_data().pattern.but(**fields), flaw, bit + place)
                continue
            is_odd = twist is not None and place + 1 == len(due)
            answer = each.twisted(str(twist), bit) if is_odd else each
            self.scene.deliver(known, answer.of(syndrome), **fields)
            known.due_psn = (each.psn + 1) % PSN_MODULUS
        known.is_settled &= not due

    def respond_again(
        self, key: int, back: int = 1, *, count: int = 1, stale: bool = False
    ) -> None:
        """Some of the last responses with data come once more, from so far back on.

        Those that are `stale` have other bytes; none is that the device may still wait for.
        """
        known = self._reliable(key)
        sent = known.sent[-back:][:count] if known is not None else []
        for each in sent:
            assert known is not None
            if not stale:
                self.scene.deliver(known, each)
            elif known.judge.has_answer(each.psn):
                self.scene.deliver(known, each.with_other_data())

    def _reliable(self, key: int) -> QueuePair | None:
        """The queue pair, if anything is answered there, behind all that has come."""
        known = self.scene.qps.get(key)
        if known is None or not known.is_reliable:
            return None
        self.scene.look()
        return known

    def _spoil(self, known: QueuePair, answer: Pattern, flaw: str, bit: int) -> None:
        """It is sent so that the device ignores it."""
        if flaw == "alias" and self.scene.is_known(known.qp.qpn ^ 1 << bit % 24):
            return
        answer = flawed(answer, flaw, bit, known.codec)
        self.scene.say(known, answer, is_void=True, is_damaged=flaw == DAMAGED)

    def salvo(
        self,
        key: int,
        flaws: Sequence[tuple[str, int]],
        *,
        oldest: int = 0,
        syndrome: int = 0,
        apart: int = 0,
    ) -> None:
        """Flawed answers to what is outstanding, so many ns apart; each says another code."""
        for place, (flaw, bit) in enumerate(flaws):
            code = syndrome if syndrome > _ACK else (syndrome + place) % _CODES
            self.answer(key, oldest=oldest, syndrome=code, flaw=flaw, bit=bit)
            if apart:
                self.scene.advance(apart)

    def serve(self, key: int, every: int = 1) -> None:
        """From now on the far side acknowledges every so many messages by itself; 0 ends that."""
        known = self.scene.qps.get(key)
        if known is not None and known.is_reliable:
            known.serve_every = every

    def notify(self, key: int, *, count: int = 1) -> None:
        """The far side tells so often of congestion, which slows the queue pair down."""
        known = self.scene.qps.get(key)
        if known is None or known.life.spec.service is Service.UD:
            return
        for _ in range(count if self._claims(Capability.CNP) else 0):
            self.scene.say(known, CNP())

    def foreign(self, kind: str, size: int = 0, *, count: int = 1, damaged: bool = False) -> None:
        host = self.bench.target.host
        for _ in range(count):
            self._sent += 1
            frame = FOREIGN[kind](self.bench.peers[1], host, Random(self._sent), size)
            self.scene.send(frame, is_void=True, is_damaged=damaged)

    def pause(self, ns: int) -> None:
        """The link pauses for so long: what has begun to leave does so, and nothing else.

        It does not where a timer may run out meanwhile: a copy may then wait behind frames that
        had left the queue pairs before it.
        """
        pace, now = self.scene.pace, self.bench.target.now_ns
        heard = pace.waits_ns(now) + pace.stops_ns() + _HEARD_NS
        codes = [known.life.spec.ack_timeout for known in self.scene.qps.values()]
        shortest = min((ack_timeout_ns(code) or inf for code in codes), default=inf)
        if Capability.PFC not in self.bench.claims.capabilities or shortest < _LONG * (heard + ns):
            return
        self._ask_for_pause(LONGEST)
        self.scene.advance(heard)
        before = self._left()
        self.scene.advance(ns)
        if more := self._left() - before:
            raise self.bench.failed(f"{more} frames left in a pause", rules=["PFC-01"])
        self._ask_for_pause(0)

    def _ask_for_pause(self, quanta: int) -> None:
        classes = dict.fromkeys(range(CLASSES), quanta)
        frame = priority_pause(classes, src_mac=self.bench.peers[0].mac)
        self.scene.send(frame, is_void=True)

    def _left(self) -> int:
        """How many frames have come, but for those that ask for a pause themselves."""
        own = self.bench.target.host.mac
        return sum(not is_pause_of(own, frame) for frame in self.bench.frames_sent())

    def ask(
        self,
        size: int | None = None,
        *,
        mac: str | None = None,
        ip: str | None = None,
        count: int = 1,
        apart: int = 0,
        damaged: bool = False,
        **said: int,
    ) -> None:
        """ARP requests or, with a size, echo requests, so many nanoseconds apart.

        `said` is what else they may say (`questions`).
        """
        if not self._claims(Capability.LOCKSTEP):
            return
        asker = self.bench.peers[1]
        asker = Host(
            parse_mac(mac) if mac else asker.mac, ip_address(ip).packed if ip else asker.ip
        )
        for _ in range(count):
            self.scene.ask(asker, size, said, is_damaged=damaged)
            if apart:
                self.scene.advance(apart)

    def _claims(self, capability: Capability) -> bool:
        return capability in self.bench.claims.capabilities


def _counted(known: QueuePair, fields: dict[str, int]) -> dict[str, int]:
    """The MSN that was drawn, a low one where it says how far credits go."""
    return {"msn": fields["msn"] % _LOW} if "msn" in fields and known.life.spec.flow_control else {}


def _seen(known: QueuePair, psn: int, *, repeats: bool) -> int:
    """The same, but none of a packet that may have left its queue pair and not yet the port."""
    newest = known.judge.newest
    near = _ON_ITS_WAY if repeats else distance(known.judge.end_psn, newest)
    return newest if 0 < distance(psn, newest) < near else psn


def _place(
    known: QueuePair, *, back: int, oldest: int | None, share: int | None, ahead: int | None
) -> int:
    """The PSN of a place, absolute."""
    outstanding = known.judge.unanswered
    if ahead is not None:
        return (known.judge.end_psn - 1 + ahead) % PSN_MODULUS
    if outstanding is not None and share is not None:
        first, last = outstanding
        return (first + distance(last, first) * share // _WHOLE) % PSN_MODULUS
    if outstanding is not None and oldest is not None:
        return (outstanding[0] + oldest) % PSN_MODULUS
    return (known.judge.newest - back) % PSN_MODULUS
