# SPDX-License-Identifier: BSD-2-Clause
"""The fewest features that all failing observations share and no passing one has.

A conjunction of features is a cause only if nothing that passed contradicts it. Where one does
not cover all that fails, the one that covers most is taken, and the rest is searched again: a
device may be broken in more than one way. Rows are bits of an integer, so a conjunction costs an
AND.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

_MOST_FEATURES = 3
_MOST_CAUSES = 4
_MOST_PREDICATES = 48

Feature = Hashable


@dataclass(frozen=True)
class Cause:
    """A conjunction of features, and the failing observations that have it."""

    features: tuple[Feature, ...]
    failing: frozenset[int]


def separate(
    failing: Sequence[frozenset[Feature]],
    passing: Sequence[frozenset[Feature]],
    *,
    preference: Sequence[Feature] = (),
) -> tuple[list[Cause], frozenset[int]]:
    """Causes, the one that covers most first, and the failing observations that none explains.

    Among causes that cover as much the shorter is taken, then the one whose features come first
    in `preference`. With nothing that passed the empty conjunction covers everything.
    """
    rank = {feature: number for number, feature in enumerate(preference)}
    features = sorted(
        {each for row in failing for each in row},
        key=lambda feature: (rank.get(feature, len(rank)), str(feature)),
    )
    masks = {feature: (_mask(failing, feature), _mask(passing, feature)) for feature in features}
    left = (1 << len(failing)) - 1
    causes: list[Cause] = []
    everything_passing = (1 << len(passing)) - 1
    while left and len(causes) < _MOST_CAUSES:
        best = _best(masks, left, everything_passing)
        if best is None:
            break
        covered = left
        for feature in best:
            covered &= masks[feature][0]
        causes.append(Cause(best, _bits(covered)))
        left &= ~covered
    return causes, _bits(left)


def _best(
    masks: dict[Feature, tuple[int, int]], left: int, passing: int
) -> tuple[Feature, ...] | None:
    if not passing:
        return ()
    useful = [feature for feature, (fails, _) in masks.items() if fails & left]
    useful = useful[:_MOST_PREDICATES]
    best: tuple[int, tuple[Feature, ...]] | None = None
    for size in range(1, _MOST_FEATURES + 1):
        for conjunction in combinations(useful, size):
            fails, passes = left, passing
            for feature in conjunction:
                fails &= masks[feature][0]
                passes &= masks[feature][1]
            if fails and not passes and (best is None or fails.bit_count() > best[0]):
                best = fails.bit_count(), conjunction
        if best is not None and best[0] == left.bit_count():
            break
    return None if best is None else best[1]


def _mask(rows: Sequence[frozenset[Feature]], feature: Feature) -> int:
    mask = 0
    for number, row in enumerate(rows):
        if feature in row:
            mask |= 1 << number
    return mask


def _bits(mask: int) -> frozenset[int]:
    return frozenset(number for number in range(mask.bit_length()) if mask >> number & 1)
