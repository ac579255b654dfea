# SPDX-License-Identifier: BSD-2-Clause
"""A side's requests sorted into new ones and repeats, and the steps between new ones.

On RC a request seen before with that PSN is a repeat, one whose PSN was skipped
before is late (it was lost on its way to the capture).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.psn.counted import Completed
from roceproof.conformance.diagnosis.psn.early_wrap import wraps_early
from roceproof.conformance.diagnosis.psn.index import PsnIndex
from roceproof.conformance.diagnosis.psn.loss import Gap, Messages
from roceproof.conformance.diagnosis.psn.path_mtu import learnt_mtu
from roceproof.conformance.diagnosis.psn.steps import LARGEST_GAP, Recovery, Step
from roceproof.conformance.diagnosis.psn.strays import astray
from roceproof.conformance.diagnosis.psn.timeline import PATH_MTUS, Sent, Side
from roceproof.conformance.wire.opcodes import Family, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, distance

_RESTART = 1 << 16


@dataclass(eq=False)
class Stream:
    """One side from one set-up of its QP to the next."""

    side: Side
    first: Sent
    """The first whose PSN can be believed."""
    path_mtu: int | None
    requests: list[Sent]
    runs: list[list[Step]] = field(default_factory=list)
    """Steps without recovery in between."""
    recoveries: list[Recovery] = field(default_factory=list)
    filled: set[int] = field(default_factory=set)
    shared: set[int] = field(default_factory=set)
    """Frames where its station went from one QP to another as if they had one register (P09)."""

    def span(self, sent: Sent) -> int | None:
        """The PSNs that a request takes; None where path MTU or length of a READ is not known."""
        if sent.row.family is not Family.READ or sent.reth is None:
            return 1
        if not self.tells_length(sent):
            return None
        if self.path_mtu is None:
            return None if sent.reth.length > PATH_MTUS[0] else 1
        return max(1, -(-sent.reth.length // self.path_mtu))

    def spans(self, sent: Sent) -> set[int]:
        """The PSNs that it may take: one number, or one for each path MTU where that is open."""
        span = self.span(sent)
        if span is None and sent.reth is not None and self.tells_length(sent):
            return {max(1, -(-sent.reth.length // mtu)) for mtu in PATH_MTUS}
        return {span or 1}

    def tells_length(self, sent: Sent) -> bool:
        """Whether the length in a READ can be believed: it may be what suffered."""
        return not (sent.on_the_way or (sent.damaged and self.side.fault_is_known))

    @property
    def steps(self) -> Iterator[Step]:
        for run in self.runs:
            yield from run

    @property
    def new(self) -> Iterator[Sent]:
        """Its requests without those that were sent before."""
        yield self.first
        for step in self.steps:
            yield step.after
        for recovery in self.recoveries:
            if recovery.onward is not None:
                yield recovery.onward

    @property
    def passed_over(self) -> Iterator[Sent]:
        """The damaged ones whose PSNs nothing bears out, and no other has."""
        known = {sent.psn for sent in self.requests if not sent.damaged}
        new = {sent.number for sent in self.new}
        for sent in self.requests:
            if sent.damaged and sent.number not in new and sent.psn not in known:
                yield sent

    @cached_property
    def messages(self) -> Messages:
        """Where they begin and end."""
        return Messages(self.requests)

    def gap(self, step: Step) -> Gap:
        """What its messages tell of a gap."""
        if self.side.messages_are_odd:
            return Gap.BETWEEN
        return self.messages.judge_gap(step.before, step.after)

    @cached_property
    def completed(self) -> Completed:
        """What its responder says of them."""
        return Completed(self.requests, self.side.answers)

    @cached_property
    def torn(self) -> list[Step]:
        """Steps in which a UC message lost packets on its way to the capture."""
        if self.side.reliable:
            return []
        return [s for s in self.steps if s.wrong and self._missing_in(s) and self._is_torn(s)]

    @cached_property
    def wrong(self) -> list[Step]:
        """Steps that are neither right nor the work of a network that lost packets."""
        return [step for step in self.steps if step.wrong and not self.excused(step)]

    def excused(self, step: Step) -> bool:
        """Whether every PSN left out came later, or was sent although it was not seen."""
        missing = self._missing_in(step)
        if not missing or self._is_torn(step):
            return bool(step.skipped)
        if not self.side.reliable:
            return False
        if all(psn in self.filled for psn in missing):
            return True
        return self._acknowledged(step, missing[-1]) and not self._none_missing(step)

    def _missing_in(self, step: Step) -> list[int]:
        """The PSNs left out, but for those of packets that were changed on the way."""
        skipped = step.skipped
        return skipped[astray(self.side.strays, skipped, step.before.number, step.after.number) :]

    def _is_torn(self, step: Step) -> bool:
        return self.gap(step) is Gap.TORN

    def _none_missing(self, step: Step) -> bool:
        """Whether the responder has counted no more messages, nor missed a byte of this one."""
        inside = not step.before.row.position & Position.LAST
        if inside and not self.side.messages_are_odd:
            return self.gap(step) is Gap.WHOLE
        return self.completed.all_seen(step.before.psn, step.after.psn)

    def _acknowledged(self, step: Step, last: int) -> bool:
        return self.side.accepted.among(last, _RESTART) > step.before.number


def streams_of(side: Side, budget: Budget) -> list[Stream]:
    """Sort a side's requests; one stream for every time its QP was set up."""
    lives: list[list[Sent]] = []
    newest: int | None = None
    for sent in side.requests:
        opens = bool(sent.row.position & Position.FIRST) and not sent.damaged
        far = newest is not None and abs(distance(sent.psn, newest)) > _RESTART
        narrow = newest is not None and not sent.damaged and wraps_early(newest, sent.psn)
        if not lives or (opens and far and not narrow):
            lives.append([])
            newest = None
        ahead = newest is None or narrow or distance(sent.psn, newest) > 0
        if ahead and not sent.damaged:
            newest = sent.psn
        lives[-1].append(sent)
    return [_sort(side, life, budget) for life in lives]


