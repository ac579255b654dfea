# SPDX-License-Identifier: BSD-2-Clause
"""Which operation of verbs a request packet is part of."""

from collections.abc import Collection

from roceproof.conformance.wire.headers import Ieth, ImmDt
from roceproof.conformance.wire.opcodes import Family, Opcode, Payload, Position
from roceproof.verbs.work import Op

_PLAIN = {Family.SEND: Op.SEND, Family.WRITE: Op.WRITE, Family.READ: Op.READ}
_WITH_IMMEDIATE = {Op.SEND: Op.SEND_IMM, Op.WRITE: Op.WRITE_IMM}
_ATOMICS = {0x13: Op.CMP_SWAP, 0x14: Op.FETCH_ADD}


def operations_of(row: Opcode) -> frozenset[Op]:
    """The operation; before the last packet of a message it may be each of several."""
    if row.family is Family.ATOMIC and row.payload is not Payload.EIGHT:
        return frozenset({_ATOMICS[row.value]})
    plain = _PLAIN.get(row.family)
    if plain is None:
        return frozenset()
    if not row.position & Position.LAST:
        invalidating = {Op.SEND_INV} if plain is Op.SEND else set()
        return frozenset({plain, _WITH_IMMEDIATE[plain], *invalidating})
    if ImmDt in row.headers:
        return frozenset({_WITH_IMMEDIATE[plain]})
    return frozenset({Op.SEND_INV if Ieth in row.headers else plain})


def has_operation(row: Opcode, operations: Collection[Op]) -> bool:
    """Whether a device with these operations has the one that a request packet is part of."""
    return not operations_of(row).isdisjoint(operations)
