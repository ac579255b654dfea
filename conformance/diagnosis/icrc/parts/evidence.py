# SPDX-License-Identifier: BSD-2-Clause
"""What wrong ICRCs say whatever the fault is: tail probe, start register, constancy, fields, masks.

Each step stands by itself and needs no hypothesis about the others.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from roceproof.conformance.diagnosis.icrc.parts.crc import CASTAGNOLI, ETHERNET, ONES, Crc
from roceproof.conformance.diagnosis.icrc.parts.crc_input import MASKED, CrcInput
from roceproof.conformance.diagnosis.icrc.parts.engine import REORDERINGS, Engine
from roceproof.conformance.diagnosis.icrc.parts.gf2 import Equations

FARTHEST = 64
"""How many bytes the end of the input may be off in the tail probe."""

KNOWN_STARTS = {
    0xDEBB20E3: "right",
    0xFFFFFFFF: "no dummy bytes (S11)",
    0x9ADD2096: "dummy bytes of zeros (S12)",
    0x00000000: "four dummy bytes (S13), or a register of zeros without any or with zeros",
    0x44660075: "a register that starts at zeros (S19), or four dummy bytes behind DEBB20E3",
    0xC04C39E5: "dummy bytes fed twice (S22)",
}
_ENGINES = (
    ("", Engine()),
    ("most significant bit first", Engine(mirrored=True)),
    ("with the polynomial of CRC-32C", Engine(crc=CASTAGNOLI)),
)


class Probe(NamedTuple):
    """How the difference of two packets reached their ICRCs."""

    engine: str
    reordering: tuple[str, ...]
    extra: int
    """Bytes clocked behind the true end; below zero, bytes left out there."""


def tail_probe(a: CrcInput, b: CrcInput) -> list[Probe]:
    """The ways in which two packets of one length and layout can differ as their ICRCs do."""
    if (len(a.masked), a.seen.body_size) != (len(b.masked), b.seen.body_size):
        return []
    change = _difference(a.masked + a.seen.body, b.masked + b.seen.body)
    effect = a.found ^ b.found
    found = []
    for words, engine in _ENGINES:
        register = engine.run(change, 0)
        effects = _shifted(engine.crc, register)
        for reordering in REORDERINGS:
            extra = effects.get(reordering.apply(effect)) if register else None
            if extra is not None:
                found.append(Probe(words, reordering.ids, extra))
    return found


def _shifted(crc: Crc, register: int) -> dict[int, int]:
    """What becomes of a register as bytes are clocked behind it, by which that many."""
    a, b, c, d = crc.shifter(1)
    effects = {}
    moved = crc.shift(register, -FARTHEST)
    for count in range(-FARTHEST, FARTHEST + 1):
        effects[moved] = count
        moved = a[moved & 255] ^ b[moved >> 8 & 255] ^ c[moved >> 16 & 255] ^ d[moved >> 24]
    return effects


def start_register(packet: CrcInput) -> int:
    """The register in front of the IP header that leads to the field, all else being right."""
    data = packet.masked + packet.seen.body
    return ETHERNET.shift(packet.found ^ ONES ^ ETHERNET.run(data, 0), -len(data))


class Shape(StrEnum):
    """What the error (found against right) depends on."""

    CONSTANT = "the same for all packets"
    LENGTH = "a function of the length alone"
    CONTENT = "different for packets of one length"


def shape(packets: Sequence[CrcInput]) -> Shape | None:
    """What the error depends on; None if the packets cannot tell."""
    errors: dict[int, set[int]] = {}
    for packet in packets:
        errors.setdefault(packet.size, set()).add(packet.found ^ packet.right)
    if any(len(of_one) > 1 for of_one in errors.values()):
        return Shape.CONTENT
    if len(errors) < 2 or len(packets) < len(errors) + 2:
        return None
    return Shape.CONSTANT if len(set.union(*errors.values())) == 1 else Shape.LENGTH


def seen_as(packet: CrcInput, fields: Sequence[str]) -> bytes | None:
    """The head that gives the field if only these fields are seen otherwise; None if none does."""
    places = [place for field in fields for place in _bits(packet, field)]
    equations = Equations(packet.found ^ packet.right)
    for at, bit in places:
        equations.add(_effect(packet, at, bit))
    chosen = equations.solve()
    if chosen is None:
        return None
    head = bytearray(packet.masked)
    for place in chosen:
        at, bit = places[place]
        head[at] ^= 1 << bit
    return bytes(head)


class Mask(NamedTuple):
    """Which bits are not masked, as far as the packets show."""

    bare: dict[str, int]
    """Per field, the bits (least significant first) that must be bare."""
    open: int
    """How many bits the packets leave open."""


def recover_mask(packets: Sequence[CrcInput]) -> Mask | None:
    """Solve for the bits that are not masked; None if no set of them explains the errors."""
    names = sorted(
        {
            (field, place)
            for packet in packets
            for field in MASKED
            for place in range(len(_bits(packet, field)))
        }
    )
    goal = 0
    for packet in packets:
        goal = goal << 32 | packet.found ^ packet.right
    equations = Equations(goal)
    for field, place in names:
        column = 0
        for packet in packets:
            bits = _bits(packet, field)
            effect = 0
            if place < len(bits) and not packet.head[bits[place][0]] >> bits[place][1] & 1:
                effect = _effect(packet, *bits[place])
            column = column << 32 | effect
        equations.add(column)
    chosen = equations.solve()
    if chosen is None:
        return None
    bare: dict[str, int] = {}
    for index in chosen:
        field, place = names[index]
        bare[field] = bare.get(field, 0) | 1 << place
    return Mask(bare, equations.open)


def _bits(packet: CrcInput, field: str) -> list[tuple[int, int]]:
    """Return the bits of a field, least significant first."""
    return [
        (at, bit)
        for at, bits in reversed(packet.spans(field))
        for bit in range(8)
        if bits >> bit & 1
    ]


def _effect(packet: CrcInput, at: int, bit: int) -> int:
    """Return what one bit of the head adds to the ICRC."""
    register = ETHERNET.run(bytes([1 << bit]), 0)
    return ETHERNET.shift(register, len(packet.head) - 1 - at + packet.seen.body_size)


def _difference(a: bytes, b: bytes) -> bytes:
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).to_bytes(len(a), "big")


def probe_pairs(packets: Sequence[CrcInput], most: int) -> Iterator[tuple[CrcInput, CrcInput]]:
    """Pairs that a tail probe can compare."""
    last: dict[tuple[int, int], CrcInput] = {}
    count = 0
    for packet in packets:
        key = len(packet.masked), packet.seen.body_size
        if key in last and count < most:
            count += 1
            yield last[key], packet
        last[key] = packet
