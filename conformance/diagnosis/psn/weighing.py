# SPDX-License-Identifier: BSD-2-Clause
"""Which ids explain most of what the connections of a device show, and what explains it as well."""

from collections import Counter
from collections.abc import Mapping, Sequence

from roceproof.conformance.diagnosis.psn.evidence import Evidence
from roceproof.conformance.diagnosis.psn.increment import LOOSE
from roceproof.conformance.diagnosis.psn.kinds import AT_THE_END
from roceproof.conformance.diagnosis.result import LOST

_MANY = 4  # wrong steps; what explains fewer may do so by chance
_FOR_LOOSE = 8  # the same of what only follows other packets
_ANY_STEP = frozenset({"P12", "P16", "P23", LOST})
"""What fits any step that skips, so that it is told by what does not fit."""


def best(
    evidence: Sequence[Evidence], share: float = 0.0, *, held_back: bool = False
) -> tuple[str, ...]:
    """The ids that explain the most packets, in the order in which they are most telling.

    None if that is less than a share of all that is wrong. With `held_back`, there is a reason for
    packets to leave long after their PSNs were drawn.
    """
    weights: dict[str, int] = {}
    for found in evidence:
        for id_ in found.ids:
            weights[id_] = weights.get(id_, 0) + len(found.frames)
    alone = dict(weights)
    for found in evidence:
        for id_ in found.weak:
            if id_ in weights:
                weights[id_] += len(found.frames)
    most = max(weights.values(), default=0)
    if most < share * sum(len(found.frames) for found in evidence):
        return ()
    names = tuple(id_ for id_, weight in weights.items() if weight == most)
    names = tuple(sorted(names, key=lambda id_: -alone[id_]))
    if AT_THE_END in names and len(evidence) > 1:  # losses do not find that place twice
        names = (AT_THE_END, *(id_ for id_ in names if id_ != AT_THE_END))
    if names != (LOST,):
        others = (
            *_but_for_losses(evidence, weights, most),
            *_contradicting(evidence, names, most),
            *_fitting_few(evidence, names),
            *_fitting_half(evidence, weights, names, most),
            *_losses_as_well(evidence, names),
        )
    else:  # losses fit any gap, so what fits many of them is not ruled out
        others = tuple(id_ for id_, count in weights.items() if most > count >= most / 2)
    if _ANY_STEP.issuperset(names) and (held_back or most < _FOR_LOOSE):
        others += _fitting_later(evidence, most)
    return names + tuple(id_ for id_ in dict.fromkeys(others) if id_ not in names)


def _but_for_losses(
    evidence: Sequence[Evidence], weights: Mapping[str, int], most: int
) -> tuple[str, ...]:
    """What fits as well as the best, but for steps that losses explain, no more than it does."""
    clear = dict.fromkeys(id_ for found in evidence if LOST not in found.ids for id_ in found.ids)
    lost = {
        id_: sum(
            len(found.frames)
            for found in evidence
            if LOST in found.ids and id_ not in (*found.ids, *found.weak)
        )
        for id_ in clear
    }
    return tuple(
        id_ for id_ in clear if weights[id_] < most <= weights[id_] + min(lost[id_], weights[id_])
    )


def _fitting_later(evidence: Sequence[Evidence], most: int) -> tuple[str, ...]:
    """What fits half as much if packets may leave late."""
    counts = Counter(id_ for found in evidence for id_ in found.held_back for _ in found.frames)
    return tuple(id_ for id_, count in counts.items() if 2 * count >= most)


def _contradicting(evidence: Sequence[Evidence], best: Sequence[str], most: int) -> tuple[str, ...]:
    """What fits half as much where the best does not fit, and no loss would do."""
    others = [found for found in evidence if not {*best, LOST} & {*found.ids, *found.weak}]
    counts = Counter(id_ for found in others for id_ in found.ids for _ in found.frames)
    return tuple(id_ for id_, count in counts.items() if 2 * count >= most)


def _fitting_few(evidence: Sequence[Evidence], best: Sequence[str]) -> tuple[str, ...]:
    """What fits weakly all that the best explains, where that is little."""
    explained = [found for found in evidence if {*best} & {*found.ids, *found.weak}]
    few = 0 < sum(len(found.frames) for found in explained) < _MANY
    if best[:1] == (LOST,) or not few:
        return ()
    first, *rest = ({*found.ids, *found.weak} for found in explained)
    everywhere = first.intersection(*rest)
    return tuple(id_ for id_ in explained[0].weak if id_ in everywhere)


def _losses_as_well(evidence: Sequence[Evidence], best: Sequence[str]) -> tuple[str, ...]:
    """Losses where they fit all that is explained by what only follows other packets, if little."""
    explained = [found for found in evidence if {*best} & {*found.ids, *found.weak}]
    frames = sum(len(found.frames) for found in explained)
    few = LOOSE.issuperset(best) and 0 < frames < _FOR_LOOSE
    return (LOST,) if few and all(found.may_be_lost for found in explained) else ()


def _fitting_half(
    evidence: Sequence[Evidence], weights: Mapping[str, int], best: Sequence[str], most: int
) -> tuple[str, ...]:
    """What explains half as much as the best, where that one only follows other packets.

    It has to fit what the best does not; or nearly all that it does, where the rest may be losses.
    """
    if not LOOSE.issuperset(best):
        return ()
    beside = {id_ for found in evidence if {*best} & {*found.ids} for id_ in found.ids}
    alone = {
        id_ for found in evidence if not {*best} & {*found.ids, *found.weak} for id_ in found.ids
    }
    likely, exact = alone - {LOST}, beside - {LOST} - LOOSE
    loosely = Counter(id_ for found in evidence for id_ in found.weak for _ in found.frames)
    counts = {id_: weights.get(id_, loosely[id_]) for id_ in (*weights, *loosely)}
    exact |= loosely.keys() - {LOST} - LOOSE
    return tuple(
        id_
        for id_, count in counts.items()
        if (id_ in likely and 2 * count >= most) or (id_ in exact and 4 * count >= 3 * most)
    )
