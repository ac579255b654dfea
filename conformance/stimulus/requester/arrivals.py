# SPDX-License-Identifier: BSD-2-Clause
"""What comes of a device in a play, and that it is judged."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from roceproof.conformance.model.monitor.sent import awaits_data
from roceproof.conformance.stimulus.requester.arp_and_ping import Neighbourhood
from roceproof.conformance.stimulus.requester.departures import Departures, segment_of
from roceproof.conformance.stimulus.requester.queue_pair import QueuePair
from roceproof.conformance.stimulus.requester.state import SUCCESS
from roceproof.conformance.stimulus.requester.tolerance import differences, differs_aside
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.ends import (
    RETRY_EXCEEDED,
    ended,
    posted_before,
    rules_of_end,
    wrong_syndrome,
)
from roceproof.conformance.suite.reporting.failure import FIELD_RULES, STRAY_COMPLETION
from roceproof.conformance.suite.reporting.failure_heads import AS_ANOTHER
from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Arrival
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.headers import Bth
from roceproof.conformance.wire.opcodes import is_cnp
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.service import Service
from roceproof.verbs.work import Outcome

_OF_A_NAK = "rem_"
_WRONG_PSN = FIELD_RULES["psn"]
_APART = "QPS-06"
_AGAIN, _REPEATED = "it has left before, otherwise", "RTX-03"


class Arrivals(Departures):
    """Frames and completions of a device, in the order of time."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self.qps: dict[int, QueuePair] = {}
        self._neighbourhood = self._fresh_neighbourhood()
        self._owners: dict[tuple[bytes, int], list[QueuePair]] = {}
        self._events = 0
        self._is_again = self._is_over = False
        self._refused: dict[str, QueuePair] = {}
        self._to_serve: dict[int, tuple[QueuePair, int]] = {}

    def _fresh_neighbourhood(self) -> Neighbourhood:
        return Neighbourhood(self.bench.target.host, largest=max(self.bench.claims.path_mtus))

    # from the device

    def look(self) -> None:
        """Judge what has come, before anything is said behind it."""
        if not self._is_told:
            self._take([])

    def _take(self, arrivals: list[Arrival]) -> int:
        """Judge what has come, and serve it; how many frames there were besides."""
        besides = self._take_in(arrivals)
        while self._to_serve:
            if (came := self._take_in([])) == 0:
                for known, psn in [*self._to_serve.values()]:
                    self.acknowledge(known, psn)
                self._to_serve.clear()
            besides += came
        return besides

    def _take_in(self, arrivals: list[Arrival]) -> int:
        """Judge what has come, in the order of time; how many frames there were besides."""
        target, given = self.bench.target, len(arrivals)
        while (arrival := target.receive(0)) is not None:
            arrivals.append(arrival)
        # to ask all the time also those that have nothing to complete is slow
        done = [
            (outcome, known)
            for known in self.qps.values()
            if known.open or self._is_told or self._is_over
            for outcome in target.completions(known.qp, count=0, timeout_ns=0)
        ]
        while (arrival := target.receive(0)) is not None:
            arrivals.append(arrival)
        now = target.now_ns
        events: list[tuple[int, int, Arrival | tuple[Outcome, QueuePair]]] = [
            (arrival.time_ns, 0, arrival) for arrival in arrivals
        ]
        events += [(now if o.time_ns is None else o.time_ns, 1, (o, known)) for o, known in done]
        events.sort(key=lambda event: event[:2])
        for time_ns, _, event in events:
            self._events += 1
            if isinstance(event, Arrival):
                self._judge_frame(event)
            else:
                self._judge_outcome(*event, time_ns)
        if self._is_told:
            self._neighbourhood.judge(self.bench, target.asides())
        return len(arrivals) - given

    def _judge_frame(self, arrival: Arrival, *, wanted: bytes | None = None) -> None:
        """`wanted` is what the frame ought to be, where only what all packets share differs."""
        came, time_ns = arrival.frame, arrival.time_ns
        frame = wanted or came
        packet = parse(frame)
        begun_ns = self.pace.begun_ns(len(came), time_ns)
        where = None if packet is None else (packet.ip.dst, packet.bth.dest_qpn)
        for known in self._owners.get(where, ()) if where is not None else ():
            life = known.judge.takes(frame, time_ns, begun_ns=begun_ns)
            if life is not None:
                self.bench.transcript.add(Entry(time_ns, True, came, is_void=known.is_unclear))
                if packet is not None:
                    if awaits_data(segment_of(packet)):
                        known.asked(packet.bth.psn)
                    self._serve(known, packet.bth)
                self._judge_violations(known)
                return
        if wanted is None and (right := self._mended(came)) is not None:
            self._judge_frame(arrival, wanted=right)
            if self.bench.aside is None:
                text, rules = differences(came, right)
                self.bench.aside = self.bench.failed(text, rules=rules)
            return
        is_notice = packet is not None and is_cnp(packet.bth.opcode)
        is_notice = is_notice and self._is_claimed(Capability.MARKS)
        owners = self._owners.get(where, ()) if where is not None else ()
        # of a frame that is not due no field is right or wrong
        is_judged = self._expected() and not any(known.is_unclear for known in owners)
        is_void = not (is_notice or is_judged)
        self.bench.transcript.add(Entry(time_ns, True, came, is_void=is_void))
        if not is_notice:
            self._fail_frame(came, owners)
        for known in owners:
            known.judge.sent_aside()

    def _is_claimed(self, capability: Capability) -> bool:
        return capability in self.bench.claims.capabilities

    def _expected(self, came: bytes = b"") -> list[bytes]:
        """The packets that may leave next, with what `came` may choose in them."""
        return [each for known in self.qps.values() for each in known.judge.expected_frames(came)]

    def _mended(self, frame: bytes) -> bytes | None:
        """The frame that was due, if what came differs only in what all packets share."""
        own, due = self.bench.rules or (), self._expected(frame)
        due += [each for known in self.qps.values() for each in known.judge.repeats(frame)]
        return next((each for each in due if differs_aside(frame, each, own)), None)

    def _fail_frame(self, frame: bytes, owners: Collection[QueuePair]) -> None:
        for known in owners:
            self._judge_depth(frame, known)
        wanted, known_as = self._expected(frame), self.bench.beginnings
        found = [(*differences(frame, each, known_as), each) for each in wanted]
        for sent in (each for known in owners for each in known.judge.repeats(frame)):
            text, rules = differences(frame, sent, known_as)
            found += [(f"{text}\n{_AGAIN}", [_REPEATED, *rules], b"")] if frame != sent else []
        if not found:
            told = differences(frame, frame)[0].splitlines()[-1]
            ended = any(known.judge.is_dead for known in self.qps.values())
            is_packet = parse(frame) is not None
            rules = ["QPS-03" if ended else "QPS-02"] if is_packet else []
            idle = [known for known in self.qps.values() if known.open and not known.life.is_active]
            if idle and is_packet and not ended:
                told += f"\nqp {idle[-1].qp.qpn:#x} is not active, its work is refused"
                if self._is_again or idle[-1].life.posted_before:
                    rules = ["QPS-04"]
            raise self.bench.failed(f"want  nothing\n{told}", rules=rules)
        text, rules, due = min(found, key=lambda each: each[0].count("\n"))
        if _WRONG_PSN in rules:
            finer = self._rule_of_psn(frame, due, owners)
            rules = [finer if rule == _WRONG_PSN else rule for rule in rules]
        raise self.bench.failed(text, rules=rules)

    def _judge_depth(self, frame: bytes, known: QueuePair) -> None:
        """Fail if it is the next request of a queue pair that waits for as much data as it may."""
        packet, most = parse(frame), known.life.spec.max_rd_atomic
        is_next = packet is not None and distance(packet.bth.psn, known.judge.newest) == 1
        if packet is None or not (is_next and awaits_data(segment_of(packet))):
            return
        if len(known.judge.awaited) >= most:
            told = differences(frame, frame)[0].splitlines()[-1]
            raise self.bench.failed(
                f"want  nothing: max_rd_atomic is {most}, and as many wait for data\n{told}",
                rules=["READ-05"],
            )

    def _rule_of_psn(self, frame: bytes, due: bytes, owners: Iterable[QueuePair]) -> str:
        """Why its PSN is not that of the frame that was due."""
        want, got = parse(due), parse(frame)
        if want is None or got is None:
            return _WRONG_PSN
        told = (
            known.rule_of_psn(
                want=want.bth.psn,
                got=got.bth.psn,
                others=self.bench.transcript.next_psns(but=known.life.spec.remote_qpn),
            )
            for known in owners
        )
        return next(filter(None, told), _WRONG_PSN)

    def _serve(self, known: QueuePair, bth: Bth) -> None:
        if not known.serve_every or not bth.ack_req:
            return
        known.unserved += 1
        if known.unserved < known.serve_every:
            return
        if self._is_told:
            self.acknowledge(known, bth.psn)
        else:  # what has come by now is judged before that is said
            self._to_serve[id(known)] = known, bth.psn

    def _judge_outcome(self, outcome: Outcome, known: QueuePair, time_ns: int) -> None:
        in_front = known.completed(outcome.wr_id)
        if not known.judge.completes(outcome, time_ns):
            self._judge_place(outcome, known)
            wrong = wrong_syndrome(outcome)
            if wrong and known.judge.completes(replace(outcome, syndrome=None), time_ns):
                text, rule = wrong
                raise self.bench.failed(text, rules=[rule])
            spec = known.life.spec
            if spec.service is Service.UC and outcome.status == SUCCESS and in_front:
                raise self.bench.failed(
                    f"want  work {in_front[0]:#x} completed with success\n"
                    f"got   work {outcome.wr_id:#x} completed with {ended(outcome, spec)}"
                    + posted_before(len(in_front)),
                    rules=["UC-01"],
                )
            owed = ", ".join(known.judge.owed()[:2]) or "none"
            where = f"qp {known.qp.qpn:#x}{self._beside(known)}"
            how = ended(outcome, spec, asks_data=known.asks_data)
            text = (
                f"want  no such completion on {where}; owed: {owed}\n"
                f"got   work {outcome.wr_id:#x} completed with {how}"
            )
            rules = rules_of_end(outcome, spec, asks_data=known.asks_data)
            if alike := self._owed_so(outcome.status, known):
                text += f"\n{AS_ANOTHER} {alike.qp.qpn:#x}"
                rules = (_APART,) if rules else ()
            raise self.bench.failed(text, rules=rules)
        if outcome.status.startswith(_OF_A_NAK):
            self._refused[outcome.status] = known
        self._judge_violations(known)
        work = known.returns.pop(outcome.wr_id, None)
        if work is not None and outcome.status == SUCCESS:
            self.landings.landed(work)

    def _owed_so(self, status: str, known: QueuePair) -> QueuePair | None:
        """Another queue pair whose work ends or may end so, or last has ended with such a NAK."""
        if not status.startswith((_OF_A_NAK, RETRY_EXCEEDED)):
            return None
        for other in (each for each in self.qps.values() if each is not known):
            may_time_out = status == RETRY_EXCEEDED and other.life.spec.ack_timeout
            if may_time_out or any(f"ends with {status}" in d for d in other.judge.owed()):
                return other
        before = self._refused.get(status)
        return None if before is known else before

    def _judge_place(self, outcome: Outcome, known: QueuePair) -> None:
        """Fail if the work is open, but another queue pair's."""
        for other in self.qps.values():
            if other is not known and any(outcome.wr_id == number for number, _ in other.open):
                raise self.bench.failed(
                    f"{STRAY_COMPLETION}: work {outcome.wr_id:#x} of qp {other.qp.qpn:#x} "
                    f"completed on qp {known.qp.qpn:#x}; look at qpn of cpl_o",
                    rules=["QPS-06"],
                )

    def _beside(self, known: QueuePair) -> str:
        """Whether whatever ends its work is another queue pair's."""
        is_alone = known.may_fail or len(self.qps) == 1
        return "" if is_alone else ", which nothing has failed"

    def _judge_violations(self, known: QueuePair) -> None:
        for broken in known.judge.violations:
            raise self.bench.failed(
                f"want  {broken.expected}\ngot   {broken.got}", rules=[broken.rule]
            )
