# SPDX-License-Identifier: BSD-2-Clause
"""The extension headers as Scapy layers, in the order that the opcode table gives.

`chain_of` is the one place where an opcode becomes a list of layers. The reliable
datagram opcodes, which RoCE does not use, are derived from those of RC, so that a
stray one is still taken apart.
"""

from functools import cache
from typing import ClassVar

from scapy.config import conf
from scapy.contrib import roce
from scapy.fields import BitField, IntField, StrFixedLenField, XBitField, XIntField, XLongField
from scapy.packet import Packet

from roceproof.conformance.wire import headers as wire
from roceproof.conformance.wire.opcodes import OPCODES, Transport

RD_RESYNC = 0x55


class ExtensionLayer(Packet):
    """A header of fixed size between BTH and payload."""

    SIZE: ClassVar[int]

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        """The header after this one, or raw bytes."""
        return layer_after(self, payload)


class RETH(ExtensionLayer):
    """RDMA extended transport header."""

    name = "RETH"
    SIZE = wire.Reth.SIZE
    fields_desc: ClassVar = [
        XLongField("address", 0),
        XIntField("rkey", 0),
        IntField("length", 0),
    ]


class AtomicETH(ExtensionLayer):
    """Atomic extended transport header."""

    name = "AtomicETH"
    SIZE = wire.AtomicEth.SIZE
    fields_desc: ClassVar = [
        XLongField("address", 0),
        XIntField("rkey", 0),
        XLongField("swap_or_add", 0),
        XLongField("compare", 0),
    ]


class AtomicAckETH(ExtensionLayer):
    """Atomic acknowledge extended transport header."""

    name = "AtomicAckETH"
    SIZE = wire.AtomicAckEth.SIZE
    fields_desc: ClassVar = [XLongField("remote_data", 0)]


class ImmDt(ExtensionLayer):
    """Immediate data."""

    name = "ImmDt"
    SIZE = wire.ImmDt.SIZE
    fields_desc: ClassVar = [XIntField("value", 0)]


class IETH(ExtensionLayer):
    """Invalidate extended transport header."""

    name = "IETH"
    SIZE = wire.Ieth.SIZE
    fields_desc: ClassVar = [XIntField("rkey", 0)]


class FETH(ExtensionLayer):
    """Flush extended transport header."""

    name = "FETH"
    SIZE = wire.Feth.SIZE
    fields_desc: ClassVar = [
        BitField("reserved", 0, 26),
        BitField("selectivity", 0, 2),
        BitField("placement", 0, 4),
    ]


class DETH(ExtensionLayer):
    """Datagram extended transport header."""

    name = "DETH"
    SIZE = wire.Deth.SIZE
    fields_desc: ClassVar = [
        XIntField("qkey", 0),
        BitField("reserved", 0, 8),
        XBitField("sqpn", 0, 24),
    ]


class RDETH(ExtensionLayer):
    """Reliable datagram extended transport header."""

    name = "RDETH"
    SIZE = 4
    fields_desc: ClassVar = [BitField("reserved", 0, 8), XBitField("eecontext", 0, 24)]


class AETH(ExtensionLayer, roce.AETH):
    """ACK extended transport header: Scapy's fields, and what follows them."""

    name = "AETH"
    SIZE = wire.Aeth.SIZE


class CNPReserved(ExtensionLayer):
    """The reserved bytes of a congestion notification packet."""

    name = "CNPReserved"
    SIZE = wire.CnpReserved.SIZE
    fields_desc: ClassVar = [StrFixedLenField("value", bytes(SIZE), length=SIZE)]


_LAYERS: dict[type[wire.Extension], type[ExtensionLayer]] = {
    wire.Reth: RETH,
    wire.AtomicEth: AtomicETH,
    wire.AtomicAckEth: AtomicAckETH,
    wire.ImmDt: ImmDt,
    wire.Ieth: IETH,
    wire.Feth: FETH,
    wire.Deth: DETH,
    wire.Aeth: AETH,
    wire.CnpReserved: CNPReserved,
}


@cache
def chain_of(opcode: int) -> tuple[type[ExtensionLayer], ...]:
    """The layers behind BTH; none for a reserved opcode."""
    if opcode >> 5 == Transport.RD:
        return _reliable_datagram_chain(opcode)
    row = OPCODES.get(opcode)
    return tuple(_LAYERS[kind] for kind in row.headers) if row else ()


def _reliable_datagram_chain(opcode: int) -> tuple[type[ExtensionLayer], ...]:
    if opcode == RD_RESYNC:
        return (RDETH, DETH)
    row = OPCODES.get(opcode & 0x1F)
    if row is None or opcode > RD_RESYNC:
        return ()
    datagram = () if row.is_response else (DETH,)
    return (RDETH, *datagram, *chain_of(row.value))


def layer_after(layer: Packet, payload: bytes) -> type[Packet]:
    """What follows this layer below its BTH: the next header if it fits, else raw bytes."""
    depth = 0
    bth: Packet | None = layer
    while bth is not None and not isinstance(bth, roce.BTH):
        bth = bth.underlayer
        depth += 1
    chain = chain_of(bth.opcode) if bth is not None else ()
    if depth < len(chain) and len(payload) >= chain[depth].SIZE:
        return chain[depth]
    raw: type[Packet] = conf.raw_layer
    return raw
