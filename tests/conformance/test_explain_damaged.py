# SPDX-License-Identifier: BSD-2-Clause
"""What the way did to right packets is no habit of their sender, however much of it there is."""

from __future__ import annotations

import pytest
from damaged_traffic import damaged
from explained import records

from roceproof.conformance.diagnosis.report import explain
from roceproof.conformance.diagnosis.result import COPIES, CORRUPT, LOST, UNDECIDED

BLAMES_NOBODY = {CORRUPT, LOST, COPIES, UNDECIDED}
FOUND_ONCE = (3, 18, 26, 57, 82, 138)
"""Seeds that were given a name."""


def named(seed: int) -> list[str]:
    """What the sender alone is blamed for."""
    return [
        f"{found.id}: {found.text}"
        for found in explain(records(damaged(seed)))
        if not BLAMES_NOBODY & {found.id, *found.equivalent}
    ]


@pytest.mark.parametrize("seed", FOUND_ONCE)
def test_nobody_is_blamed_for_what_the_way_did(seed: int) -> None:
    assert named(seed) == []


@pytest.mark.slow
def test_nobody_is_blamed_in_many_captures(subtests: pytest.Subtests) -> None:
    for seed in range(150):
        with subtests.test(seed=seed):
            assert named(seed) == []
