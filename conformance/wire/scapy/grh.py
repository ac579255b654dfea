# SPDX-License-Identifier: BSD-2-Clause
"""The global route header of RoCEv1 as a Scapy layer.

Scapy's own leaves the payload length at 0 and takes Ethernet padding for payload;
this one derives the length, names BTH as what follows and keeps padding out.
"""

from struct import pack
from typing import ClassVar

from scapy.config import conf
from scapy.contrib import roce
from scapy.fields import AnyField, BitField, ByteField, IP6Field, ShortField
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, bind_top_down

from roceproof.conformance.wire.scapy.bth import BTH

ETHER_ROCE_V1 = 0x8915
NEXT_HEADER_BTH = 0x1B
PAYLOAD_LENGTH_OFFSET = 4

_OWN_FIELDS: dict[str, AnyField] = {
    "flowlabel": BitField("flowlabel", 0, 20),
    "paylen": ShortField("paylen", None),
    "nexthdr": ByteField("nexthdr", NEXT_HEADER_BTH),
    "hoplmt": ByteField("hoplmt", 64),
    "sgid": IP6Field("sgid", "::"),
    "dgid": IP6Field("dgid", "::"),
}


class GRH(roce.GRH):
    """Global route header, with the GIDs written as IPv6 addresses."""

    name = "GRH"
    fields_desc: ClassVar = [_OWN_FIELDS.get(field.name, field) for field in roce.GRH.fields_desc]

    def guess_payload_class(self, payload: bytes) -> type[Packet]:
        """BTH, if the header says so."""
        return BTH if self.nexthdr == NEXT_HEADER_BTH else conf.raw_layer

    def extract_padding(self, s: bytes) -> tuple[bytes, bytes]:
        """Payload and what the frame has beyond it."""
        return s[: self.paylen], s[self.paylen :]

    def post_build(self, p: bytes, pay: bytes) -> bytes:
        """Fill in the payload length."""
        if self.paylen is None:
            at = PAYLOAD_LENGTH_OFFSET
            p = p[:at] + pack(">H", len(pay)) + p[at + 2 :]
        return p + pay


bind_top_down(Ether, GRH, type=ETHER_ROCE_V1)
bind_top_down(Dot1Q, GRH, type=ETHER_ROCE_V1)
