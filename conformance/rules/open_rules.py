# SPDX-License-Identifier: BSD-2-Clause
"""The MUST rules of a responder that no case decides on RTL of ours, with reasons."""

from __future__ import annotations

from pathlib import Path

from roceproof.conformance.rules.table import RULES


def _load() -> dict[str, str]:
    text = Path(__file__).with_name("open_rules.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    found = {rule: why for rule, why in rows[1:]}
    for rule, why in found.items():
        assert rule in RULES and why, f"open_rules.tsv: {rule} is no rule, or has no reason"
    return found


OPEN_RULES: dict[str, str] = _load()
"""The reason, by rule."""
