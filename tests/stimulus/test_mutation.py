# SPDX-License-Identifier: BSD-2-Clause
"""Mutated plans differ, can be played, and find nothing in healthy devices."""

from __future__ import annotations

from random import Random

import pytest
from random_devices import opener

from roceproof.conformance.stimulus.drawing.plans import draw_plan
from roceproof.conformance.stimulus.drawing.requests import draw_requests
from roceproof.conformance.stimulus.mutation import is_sound, mutated
from roceproof.conformance.stimulus.plan import Plan, Step
from roceproof.conformance.stimulus.plan_text import plan_of, text_of
from roceproof.conformance.stimulus.run_plan import Draws, played
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import DeviceFactory
from roceproof.conformance.targets.model.device import ModelFactory

FEW, MANY = range(4), range(100, 300)
_STRIDE = 10


def mutant(seed: int, draws: Draws, factory: DeviceFactory) -> tuple[Plan, Plan]:
    """A plan of a seed, and what becomes of it."""
    first, *others = (draws(seed * _STRIDE + place, factory.claims, None) for place in range(4))
    donors = [other for other in others if other.player is first.player]
    return first, mutated(Random(seed), first, donors or [first])


def assert_passes(factory: DeviceFactory, draws: Draws, seed: int) -> None:
    _, plan = mutant(seed, draws, factory)
    failure = played(plan, seed, opener(factory)).failure
    assert failure is None, f"{text_of(plan)}\n{failure}"


@pytest.mark.parametrize("draws", [draw_plan, draw_requests])
def test_a_mutant_is_another_plan_that_can_be_written_down(draws: Draws) -> None:
    factory, changed = ModelFactory(), 0
    for seed in range(40):
        plan, changed_plan = mutant(seed, draws, factory)
        assert is_sound(plan) and is_sound(changed_plan)
        assert plan_of(text_of(changed_plan), name="mutant") == changed_plan
        changed += changed_plan != plan
    assert changed > 35


def connect(key: int, **fields: object) -> Step:
    return Step("connect", {"key": key, **fields})


HOST = {"mac": "02:00:00:00:00:01", "ip": "10.0.0.1"}


@pytest.mark.parametrize(
    "plan",
    [
        Plan(steps=tuple(connect(key, remote_ip="10.0.0.2", remote_qpn=9) for key in range(2))),
        Plan(steps=(connect(0, remote_mac=HOST["mac"]),), **HOST),
        Plan(steps=(connect(0, remote_ip=HOST["ip"]),), **HOST),
        Plan(steps=(Step("endless", {"key": 0}), connect(0))),
    ],
)
def test_what_a_plan_must_not_say_is_seen(plan: Plan) -> None:
    assert not is_sound(plan)


def test_a_queue_pair_may_begin_anew_as_it_was() -> None:
    said = {"local_qpn": 17, "remote_ip": "10.0.0.2", "remote_qpn": 9}
    assert is_sound(Plan(steps=(connect(0, **said), connect(0, **said))))


def test_behind_a_reset_of_the_device_a_far_end_may_be_anothers() -> None:
    end = {"remote_ip": "10.0.0.2", "remote_qpn": 9}
    reset = Step("power_on", {})
    assert is_sound(Plan(steps=(connect(0, **end), reset, connect(1, **end))))


@pytest.mark.parametrize("draws", [draw_plan, draw_requests])
@pytest.mark.parametrize("seed", FEW)
def test_a_healthy_model_passes(model: ModelFactory, draws: Draws, seed: int) -> None:
    assert_passes(model, draws, seed)


@pytest.mark.sim
@pytest.mark.slow
def test_healthy_devices_pass_many(
    endpoint: HdlFactory, responder: HdlFactory, model: ModelFactory, subtests: pytest.Subtests
) -> None:
    devices: list[tuple[DeviceFactory, Draws]] = [
        *((endpoint, draw_plan), (responder, draw_requests)),
        *((model, draw_plan), (model, draw_requests)),
    ]
    for factory, draws in devices:
        for seed in MANY:
            with subtests.test(device=factory.claims.device, seed=seed):
                assert_passes(factory, draws, seed)
