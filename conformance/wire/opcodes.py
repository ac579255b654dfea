# SPDX-License-Identifier: BSD-2-Clause
"""The opcode table: what each BTH opcode is called and what must follow it.

A row gives the transport, the message family, the position inside the message,
the extension headers in wire order and the rule for the payload length against
the path MTU P. An opcode without a row is reserved.
"""

from enum import Enum, Flag, IntEnum, auto
from typing import NamedTuple

from roceproof.conformance.wire.headers import (
    Aeth,
    AtomicAckEth,
    AtomicEth,
    CnpReserved,
    Deth,
    Extension,
    Feth,
    Ieth,
    ImmDt,
    Reth,
)


class Transport(IntEnum):
    """Opcode bits 7:5."""

    RC = 0
    UC = 1
    RD = 2
    UD = 3
    CNP = 4
    XRC = 5


class Family(Enum):
    """Which kind of message a packet belongs to."""

    SEND = auto()
    WRITE = auto()
    READ = auto()
    ATOMIC = auto()
    FLUSH = auto()
    RESPONSE = auto()
    CONGESTION = auto()


REQUESTS = (Family.SEND, Family.WRITE, Family.READ, Family.ATOMIC)
"""What asks a responder for something that every one of them has."""


class Position(Flag):
    """Whether a request packet opens its message, closes it, both or neither."""

    MIDDLE = 0
    FIRST = 1
    LAST = 2
    ONLY = 3


class Payload(Enum):
    """Payload bytes allowed at path MTU P."""

    FULL = "exactly P"
    SOME = "1 to P"
    ANY = "0 to P"
    NONE = "none"
    EIGHT = "exactly 8"

    def admits(self, length: int, path_mtu: int) -> bool:
        """Whether a packet may carry `length` bytes."""
        match self:
            case Payload.FULL:
                return length == path_mtu
            case Payload.SOME:
                return 1 <= length <= path_mtu
            case Payload.ANY:
                return length <= path_mtu
            case Payload.NONE:
                return length == 0
            case Payload.EIGHT:
                return length == 8


class Opcode(NamedTuple):
    """One row of the table."""

    value: int
    name: str
    family: Family
    position: Position
    headers: tuple[type[Extension], ...]
    payload: Payload

    @property
    def transport(self) -> Transport:
        """The service class that the opcode belongs to."""
        return Transport(self.value >> 5)

    @property
    def is_response(self) -> bool:
        """Whether an RC responder sends it."""
        return self.family is Family.RESPONSE

    @property
    def may_solicit(self) -> bool:
        """Whether the packet can complete a receive, the only place for Solicited Event."""
        completes = self.family is Family.SEND or ImmDt in self.headers
        return completes and bool(self.position & Position.LAST)


_FIRST, _MIDDLE, _LAST, _ONLY = Position.FIRST, Position.MIDDLE, Position.LAST, Position.ONLY
_FULL, _SOME, _ANY, _NONE = Payload.FULL, Payload.SOME, Payload.ANY, Payload.NONE
_SEND, _WRITE, _READ, _ATOMIC = Family.SEND, Family.WRITE, Family.READ, Family.ATOMIC
_RESP = Family.RESPONSE

# fmt: off
_CONNECTED = (  # the rows that RC and UC share
    Opcode(0x00, "SEND FIRST",      _SEND,  _FIRST,  (),            _FULL),
    Opcode(0x01, "SEND MIDDLE",     _SEND,  _MIDDLE, (),            _FULL),
    Opcode(0x02, "SEND LAST",       _SEND,  _LAST,   (),            _SOME),
    Opcode(0x03, "SEND LAST IMM",   _SEND,  _LAST,   (ImmDt,),      _SOME),
    Opcode(0x04, "SEND ONLY",       _SEND,  _ONLY,   (),            _ANY),
    Opcode(0x05, "SEND ONLY IMM",   _SEND,  _ONLY,   (ImmDt,),      _ANY),
    Opcode(0x06, "WRITE FIRST",     _WRITE, _FIRST,  (Reth,),       _FULL),
    Opcode(0x07, "WRITE MIDDLE",    _WRITE, _MIDDLE, (),            _FULL),
    Opcode(0x08, "WRITE LAST",      _WRITE, _LAST,   (),            _SOME),
    Opcode(0x09, "WRITE LAST IMM",  _WRITE, _LAST,   (ImmDt,),      _SOME),
    Opcode(0x0A, "WRITE ONLY",      _WRITE, _ONLY,   (Reth,),       _ANY),
    Opcode(0x0B, "WRITE ONLY IMM",  _WRITE, _ONLY,   (Reth, ImmDt), _ANY),
)
_RELIABLE = (
    Opcode(0x0C, "READ REQUEST",     _READ,   _ONLY,   (Reth,),              _NONE),
    Opcode(0x0D, "READ RESP FIRST",  _RESP,   _FIRST,  (Aeth,),              _FULL),
    Opcode(0x0E, "READ RESP MIDDLE", _RESP,   _MIDDLE, (),                   _FULL),
    Opcode(0x0F, "READ RESP LAST",   _RESP,   _LAST,   (Aeth,),              _SOME),
    Opcode(0x10, "READ RESP ONLY",   _RESP,   _ONLY,   (Aeth,),              _ANY),
    Opcode(0x11, "ACKNOWLEDGE",      _RESP,   _ONLY,   (Aeth,),              _NONE),
    Opcode(0x12, "ATOMIC ACK",       _RESP,   _ONLY,   (Aeth, AtomicAckEth), _NONE),
    Opcode(0x13, "CMP SWAP",         _ATOMIC, _ONLY,   (AtomicEth,),         _NONE),
    Opcode(0x14, "FETCH ADD",        _ATOMIC, _ONLY,   (AtomicEth,),         _NONE),
    Opcode(0x16, "SEND LAST INV",    _SEND,   _LAST,   (Ieth,),              _SOME),
    Opcode(0x17, "SEND ONLY INV",    _SEND,   _ONLY,   (Ieth,),              _ANY),
    Opcode(0x1C, "FLUSH", Family.FLUSH,       _ONLY,   (Feth, Reth),         _NONE),
    Opcode(0x1D, "ATOMIC WRITE",     _ATOMIC, _ONLY,   (Reth,),              Payload.EIGHT),
)
_OTHER = (
    Opcode(0x64, "UD SEND ONLY",     _SEND, _ONLY, (Deth,),       _ANY),
    Opcode(0x65, "UD SEND ONLY IMM", _SEND, _ONLY, (Deth, ImmDt), _ANY),
    Opcode(0x81, "CNP", Family.CONGESTION, _ONLY, (CnpReserved,), _NONE),
)
# fmt: on

OPCODES: dict[int, Opcode] = {
    row.value: row
    for row in (
        *(row._replace(name=f"RC {row.name}") for row in _CONNECTED + _RELIABLE),
        *(
            row._replace(value=row.value | Transport.UC << 5, name=f"UC {row.name}")
            for row in _CONNECTED
        ),
        *_OTHER,
    )
}


def name_of(opcode: int) -> str:
    """The opcode's name, or its number where it is reserved."""
    row = OPCODES.get(opcode)
    return row.name if row else f"reserved opcode {opcode:#04x}"


def is_cnp(opcode: int) -> bool:
    """Whether it notifies of congestion."""
    row = OPCODES.get(opcode)
    return row is not None and row.transport is Transport.CNP
