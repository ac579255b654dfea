# SPDX-License-Identifier: BSD-2-Clause
"""Packets that were changed on the way, and maybe in what tells where they belong.

One whose address or QPN changed is missing from its connection, and nobody lost or skipped it.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from roceproof.conformance.diagnosis.observation import Observation, Station
from roceproof.conformance.wire.opcodes import OPCODES, Family

_PSN_BITS = 24
_ALONE = 2
"""Of so few packets to one queue pair each may belong to another."""


class Stray(NamedTuple):
    number: int
    may_read: bool
    """Whether it may have taken more than one PSN."""


Strays = Mapping[int, Sequence[Stray]]
"""Those of one station by PSN, in their order."""


def strays_of(
    observations: Sequence[Observation], changed: Set[int], as_sent: Set[int]
) -> dict[Station, dict[int, list[Stray]]]:
    """By station what was changed on the way, or has a wrong ICRC and stands nearly alone."""
    of_each = Counter(map(_flow, observations))
    strays: dict[Station, dict[int, list[Stray]]] = {}
    for seen in observations:
        alone = of_each[_flow(seen)] <= _ALONE and seen.number not in as_sent
        if seen.number in changed or (alone and (seen.wrong or not seen.sound)):
            row = OPCODES.get(seen.bth.opcode)
            may_read = row is None or row.is_response or row.family is Family.READ
            by_psn = strays.setdefault(Station(seen.interface, seen.frame[6:12]), {})
            by_psn.setdefault(seen.bth.psn, []).append(Stray(seen.number, may_read))
    return strays


def astray(strays: Strays, psns: Sequence[int], begin: int, end: int) -> int:
    """How many PSNs, the first one on, are those of packets astray between two frames."""
    for place, psn in enumerate(psns if strays else ()):
        found = [
            each[at]
            for one in (psn, *(psn ^ 1 << bit for bit in range(_PSN_BITS)))
            if (each := strays.get(one))
            and (at := bisect_right(each, begin, key=_number)) < len(each)
            and each[at].number < end
        ]
        if any(each.may_read for each in found):
            return len(psns)
        if not found:
            return place
    return len(psns) if strays else 0


def _flow(seen: Observation) -> tuple[int, bytes, bytes, int]:
    return seen.interface, seen.source, seen.destination, seen.bth.dest_qpn


def _number(stray: Stray) -> int:
    return stray.number
