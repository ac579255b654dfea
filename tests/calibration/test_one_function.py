# SPDX-License-Identifier: BSD-2-Clause
"""Which two faults of an ICRC unit are the same function as one, computed and not believed."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

from roceproof.conformance.calibration.judge import DOCUMENTED
from roceproof.conformance.faults.icrc.packet import Body, Face, Packet, assemble, finish
from roceproof.conformance.faults.icrc.unit import IcrcUnit
from roceproof.conformance.faults.icrc.wirings import CLASHES, UNITS, WIRINGS

KINDS = ((0x04, 0, 99), (0x04, 0, 0), (0x0A, 16, 99), (0x11, 4, 0))
"""Opcodes, with the length of the extension header and the most that the payload may be."""


def packets() -> list[Packet]:
    """Some that differ in all that a unit may see."""
    random = Random(1)
    made = []
    tags = b"", b"\x81\x00\x40\x07"
    for size, tag, (opcode, more, most) in product((4, 16), tags, KINDS):
        addresses = random.randbytes(size), random.randbytes(size)
        numbers = (random.randrange(1 << bits) for bits in (16, 8, 8, 20))
        face = Face(random.randbytes(12), tag, *addresses, *numbers, bool(size & 4))
        queue, word, ident = (random.getrandbits(bits) for bits in (32, 32, 16))
        body = Body(random.randbytes(more), random.randbytes(random.randint(most // 2, most)))
        packet = assemble(
            face, opcode=opcode, flags=0, queue=queue, psn_word=word, ident=ident, body=body
        )
        finish(packet)
        made.append(packet)
    return made


PACKETS = packets()


def fields(*faults: str) -> tuple[bytes, ...]:
    """What a unit with those faults makes of them."""
    unit = next((UNITS[fault]() for fault in faults if fault in UNITS), IcrcUnit())
    for fault in faults:
        if fault in WIRINGS:
            WIRINGS[fault](unit, Random(fault))
    return tuple(unit.compute(packet) for packet in PACKETS)


def test_what_counts_as_one_function_is_one_and_nothing_else_is() -> None:
    alone = {fault: fields(fault) for fault in (*WIRINGS, *UNITS)}
    names = {made: fault for fault, made in alone.items()}
    found = {
        (frozenset({one}), frozenset(pair))
        for pair in combinations(WIRINGS, 2)
        if not any({*pair} <= group for group in CLASHES)
        and (one := names.get(fields(*pair))) not in (None, *pair)
    }
    hides = {pair for pair in found if pair[0] == {"S18"}}  # lengths that it does not see
    assert found - hides == {*DOCUMENTED}
