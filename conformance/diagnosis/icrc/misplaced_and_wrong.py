# SPDX-License-Identifier: BSD-2-Clause
"""Results that are wrong by one fault and lie in the wrong packets by another (S53 or S65)."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace

from roceproof.conformance.diagnosis.icrc.answer import Answer
from roceproof.conformance.diagnosis.icrc.combinations import Search
from roceproof.conformance.diagnosis.icrc.hypothesis import Recipe
from roceproof.conformance.diagnosis.icrc.misplaced import misplaced
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.scope import FEW, Scope
from roceproof.conformance.diagnosis.icrc.slips import Slipped

_WINDOW = 5
_WINDOWS = 3
_OFFSETS = (0, -1, 1, -2, 2, -3, 3)
_FEW = 12
"""How many recipes that fit one window are held against all packets."""


def misplaced_and_wrong(scope: Scope) -> Answer | None:
    """Find the fault of the values in a few packets in a row, then place all values by it."""
    for queue in _queues(scope):
        for offset in _OFFSETS:
            for window in _windows(queue, offset):
                recipes = Search(window, scope.budget, scope.effects).recipes(1)
                found = _placed(scope, recipes[:_FEW])
                if found is not None:
                    return found
    return None


def with_another_fault(scope: Scope, found: Slipped) -> Answer | None:
    """Slips with a fault of the values that shows in some packets only."""
    if len(found.owners) <= max(2, FEW * len(scope.wrong)):
        return None
    pairs = found.owners[:: len(found.owners) // _WINDOW + 1]
    sample = [_with_found(owner, packet.found) for packet, owner in pairs]
    return _placed(scope, Search(sample, scope.budget, scope.effects).recipes(1)[:_FEW])


def _queues(scope: Scope) -> Iterator[Sequence[CrcInput]]:
    """All packets in their order, then those to the queue pair that has the most wrong ones."""
    yield scope.packets
    of_each: dict[tuple[bytes, int], list[CrcInput]] = {}
    for packet in scope.packets:
        key = packet.seen.destination, packet.seen.bth.dest_qpn
        of_each.setdefault(key, []).append(packet)
    if len(of_each) > 1:
        yield max(of_each.values(), key=lambda queue: sum(packet.seen.wrong for packet in queue))


def _windows(queue: Sequence[CrcInput], offset: int) -> Iterator[list[CrcInput]]:
    """Wrong packets in a row from several places, each with the field of the one at the offset."""
    wrong = [place for place, packet in enumerate(queue) if packet.seen.wrong]
    for number in range(_WINDOWS):
        start = len(wrong) * number // _WINDOWS
        window = [
            _with_found(queue[place + offset], queue[place].found)
            for place in wrong[start : start + _WINDOW]
            if 0 <= place + offset < len(queue)
        ]
        if len(window) > 2:
            yield window


def _with_found(packet: CrcInput, found: int) -> CrcInput:
    other = copy.copy(packet)
    other.seen = replace(packet.seen, found=found)
    return other


def _placed(scope: Scope, recipes: Sequence[Recipe]) -> Answer | None:
    """The answer of the recipes that place the most packets."""
    answers = [
        found
        for recipe in recipes
        if (found := misplaced(scope, lambda _: None, recipe)) is not None
    ]
    if not answers:
        return None
    most = max(len(each.explained) for each in answers)
    first, *rest = [each for each in answers if len(each.explained) == most]
    others = dict.fromkeys(name for each in rest for name in (each.name, *each.equivalent))
    return replace(first, equivalent=(*first.equivalent, *others))
