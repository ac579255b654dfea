# SPDX-License-Identifier: BSD-2-Clause
"""A model under a manifest claims no more than that, and is asked for no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.cases import test_requester_retransmission as retransmission
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import CasePlace, TargetError
from roceproof.conformance.targets.model.limited import LimitedModelFactory
from roceproof.verbs.limits import Limits
from roceproof.verbs.queue_pair import State
from roceproof.verbs.work import Op, Work

MANIFEST = """\
schema = 2
name = "small"
top = "roce_endpoint"
sources = ["{package}"]
clock_ps = 6400
data_widths = [64]
[capabilities]
RC = ["WRITE"]
[limits]
path_mtus = [1024]
qps = 1
length_multiple = 4
outstanding_messages = 2
per_queue_pair = ["rkey"]
[fixed]
hop_limit = 64
solicited = false
"""


@pytest.fixture
def small(tmp_path: Path) -> Iterator[LimitedModelFactory]:
    from roceproof.dpi import load_manifest

    path = tmp_path / "dut.toml"
    path.write_text(MANIFEST.format(package=REFERENCE_DUT.parent / "roceproof_dut_pkg.sv"))
    yield LimitedModelFactory(load_manifest(path))


def test_it_claims_what_both_do(small: LimitedModelFactory) -> None:
    claims = small.claims
    assert claims.device == "the reference model as small"
    assert {Capability.RC, Capability.WRITE} <= claims.capabilities
    absent = {Capability.UC, Capability.SEND, Capability.RESPONDER, Capability.MARKS}
    assert not absent & claims.capabilities
    assert (claims.qps, claims.path_mtus, claims.limits.length_multiple) == (1, (1024,), 4)


@pytest.mark.parametrize(
    ("spec", "size", "said", "words"),
    [
        ({"path_mtu": 256}, 4, {}, "path MTU 256"),
        ({"hop_limit": 5}, 4, {}, "hop_limit is 5 and not 64"),
        ({}, 5, {}, "multiples of 4, not 5"),
        ({}, 4, {"solicited": True}, "solicited is True"),
        ({}, 4, {"rkey": 1}, "rkey is 1 and not 0"),
        ({}, 4, {"op": Op.SEND}, "it has no SEND on RC"),
    ],
)
def test_what_goes_beyond_is_an_error_of_the_bench(
    small: LimitedModelFactory, spec: dict, size: int, said: dict, words: str
) -> None:
    loose = replace(small.claims, limits=Limits(), path_mtus=(256, 1024))
    with small.device(CasePlace(name="small", seed=1)) as target:
        bench = Bench(target, loose, seed=1)
        with pytest.raises(TargetError, match=f"goes beyond the limits of the manifest: .*{words}"):
            qp = bench.connect(**{"path_mtu": 1024, "hop_limit": 64} | spec)
            if "rkey" in said:
                target.post(qp.qp, Work(wr_id=2, data=bytes(4), op=Op.WRITE))
            target.post(qp.qp, Work(wr_id=1, data=bytes(size), **{"op": Op.WRITE} | said))


def test_depth_counts_what_has_not_completed(small: LimitedModelFactory) -> None:
    with small.device(CasePlace(name="small", seed=1)) as target:
        qp = Bench(target, small.claims, seed=1).connect()
        for wr_id in (1, 2):
            target.post(qp.qp, Work(wr_id=wr_id, op=Op.WRITE, data=bytes(4)))
        with pytest.raises(TargetError, match="2 messages outstanding, not 3"):
            target.post(qp.qp, Work(wr_id=3, op=Op.WRITE, data=bytes(4)))


def test_work_on_a_queue_pair_that_was_reset_takes_no_room(small: LimitedModelFactory) -> None:
    with small.device(CasePlace(name="small", seed=1)) as target:
        qp = Bench(target, small.claims, seed=1).connect()
        target.set_state(qp.qp, State.RESET)
        for wr_id in range(4):
            target.post(qp.qp, Work(wr_id=wr_id, op=Op.WRITE, data=bytes(4)))


def test_what_happens_beside_another_queue_pair_is_not_asked_of_a_device_with_one(
    small: LimitedModelFactory,
) -> None:
    with small.device(CasePlace(name="beside", seed=1)) as target:
        bench = Bench(target, small.claims, seed=1)
        with pytest.raises(pytest.skip.Exception, match="no more queue pairs than 1"):
            retransmission.test_what_leaves_in_any_cycle_of_anothers_configuration_is_sent_again(
                bench
            )
