# SPDX-License-Identifier: BSD-2-Clause
"""Which findings may follow from another, from consequences.tsv: one fault breaks several rules."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from roceproof.conformance.rules.table import RULES

NEAR_FRAMES = 32


class Where(StrEnum):
    """How far a cause reaches."""

    FRAME = "frame"
    NEAR = "near"
    FLOW = "flow"
    ANSWERS = "answers"


class Consequence(NamedTuple):
    """A cause that an effect may have."""

    cause: str
    where: Where
    why: str


def _load() -> dict[str, list[Consequence]]:
    text = Path(__file__).with_name("consequences.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    found: dict[str, list[Consequence]] = {}
    for causes, effects, where, why in rows[1:]:
        for effect in effects.split():
            for cause in causes.split():
                assert {cause, effect} <= RULES.keys(), f"consequences.tsv: {cause}, {effect}"
                if cause != effect:
                    found.setdefault(effect, []).append(Consequence(cause, Where(where), why))
    return found


CAUSES_OF: dict[str, list[Consequence]] = _load()
"""By the rule that is broken, what may have broken it."""
CAUSES = {each.cause for several in CAUSES_OF.values() for each in several}
