# SPDX-License-Identifier: BSD-2-Clause
"""How a message is cut into request packets.

A part is everything about a request packet but its PSN and the headers below
the BTH, so a copy of a packet is the same part again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from roceproof.conformance.faults.conversation.plan import Connection, End, Kind, Message
from roceproof.conformance.wire.headers import AtomicEth, Deth, Extension, Ieth, ImmDt, Reth
from roceproof.conformance.wire.opcodes import OPCODES, Opcode, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, packet_count
from roceproof.verbs.service import Service

QKEY = 0x11111111
_INDEX = {Position.FIRST: 0, Position.MIDDLE: 1, Position.LAST: 2, Position.ONLY: 3}
_UD_OPCODE = {Kind.SEND: 0x64, Kind.SEND_IMM: 0x65}


@dataclass(frozen=True, slots=True)
class Part:
    """One request packet; `number` counts the messages of its end."""

    row: Opcode
    number: int
    message: Message
    extensions: tuple[Extension, ...] = ()
    payload: bytes = b""
    span: int = 1

    @property
    def opcode(self) -> int:
        return self.row.value

    @property
    def length(self) -> int:
        """Bytes of the whole message."""
        return self.message.length

    @property
    def opens(self) -> bool:
        """Whether it is the first packet of its message."""
        return bool(self.row.position & Position.FIRST)

    @property
    def closes(self) -> bool:
        """Whether it is the last packet of its message."""
        return bool(self.row.position & Position.LAST)

    @property
    def asks(self) -> bool:
        """Whether it requests an acknowledgement on RC."""
        return self.closes and self.message.asks

    @property
    def solicited(self) -> bool:
        """Whether it carries Solicited Event."""
        return self.message.solicited and self.row.may_solicit

    def remainder(self, received: int, path_mtu: int) -> Part:
        """The READ REQUEST for what is missing after that many responses."""
        reth = self.extensions[0]
        assert isinstance(reth, Reth)
        done = received * path_mtu
        rest = Reth(reth.address + done, reth.rkey, reth.length - done)
        return replace(self, extensions=(rest,), span=self.span - received)


def all_parts(connection: Connection, side: int) -> Iterator[Part]:
    """The request packets of one end, in order."""
    end, peer = connection.ends[side], connection.ends[1 - side]
    for number, message in enumerate(end.messages):
        count, step = packet_count(message.length, connection.path_mtu), connection.path_mtu
        if message.kind.awaits_data:
            row = OPCODES[message.kind.value[0]]
            span = count if message.kind is Kind.READ else 1
            yield Part(row, number, message, _extensions(row, message, end, peer), span=span)
            continue
        for index in range(count):
            position = Position((index == 0) * 1 | (index == count - 1) * 2)
            row = OPCODES[_opcode(connection.service, message.kind, position)]
            payload = message.payload[index * step : (index + 1) * step]
            yield Part(row, number, message, _extensions(row, message, end, peer), payload)


def _opcode(service: Service, kind: Kind, position: Position) -> int:
    if service is Service.UD:
        return _UD_OPCODE[kind]
    return kind.value[_INDEX[position]] | service << 5


def _extensions(row: Opcode, message: Message, end: End, peer: End) -> tuple[Extension, ...]:
    address = peer.region + message.offset
    made: dict[type[Extension], Extension] = {
        Reth: Reth(address, peer.rkey, message.length),
        ImmDt: ImmDt(message.immediate),
        Ieth: Ieth(message.immediate),
        AtomicEth: AtomicEth(address, peer.rkey, *message.operands),
        Deth: Deth(QKEY, end.qpn),
    }
    return tuple(made[kind] for kind in row.headers)


@dataclass(slots=True, eq=False)
class Sent:
    """A request packet not acknowledged yet; `received` counts the responses to a READ."""

    psn: int
    word: int
    """What its PSN field holds."""
    part: Part
    asks: bool
    received: int = 0

    @property
    def last_psn(self) -> int:
        """The last PSN that it takes."""
        return (self.psn + self.part.span - 1) % PSN_MODULUS
