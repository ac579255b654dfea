# SPDX-License-Identifier: BSD-2-Clause
"""A predicted packet that came otherwise: each field has its rule, and a short payload its own."""

from __future__ import annotations

import pytest

from roceproof.conformance.suite.notation import Mismatch
from roceproof.conformance.suite.reporting.failure import rule_of, rules_of_receive


@pytest.mark.parametrize(
    ("field", "want", "got", "rule"),
    [
        ("payload", "1024[00010203..]", "1024[01020304..]", "RETH-13"),
        ("payload", "1024[00010203..]", "1000[00010203..]", "MTU-03"),
        ("payload", "1[00]", "0", "MTU-03"),
        ("psn", "+1", "+2", "PSN-02"),
        ("swap", "0x1", "0x2", "ATOM-01"),
        ("length of nothing", "1", "2", None),
    ],
)
def test_a_field_names_the_rule_that_it_breaks(
    field: str, want: str, got: str, rule: str | None
) -> None:
    assert rule_of(Mismatch(field, want, got)) == rule


@pytest.mark.parametrize(
    ("field", "want", "got", "own", "rules"),
    [
        ("byte_len", 5, 8, ["PAD-08"], ["PAD-03"]),
        ("byte_len", 5, 6, ["PAD-08"], ["LIVE-02"]),
        ("byte_len", 512, 256, ["IMM-04"], ["IMM-04"]),
        ("immediate", 1, 1 << 24, ["RNR-07"], ["IMM-02"]),
        ("invalidated", 1, None, ["DUP-01"], ["INV-01"]),
    ],
)
def test_a_wrong_field_of_a_receive_accuses_what_it_breaks_and_no_case(
    field: str, want: int, got: int | None, own: list[str], rules: list[str]
) -> None:
    assert rules_of_receive(field, want, got, own) == rules


@pytest.mark.parametrize(
    ("field", "want", "got", "of", "rules"),
    [
        ("immediate", None, 7, {"takes_key": True}, ["INV-01"]),
        ("byte_len", 8, 12, {"takes_key": True}, ["INV-01"]),
        ("byte_len", 8, 11, {"takes_key": True}, ["LIVE-02"]),
        ("byte_len", 48, 28, {"is_datagram": True}, ["GID-03"]),
        ("byte_len", 48, 8, {"is_datagram": True}, ["GID-03"]),
        ("byte_len", 48, 28, {}, ["LIVE-02"]),
    ],
)
def test_headers_that_are_delivered_or_lack_accuse_their_own_rule(
    field: str, want: int | None, got: int, of: dict[str, bool], rules: list[str]
) -> None:
    assert rules_of_receive(field, want, got, ["ACK-11"], **of) == rules
