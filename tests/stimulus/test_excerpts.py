# SPDX-License-Identifier: BSD-2-Clause
"""Devices on the wall's clock play short plans, which have all that they need."""

from __future__ import annotations

from dataclasses import replace

from roceproof.conformance.stimulus.drawing.excerpts import excerpt
from roceproof.conformance.stimulus.drawing.requests import draw_requests
from roceproof.conformance.stimulus.plan import Plan, Step
from roceproof.conformance.stimulus.run_plan import draws_of
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.model.device import ModelFactory

ACTS = ("request", "settle", "flawed", "again", "wait")


def test_a_seed_gives_the_same_short_plan_again(model: ModelFactory) -> None:
    on_the_wall = model.claims.capabilities - {Capability.LOCKSTEP}
    claims = replace(model.claims, capabilities=on_the_wall)
    whole = [draws(5, model.claims, None) for draws in draws_of(model.claims)]
    short = [draws(5, claims, None) for draws in draws_of(claims)]
    assert short == [draws(5, claims, None) for draws in draws_of(claims)]
    assert [len(plan.steps) for plan in short] < [len(plan.steps) for plan in whole]


def test_what_is_odd_comes_more_often_than_its_share() -> None:
    plain = [Step("request", {"key": 0})] * 300

    def hits(**said: int) -> int:
        one = Step("request", {"key": 0, **said})
        plan = Plan(steps=(*plain, one, *plain))
        return sum(one in excerpt(plan, seed).steps for seed in range(1000))

    assert hits(bytes=0) > 1.3 * hits(immediate=1) > 0


def test_every_queue_pair_is_there_before_anything_is_asked_of_it(model: ModelFactory) -> None:
    for seed in range(50):
        plan = excerpt(draw_requests(seed, model.claims), seed)
        opened = set()
        for step in plan.steps:
            if step.name == "connect":
                opened.add(step.fields["key"])
            assert step.fields.get("key", min(opened, default=None)) in {*opened, None}
        assert sum(step.name in ACTS for step in plan.steps) <= 24


def test_of_what_sets_up_the_lives_that_are_over_are_left_out() -> None:
    names = ["connect", "region", "receive", "connect", "receive", *["request"] * 99]
    said = [{"key": 0, "n": at} for at in range(len(names))]
    plan = Plan(steps=tuple(map(Step, names, said)))
    kept = [step.fields["n"] for step in excerpt(plan, 2).steps if step.name != "request"]
    assert kept == [3, 1, 4]
    assert excerpt(plan.having(plan.steps[:6]), 2).steps == plan.steps[:6]
