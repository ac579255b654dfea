# SPDX-License-Identifier: BSD-2-Clause
"""Picks few packets that differ in as much as possible, the same ones each time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from roceproof.conformance.diagnosis.icrc.crc_input import Case

_CANDIDATES = 200


def diverse(cases: Sequence[Case], count: int, seed: int = 0) -> list[Case]:
    """Up to `count` packets, each chosen for what the ones before it do not show."""
    pool = list(cases)
    if len(pool) > _CANDIDATES:
        pool = Random(seed).sample(pool, _CANDIDATES)
    elif seed:
        Random(seed).shuffle(pool)
    traits = [_traits(case) for case in pool]
    shown: set[tuple[str, int]] = set()
    chosen: list[Case] = []
    while pool and len(chosen) < count:
        best = max(range(len(pool)), key=lambda place: len(traits[place] - shown))
        shown |= traits.pop(best)
        chosen.append(pool.pop(best))
    return chosen


def spread(cases: Sequence[Case], count: int) -> list[Case]:
    """About `count` packets in their order: all if there are no more, else the rare ones first."""
    if len(cases) <= count:
        return list(cases)
    stride = len(cases) // (4 * count) + 1
    seen: set[tuple[str, int]] = set()
    rare: dict[int, Case] = {}
    for case in cases[::stride]:
        traits = _traits(case)
        if not traits <= seen and len(rare) < count // 2:
            seen |= traits
            rare[case.seen.number] = case
    step = 2 * len(cases) // count + 1
    rare |= {case.seen.number: case for case in cases[::step]}
    return [rare[number] for number in sorted(rare)]


def syndromes(cases: Iterable[Case]) -> int:
    """How many of the packets say something of their own: different errors or lengths."""
    return len({(case.found ^ case.right, case.seen.end - case.seen.ip) for case in cases})


def _traits(case: Case) -> set[tuple[str, int]]:
    seen, bth = case.seen, case.seen.bth
    last = case.covered_end
    return {
        ("version", seen.version + 10 * seen.is_v1),
        ("tags", len(case.tags)),
        ("opcode", bth.opcode),
        ("pad", len(case.pad)),
        ("trailer", len(seen.trailer)),
        ("flags", bth.ack_req << 2 | bth.migreq << 1 | bth.solicited),
        ("byte 4", bth.fecn << 2 | bth.becn << 1 | bool(bth.reserved6)),
        ("beat", last % 8),
        ("wide beat", last % 64),
        ("long", len(case.payload).bit_length()),
        ("first", case.head[1]),
        ("second", case.head[8]),
        ("id", not any(case.head[4:6])),
        ("qpn", bth.dest_qpn),
        ("repeated", case.original is not None),
        ("macs", hash(seen.frame[:12])),
    }
