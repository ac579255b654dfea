# SPDX-License-Identifier: BSD-2-Clause
"""Requests of one kind under way, one answer to them, and what the model says must come of it.

What an answer acknowledges completes with success and with its data, and nothing else does: of one
that makes no sense, what stands before it may. Where the model lets the queue pair end, it may;
where it goes on, the answers that are due complete the rest.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from roceproof.conformance.model.codes import NakCode
from roceproof.conformance.model.monitor.response_effects import ResponseEffects
from roceproof.conformance.model.monitor.sent import WireRecord
from roceproof.conformance.model.monitor.state import WatchState
from roceproof.conformance.model.requester.rc import STATUS_OF_NAK
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import AWAIT_DATA, ahead
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.packet_flow import FLUSHED, SUCCESS
from roceproof.conformance.suite.pattern import ACK, ATOMIC_ACK, Pattern
from roceproof.conformance.suite.reporting.ends import ended
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.work import Op, Region

SHORT = 5
WORD = 8
ROOM = 4 * 4096
_CODE = 31
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
            into.write(0, bytes(ROOM))
        first = ahead(qp.spec.sq_psn, self._messages[0].psn)
        self._wire = WireRecord(first, qp.mtu)
        for packet in qp.expect_message(*self._messages):
            self._wire.add(Segment(packet.bth, packet.extensions, packet.payload), 0, 0)
        self._effects = ResponseEffects(qp.spec, self._wire)
        self._state = WatchState(oldest=first, cursor=self._wire.fresh)
        self._implied = first
        self._statuses: dict[int, str] = {}
        self._first_end = ""
        self._last: list[Pattern] = []

    def _post(self, op: Op) -> Posted:
        is_odd = op is self._trial.op
        length = self._trial.length if is_odd else SHORT
        return self.qp.post(op, length, **({"into": self._into} if op in AWAIT_DATA else {}))

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
        """What is due comes, if the queue pair lives; of a READ all, it may be asked for anew."""
        target = self._bench.target
        waits_ns = self._state.not_before + target.patience.quiet_ns - target.now_ns
        if self._state.not_before and waits_ns > 0:  # amid an RNR wait an answer may be dropped
            target.wait(waits_ns)
            self._bench.settle()
        self.qp.inbox.clear()
        if not self.has_ended:
            oldest = distance(self._state.oldest, self.qp.spec.sq_psn)
            for message in self._messages:
                from_psn = message.psn if message.end_psn > oldest else oldest
                due = self._due(message)
                self._last += [each for each in due if each.said["psn"] >= from_psn]
            self._send(*self._last)

    def completed_again(self) -> bool:
        """The same once more, if a kernel on a busy machine was amid its RNR wait still."""
        waits_on_its_own = Capability.LOCKSTEP not in self._bench.claims.capabilities
        is_owed = not self.has_ended and len(self._statuses) < len(self._messages)
        may_be_late = waits_on_its_own and is_owed and self._state.not_before != 0
        if may_be_late:
            self.qp.send(*self._last)
        return may_be_late

    def _due(self, message: Posted) -> Iterator[Pattern]:
        if message.work.op is Op.READ:
            yield from read_responses(
                self.qp, message.psn, self._data[message.psn], msn=message.ordinal
            )
        elif message.work.op not in AWAIT_DATA:
            yield ACK(psn=message.last_psn, msn=message.ordinal)
        else:
            yield ATOMIC_ACK(psn=message.psn, msn=message.ordinal, original=self.original(message))

    def original(self, message: Posted) -> int:
        return int.from_bytes(self._data[message.psn][:WORD], "little")

    def at(self, psn: int) -> Posted | None:
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
                missing = self._wire.data_missing(oldest, psn)
                self._implied = psn if missing is None else missing
            now_ns = self._bench.target.now_ns
            self._state = self._effects.take_in(self._state, segment, now_ns)
            self.qp.send(filled)

    # what came of it

    @property
    def has_ended(self) -> bool:
        """Whether some work has ended with an error."""
        return any(status != SUCCESS for status in self._statuses.values())

    def takes_outcomes(self) -> bool:
        """Take in what has completed; whether anything has."""
        count = len(self._messages) - len(self._statuses)
        outcomes = self._bench.target.completions(self.qp.qp, count=count, timeout_ns=0)
        for outcome in outcomes:
            self._statuses[outcome.wr_id] = outcome.status
            if outcome.status != SUCCESS:
                self._first_end = self._first_end or ended(outcome, self.qp.spec)
        return bool(outcomes)

    def judged(self) -> Iterator[str]:
        """What is wrong by now, in words."""
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
            yield f"{told}the queue pair ended with {self._first_end}"
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
        if message.work.op not in AWAIT_DATA or self._into is None:
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
