# SPDX-License-Identifier: BSD-2-Clause
"""A device that holds a fixed number of READs and atomics is asked for no more at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ATOMIC_ACK,
    FETCH_ADD,
    READ_REQUEST,
    READ_RESP_ONLY,
    WRITE_ONLY,
)
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.verbs.limits import Limits


@contextmanager
def bench_of(**fixed: int) -> Iterator[Bench]:
    """A bench of a device of which nobody can choose this."""
    source = ModelFactory()
    with source.device(CasePlace(name="resources", seed=1)) as target:
        yield Bench(target, replace(source.claims, limits=Limits(fixed=fixed)), seed=1)


def test_two_at_once_are_not_tried_where_one_can_be_held() -> None:
    with bench_of(max_dest_rd_atomic=1) as bench:
        qp = bench.connect()
        where = at(qp.region())
        read = READ_REQUEST(psn=0, dmalen=8, **where)
        with pytest.raises(pytest.skip.Exception, match="max_dest_rd_atomic is always 1, not 2"):
            qp.send(read, WRITE_ONLY(psn=1), FETCH_ADD(psn=2, **where))


def test_one_after_the_other_is_tried_and_the_latest_again() -> None:
    with bench_of(max_dest_rd_atomic=1) as bench:
        qp = bench.connect()
        where = at(qp.region())
        read, atomic = READ_REQUEST(psn=0, dmalen=8, **where), FETCH_ADD(psn=1, **where)
        for request, answer in ((read, READ_RESP_ONLY(psn=0)), (atomic, ATOMIC_ACK(psn=1))):
            for _ in range(2):
                qp.send(request)
                qp.expect(answer)
        with pytest.raises(pytest.skip.Exception, match="always 1, not 2"):
            qp.send(read)


def test_a_case_that_says_how_many_goes_beyond_as_it_likes() -> None:
    with bench_of(max_dest_rd_atomic=1) as bench:
        qp = bench.connect(max_dest_rd_atomic=1)
        read = READ_REQUEST(psn=0, dmalen=8, **at(qp.region()))
        qp.send(read, read.but(psn=1))


def test_where_nothing_is_fixed_nothing_is_held_back() -> None:
    with bench_of() as bench:
        qp = bench.connect()
        read = READ_REQUEST(psn=0, dmalen=8, **at(qp.region()))
        qp.send(*(read.but(psn=psn) for psn in range(4)))


def test_a_fence_reads_nothing_where_no_read_can_be_held() -> None:
    with bench_of(max_dest_rd_atomic=0) as bench:
        bench.connect().fence(0)
