# SPDX-License-Identifier: BSD-2-Clause
"""Which findings may follow from another, from consequences.tsv: one fault breaks several rules."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from roceproof.conformance.rules.rows import rows_of
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
    found: dict[str, list[Consequence]] = {}
    for causes, effects, where, why in rows_of("consequences.tsv"):
        for effect in effects.split():
            for cause in causes.split():
                assert {cause, effect} <= RULES.keys(), f"consequences.tsv: {cause}, {effect}"
                if cause != effect:
                    found.setdefault(effect, []).append(Consequence(cause, Where(where), why))
    return found


CAUSES_OF: dict[str, list[Consequence]] = _load()
"""By the rule that is broken, what may have broken it."""
CAUSES = {each.cause for several in CAUSES_OF.values() for each in several}


def comes_of(causes: Sequence[str], rule: str) -> bool:
    """Whether it may follow from one of the others, which does not follow from it."""
    return any(
        each.cause in causes and all(rule != back.cause for back in CAUSES_OF.get(each.cause, ()))
        for each in CAUSES_OF.get(rule, ())
    )
