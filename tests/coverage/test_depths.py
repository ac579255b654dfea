# SPDX-License-Identifier: BSD-2-Clause
"""What a wrapper keeps from a core is told: how much was ever outstanding."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from roceproof.conformance.coverage.collector import Collector
from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.coverage.depths import HELD, MOST, told_depth
from roceproof.conformance.coverage.document import Coverage
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.targets.bus_events import Completed, Configured, Posted
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Work

PLACES, CYCLES = 4, 100


def coverage_of(
    counts: Counts, *, claimed: int | None, widths: tuple[int, ...] = (64,)
) -> Coverage:
    scope = Scope.of([ModelFactory().claims])
    scope = replace(scope, widths=widths, outstanding=claimed)
    return Coverage("hdl", "mine", scope, counts=counts)


def life_of_a_tracker(*, messages: int) -> Counts:
    """A device that takes four messages, and each more only when one has completed."""
    source, counts = ModelFactory(), Counts()
    claims = replace(source.claims, data_width=64)
    spec = QpSpec(service=Service.RC, remote=Host(bytes(6), bytes(4)), remote_qpn=3, local_qpn=2)
    with source.device(CasePlace(name="depths", seed=1)) as target:
        collector = Collector(target, claims, counts)
        collector.observe(Configured(0, 2, spec))
        for number in range(messages):
            is_waiting = number >= PLACES
            if is_waiting:
                collector.observe(Completed(number * CYCLES, 2, number - PLACES, "success"))
            work = Work(wr_id=number, op=Op.WRITE, data=b"")
            offered = (number - 1) * CYCLES if is_waiting else number * CYCLES
            collector.observe(Posted(number * CYCLES + 1, 2, work, offered=offered))
        collector.finish()
    return counts


@pytest.mark.parametrize(
    ("messages", "claimed", "words"),
    [
        (9, 64, "never more than 4 messages .* the manifest lets 64: .* depth of a tracker"),
        (9, None, "never more than 4 messages .* the manifest lets any number"),
        (9, 4, "at most 4 messages .*: outstanding_messages = 4 lets no more be tried"),
        (9, 3, "at most 4 messages .*, with what failed queue pairs flush: .* = 3 lets"),
        (3, 64, "at most 3 messages .*: no more were offered"),
    ],
)
def test_how_much_was_outstanding_is_told(messages: int, claimed: int | None, words: str) -> None:
    told = told_depth(coverage_of(life_of_a_tracker(messages=messages), claimed=claimed))
    assert told is not None
    assert re.match(words, told), told


def test_nothing_is_told_where_no_clock_shows_it() -> None:
    counts = life_of_a_tracker(messages=9)
    assert told_depth(coverage_of(counts, claimed=64, widths=())) is None
    assert told_depth(coverage_of(Counts(), claimed=64)) is None


def test_names_of_anybody_are_no_numbers() -> None:
    counts = Counts()
    for name in ("9" * 30, "x", "\u0664", "-1"):
        counts.add(MOST, name)
        counts.add(HELD, name)
    assert told_depth(coverage_of(counts, claimed=64)) is None


def test_the_claim_is_kept_and_merged() -> None:
    coverage = coverage_of(life_of_a_tracker(messages=9), claimed=64)
    again = Coverage.from_json(coverage.to_json())
    assert told_depth(again.merged(again)) == told_depth(coverage)
