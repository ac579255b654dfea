# SPDX-License-Identifier: BSD-2-Clause
"""What stands before a device does what that does: no case may fail for want of a method."""

from __future__ import annotations

import pytest

from roceproof.conformance.mutants.corrupting_target import CorruptingTarget
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import Target

METHODS = sorted(name for name in vars(Target) if not name.startswith("_") and name != "patience")


@pytest.mark.parametrize("name", METHODS)
def test_everything_that_a_target_can_be_asked_is_passed_on(name: str) -> None:
    assert name in vars(CorruptingTarget) | vars(ForwardingTarget), (
        f"{name}: every mutant would seem to be killed by its cases"
    )
