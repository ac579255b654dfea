# SPDX-License-Identifier: BSD-2-Clause
"""All keys that are built into a device name memory there, and what is called wrong names none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import ACCESS_ERROR, ACK, NAK, WRITE_ONLY
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model.limited import LimitedModelFactory
from roceproof.dpi.manifest.dut import CONTRACT, load_manifest

KEYS = (6, 7, 8)
MANIFEST = f"""\
schema = 2
name = "built-in"
top = "roce_endpoint"
sources = ["{CONTRACT}"]
clock_ps = 6400
data_widths = [64]
[capabilities]
[limits]
qps = 4
[responder]
RC = ["WRITE"]
""" + "".join(
    f'[[region]]\nrkey = {key}\nlength = 4096\naccess = ["remote_write"]\n' for key in KEYS
)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    path = tmp_path / "dut.toml"
    path.write_text(MANIFEST)
    source = LimitedModelFactory(load_manifest(path))
    with source.device(CasePlace(name="keys", seed=1)) as target:
        yield Bench(target, source.claims, seed=1)


def test_a_key_that_no_case_has_asked_for_is_right_all_the_same(bench: Bench) -> None:
    region = bench.target.register(8)
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=0, payload=8, a=1, va=region.addr, rkey=region.rkey ^ 1))
    qp.expect(ACK(psn=0))


@pytest.mark.parametrize("mask", [1, 1 ^ 8, 1 << 31])
def test_a_wrong_key_is_that_of_no_region(bench: Bench, mask: int) -> None:
    region = bench.target.register(8)
    assert region.wrong_key(0) == region.rkey
    assert region.wrong_key(mask) not in KEYS
    qp = bench.connect()
    wrong = {**at(region), "rkey": region.wrong_key(mask)}
    qp.send(WRITE_ONLY(psn=0, payload=8, a=1, **wrong))
    qp.expect(NAK(ACCESS_ERROR, psn=0))
