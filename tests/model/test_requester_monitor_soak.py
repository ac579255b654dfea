# SPDX-License-Identifier: BSD-2-Clause
"""A healthy requester gives the monitor no cause, whatever the network does to it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from lossy_network import Impairment
from soak import Soak

from roceproof.conformance.model.monitor.requester_monitor import (
    Kind,
    MonitorTiming,
    RequesterMonitor,
)
from roceproof.conformance.model.requester.policy import RequesterPolicy, Reread, ResponseGap
from roceproof.conformance.model.segment import Segment

MESSAGES = 100
BAD = Impairment(loss=0.05, duplication=0.05, lateness=0.1)
POLICIES = {
    "usual": RequesterPolicy(),
    "whole READs": RequesterPolicy(reread=Reread.WHOLE),
    "waits for timeouts": RequesterPolicy(response_gap=ResponseGap.WAIT),
    "early timeouts": RequesterPolicy(timeout_percent=100),
    "late timeouts": RequesterPolicy(timeout_percent=400),
    "small window": RequesterPolicy(max_outstanding=4, ack_interval=2),
}


def watched(
    seed: int, impairment: Impairment, policy: RequesterPolicy, timing: MonitorTiming
) -> tuple[RequesterMonitor, Counter[Kind]]:
    kinds: Counter[Kind] = Counter()

    def sent(now: int, segment: Segment) -> None:
        kinds[monitor.sent(segment, now).kind] += 1

    soak = Soak(
        seed,
        MESSAGES,
        impairment,
        policy=policy,
        sent=sent,
        heard=lambda now, segment: monitor.heard(segment, now),
    )
    monitor = RequesterMonitor(soak.spec, timing=timing)
    for work in soak.works:
        monitor.posted(work)
    assert soak.run()
    soak.check()
    for outcome in soak.model.outcomes:
        monitor.completed(outcome, soak.network.now)
    monitor.elapsed(soak.network.now + 1_000_000)
    return monitor, kinds


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("seed", range(30, 33))
def test_a_healthy_requester_breaks_no_rule_on_a_bad_network(
    policy: RequesterPolicy, seed: int
) -> None:
    monitor, kinds = watched(seed, BAD, policy, MonitorTiming(reaction_ns=0))
    assert monitor.violations == []
    assert min(kinds[Kind.NEW], kinds[Kind.COPY]) > MESSAGES // 2


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("seed", range(40, 44))
def test_a_healthy_requester_breaks_no_rule_if_responses_take_effect_at_unknown_times(
    seed: int,
) -> None:
    timing = MonitorTiming(reaction_ns=3_000, prompt_ns=40_000)
    monitor, _ = watched(seed, BAD, RequesterPolicy(), timing)
    assert monitor.violations == []


def test_partial_requests_for_lost_responses_are_seen_as_such() -> None:
    _, kinds = watched(50, replace(BAD, loss=0.1), RequesterPolicy(), MonitorTiming())
    assert kinds[Kind.READ_AGAIN] > 0
    assert kinds[Kind.VIOLATION] == 0
