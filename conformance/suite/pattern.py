# SPDX-License-Identifier: BSD-2-Clause
"""Packets of which only some fields are said, the vocabulary of every case.

    WRITE_FIRST(psn=0, payload=256, dmalen=700)

A field that is not said takes its default when the packet is sent, and does not matter when it is
expected. PSNs count from the start of their direction, so a case never knows the real ones. The
service in the opcode's upper bits is the connection's. `corrupted` changes bytes behind the ICRC's
back, `resealed` changes them and computes the ICRC anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from roceproof.conformance.wire.opcodes import OPCODES, Transport

Edit = Callable[[bytearray], None]
"""Changes a whole frame in place; it may grow or shrink."""

FIELDS = frozenset(
    [
        "psn",
        "a",
        "se",
        "m",
        "pad",
        "tver",
        "pkey",
        "qpn",
        "fecn",
        "becn",
        "resv6",
        "resv7",
        "va",
        "rkey",
        "dmalen",
        "imm",
        "inv",
        "swap",
        "compare",
        "syndrome",
        "msn",
        "original",
        "qkey",
        "src_qpn",
        "payload",
        "src_ip",
        "dst_ip",
        "src_mac",
        "dst_mac",
        "tos",
        "ttl",
        "ident",
        "fragment",
        "flow_label",
        "sport",
        "vlan",
    ]
)


@dataclass(frozen=True)
class Pattern:
    """One packet. `opcode` has the service bits of RC if the connection shall set them."""

    name: str
    opcode: int
    said: Mapping[str, Any]
    own_service: bool = True
    edits: tuple[tuple[Edit, bool], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        unknown = sorted(self.said.keys() - FIELDS)
        if unknown:
            raise TypeError(f"{self.name} has no field {unknown[0]!r}; fields: {sorted(FIELDS)}")

    def but(self, **fields: Any) -> Pattern:
        """The same packet with these fields said otherwise."""
        return replace(self, said={**self.said, **fields})

    def without(self, *names: str) -> Pattern:
        """The same packet with these fields not said."""
        return replace(self, said={k: v for k, v in self.said.items() if k not in names})

    def corrupted(self, edit: Edit) -> Pattern:
        """The same packet, changed after the ICRC was computed."""
        return replace(self, edits=(*self.edits, (edit, False)))

    def resealed(self, edit: Edit) -> Pattern:
        """The same packet, changed, with IP checksum and ICRC computed over the change."""
        return replace(self, edits=(*self.edits, (edit, True)))


def opcode(value: int, **fields: Any) -> Pattern:
    """A packet of any opcode, reserved ones included; all eight bits are as given."""
    row = OPCODES.get(value)
    name = row.name.replace(" ", "_") if row else f"OPCODE_{value:02X}"
    return Pattern(name, value, fields, own_service=False)


Maker = Callable[..., Pattern]


def _maker(name: str, value: int, *, own_service: bool) -> Maker:
    def make(**fields: Any) -> Pattern:
        return Pattern(name, value, fields, own_service)

    make.__name__ = name
    make.__doc__ = f"A {name.replace('_', ' ')} packet."
    return make


def _makers() -> dict[str, Maker]:
    made = {}
    for row in OPCODES.values():
        if row.transport is Transport.RC:
            name = row.name.removeprefix("RC ").replace(" ", "_")
            made[name] = _maker(name, row.value, own_service=True)
    return made


_MAKERS = _makers()

SEND_FIRST = _MAKERS["SEND_FIRST"]
SEND_MIDDLE = _MAKERS["SEND_MIDDLE"]
SEND_LAST = _MAKERS["SEND_LAST"]
SEND_LAST_IMM = _MAKERS["SEND_LAST_IMM"]
SEND_LAST_INV = _MAKERS["SEND_LAST_INV"]
SEND_ONLY = _MAKERS["SEND_ONLY"]
SEND_ONLY_IMM = _MAKERS["SEND_ONLY_IMM"]
SEND_ONLY_INV = _MAKERS["SEND_ONLY_INV"]
WRITE_FIRST = _MAKERS["WRITE_FIRST"]
WRITE_MIDDLE = _MAKERS["WRITE_MIDDLE"]
WRITE_LAST = _MAKERS["WRITE_LAST"]
WRITE_LAST_IMM = _MAKERS["WRITE_LAST_IMM"]
WRITE_ONLY = _MAKERS["WRITE_ONLY"]
WRITE_ONLY_IMM = _MAKERS["WRITE_ONLY_IMM"]
READ_REQUEST = _MAKERS["READ_REQUEST"]
READ_RESP_FIRST = _MAKERS["READ_RESP_FIRST"]
READ_RESP_MIDDLE = _MAKERS["READ_RESP_MIDDLE"]
READ_RESP_LAST = _MAKERS["READ_RESP_LAST"]
READ_RESP_ONLY = _MAKERS["READ_RESP_ONLY"]
ACKNOWLEDGE = _MAKERS["ACKNOWLEDGE"]
ATOMIC_ACK = _MAKERS["ATOMIC_ACK"]
CMP_SWAP = _MAKERS["CMP_SWAP"]
FETCH_ADD = _MAKERS["FETCH_ADD"]
FLUSH = _MAKERS["FLUSH"]
ATOMIC_WRITE = _MAKERS["ATOMIC_WRITE"]
UD_SEND_ONLY = _maker("UD_SEND_ONLY", 0x64, own_service=False)
UD_SEND_ONLY_IMM = _maker("UD_SEND_ONLY_IMM", 0x65, own_service=False)
CNP = _maker("CNP", 0x81, own_service=False)

NO_CREDITS = 31
SEQUENCE_ERROR, INVALID_REQUEST, ACCESS_ERROR, OPERATIONAL_ERROR = range(4)


def ACK(*, credits: int | None = None, **fields: Any) -> Pattern:
    """A positive acknowledgement; any credit code if none is said and it is expected."""
    return Pattern("ACK", 0x11, {**fields, "syndrome": credits if credits is not None else "ACK"})


def RNR(*, timer: int | None = None, **fields: Any) -> Pattern:
    """A receiver-not-ready NAK with a timer code, any code if none is said and it is expected."""
    return Pattern("RNR", 0x11, {**fields, "syndrome": "RNR" if timer is None else 0x20 | timer})


def NAK(code: int, **fields: Any) -> Pattern:
    """A NAK with one of the codes above."""
    return Pattern("NAK", 0x11, {**fields, "syndrome": 0x60 | code})
