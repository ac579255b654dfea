# SPDX-License-Identifier: BSD-2-Clause
"""A predicted packet that came otherwise: each field has its rule, and a short payload its own."""

from __future__ import annotations

import pytest

from roceproof.conformance.suite.failure import rule_of
from roceproof.conformance.suite.notation import Mismatch


@pytest.mark.parametrize(
    ("field", "want", "got", "rule"),
    [
        ("payload", "1024[00010203..]", "1024[01020304..]", "RETH-13"),
        ("payload", "1024[00010203..]", "1000[00010203..]", "MTU-03"),
        ("payload", "1[00]", "0", "MTU-03"),
        ("psn", "+1", "+2", "PSN-02"),
        ("length of nothing", "1", "2", None),
    ],
)
def test_a_field_names_the_rule_that_it_breaks(
    field: str, want: str, got: str, rule: str | None
) -> None:
    assert rule_of(Mismatch(field, want, got)) == rule
