# SPDX-License-Identifier: BSD-2-Clause
"""What the proof of the ledger's patches takes for a fault of one."""

from __future__ import annotations

from typing import Any

import pytest

from roceproof.conformance.kernels.ledger import AS_IT_SHOULD_BE, DEVIATES, root_causes
from roceproof.conformance.kernels.reproducers import NO_VERDICT, Shown
from roceproof.conformance.kernels.upstream import (
    ALL,
    PLAIN,
    faults,
    modules_of,
    whole_faults,
)

CAUSES = root_causes()
CASES = [case for cause in CAUSES for case in cause.cases]


def _shown() -> dict[str, Shown]:
    """Every case deviates; each module mends those of its patches."""
    return {
        module: {
            case: AS_IT_SHOULD_BE if cause.mail in patches else DEVIATES
            for cause in CAUSES
            for case in cause.cases
        }
        for module, patches in modules_of(CAUSES).items()
    }


def test_patches_that_mend_their_own_cases_and_no_other_have_no_fault() -> None:
    assert not faults(_shown(), CAUSES)


def test_what_has_to_be_applied_before_mends_its_own_cases_there() -> None:
    modules = modules_of(CAUSES)
    assert [path.name for path in modules["empty-read-again"]] == [
        "2-read-again.patch",
        "3-empty-read-again.patch",
    ]
    assert modules[PLAIN] == ()
    assert len(modules[ALL]) == len(set(modules[ALL])) == sum(bool(c.patches) for c in CAUSES)


@pytest.mark.parametrize(
    ("module", "case", "verdict", "line"),
    [
        ("ack-psn", "ack-psn", DEVIATES, "ack-psn: ack-psn is deviates, not as due"),
        ("ack-psn", "q-key", AS_IT_SHOULD_BE, "ack-psn: q-key is as due, not deviates"),
        (ALL, "retry-7", NO_VERDICT, "all: retry-7 is no verdict, not as due"),
    ],
)
def test_a_patch_that_does_not_hold_is_a_line(
    module: str, case: str, verdict: str, line: str
) -> None:
    shown = _shown()
    shown[module][case] = verdict
    assert faults(shown, CAUSES) == [line]


def test_a_case_that_tells_nothing_without_a_patch_proves_nothing() -> None:
    shown = _shown()
    shown[PLAIN]["q-key"] = NO_VERDICT
    assert "plain: q-key is no verdict" in faults(shown, CAUSES)


MENDED = {name: 1 for cause in CAUSES if cause.patches for name in cause.explains}
ROW: dict[str, Any] = {
    "stale": MENDED,
    "deviations": {"rxe-reserved-opcode": 1},
    "rules": {"ACK-09": {"verdict": "conforms"}},
}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({}, None),
        ({"deviations": {"rxe-ghost-ack": 2}}, "rxe-ghost-ack is still seen"),
        (
            {"stale": {"rxe-reserved-opcode": 1}},
            "rxe-reserved-opcode is gone, and no patch explains it",
        ),
        (
            {"rules": {"ACK-09": {"verdict": "undeclared", "by": ["x"]}}},
            "ACK-09 is broken, which nobody has declared",
        ),
    ],
)
def test_a_run_of_the_suite_is_held_against_the_ledger(
    change: dict[str, Any], line: str | None
) -> None:
    assert whole_faults(ROW | change, CAUSES) == ([line] if line else [])
