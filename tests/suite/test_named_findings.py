# SPDX-License-Identifier: BSD-2-Clause
"""What random plans find in a faulty endpoint has the name of the fault, and no vague one."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import run

pytestmark = [pytest.mark.sim, pytest.mark.slow]
RANDOM = ("--suite", "full", "--width", "64", "-k", "much_that_nobody_has_thought")


@pytest.mark.parametrize(
    ("mutant", "rule", "words"),
    [
        ("aeth-reserved-nak-is-ack", "AETH-05", "completed with success, syndrome 0x"),
        ("eth-pad-stale", "ETH-04", "trailer: want"),
        ("value-ack-marked-ce", "IP-09", "which is acknowledged"),
    ],
)
def test_a_fault_that_plans_find_is_called_by_its_name(
    mutant: str, rule: str, words: str, tmp_path: Path
) -> None:
    code, document, told = run(tmp_path, "--mutant", f"rtl:{mutant}", *RANDOM)
    assert code == 1, told
    first = document["findings"][0]
    assert first["rules"][0] == rule
    assert words in first["sentence"]
    (plans,) = {case["plans"] > 0 for case in document["cases"] if "plans" in case}
    assert plans
