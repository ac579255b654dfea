# SPDX-License-Identifier: BSD-2-Clause
"""Packets that are sent without an ICRC (S62), and how they differ from short ones that have it."""

from collections import deque
from collections.abc import Collection, Sequence
from typing import NamedTuple

from roceproof.conformance.diagnosis.budget import Budget, OutOfBudget
from roceproof.conformance.diagnosis.icrc.computed import one_fault
from roceproof.conformance.diagnosis.icrc.history import WINDOW
from roceproof.conformance.diagnosis.icrc.parts.crc import ONES
from roceproof.conformance.diagnosis.icrc.parts.crc_input import crc_inputs
from roceproof.conformance.diagnosis.icrc.parts.floor import FLOORS, shortage
from roceproof.conformance.diagnosis.icrc.scope import Scope
from roceproof.conformance.diagnosis.icrc.strategies import stalled_somewhere
from roceproof.conformance.diagnosis.observation import Observation
from roceproof.conformance.diagnosis.result import UNDECIDED
from roceproof.conformance.wire.framing import BTH_BYTES, ICRC_BYTES
from roceproof.conformance.wire.opcodes import OPCODES, Position

_PATH_MTUS = frozenset({256, 512, 1024, 2048, 4096})
_NEARLY = 0.95
"""Of the packets; of others bits may have changed on the way."""
_MOSTLY = 0.8
_IN_PART = 0.2
"""Two bytes of four are right by chance in one of 11,000 packets."""


class Bare(NamedTuple):
    """S62: packets without ICRC."""

    packets: list[Observation]
    doubt: str = ""
    """What is missing for it to be named."""
    hold_icrcs: bool = False
    """Whether packets that are as short as if they had none are seen to have one."""


def without_icrc(observations: Sequence[Observation], budget: Budget) -> Bare:
    """S62: FIRST and MIDDLE packets, if (nearly all) are four bytes short and others are not."""
    inner: list[Observation] = []
    outer: list[Observation] = []
    for seen in observations:
        row = OPCODES.get(seen.bth.opcode)
        if row is not None:
            (inner if row.position in (Position.FIRST, Position.MIDDLE) else outer).append(seen)
    short = [seen for seen in inner if _is_short(seen)]
    if not short:
        return Bare([])
    if _hold_icrcs(inner, short, observations):
        return Bare([], hold_icrcs=True)
    unsound = sum(not seen.sound for seen in outer)
    if len(short) < _NEARLY * len(inner) or unsound > (1 - _NEARLY) * len(outer):
        return Bare([])
    right = {seen.right for seen in outer if not seen.wrong}
    if outer and not right:
        return Bare([])
    if _are_computed({seen.number for seen in short}, observations, budget):
        return Bare([], hold_icrcs=True)
    return Bare(short, shortage(("S62",), len({seen.frame for seen in short}), len(right)))


def _is_short(seen: Observation) -> bool:
    """Whether the ICRC is missing: by the path MTU, or by the lengths that count it."""
    if not seen.sound:
        return seen.end == len(seen.frame) + seen.bytes_cut + ICRC_BYTES
    return len(seen.frame) == seen.end and seen.wrong and _lacks_bytes(seen)


def _lacks_bytes(seen: Observation) -> bool:
    """Whether the payload is an ICRC's length below a path MTU."""
    extension = sum(kind.SIZE for kind in OPCODES[seen.bth.opcode].headers)
    payload = seen.end - ICRC_BYTES - seen.bth_at - BTH_BYTES - extension
    return payload + ICRC_BYTES in _PATH_MTUS


def _hold_icrcs(
    inner: Sequence[Observation], short: Sequence[Observation], everything: Sequence[Observation]
) -> bool:
    """Whether the last bytes of short packets are ICRCs, which no payload would be by chance.

    That is where some are right, those of other packets nearby, or right in part.
    """
    if any(seen.sound and not seen.wrong and _lacks_bytes(seen) for seen in inner):
        return True
    ends = {seen.number for seen in short if seen.sound}
    near: deque[int] = deque(maxlen=WINDOW)
    values = [(seen.number in ends, seen.found, seen.right) for seen in everything if seen.sound]
    for way in (values, values[::-1]):
        near.clear()
        for ends_short, found, right in way:
            if ends_short and found in near:
                return True
            near.append(right)
    errors = [seen.found ^ seen.right for seen in short if seen.sound]
    in_part = sum(error.to_bytes(4, "little").count(0) > 1 for error in errors)
    return len(errors) >= FLOORS["S62"].errors and in_part > _IN_PART * len(errors)


def _are_computed(
    numbers: Collection[int], observations: Sequence[Observation], budget: Budget
) -> bool:
    """Whether what ends those packets is an ICRC as a fault computes it, and no payload."""
    scope = Scope(crc_inputs(observations), budget, "")
    if not scope.wrong:
        return False
    try:
        found = one_fault(scope) or stalled_somewhere(scope)
    except OutOfBudget:
        return False
    if found is None or found.name == UNDECIDED:
        return False
    computed = {packet.seen.number for packet in found.explained if packet.found not in (0, ONES)}
    return len(computed.intersection(numbers)) >= _MOSTLY * len(numbers)
