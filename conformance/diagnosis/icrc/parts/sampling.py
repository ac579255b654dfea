# SPDX-License-Identifier: BSD-2-Clause
"""Picks few packets that differ in as much as possible, the same ones each time."""

from collections.abc import Iterable, Sequence
from random import Random

from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput

_CANDIDATES = 200


def diverse(packets: Sequence[CrcInput], count: int, seed: int = 0) -> list[CrcInput]:
    """Up to `count` packets, each chosen for what the ones before it do not show."""
    pool = list(packets)
    if len(pool) > _CANDIDATES:
        pool = Random(seed).sample(pool, _CANDIDATES)
    elif seed:
        Random(seed).shuffle(pool)
    traits = [_traits(packet) for packet in pool]
    shown: set[tuple[str, int]] = set()
    chosen: list[CrcInput] = []
    while pool and len(chosen) < count:
        best = max(range(len(pool)), key=lambda place: len(traits[place] - shown))
        shown |= traits.pop(best)
        chosen.append(pool.pop(best))
    return chosen


def spread(packets: Sequence[CrcInput], count: int) -> list[CrcInput]:
    """About `count` packets in their order: all if there are no more, else the rare ones first."""
    if len(packets) <= count:
        return list(packets)
    stride = len(packets) // (4 * count) + 1
    seen: set[tuple[str, int]] = set()
    rare: dict[int, CrcInput] = {}
    for packet in packets[::stride]:
        traits = _traits(packet)
        if not traits <= seen and len(rare) < count // 2:
            seen |= traits
            rare[packet.seen.number] = packet
    step = 2 * len(packets) // count + 1
    rare |= {packet.seen.number: packet for packet in packets[::step]}
    return [rare[number] for number in sorted(rare)]


def syndromes(packets: Iterable[CrcInput]) -> int:
    """How many of the packets say something of their own: different errors or lengths."""
    return len(
        {(packet.found ^ packet.right, packet.seen.end - packet.seen.ip) for packet in packets}
    )


def _traits(packet: CrcInput) -> set[tuple[str, int]]:
    seen, bth = packet.seen, packet.seen.bth
    last = packet.covered_end
    return {
        ("version", seen.version + 10 * seen.is_v1),
        ("tags", len(packet.tags)),
        ("opcode", bth.opcode),
        ("pad", len(packet.pad)),
        ("trailer", len(seen.trailer)),
        ("flags", bth.ack_req << 2 | bth.migreq << 1 | bth.solicited),
        ("byte 4", bth.fecn << 2 | bth.becn << 1 | bool(bth.reserved6)),
        ("beat", last % 8),
        ("wide beat", last % 64),
        ("long", len(packet.payload).bit_length()),
        ("first", packet.head[1]),
        ("second", packet.head[8]),
        ("id", not any(packet.head[4:6])),
        ("qpn", bth.dest_qpn),
        ("repeated", packet.original is not None),
        ("macs", hash(seen.frame[:12])),
    }
