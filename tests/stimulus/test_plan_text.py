# SPDX-License-Identifier: BSD-2-Clause
"""A plan's text says all of the plan, and nothing of a text is believed that is no plan."""

from __future__ import annotations

import pytest

from roceproof.conformance.stimulus.drawing.plans import draw_plan
from roceproof.conformance.stimulus.drawing.requests import draw_requests
from roceproof.conformance.stimulus.plan_text import PlanTextError, plan_of, text_of
from roceproof.conformance.targets.model.device import ModelFactory

PLAY = "play = Play(bench)"
NO_PLANS = {
    "": "1: no plan: say play = Play or Asking",
    "a = (": "1: no plan: mend the notation",
    "x\0y": "1: no plan: mend the notation",
    f"identity(mac='1')\n{PLAY}": "1: expected identity",
    f"identity(mac='no', ip='10.0.0.1')\n{PLAY}": "1: no MAC or IP address",
    f"identity(mac=1, ip=None)\n{PLAY}": "1: expected identity",
    "play = Bench(bench)": "1: expected play = Play or Asking",
    "import os": "1: expected play = Play or Asking",
    f"{PLAY}\nplay.dance(key=0)": "2: no step of Play",
    f"{PLAY}\nplay.finish()": "2: no step of Play",
    f"{PLAY}\nplay._free(place=0)": "2: no step of Play",
    f"{PLAY}\nplay.scene(key=0)": "2: no step of Play",
    f"{PLAY}\nprint(1)": "2: no step of Play",
    f"{PLAY}\n\nplay.wait(ns=open('x'))": "3: a field may only be a literal",
    f"{PLAY}\nplay.wait(5)": "2: say every field by its name",
    f"{PLAY}\nplay.wait(**{{}})": "2: say every field by its name",
    f"{PLAY}\nplay.wait(ms=5)": "2: wait: missing a required argument: 'ns'; correct its fields",
}


@pytest.mark.parametrize("draws", [draw_plan, draw_requests])
def test_what_is_read_is_what_was_written(draws: type) -> None:
    for seed in range(60):
        plan = draws(seed, ModelFactory().claims)
        assert plan_of(text_of(plan), name="entry") == plan


def test_no_plan_is_told_with_its_place(subtests: pytest.Subtests) -> None:
    for text, told in NO_PLANS.items():
        with subtests.test(text), pytest.raises(PlanTextError) as error:
            plan_of(text, name="entry")
        assert str(error.value).startswith(f"entry:{told}")
