# SPDX-License-Identifier: BSD-2-Clause
"""A gate report says what a responder has built in."""

from __future__ import annotations

from pathlib import Path

from roceproof.conformance.gate.limits import told_limits
from roceproof.dpi import load_manifest

ROOT = Path(__file__).resolve().parents[2]


def test_what_is_built_in_is_told() -> None:
    told = told_limits(load_manifest(ROOT / "examples" / "byte_endpoint" / "dut.toml"))
    assert "built-in regions: 7" in told
    assert not [each for each in told if each.startswith("regions: ")]
    assert "makes connections itself, for service 0x1064791" in told
    assert any(each.startswith("has memory of its own, reached through u_core") for each in told)


def test_regions_that_it_is_told_of_are_counted() -> None:
    told = told_limits(load_manifest(ROOT / "rtl" / "responder.toml"))
    assert "regions: 256" in told
    assert "knows the QP commands between reset and activation" in told
