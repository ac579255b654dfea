# SPDX-License-Identifier: BSD-2-Clause
"""A field that joins the record of a queue pair is in random plans, without anybody naming it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.stimulus.drawing import derived
from roceproof.conformance.stimulus.drawing.plans import draw_plan
from roceproof.conformance.targets.interface import Claims
from roceproof.conformance.targets.manifest_claims import claims_of
from roceproof.dpi import load_manifest
from roceproof.dpi.contract.fields import Field, contract_fields

JOINED = Field("qp_config_t", "joined", 0, 4, first=2, last=13)
SEEDS = range(60)


@pytest.mark.parametrize("manifest", ["dut.toml", "responder.toml"])
def test_a_field_that_joins_is_drawn_at_its_ends_and_in_all_its_bits(
    manifest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = claims_of(load_manifest(REPOSITORY / "rtl" / manifest), 64)
    before = [plan_of(seed, claims) for seed in SEEDS]
    known = contract_fields()
    more = {**known, "qp_config_t": {**known["qp_config_t"], JOINED.name: JOINED}}
    monkeypatch.setattr(derived, "contract_fields", lambda: more)
    monkeypatch.setattr(derived, "NUMBERS", {*derived.NUMBERS, JOINED.name})
    drawn = [plan_of(seed, claims) for seed in SEEDS]
    values = {spec[JOINED.name] for plan in drawn for spec in plan}
    assert {*JOINED.ends.values()} <= values <= {*range(2, 14)}
    assert all(
        any(value >> bit & 1 == one for value in values) for bit in range(4) for one in (0, 1)
    )
    assert [len(plan) for plan in drawn] == [len(plan) for plan in before]


def test_what_a_responder_is_told_is_drawn() -> None:
    claims = claims_of(load_manifest(REPOSITORY / "rtl" / "responder.toml"), 64)
    told = {name for seed in SEEDS for spec in plan_of(seed, claims) for name in spec}
    assert {"qkey", "max_dest_rd_atomic"} <= told


def plan_of(seed: int, claims: Claims) -> list[Mapping[str, object]]:
    """The configurations of a plan."""
    return [step.fields for step in draw_plan(seed, claims).steps if step.name == "connect"]
