# SPDX-License-Identifier: BSD-2-Clause
"""Watches an RC requester that retransmits, from the wire alone.

Every request is NEW, a COPY of one that left before, a READ asked for AGAIN from a later
response on, or a violation of the most precise rule. A response needs time to take effect,
so the monitor keeps all states that the requester may be in (`possible_states`) and accuses
only if none of them admits what it sees (`allowed_sends`), by the rule that `rule_attribution`
chooses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from roceproof.conformance.model.monitor.allowed_sends import Allowance, admitted, allowances
from roceproof.conformance.model.monitor.copies import changed, is_unlike, lacks_ack_request
from roceproof.conformance.model.monitor.expected import Expected, difference
from roceproof.conformance.model.monitor.possible_states import Candidates
from roceproof.conformance.model.monitor.rule_attribution import rule_against, rule_against_silence
from roceproof.conformance.model.monitor.sent import Sent, WireRecord
from roceproof.conformance.model.monitor.state import WatchState
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.rules.table import breaks_a_must
from roceproof.conformance.wire.opcodes import name_of
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.work import LOCAL_ERRORS, Outcome, Work


class Kind(Enum):
    NEW = "the first with its PSN"
    COPY = "one that left before"
    READ_AGAIN = "a READ for the rest of its responses"
    VIOLATION = "none that may leave"


class Sighting(NamedTuple):
    """A request as the monitor saw it; a COPY may break a rule, too."""

    kind: Kind
    violation: Violation | None = None


@dataclass(frozen=True, kw_only=True)
class MonitorTiming:
    """What the monitor takes for granted of the device and the wire to it."""

    reaction_ns: int = 2_000  # until a response that was sent to it must have taken effect
    prompt_ns: int = 20_000  # until what must follow at once has followed


class RequesterMonitor:
    """One queue pair. `sent` and `heard` come in the order of time."""

    def __init__(self, spec: QpSpec, *, timing: MonitorTiming | None = None) -> None:
        self.violations: list[Violation] = []
        self._spec = spec
        self._timing = timing or MonitorTiming()
        self._wire = WireRecord(spec.sq_psn, spec.path_mtu)
        self._candidates = Candidates(spec, self._wire)
        self._expected: Expected | None = None
        self._completed = 0
        self._silence_told = False

    # what happens

    def posted(self, work: Work) -> None:
        """Work was posted. If the monitor knows all of it, it judges new packets by it, too."""
        if self._expected is None:
            self._expected = Expected(self._spec)
        self._expected.post(work)

    def heard(self, response: Segment, now_ns: int, *, lag_ns: int | None = None) -> None:
        """A response went out to the requester, which heeds it within `lag_ns`, else as usual."""
        self.elapsed(now_ns)
        self._silence_told = False
        self._candidates.hear(
            response, now_ns, self._timing.reaction_ns if lag_ns is None else lag_ns
        )

    def sent(self, request: Segment, now_ns: int, *, begun_ns: int | None = None) -> Sighting:
        """A request has left; its timer may run since it began to, perhaps behind another."""
        begun_ns = now_ns if begun_ns is None else begun_ns
        self._judge_silence(now_ns, is_over=True)
        self._silence_told = False
        reached = self._candidates.reached(now_ns)
        states = [
            after
            for before in reached
            for after in admitted(before, request, now_ns, self._wire, self._spec)
        ]
        if states:
            sighting = self._accept(request, now_ns, begun_ns)
        else:
            state, rule = self._accused(reached, request, now_ns)
            said = Violation(rule, self._told_allowed(now_ns), self._told(request))
            sighting = Sighting(Kind.VIOLATION, said)
            states = [self._resume(state, request, now_ns, begun_ns)]
        self._candidates.settle(states)
        if sighting.violation is not None:
            self.violations.append(sighting.violation)
        return sighting

    def elapsed(self, now_ns: int) -> None:
        """Nothing has left up to now."""
        self._judge_silence(now_ns, is_over=False)

    def completed(self, outcome: Outcome, now_ns: int) -> None:
        """The requester says that its next work has ended."""
        if outcome.is_receive or outcome.status in LOCAL_ERRORS:
            return
        reached = self._candidates.reached(now_ns)
        number, self._completed = self._completed, self._completed + 1
        end = self._wire.ends[number] if number < len(self._wire.ends) else None
        done = [end is not None and distance(end, state.oldest) <= 0 for state in reached]
        latest = reached[-1]
        if outcome.status == "success":
            if not any(done):
                self._report(_too_early(latest), "no completion", f"work {outcome.wr_id} completed")
        else:
            if all(done) and not any(state.may_have_died for state in reached):
                rule = "NAK-10" if latest.dead == "NAK-09" else "ACK-05"
                self._report(rule, f"success of work {outcome.wr_id}", outcome.status)
            elif not any(self._may_be_over(state) for state in reached):
                self._report(_gave_up(latest), "another attempt", outcome.status)
            self._candidates.settle(
                [replace(state, dead=state.dead or "QPS-03") for state in reached]
            )

    @property
    def oldest(self) -> int:
        """The first PSN without an answer, once the device has taken in all that it was sent."""
        return self._candidates.reached(0)[-1].oldest

    def has_answer(self, psn: int) -> bool:
        """Whether that PSN is answered in all states that have taken in all responses."""
        states = self._candidates.reached(0)
        latest = max(state.taken_in for state in states)
        return all(distance(psn, s.oldest) < 0 for s in states if s.taken_in == latest)

    def _may_be_over(self, state: WatchState) -> bool:
        return state.may_have_died or state.may_be_dead_by_now(self._spec)

    def allowed(self, now_ns: int) -> list[Allowance]:
        """The PSNs that may leave next, each from its earliest time on."""
        found: dict[int, int] = {}
        for state in self._candidates.reached(now_ns):
            for psn, time in allowances(state, self._wire, self._spec):
                found[psn] = min(time, found.get(psn, time))
        return [Allowance(psn, time) for psn, time in found.items()]

    # packets

    def _accept(self, request: Segment, now_ns: int, begun_ns: int) -> Sighting:
        """Note a packet that may leave, and judge what it says."""
        psn = request.bth.psn
        if psn == self._wire.fresh:
            self._wire.add(request, now_ns, begun_ns)
            return Sighting(Kind.NEW, self._judge_new(request))
        sent = self._wire.at(psn)
        assert sent is not None
        violation = self._judge_copy(sent, request)
        self._wire.repeat(sent, psn, now_ns, begun_ns)
        return Sighting(Kind.COPY if sent.psn == psn else Kind.READ_AGAIN, violation)

    def _judge_new(self, request: Segment) -> Violation | None:
        if self._expected is None:
            return None
        if not self._expected.is_owed:
            return Violation("PSN-06", "no packet: all work has left", self._told(request))
        return difference(self._expected.take(request.bth.psn), request)

    def _judge_copy(self, sent: Sent, request: Segment) -> Violation | None:
        violation = changed(sent, request, self._spec.path_mtu)
        if violation is not None and self._wire.twin_of(request, sent.psn) not in (None, sent):
            return violation._replace(rule="PSN-06")
        if violation is not None and is_unlike(sent, request):
            return violation._replace(rule="RTX-24")
        if violation is None and lacks_ack_request(request):
            return Violation("RTX-20", "AckReq on the end of a message", self._told(request))
        return violation

    def _accused(
        self, reached: Sequence[WatchState], request: Segment, now_ns: int
    ) -> tuple[WatchState, str]:
        """The rule that a packet breaks, and in which state.

        Of all states the latest, but one in which it breaks no must: the requester may be there.
        """
        told = [
            (state, rule_against(state, self._wire, self._spec, request, now_ns))
            for state in reached
        ]
        lesser = [each for each in told if not breaks_a_must(each[1:])]
        return (lesser or told)[-1]

    def _resume(
        self, state: WatchState, request: Segment, now_ns: int, begun_ns: int
    ) -> WatchState:
        """Where the requester seems to be after a packet that it may not send."""
        psn = request.bth.psn
        sent = self._wire.at(psn) if distance(psn, self._wire.fresh) < 0 else None
        end = state.cursor
        if sent is not None:
            self._wire.repeat(sent, psn, now_ns, begun_ns)
            end = sent.end if distance(psn, state.oldest) >= 0 else end
        elif distance(psn, self._wire.fresh) >= 0:
            end = self._wire.add(request, now_ns, begun_ns).end
        return replace(state.goes_on(end), not_before=0, ignored=None, may_restart=None)

    # reports

    def _judge_silence(self, now_ns: int, *, is_over: bool) -> None:
        if self._silence_told:
            return
        prompt_ns = self._timing.prompt_ns + self._timing.reaction_ns
        rules = [
            rule_against_silence(
                state, self._wire, self._spec, prompt_ns=prompt_ns, now_ns=now_ns, is_over=is_over
            )
            for state in self._candidates.reached(now_ns)
        ]
        if None not in rules:
            self._silence_told = True
            self._report(str(rules[-1]), self._told_allowed(now_ns), "nothing")

    def _report(self, rule: str, expected: str, got: str) -> None:
        self.violations.append(Violation(rule, expected, got))

    def _told(self, request: Segment) -> str:
        return f"{name_of(request.bth.opcode)} {self._relative(request.bth.psn)}"

    def _told_allowed(self, now_ns: int) -> str:
        told = [
            f"PSN {self._relative(psn)}" + (f" from {time} ns on" if time > now_ns else "")
            for psn, time in self.allowed(now_ns)
        ]
        return " or ".join(told) or "nothing"

    def _relative(self, psn: int) -> str:
        return f"{distance(psn, self._spec.sq_psn):+d}"


def _too_early(state: WatchState) -> str:
    if state.ignored is not None:
        return state.ignored.rule
    return "RTX-18" if state.naks else "ACK-08"


def _gave_up(state: WatchState) -> str:
    if state.rnr_naks:
        return "RNR-05"
    return "RTX-06" if state.lost_before else "RTX-05"
