# SPDX-License-Identifier: BSD-2-Clause
"""Requests of one kind under way, one answer to them, and what the model says must come of it.

What an answer acknowledges completes with success and with its data, and nothing else does: of one
that makes no sense, what stands before it may. Where the model lets the queue pair end, it may;
where it goes on, the answers that are due complete the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from roceproof.conformance.model.codes import NakCode
from roceproof.conformance.model.monitor.response_effects import ResponseEffects
from roceproof.conformance.model.monitor.sent import WireRecord
from roceproof.conformance.model.monitor.state import WatchState
from roceproof.conformance.model.requester.rc import STATUS_OF_NAK
from roceproof.conformance.model.segment import Segment, distance
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.packet_flow import FLUSHED, SUCCESS
from roceproof.conformance.suite.pattern import (
    ACK,
    ACKNOWLEDGE,
    ATOMIC_ACK,
    READ_RESP_FIRST,
    READ_RESP_LAST,
    READ_RESP_MIDDLE,
    READ_RESP_ONLY,
    Maker,
    Pattern,
)
from roceproof.conformance.suite.prediction import Posted
from roceproof.conformance.suite.recovery import unhurried_code
from roceproof.conformance.suite.responses import read_responses
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import parse
from roceproof.verbs.work import Op, Region

MTU = 256
SHORT, LONG = 5, 2 * MTU + 5
_AT_ONCE = 16
_ROOM = 4 * 4096
_WORD = 8
_CODE = 31
_SHOWN = 24
_FEW_TWICE = 0.3

Answer = Callable[["Requests", int], Pattern]
"""Makes an answer at a PSN."""


@dataclass(frozen=True)
class Trial:
    """One request or two WRITEs around it, its first responses there already, and an answer."""

    op: Op
    length: int
    is_amid: bool
    begun: int
    answer: Answer
    place: int
    """Of the PSN, counted from the first that is under way."""


def trials(
    bench: Bench, op: Op, answers: Iterable[Answer], places: Callable[[int], Iterable[int]]
) -> Iterator[Trial]:
    """All that the device has room for; `places` says which PSNs there are of so many."""
    lengths = (SHORT, LONG) if op in (Op.SEND, Op.WRITE, Op.READ) else (_WORD,)
    for answer in answers:
        for length in lengths:
            span = 3 if length == LONG else 1
            for is_amid in (False, True):
                if bench.claims.limits.against_depth(1 + 2 * is_amid, span + 2 * is_amid):
                    continue
                for begun in range(span):
                    for place in places(span + 2 * is_amid):
                        yield Trial(op, length, is_amid, begun, answer, place)


class Requests:
    """What is under way on one connection, and the state that the model sees it in."""

    def __init__(self, bench: Bench, qp: Connection, into: Region | None, trial: Trial) -> None:
        self.qp = qp
        self._bench = bench
        self._trial = trial
        self._into = into
        qp.transfer(Op.WRITE, SHORT)
        aside = [Op.WRITE] if trial.is_amid else []
        self._messages = [self._post(op) for op in (*aside, trial.op, *aside)]
        self._data = {each.psn: qp.random.randbytes(each.work.size) for each in self._messages}
        if into is not None:
            into.write(0, bytes(_ROOM))
        first = ahead(qp.spec.sq_psn, self._messages[0].psn)
        self._wire = WireRecord(first, qp.mtu)
        for packet in qp.expect_message(*self._messages):
            self._wire.add(Segment(packet.bth, packet.extensions, packet.payload), 0)
        self._effects = ResponseEffects(qp.spec, self._wire)
        self._state = WatchState(oldest=first, cursor=self._wire.fresh)
        self._implied = first
        self._statuses: dict[int, str] = {}

    def _post(self, op: Op) -> Posted:
        is_odd = op is self._trial.op
        length = self._trial.length if is_odd else SHORT
        brings_data = op not in (Op.SEND, Op.WRITE)
        return self.qp.post(op, length, **({"into": self._into} if brings_data else {}))

    # what is sent

    def begins(self) -> None:
        """As many of the answers that are due as the trial says."""
        if self._trial.begun:
            message = self._messages[self._trial.is_amid]
            due = list(self._due(message))
            is_read = len(due) > 1
            count = self._trial.begun
            self._send(*(due[:count] if is_read else [ACK(psn=message.psn + count - 1)]))

    def answered(self) -> None:
        """The answer comes, now and then twice."""
        self._odd = self._trial.answer(self, self._messages[0].psn + self._trial.place)
        self._send(self._odd, *([self._odd] if self.qp.random.random() < _FEW_TWICE else []))

    def completed(self) -> None:
        """What is due comes, if the queue pair lives."""
        self.qp.inbox.clear()
        if not self.has_ended:
            oldest = distance(self._state.oldest, self.qp.spec.sq_psn)
            due = [answer for message in self._messages for answer in self._due(message)]
            self._send(*(answer for answer in due if answer.said["psn"] >= oldest))

    def _due(self, message: Posted) -> Iterator[Pattern]:
        if message.work.op is Op.READ:
            yield from read_responses(
                self.qp, message.psn, self._data[message.psn], msn=message.ordinal
            )
        elif message.work.op in (Op.SEND, Op.WRITE):
            yield ACK(psn=message.last_psn, msn=message.ordinal)
        else:
            yield ATOMIC_ACK(psn=message.psn, msn=message.ordinal, original=self.original(message))

    def original(self, message: Posted) -> int:
        """What an atomic finds."""
        return int.from_bytes(self._data[message.psn][:_WORD], "little")

    def at(self, psn: int) -> Posted | None:
        """The message with that PSN."""
        return next((each for each in self._messages if each.psn <= psn < each.end_psn), None)

    def bytes_at(self, psn: int) -> bytes:
        """What a READ response with that PSN has to bring; nothing of other requests."""
        message = self.at(psn)
        if message is None or message.work.op is not Op.READ:
            return b""
        start = (psn - message.psn) * self.qp.mtu
        return self._data[message.psn][start : start + self.qp.mtu]

    def _send(self, *answers: Pattern) -> None:
        for answer in answers:
            filled = self.qp.filled(answer)
            packet = parse(self.qp.frame(filled))
            assert packet is not None
            segment = Segment(packet.bth, packet.extensions, packet.payload)
            psn, oldest = packet.bth.psn, self._state.oldest
            if distance(psn, oldest) > 0 > distance(psn, self._wire.fresh):
                self._implied = self._wire.data_missing(oldest, psn) or psn
            now_ns = self._bench.target.now_ns
            self._state = self._effects.take_in(self._state, segment, now_ns)
            self.qp.send(filled)

    # what came of it

    @property
    def has_ended(self) -> bool:
        """Whether some work has ended with an error."""
        return any(status != SUCCESS for status in self._statuses.values())

    def judged(self) -> Iterator[str]:
        """What is wrong by now, in words."""
        target = self._bench.target
        count = len(self._messages) - len(self._statuses)
        for outcome in target.completions(self.qp.qp, count=count, timeout_ns=0):
            self._statuses[outcome.wr_id] = outcome.status
        state, spec = self._state, self.qp.spec
        told = f"{self._told()}: "
        errors = [self._statuses.get(each.work.wr_id) for each in self._messages]
        failed = [status for status in errors if status not in (SUCCESS, None)]
        for message, status in zip(self._messages, errors, strict=True):
            name = f"{message.work.op.name} at {message.psn:+d}"
            end = ahead(spec.sq_psn, message.end_psn)
            if distance(end, state.oldest) > 0:
                if status == SUCCESS and distance(end, self._implied) > 0:
                    yield f"{told}{name} completed with success, and has no answer"
            elif status != SUCCESS and not (status and state.may_have_died):
                yield f"{told}{name} ended with {status or 'nothing'}, and has its answer"
            elif status == SUCCESS and not self._has_its_data(message):
                yield f"{told}{name} completed with success and with other data"
        if failed and not self._may_end():
            yield f"{told}the queue pair ended with {failed[0]}"
        if state.dead == "NAK-09":
            due = STATUS_OF_NAK[NakCode(self._odd.said["syndrome"] & _CODE)]
            if not failed:
                yield f"{told}the queue pair goes on"
            elif failed[0] != due:
                yield f"{told}it ended with {failed[0]}, and {due} is due"
        if failed and failed[0] == FLUSHED:
            yield f"{told}all is flushed, and nothing has failed"

    def _may_end(self) -> bool:
        state, spec = self._state, self.qp.spec
        if state.may_be_dead_by_now(spec) or state.may_have_died:
            return True
        repeats = Capability.RETRANSMISSION in self._bench.claims.capabilities
        return not repeats and bool(state.naks or state.rnr_naks)

    def _has_its_data(self, message: Posted) -> bool:
        if message.work.op in (Op.SEND, Op.WRITE) or self._into is None:
            return True
        data = self._data[message.psn]
        return self._into.read(0, len(data)) == data

    def _told(self) -> str:
        trial = self._trial
        begun = f", {trial.begun} of its answers there" if trial.begun else ""
        amid = ", a WRITE before and behind" if trial.is_amid else ""
        syndrome = self._odd.said.get("syndrome")
        kind = self._odd.name + (f" {syndrome:#04x}" if syndrome is not None else "")
        what = f"{trial.op.name} of {trial.length} bytes{amid}{begun}"
        return f"{kind} at {self._odd.said['psn']:+d} to {what}"


def play(bench: Bench, chosen: Iterable[Trial]) -> None:
    """Play trials, many at a time, each on a fresh queue pair while there are any.

    Fails with all that is wrong.
    """
    todo, wrong = list(chosen), list[str]()
    places: list[tuple[Connection, Region | None]] = []
    at_once = min(_AT_ONCE, bench.claims.qps)
    while todo:
        now, todo = todo[:at_once], todo[at_once:]
        if len(bench.connections) + len(now) > bench.claims.qps:
            used, places = places[: len(now)], places[len(now) :]
            for qp, _ in used:
                qp.reconnect()
        else:
            used = [_opened(bench, trial.op) for trial in now]
        places += used
        requests = [
            Requests(bench, qp, into, trial) for (qp, into), trial in zip(used, now, strict=True)
        ]
        for each in requests:
            each.begins()
            each.answered()
        bench.settle()
        found = [list(each.judged()) for each in requests]
        for each in requests:
            each.completed()
        bench.settle()
        for each, before in zip(requests, found, strict=True):
            wrong += before or each.judged()
    if wrong:
        more = [f"and {len(wrong) - _SHOWN} more"] if len(wrong) > _SHOWN else []
        raise bench.failed("\n".join(wrong[:_SHOWN] + more))


def _opened(bench: Bench, op: Op) -> tuple[Connection, Region | None]:
    qp = bench.connect(path_mtu=MTU, ack_timeout=unhurried_code(bench))
    return qp, None if op in (Op.SEND, Op.WRITE) else qp.region(_ROOM)


def syndromes(*values: int) -> Answer:
    """An acknowledge packet with one of these syndromes."""
    return lambda requests, psn: ACKNOWLEDGE(psn=psn, syndrome=requests.qp.random.choice(values))


def data(make: Maker) -> Answer:
    """A READ response: with the bytes that belong there, if any do, and as many as it must have."""

    def answer(requests: Requests, psn: int) -> Pattern:
        response = make(psn=psn)
        is_whole = response.opcode in (
            READ_RESP_FIRST(psn=0).opcode,
            READ_RESP_MIDDLE(psn=0).opcode,
        )
        size = requests.qp.mtu if is_whole else _WORD
        payload = requests.bytes_at(psn)
        if len(payload) < size and (is_whole or not payload):
            payload = payload + bytes(size - len(payload))
        return response.but(payload=payload)

    return answer


def original(requests: Requests, psn: int) -> Pattern:
    """An ATOMIC ACK with the value that belongs there, if one does."""
    message = requests.at(psn)
    return ATOMIC_ACK(psn=psn, original=requests.original(message) if message else 0)


SYNDROMES = {
    "ack": syndromes(0x1F, 0x00, 0x0B),
    "sequence-nak": syndromes(0x60),
    "rnr-nak": syndromes(0x21),
    "fatal-nak": syndromes(0x61, 0x62, 0x63),
    "reserved": syndromes(0x40, 0x5F, 0x65, 0x7F, 0x80, 0xC0, 0xFF),
}
DATA = {
    "first": data(READ_RESP_FIRST),
    "middle": data(READ_RESP_MIDDLE),
    "last": data(READ_RESP_LAST),
    "only": data(READ_RESP_ONLY),
    "atomic": original,
}
