# SPDX-License-Identifier: BSD-2-Clause
"""The base transport header as a Scapy layer that owns the tail of its packet.

IB pad and ICRC stand behind the payload but are fields of this layer, so that the
payload of a dissected packet is the message and nothing else. Pad count, pad and
ICRC that are left at None follow from the rest of the packet; set ones are sent
as they are. Ethernet padding is no part of any of them.
"""

from struct import pack
from typing import Any, ClassVar

from scapy.contrib import roce
from scapy.fields import AnyField, BitField, ByteEnumField, StrField
from scapy.layers.inet import UDP
from scapy.packet import Packet, bind_top_down

from roceproof.conformance.wire.framing import ICRC_BYTES, ROCE_UDP_PORT
from roceproof.conformance.wire.opcodes import OPCODES, Transport
from roceproof.conformance.wire.scapy.extensions import chain_of, layer_after
from roceproof.conformance.wire.scapy.invariant import icrc_of_layers

PKEY_OFFSET = 2  # the pad count is in the byte before


class ServiceOfConnection(int):
    """The opcode of an operation whose service a connection sets; alone it is that of RC."""


class OpcodeField(ByteEnumField):
    """An opcode by number or name; a name without a service is of the connection's service."""

    def any2i_one(self, pkt: Packet | None, x: Any) -> Any:
        """A number or a name, also `WRITE ONLY` for whatever service the connection has."""
        return _OPERATIONS[x] if x in _OPERATIONS else super().any2i_one(pkt, x)


_OPERATIONS = {
    row.name.partition(" ")[2]: ServiceOfConnection(row.value)
    for row in OPCODES.values()
    if row.transport is Transport.RC
}


class PadField(StrField):
    """The pad bytes between payload and ICRC; the ICRC has been taken off before."""

    def getfield(self, pkt: Packet, s: bytes) -> tuple[bytes, bytes]:
        """Cut the pad off, unless it would reach into the headers."""
        headers = sum(layer.SIZE for layer in chain_of(pkt.opcode))
        if len(s) - headers < pkt.padcount:
            return s, b""
        end = len(s) - pkt.padcount
        return s[:end], s[end:]

    def addfield(self, pkt: Packet, s: bytes, val: bytes | None) -> bytes:
        """Nothing here: the pad is placed when the payload is known."""
        return s


_OWN_FIELDS: dict[str, AnyField] = {
    "opcode": OpcodeField("opcode", 0, {value: row.name for value, row in OPCODES.items()}),
    "padcount": BitField("padcount", None, 2),
}


class BTH(roce.BTH):
    """Base transport header, IB pad and ICRC."""

    name = "BTH"
    fields_desc: ClassVar = [
        *(_OWN_FIELDS.get(field.name, field) for field in roce.BTH.fields_desc),
        PadField("pad", None),
    ]

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        """The opcode's first header, or raw bytes."""
        return layer_after(self, payload)

    def post_build(self, p: bytes, pay: bytes) -> bytes:
        """Place pad count, pad and ICRC."""
        body, icrc = pay[:-ICRC_BYTES], pay[-ICRC_BYTES:]
        count = self.padcount
        if count is None:
            count = (-len(body) if self.pad is None else len(self.pad)) % 4
        pad = bytes(count) if self.pad is None else self.pad
        flags = p[1] & 0xCF | count << 4
        packet = p[:1] + pack("B", flags) + p[PKEY_OFFSET:] + body + pad
        return packet + (self.compute_icrc(packet) if self.icrc is None else icrc)

    def compute_icrc(self, p: bytes) -> bytes:
        """The right ICRC of this packet, whose bytes from BTH to pad are `p`, in wire order."""
        icrc = icrc_of_layers(self, p)
        if icrc is None:
            unsupported: bytes = super().compute_icrc(p)
            return unsupported
        return icrc

    def mysummary(self) -> Any:
        """One line: opcode, QPN, PSN."""
        return self.sprintf("%BTH.opcode% QPN=%BTH.dqpn% PSN=%BTH.psn%")


bind_top_down(UDP, BTH, dport=ROCE_UDP_PORT)
