# SPDX-License-Identifier: BSD-2-Clause
"""What a case's queue pairs and work are called: anything, and the same for the same seed."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import and_, or_

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory

PLACES, SEEDS = 16, 30
QPN_BITS = 0xFFFFFF


def names_of(seed: int, *, qps: int = PLACES) -> tuple[list[int], list[int], list[int]]:
    """Local and remote numbers of as many queue pairs as there are, and some of work."""
    source = ModelFactory()
    with source.device(CasePlace(name="names", seed=seed)) as target:
        bench = Bench(target, replace(source.claims, qps=qps), seed=seed)
        pairs = [bench.connect() for _ in range(qps)]
        local = [qp.qp.qpn for qp in pairs]
        return local, [qp.spec.remote_qpn for qp in pairs], [bench.next_wr_id() for _ in range(99)]


def test_a_seed_names_all_as_before() -> None:
    assert names_of(7) == names_of(7)
    assert names_of(7) != names_of(8)


def test_queue_pairs_share_no_place_of_a_table() -> None:
    for seed in range(SEEDS):
        local, remote, _ = names_of(seed)
        assert {qpn % PLACES for qpn in local} == set(range(PLACES))
        assert len(set(remote)) == PLACES


def test_every_bit_of_a_number_is_both() -> None:
    local, remote, work = map(sum_of, zip(*map(names_of, range(SEEDS)), strict=True))
    for numbers in (local, remote):
        assert (reduce(and_, numbers), reduce(or_, numbers)) == (0, QPN_BITS)
    assert (reduce(and_, work), reduce(or_, work)) == (0, (1 << 64) - 1)


def sum_of(lists: tuple[list[int], ...]) -> list[int]:
    return [number for each in lists for number in each]


def test_the_first_place_is_not_always_the_first() -> None:
    assert {names_of(seed, qps=2)[0][0] % 2 for seed in range(SEEDS)} == {0, 1}


def test_work_has_62_bits_where_the_agent_carries_it() -> None:
    source = ModelFactory()
    claims = replace(source.claims, capabilities=source.claims.capabilities - {Capability.LOCKSTEP})
    with source.device(CasePlace(name="names", seed=1)) as target:
        bench = Bench(target, claims, seed=1)
        numbers = [bench.next_wr_id() for _ in range(200)]
    assert len(set(numbers)) == 200
    assert max(numbers) >> 61 == 1


def test_names_leave_what_else_a_case_draws_alone() -> None:
    source = ModelFactory()
    drawn = []
    for pairs in (0, 5):
        with source.device(CasePlace(name="names", seed=1)) as target:
            bench = Bench(target, source.claims, seed=1)
            for _ in range(pairs):
                bench.next_wr_id()
            drawn.append(bench.random.random())
    assert drawn[0] == drawn[1]
