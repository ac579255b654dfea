# SPDX-License-Identifier: BSD-2-Clause
"""The MUST rules of a responder that no case decides on RTL of ours, with reasons."""

from __future__ import annotations

from roceproof.conformance.rules.rows import rows_of
from roceproof.conformance.rules.table import RULES


def _load() -> dict[str, str]:
    found = {rule: why for rule, why in rows_of("open_rules.tsv")}
    for rule, why in found.items():
        assert rule in RULES and why, f"open_rules.tsv: {rule} is no rule, or has no reason"
    return found


OPEN_RULES: dict[str, str] = _load()
"""The reason, by rule."""
