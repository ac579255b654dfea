# SPDX-License-Identifier: BSD-2-Clause
"""Requesters with one fault each: the monitor sees it beside a bad network, by the rule it breaks.

Each fault is one step of the specification done wrongly, so these are also the places where
the model can be corrupted.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from lossy_network import Impairment
from soak import Soak

from roceproof.conformance.model.codes import rnr_wait_ns
from roceproof.conformance.model.monitor.requester_monitor import MonitorTiming, RequesterMonitor
from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.wire.headers import Aeth, ImmDt, Reth
from roceproof.verbs.queue_pair import QpSpec

BAD = Impairment(loss=0.05, duplication=0.05, lateness=0.1)
SLOW = RequesterPolicy(packet_interval_ns=400)  # so that much happens during a replay
MESSAGES = 60
SEEDS = range(60, 66)


class RestartsOneLater(RcRequester):
    def restart_point(self) -> int:
        point = ahead(super().restart_point(), 1)
        return point if self.window.holds(point) else super().restart_point()


class RestartsAtTheMessage(RcRequester):
    def restart_point(self) -> int:
        return self.window.message_at(self.window.oldest).first_psn


class ResendsOnePacket(RcRequester):
    def next_request(self, now_ns: int) -> Segment | None:
        replays = self.window.replays
        segment = super().next_request(now_ns)
        if replays:
            self.window.next = self.window.fresh
        return segment


class ResendsUnderNewPsns(RcRequester):
    def go_back(self) -> None:
        window = self.window
        self._posted.extendleft(message.work for message in reversed(window.messages))
        window.messages.clear()
        window.oldest = window.next = window.fresh
        self._timeout_at = None


class RelabelsTheFirstCopy(RcRequester):
    def next_request(self, now_ns: int) -> Segment | None:
        is_copy = self.window.replays
        segment = super().next_request(now_ns)
        if segment is None or not is_copy or segment.bth.opcode != 0x07:
            return segment
        return replace(segment, bth=replace(segment.bth, opcode=0x06))


class CorruptsCopies(RcRequester):
    def corrupt(self, segment: Segment) -> Segment:
        return segment

    def next_request(self, now_ns: int) -> Segment | None:
        is_copy = self.window.replays
        segment = super().next_request(now_ns)
        return self.corrupt(segment) if segment is not None and is_copy else segment


class SendsOtherBytesAgain(CorruptsCopies):
    def corrupt(self, segment: Segment) -> Segment:
        return replace(segment, payload=bytes(len(segment.payload)))


class CutsCopies(CorruptsCopies):
    def corrupt(self, segment: Segment) -> Segment:
        return replace(segment, payload=segment.payload[:4])


class ForgetsTheImmediate(CorruptsCopies):
    def corrupt(self, segment: Segment) -> Segment:
        kept = [ImmDt(1) if isinstance(x, ImmDt) else x for x in segment.extensions]
        return replace(segment, extensions=tuple(kept))


class ForgetsToAsk(CorruptsCopies):
    def corrupt(self, segment: Segment) -> Segment:
        return replace(segment, bth=replace(segment.bth, ack_req=False))


class ReadsTheWrongRest(CorruptsCopies):
    def corrupt(self, segment: Segment) -> Segment:
        reth = segment.extension(Reth)
        if segment.bth.opcode != 0x0C or reth is None:
            return segment
        message = self.window.message_at(segment.bth.psn)
        return replace(segment, extensions=message.request(0).extensions)


class TimesOutEarly(RcRequester):
    def timeout_from(self, now_ns: int) -> int | None:
        late = super().timeout_from(now_ns)
        return None if late is None else now_ns + (late - now_ns) // 4


class TimesOutLate(RcRequester):
    def timeout_from(self, now_ns: int) -> int | None:
        late = super().timeout_from(now_ns)
        return None if late is None else now_ns + (late - now_ns) * 5


class IgnoresNaks(RcRequester):
    def sequence_nak(self, psn: int, now_ns: int) -> None:
        self.all_before(psn, now_ns)


class RestartsForEachNak(RcRequester):
    def retry_at_once(self) -> None:
        self._has_restarted = False
        super().retry_at_once()


class ObeysLateNaks(RcRequester):
    def receive(self, segment: Segment, now_ns: int) -> None:
        aeth = segment.extension(Aeth)
        is_nak = aeth is not None and aeth.syndrome == 0x60
        if is_nak and not self.window.holds(segment.bth.psn) and self.window.outstanding:
            self.window.go_back(self.window.oldest)
        super().receive(segment, now_ns)


class WaitsTooShort(RcRequester):
    def rnr_wait(self, timer_code: int) -> int:
        return rnr_wait_ns(timer_code) // 2


class CountsRnrToSeven(RcRequester):
    def rnr_nak(self, psn: int, timer_code: int, now_ns: int) -> None:
        super().rnr_nak(psn, timer_code, now_ns)
        self.fail("rnr_retry_exc_err")


class CompletesReadsWithoutData(RcRequester):
    def all_before(self, psn: int, now_ns: int) -> bool:
        self.progress(psn, now_ns)
        return True


class CompletesWhenSent(RcRequester):
    def next_request(self, now_ns: int) -> Segment | None:
        segment = super().next_request(now_ns)
        if segment is not None and segment.bth.opcode == 0x0A:
            self.progress(self.window.fresh, now_ns)
        return segment


class NeverRestoresRetries(RcRequester):
    def __init__(self, spec: QpSpec, policy: RequesterPolicy | None = None) -> None:
        super().__init__(spec, policy)
        self.retries.restore = lambda: None  # type: ignore[method-assign]


class RetriesOnceMore(RcRequester):
    def timeout(self) -> None:
        if not self.retries.after_timeout():
            self.retries.restore()
        self.go_back()


class AsksForTooManyReads(RcRequester):
    def may_ask_for_data(self) -> bool:
        return True


class IgnoresAcksInReplays(RcRequester):
    def progress(self, psn: int, now_ns: int) -> None:
        before = self.window.next
        replays = self.window.replays
        super().progress(psn, now_ns)
        if replays and any(m.offset(before) >= 0 for m in self.window.messages):
            self.window.next = before


MUTANTS: dict[type[RcRequester], str] = {
    RestartsOneLater: "NAK-06",
    RestartsAtTheMessage: "NAK-06",
    ResendsOnePacket: "RTX-04",
    ResendsUnderNewPsns: "PSN-06",
    RelabelsTheFirstCopy: "RTX-03",
    SendsOtherBytesAgain: "RTX-16",
    CutsCopies: "RTX-14",
    ForgetsTheImmediate: "IMM-06",
    ForgetsToAsk: "RTX-20",
    ReadsTheWrongRest: "RTX-17",
    TimesOutEarly: "RTX-01",
    TimesOutLate: "RTX-01",
    IgnoresNaks: "NAK-06",
    RestartsForEachNak: "RTX-09",
    ObeysLateNaks: "RTX-10",
    WaitsTooShort: "RNR-03",
    CountsRnrToSeven: "RNR-05",
    CompletesReadsWithoutData: "RTX-18",
    CompletesWhenSent: "ACK-08",
    NeverRestoresRetries: "RTX-06",
    AsksForTooManyReads: "READ-05",
    IgnoresAcksInReplays: "RTX-13",
}


def rules_broken_by(requester: type[RcRequester], seed: int) -> list[str]:
    """What the monitor says up to the end of the queue pair, or until the soak gives up."""
    told = 0

    def complete(now: int) -> None:
        nonlocal told
        for outcome in soak.model.outcomes[told:]:
            monitor.completed(outcome, now)
        told = len(soak.model.outcomes)

    def sent(now: int, segment: Segment) -> None:
        complete(now)
        monitor.sent(segment, now)

    def heard(now: int, segment: Segment) -> None:
        complete(now)
        monitor.heard(segment, now)

    soak = Soak(
        seed,
        MESSAGES,
        BAD,
        requester=requester,
        policy=SLOW,
        sent=sent,
        heard=heard,
    )
    timing = MonitorTiming(reaction_ns=0, prompt_ns=20_000)
    monitor = RequesterMonitor(soak.spec, timing=timing)
    for work in soak.works:
        monitor.posted(work)
    soak.run(steps=20_000)
    complete(soak.network.now)
    monitor.elapsed(soak.network.now + 10_000_000)
    return [violation.rule for violation in monitor.violations]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("mutant", "rule"), MUTANTS.items(), ids=[mutant.__name__ for mutant in MUTANTS]
)
def test_a_fault_in_recovery_is_seen_by_the_rule_that_it_breaks(
    mutant: type[RcRequester], rule: str
) -> None:
    assert any(rules_broken_by(mutant, seed)[:1] == [rule] for seed in SEEDS)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_a_fault_none_is_seen(seed: int) -> None:
    assert rules_broken_by(RcRequester, seed) == []