def _sort(side: Side, life: list[Sent], budget: Budget) -> Stream:
    """Sort one life, which begins with the first request whose PSN can be believed."""
    stream = Stream(side, life[0], side.path_mtu or learnt_mtu(side, life), life)
    begin = _begin(stream)
    stream.first = life[begin]
    sorter = _Sorter(stream, budget)
    for sent in life[begin + 1 :]:
        sorter.take(sent)
    return stream


def _begin(stream: Stream) -> int:
    """The place of the first request that did not suffer, or that the next one bears out."""
    for place, (sent, after) in enumerate(pairwise(stream.requests)):
        if not sent.damaged or distance(after.psn, sent.psn) == (stream.span(sent) or 1):
            return place
    return len(stream.requests) - 1


class _Sorter:
    """Sorts the requests of one stream."""

    def __init__(self, stream: Stream, budget: Budget) -> None:
        self.stream = stream
        self._budget = budget
        first = stream.first
        self._reliable = stream.side.reliable
        self._newest = first
        self._previous = first
        self._contents: dict[int, set[int]] = {first.psn: {first.content}}
        self._missing: set[int] = set()
        self._doubtful: set[int] = set()
        self._reads: PsnIndex[Sent] = PsnIndex(budget)
        self._note_read(first)
        self._recovery: Recovery | None = None
        self._passed_over = False
        """Whether something stood behind the newest whose PSN cannot be believed."""
        stream.runs.append([])

    def take(self, sent: Sent) -> None:
        if sent.damaged and not self._fits(sent):
            self._passed_over = True
            return
        late = sent.psn in self._missing or self._precedes(sent)
        if self._reliable and (late or self._repeats(sent)):
            self._repeat(sent, late=late)
        else:
            self._new(sent)
        self._contents.setdefault(sent.psn, set()).add(sent.content)
        if sent.damaged:
            self._doubtful.add(sent.psn)
        self._note_read(sent)
        self._previous = sent

    def _note_read(self, sent: Sent) -> None:
        """Keep a READ by the PSNs behind its own that it takes."""
        mtu = self.stream.path_mtu
        reads = sent.row.family is Family.READ and self.stream.tells_length(sent)
        if reads and sent.reth is not None and mtu is not None:
            more = min((sent.reth.length - 1) // mtu, (PSN_MODULUS >> 1) - 1)
            if more > 0:
                self._reads.add(sent.psn + 1, more, sent)

    def _fits(self, sent: Sent) -> bool:
        """Whether a damaged packet's PSN can be believed: it is due, or was seen or missed."""
        ahead = distance(sent.psn, self._newest.psn)
        due = ahead == (self.stream.span(self._newest) or 1)
        return due or sent.psn in self._missing or (self._reliable and sent.psn in self._contents)

    def _precedes(self, sent: Sent) -> bool:
        """Whether it was lost in front of the capture before the first request came."""
        ahead = distance(sent.psn, self.stream.first.psn)
        return -LARGEST_GAP <= ahead < 0 and sent.psn not in self._contents

    def _repeats(self, sent: Sent) -> bool:
        known = self._contents.get(sent.psn)
        if known and (sent.content in known or sent.damaged or sent.psn in self._doubtful):
            return True
        if sent.row.family is not Family.READ or sent.reth is None or self.stream.path_mtu is None:
            return False
        for read in self._reads.at(sent.psn):
            ahead = distance(sent.psn, read.psn) * self.stream.path_mtu
            return read.reth is not None and sent.reth.address == read.reth.address + ahead
        return False

    def _repeat(self, sent: Sent, *, late: bool) -> None:
        if late:
            self._missing.discard(sent.psn)
            self.stream.filled.add(sent.psn)
        if self._recovery is None or distance(sent.psn, self._previous.psn) <= 0:
            due = (self._newest.psn + (self.stream.span(self._newest) or 1)) % PSN_MODULUS
            self._recovery = Recovery(sent, self._previous, due)
            self.stream.recoveries.append(self._recovery)
        self._recovery.repeats.append(sent)
        self._recovery.sends_again |= not late

    def _new(self, sent: Sent) -> None:
        span = self.stream.span(self._newest)
        due = span is not None and distance(sent.psn, self._newest.psn) == span
        step = Step(self._newest, sent, span if due or not self._passed_over else None)
        self._passed_over = False
        skipped = step.skipped
        self._budget.spend(len(skipped))
        self._missing.update(skipped)
        if self._recovery is not None:
            self._recovery.resumed = step
            self._recovery = None
            self.stream.runs.append([])
        else:
            self.stream.runs[-1].append(step)
        self._newest = sent
