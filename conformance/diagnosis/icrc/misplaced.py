# SPDX-License-Identifier: BSD-2-Clause
"""Right results in wrong packets: slipped (S65), stale by one (S53) or of other engines (S60)?

What each of them cannot explain decides; where nothing does, all are named.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import log2

from roceproof.conformance.diagnosis.icrc.answer import LEAST_ADDED, Answer, names_of
from roceproof.conformance.diagnosis.icrc.history import elsewhere, held_nearby
from roceproof.conformance.diagnosis.icrc.hypothesis import Hypothesis
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.floor import distinct, shortage
from roceproof.conformance.diagnosis.icrc.scope import FEW, Scope
from roceproof.conformance.diagnosis.icrc.slips import Slipped, slipped
from roceproof.conformance.diagnosis.result import UNDECIDED

_SHARE, _LEAST_SHARE = 0.8, 0.3
"""Of the wrong packets whose owners were captured, and of all wrong ones."""
_CONTRADICTING = 0.1
_LATE = 6
"""So many, and none the other way, are no accident."""
_CLEAR_BITS = 10
"""Chance of 2^-10 that what was seen is an accident."""


def misplaced(
    scope: Scope, rival: Callable[[Scope], Answer | None], inner: Hypothesis | None = None
) -> Answer | None:
    """What puts right results (or those of one faulty computation) in the wrong packets.

    The rival is what explains the packets without a queue; asked only if results are misplaced.
    """
    found = _best(scope, inner)
    if found is None:
        return None
    other = rival(scope) if inner is None else None
    few = int(FEW * len(scope.wrong))
    if other is not None and len(other.explained) > len(found.explained) + few:
        return None
    names = ["+".join(found.ids)]
    if inner is not None:
        names = _stale(found, "+".join(sorted((*inner.ids, "S53"))), names[0])
    elif other is not None and len(other.explained) >= len(found.explained):
        others = [*names_of(other)]
        late = _stale(found, "S53", "S65") if "S53" in others else ["S65"]
        rest = [each for each in others if each not in ("S53", *late)]
        names = [*late, *rest] if "S53" in others else [*rest, *late]
    elif not found.slips and found.offsets == {-1}:  # S53, where packets in between are missing
        names = _stale(found, "S53", names[0])
    elif not _within_a_qp(scope, found):
        names = _of_other_qps(scope, found)
        if _always_late(found.displaced):
            names = ["S53", *names]
    if (
        other is not None
        and "S53" in names_of(other)
        and "S53" not in names
        and len(other.explained) + few >= len(found.explained)
        and not _is_in_step(found)
    ):
        names.append("S53")
    short = shortage(found.ids, distinct(found.displaced), 0)
    if short:
        return Answer(UNDECIDED, scope, found.explained, tuple(names), (short, *found.facts))
    first, *rest = names
    return Answer(first, scope, found.explained, tuple(rest), found.facts, found)


def _best(scope: Scope, inner: Hypothesis | None) -> Slipped | None:
    predict = inner.predict if inner is not None else lambda packet: packet.right
    if inner is None:
        scope.budget.spend(len(scope.packets) // 4)
        rights = {packet.right for packet in scope.packets}
        held = sum(packet.found in rights for packet in scope.wrong)
        if held < _LEAST_SHARE * len(scope.wrong):
            return None
    for found in slipped(scope.packets, scope.budget, predict)[:1]:
        least = max(_SHARE * found.judged, _LEAST_SHARE * len(scope.wrong))
        enough = len(found.explained) >= least
        if enough and len(found.contradicting) <= _CONTRADICTING * len(found.explained):
            if inner is not None:
                found.ids = tuple(sorted((*inner.ids, *found.ids)))
                found.note = inner.note
            return found if found.displaced else None
    return None


def _stale(found: Slipped, stale: str, slipping: str) -> list[str]:
    """S53 or S65, where both may be: only a slip has packets in step in front of it."""
    if _is_in_step(found) or found.offsets != {-1}:
        return [slipping]
    interrupted = any(slip.before == -1 for slip in found.slips)
    sure = found.first_is_reset and not interrupted and not found.contradicting
    return [stale] if sure else [stale, slipping]


def _is_in_step(found: Slipped) -> bool:
    """Whether packets hold their own results, or exchange them, as none that is late does."""
    return bool(found.exchanged) or found.in_step > 1


def _of_other_qps(scope: Scope, found: Slipped) -> list[str]:
    """S60 or S65, where all results are those of other queue pairs."""
    if len(found.contradicting) > 1:
        return ["S60"]
    if 2 * len(found.exchanged) < len(found.displaced):
        return ["S65", "S60"]
    return ["S60"] if _never_within(scope, len(found.displaced)) else ["S60", "S65"]


def _within_a_qp(scope: Scope, found: Slipped) -> bool:
    """Whether a mix-up between queue pairs is excluded; one owner may have changed on the way."""
    numbers = {packet.seen.number for packet in held_nearby(scope.packets, other_qp=True)}
    within = (packet for packet in found.displaced if packet.seen.number not in numbers)
    return distinct(within) >= LEAST_ADDED


def mixed_up(scope: Scope) -> Answer | None:
    """S60, or what else hands out results of packets nearby in no order that could be found."""
    near = held_nearby(scope.packets, other_qp=False)
    if len(near) < _LEAST_SHARE * len(scope.wrong):
        return None
    crossed = held_nearby(scope.packets, other_qp=True)
    late = _late(scope)
    if late is not None:
        return late
    short = shortage(("S60",), distinct(crossed), distinct(scope.right))
    fact = f"{len(near)} of {len(scope.wrong)} hold the right ICRC of another packet nearby"
    if len(crossed) < len(near) or len(near) < _SHARE * len(scope.wrong):
        little = shortage(("S65",), distinct(near), 0)
        facts = (little, fact) if little else (fact,)
        return Answer(UNDECIDED, scope, near, ("S60", "S65"), facts)
    fact = "each holds the right ICRC of a packet to another QP nearby"
    if short:
        return Answer(UNDECIDED, scope, near, ("S60", "S65"), (short, fact))
    return Answer("S60", scope, near, () if _never_within(scope, len(near)) else ("S65",), (fact,))


def _late(scope: Scope) -> Answer | None:
    """S53 at times: all that are wrong hold the result of the packet right before."""
    if not _always_late(scope.wrong):
        return None
    fact = f"{len(scope.wrong)} of {len(scope.packets)}, so at times: the latch misses an enable"
    crossing = all(elsewhere(each.previous, each) for each in scope.wrong if each.previous)
    others = ("S60",) if crossing else ()
    back = sum(
        one.seen.wrong and not other.seen.wrong and other.found != one.right
        for one, other in pairwise(scope.packets)
    )
    if back < _LATE:  # a queue that slips one way and the other gets back into step as often
        return Answer(UNDECIDED, scope, scope.wrong, ("S53", "S65", *others), (fact,))
    return Answer("S53", scope, scope.wrong, others, (fact,))


def _always_late(packets: Sequence[CrcInput]) -> bool:
    """Whether each holds what the packet before should, and a mix-up would have gone both ways."""
    return distinct(packets) >= _LATE and all(
        packet.previous is not None and packet.found == packet.previous.right for packet in packets
    )


def _never_within(scope: Scope, wrong: int) -> bool:
    """Whether so many mix-ups would have met two packets of one QP, if the QP did not matter."""
    pairs = [(a, b) for a, b in pairwise(scope.packets)]
    crossing = sum(elsewhere(a, b) for a, b in pairs)
    exchanged = sum(a.seen.wrong and a.found == b.right and b.found == a.right for a, b in pairs)
    return (wrong - exchanged) * log2(len(pairs) / crossing) >= _CLEAR_BITS
