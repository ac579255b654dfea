# SPDX-License-Identifier: BSD-2-Clause
"""Judges one RC queue pair of a device that retransmits: the monitor's states, and every byte."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import Protocol

from roceproof.conformance.model.monitor.deciding_codes import DecidingCodes
from roceproof.conformance.model.monitor.requester_monitor import MonitorTiming, RequesterMonitor
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import AWAIT_DATA
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.stimulus.requester.credit_bound import CreditBound
from roceproof.conformance.stimulus.requester.deferred_completions import EarlyTrack
from roceproof.conformance.stimulus.requester.incarnation import FLUSHED, Life
from roceproof.conformance.stimulus.requester.requester_checker import Track
from roceproof.conformance.stimulus.requester.state import (
    BAD_RESPONSE,
    SUCCESS,
    Awaited,
    Response,
)
from roceproof.conformance.stimulus.requester.tolerance import is_as_wanted
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.psn import PSN_MODULUS, distance
from roceproof.verbs.service import Service
from roceproof.verbs.work import LOCAL_ERRORS, Op, Outcome, Work

_LENGTH = "loc_len_err"
TIMING = MonitorTiming(reaction_ns=25_000, prompt_ns=1_000_000)


class Judge(Protocol):
    """Who knows what one queue pair may do."""

    newest: int

    def configured(self, life: Life) -> None: ...
    def posted(self, work: Work) -> None: ...
    def answered(self, response: Response) -> None: ...
    def rested(self, since_ns: int) -> None: ...
    def takes(self, frame: bytes, time_ns: int, *, begun_ns: int) -> int | None: ...
    def completes(self, outcome: Outcome, time_ns: int) -> bool: ...
    def expected_frames(self, came: bytes = b"") -> list[bytes]: ...
    def repeats(self, frame: bytes) -> list[bytes]: ...
    def owed(self) -> list[str]: ...
    def overdue(self, now_ns: int, grace_ns: int) -> bool: ...
    def sent_aside(self) -> None: ...
    @property
    def posted_count(self) -> int: ...
    @property
    def uncertain_lives(self) -> int: ...
    @property
    def violations(self) -> list[Violation]: ...
    @property
    def is_dead(self) -> bool: ...
    @property
    def unanswered(self) -> tuple[int, int] | None: ...
    @property
    def awaited(self) -> list[Awaited]: ...
    def has_answer(self, psn: int) -> bool: ...
    @property
    def end_psn(self) -> int: ...


class WatchedTrack:
    """Work by work; a new life begins only when the one before has ended."""

    def __init__(self, life: Life, timing: MonitorTiming = TIMING) -> None:
        self.works: list[Work] = []
        self._timing = timing
        self.configured(life)

    def configured(self, life: Life) -> None:
        self.life = life
        self.newest = (life.spec.sq_psn - 1) % PSN_MODULUS
        self._first = len(self.works)
        self._starts: list[int] = []  # of each work of this life, counted from its first PSN
        self._end = 0
        self._seen = 0  # packets that have left once
        self._acknowledged = 0
        self._open: list[Work] = []
        """Without a completion."""
        self._asked: dict[int, set[int]] = {}
        """From which offsets the READs and atomics that have left were asked for."""
        self._identity = life.spec.ip_id
        self._failed = self._had_begun = False
        self._failed_ns: int | None = None  # unless completions have no time
        self._monitor = RequesterMonitor(life.spec, timing=self._timing)
        self._codes = DecidingCodes(life.spec.sq_psn)
        self._credits = CreditBound()
        self._beyond: list[Violation] = []

    @property
    def posted_count(self) -> int:
        """How much work there has been."""
        return len(self.works)

    @property
    def uncertain_lives(self) -> int:
        return 0

    @property
    def violations(self) -> list[Violation]:
        """What the monitor holds against the device, and what its credits do."""
        return self._monitor.violations + self._beyond

    def posted(self, work: Work) -> None:
        self.works.append(work)
        self._open.append(work)
        self._starts.append(self._end)
        if self.life.refusal(work) is None:
            self._end += self.life.span(work)

    def answered(self, response: Response) -> None:
        segment = response.packet(self.life.spec.local_qpn)
        self._codes.heard(segment)
        heeded_ns = response.waits_ns + self._timing.reaction_ns
        lag_ns = min(heeded_ns, response.expires_ns - response.sent_ns)
        self._monitor.heard(segment, response.sent_ns, lag_ns=lag_ns)
        start = self.life.spec.sq_psn
        place = distance(response.psn, start)
        if place < self._end:
            self._credits.heard(segment, place + response.is_ack)
        if response.is_ack and place < self._seen:
            # before it data may be missing, or an RNR wait goes on
            reached = min(place + 1, distance(self._monitor.oldest, start))
            self._acknowledged = max(self._acknowledged, reached)

    def rested(self, since_ns: int) -> None:
        """The monitor knows time."""

    def sent_aside(self) -> None:
        """A packet left that is no request, and counts among the identities."""
        self._identity = self.life.identity_behind(self._identity)

    def takes(self, frame: bytes, time_ns: int, *, begun_ns: int) -> int | None:
        """Whether its bytes are those of its PSN, and the monitor lets it leave."""
        packet = parse(frame)
        if packet is None:
            return None
        psn = packet.bth.psn
        place = distance(psn, self.life.spec.sq_psn)
        wanted = self._at(place, frame)
        if wanted is None or not is_as_wanted(frame, wanted):
            return None
        self._identity = self.life.identity_behind(self._identity)
        index, work = self._work_at(place)
        psns = self.life.span(work) if work.op in AWAIT_DATA else 1
        if place == self._seen:
            self._beyond += self._without_credit(index, place)
            self._seen, self.newest = place + psns, (psn + psns - 1) % PSN_MODULUS
        if work.op in AWAIT_DATA:
            self._asked.setdefault(index, set()).add(place - self._starts[index])
            self._acknowledged = min(self._acknowledged, place)  # it is answered from there again
        has_begun = self._failed_ns is None or begun_ns <= self._failed_ns
        if self._failed and has_begun and not self._had_begun:
            self._had_begun = True  # one frame was on its way when the failure was told
            return 0
        segment = Segment(packet.bth, packet.extensions, packet.payload)
        self._monitor.sent(segment, time_ns, begun_ns=begun_ns)
        return 0

    def completes(self, outcome: Outcome, time_ns: int) -> bool:
        """In the order of posting, each once; what is refused may come earlier."""
        is_first = self.life.flushes or not self._failed
        for place, work in enumerate(self._open):
            refused = self.life.refusal(work)
            may_end = outcome.status in {FLUSHED, *self.life.refusals(work)}
            if refused is None:
                names_length = work.op is Op.READ and outcome.status == _LENGTH
                may_end = is_first and (names_length or outcome.status not in LOCAL_ERRORS)
            if work.wr_id == outcome.wr_id and may_end and self._may_name(outcome, work):
                del self._open[place]
                if refused is None and outcome.status != SUCCESS and not self._failed:
                    self._failed, self._failed_ns = True, outcome.time_ns
                if refused is None:
                    told = outcome
                    if outcome.status == _LENGTH:  # which is a refusal to the monitor
                        told = replace(outcome, status=BAD_RESPONSE)
                    self._monitor.completed(told, time_ns)
                return True
            is_first &= refused is not None
        return False

    def _may_name(self, outcome: Outcome, work: Work) -> bool:
        """Whether its syndrome is that of a response that it may have ended by."""
        index = self.works.index(work, self._first) - self._first
        behind = [*self._starts, self._end][index + 1]
        return self._codes.admit(outcome, behind - 1)

    def expected_frames(self, came: bytes = b"") -> list[bytes]:
        """The packet that has not left yet."""
        frame = self._at(self._seen, came)
        return [] if frame is None else [frame]

    def repeats(self, frame: bytes) -> list[bytes]:
        """The packet of its PSN, if that has left."""
        packet = parse(frame)
        place = -1 if packet is None else distance(packet.bth.psn, self.life.spec.sq_psn)
        sent = self._at(place, frame) if place < self._seen else None
        return [] if sent is None else [sent]

    def owed(self) -> list[str]:
        if self._failed and not self.life.flushes:
            return []
        stage = "is flushed" if self._failed else "is not completed"
        return [f"work {work.wr_id:#x} which {stage}" for work in self._open]

    def overdue(self, now_ns: int, grace_ns: int) -> bool:
        """The monitor judges silence when something happens."""
        return False

    @property
    def is_dead(self) -> bool:
        return self._failed

    @property
    def unanswered(self) -> tuple[int, int] | None:
        """From the first PSN that is not acknowledged to the last one seen."""
        if self._acknowledged >= self._seen:
            return None
        start = self.life.spec.sq_psn
        return (start + self._acknowledged) % PSN_MODULUS, self.newest

    @property
    def awaited(self) -> list[Awaited]:
        start, found = self.life.spec.sq_psn, list[Awaited]()
        for index, offsets in sorted(self._asked.items()):
            work, place = self.works[self._first + index], self._starts[index]
            span = self.life.span(work)
            if place + span > self._acknowledged:
                psn = (start + place) % PSN_MODULUS
                found.append(Awaited(work, psn, span, frozenset(offsets)))
        return found

    def has_answer(self, psn: int) -> bool:
        return self._monitor.has_answer(psn)

    @property
    def end_psn(self) -> int:
        return (self.life.spec.sq_psn + self._end) % PSN_MODULUS

    def _without_credit(self, index: int, place: int) -> list[Violation]:
        """What is wrong with the packet at that place, of that work of this life."""
        if not self.life.spec.flow_control:
            return []
        *before, work = self.works[self._first : self._first + index + 1]
        number = 1 + sum(self.life.refusal(each) is None for each in before)
        beyond = self._credits.against(work.op, number, place)
        return [beyond] if beyond else []

    def _work_at(self, place: int) -> tuple[int, Work]:
        """The work that has a PSN, and which one of this life it is."""
        index = bisect_right(self._starts, place) - 1
        return index, self.works[self._first + index]

    def _at(self, place: int, came: bytes = b"") -> bytes | None:
        if not 0 <= place < self._end:
            return None
        index, work = self._work_at(place)
        psn = (self.life.spec.sq_psn + self._starts[index]) % PSN_MODULUS
        offset = place - self._starts[index]
        return self.life.frame(work, offset, psn, self._identity, came=came)


def judge_of(
    life: Life, *, retransmits: bool, is_ordered: bool, timing: MonitorTiming = TIMING
) -> Judge:
    """The judge for a queue pair of that kind."""
    if retransmits and life.spec.service is Service.RC:
        return WatchedTrack(life, timing)
    return Track(life) if is_ordered else EarlyTrack(life)
