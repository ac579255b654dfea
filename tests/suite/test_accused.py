# SPDX-License-Identifier: BSD-2-Clause
"""Which rules the cases of one finding accuse together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from roceproof.conformance.runner.findings.accused import in_common

PLAN = {"rules": [], "broken": ["ACK-08", "ACK-09"]}
"""A random one, which knows rules of very different faults alone."""


def case(*rules: str) -> dict[str, Any]:
    return {"rules": [*rules], "broken": [*rules]}


@pytest.mark.parametrize(
    ("cases", "rules"),
    [
        ([case("PSN-16", "ACK-05", "ACK-08"), PLAN], ["PSN-16", "ACK-08"]),
        ([case("PSN-16", "ACK-08"), PLAN, PLAN], ["ACK-08"]),
        ([{"rules": [], "broken": ["AETH-04", "ACK-08"]}, PLAN], ["ACK-08"]),
        ([case("RTX-05", "ACK-08"), case("RTX-05", "ACK-08"), PLAN], ["RTX-05"]),
    ],
    ids=["half", "fewer", "no case is about it", "most"],
)
def test_a_rule_that_half_the_cases_are_about_goes_before_one_of_many_faults(
    cases: Sequence[dict[str, Any]], rules: list[str]
) -> None:
    assert in_common(cases) == rules
