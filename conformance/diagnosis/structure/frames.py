# SPDX-License-Identifier: BSD-2-Clause
"""What is wrong with one packet by itself: opcode, reserved bits, headers that do not fit, pad."""

from collections.abc import Iterator
from typing import NamedTuple

from roceproof.conformance.diagnosis.observation import Observation
from roceproof.conformance.wire.headers import (
    Aeth,
    AtomicAckEth,
    AtomicEth,
    Deth,
    Extension,
    ImmDt,
    Reth,
)
from roceproof.conformance.wire.opcodes import OPCODES, Family, Opcode, Payload, Transport, name_of

PATH_MTUS = frozenset({256, 512, 1024, 2048, 4096})
_ALL_ONES = 0xFF
_EXTENDED_ATOMICS = frozenset({0x18, 0x19})
_RESERVED = {Transport.UC: "OPC-11", Transport.UD: "OPC-12"}
_MISSING: dict[type[Extension], str] = {
    Reth: "RETH-01",
    ImmDt: "IMM-01",
    Aeth: "AETH-01",
    AtomicEth: "ATOM-01",
    AtomicAckEth: "ATOM-02",
    Deth: "UD-01",
}
_TOO_MUCH = {0x0C: "READ-01", 0x11: "ACK-07", 0x12: "ATOM-02", 0x13: "ATOM-01", 0x14: "ATOM-01"}
_EXTENSION_BYTES = {row.value: sum(kind.SIZE for kind in row.headers) for row in OPCODES.values()}


class Break(NamedTuple):
    """A rule that is broken."""

    rule: str
    words: str
    """What was seen."""
    got: str = ""
    """The value of a field that should have another, as a finding of the rule says it."""


def broken(seen: Observation) -> Iterator[Break]:
    """What breaks a rule whatever stands around the packet."""
    bth = seen.bth
    if bth.version:
        yield Break("BTH-04", f"the transport version is {bth.version}", str(bth.version))
    row = OPCODES.get(bth.opcode)
    if row is None:
        if bth.opcode < Transport.XRC << 5 and bth.opcode not in _EXTENDED_ATOMICS:
            rule = _RESERVED.get(Transport(bth.opcode >> 5), "BTH-01")
            yield Break(rule, f"{name_of(bth.opcode)} is sent")
        return
    yield from _reserved_bits(seen, row)
    if seen.sound:
        yield from _sizes(seen, row)


def payload_size(seen: Observation) -> int:
    """Payload and pad of a packet of a known opcode; below zero if its headers do not fit."""
    return seen.body_size - _EXTENSION_BYTES[seen.bth.opcode]


def _reserved_bits(seen: Observation, row: Opcode) -> Iterator[Break]:
    bth = seen.bth
    bits = bth.fecn << 7 | bth.reserved6
    if row.family is not Family.CONGESTION:
        bits |= bth.becn << 6
    if bits and bits != _ALL_ONES:
        yield Break("BTH-08", f"BTH byte 4 is {bits:#04x}", f"{bits:#04x}")


def _sizes(seen: Observation, row: Opcode) -> Iterator[Break]:
    size, pad = payload_size(seen), seen.bth.pad_count
    if size < 0:
        yield Break(_misfit(seen, row), f"{row.name} has no room for its headers")
    elif row.payload is Payload.NONE:
        if pad:
            yield Break("PAD-05", f"{row.name} with PadCnt {pad}")
        elif size and row.value in _TOO_MUCH:
            yield Break(_TOO_MUCH[row.value], f"{size} bytes behind the headers of {row.name}")
    elif size % 4:
        yield Break(
            "PAD-01", f"{size} bytes behind the headers with PadCnt {pad}, not a multiple of 4"
        )
    elif pad > size:
        yield Break("PAD-01", f"PadCnt {pad} with {size} bytes behind the headers")


def _misfit(seen: Observation, row: Opcode) -> str:
    room = seen.body_size
    for kind in row.headers:
        room -= kind.SIZE
        if room < 0:
            return _MISSING.get(kind, "UDP-02")
    return "UDP-02"
