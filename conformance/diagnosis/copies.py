# SPDX-License-Identifier: BSD-2-Clause
"""Packets that the capture holds twice: a mirror of both sides of a port, or two captures in one.

Such a capture shows every packet, or some of both directions, again at once. A requester that
repeats waits first, a healthy one never repeats on UC, and no device makes another's packets
stand twice. So copies count as the capture's where those of several stations do so.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from roceproof.conformance.diagnosis.excerpt import Excerpt, Stretch
from roceproof.conformance.diagnosis.observation import Observation, masked_head
from roceproof.conformance.diagnosis.result import COPIES, Diagnosis
from roceproof.conformance.wire.opcodes import OPCODES, Transport

_NEAR = 16  # packets between a copy and what it copies
_NEAR_NS = 1_000_000
_LEAST = 4
_ALL = 0.9  # of the packets, of which half are copies
_AT_ONCE = 0.8  # of the copies, where only some packets have one

_Sight = tuple[int, bytes, bytes, int, int, bytes]


class _Pair(NamedTuple):
    """A packet and its copy."""

    first: Observation
    copy: Observation
    at_once: bool
    """Whether nothing stood between them."""
    answered: bool
    """Whether its receiver sent something in between."""


def without_copies(excerpt: Excerpt) -> tuple[Excerpt, list[Diagnosis]]:
    """The excerpt without what the capture holds twice, and what is to be said of it."""
    found: dict[int, _Pair] = {}
    for stretch in excerpt.stretches:
        found |= {pair.copy.number: pair for pair in _copies(stretch.seen)}
    if not found:
        return excerpt, []

    def kept(seen: Sequence[Observation]) -> list[Observation]:
        return [each for each in seen if each.number not in found]

    chosen = kept(excerpt.chosen)
    stretches = [
        Stretch(chosen if each.seen is excerpt.chosen else kept(each.seen), each.from_start)
        for each in excerpt.stretches
    ]
    of = sum(len(stretch.seen) for stretch in excerpt.stretches)
    return replace(excerpt, chosen=chosen, stretches=stretches), [_told(found, of)]


def _copies(packets: Sequence[Observation]) -> list[_Pair]:
    pairs = _pairs(packets)
    times = Counter(pair.first.number for pair in pairs)
    once = sum(count == 1 for count in times.values())
    if len(pairs) < _LEAST or once < _ALL * len(times):
        return []
    senders = Counter(pair.first.frame[6:12] for pair in pairs)  # one may have several addresses
    if len(senders) < 2:
        return []
    if 2 * len(pairs) >= _ALL * len(packets):
        return pairs if 2 * sum(pair.answered for pair in pairs) <= len(pairs) else []
    at_once = sum(pair.at_once for pair in pairs)
    enough = at_once >= _AT_ONCE * len(pairs) and senders.most_common(2)[1][1] > 1
    return pairs if enough else []


def _pairs(packets: Sequence[Observation]) -> list[_Pair]:
    recent: defaultdict[_Sight, list[int]] = defaultdict(list)
    pairs = []
    for place, seen in enumerate(packets):
        sight = _sight(seen)
        before = next((n for n in recent[sight] if _is_copy(packets[n], seen)), None)
        if before is None or place - before > _NEAR:
            recent[sight] = [*recent[sight][-1:], place]
            continue
        between = islice(packets, before + 1, place)
        answered = any(each.source == seen.destination for each in between)
        pairs.append(_Pair(packets[before], seen, place == before + 1, answered))
    return pairs


def _sight(seen: Observation) -> _Sight:
    return (
        seen.interface,
        seen.source,
        seen.destination,
        seen.end,
        seen.found,
        seen.frame[seen.bth_at : seen.bth_at + 12],
    )


def _is_copy(first: Observation, seen: Observation) -> bool:
    """Whether it is the same packet, whatever routers may have changed in it."""
    if not 0 <= seen.time_ns - first.time_ns <= _NEAR_NS:
        return False
    same = seen.frame[seen.bth_at :] == first.frame[first.bth_at :]
    return same and masked_head(seen) == masked_head(first)


def _told(found: dict[int, _Pair], of: int) -> Diagnosis:
    numbers = tuple(sorted(found))
    pair = found[numbers[0]]
    some = 2 * len(found) < _ALL * of
    uc = any(_is_uc(each.copy) for each in found.values())
    text = (
        f"{len(numbers)} of {of} packets stand in the capture a second time, those of several "
        f"stations alike; frame {pair.copy.number} is frame {pair.first.number} again."
    )
    advice = (
        "Mirror one direction of each port, and put no captures of the same link together; "
        "or remove the copies. The rest was explained without them."
    )
    return Diagnosis(
        COPIES, ("P23",) if some and uc else (), numbers, len(numbers), len(numbers), text, advice
    )


def _is_uc(seen: Observation) -> bool:
    row = OPCODES.get(seen.bth.opcode)
    return row is not None and row.transport is Transport.UC
