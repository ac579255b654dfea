# SPDX-License-Identifier: BSD-2-Clause
"""Edits of whole frames, applied to Scapy packets.

An edit changes bytes, so it needs a packet that is a whole frame, and what comes back has been
dissected anew. Of a packet that begins at BTH, `qp.crafted` makes the frame.
"""

from scapy.layers.l2 import Dot3, Ether
from scapy.packet import Packet

from roceproof.common.errors import RoceproofError
from roceproof.conformance.wire.frame_edits import Edit, reseal
from roceproof.conformance.wire.scapy.dissection import dissected


class NotAFrame(RoceproofError):
    """A packet that is no whole frame stands where only one can; the text says how to make one."""


def is_frame(packet: Packet) -> bool:
    """Whether a packet begins with its link layer, so that nothing below it is missing."""
    return isinstance(packet, Ether | Dot3)


def corrupted(packet: Packet, *edits: Edit) -> Packet:
    """The frame after these edits, which neither the IP checksum nor the ICRC knows of."""
    frame = _frame(packet)
    for edit in edits:
        edit(frame)
    return dissected(bytes(frame))


def resealed(packet: Packet, *edits: Edit) -> Packet:
    """The frame after these edits, with IP checksum and ICRC computed over the changes."""
    frame = _frame(packet)
    for edit in edits:
        edit(frame)
        reseal(frame)
    return dissected(bytes(frame))


def _frame(packet: Packet) -> bytearray:
    if not is_frame(packet):
        raise NotAFrame(
            f"an edit needs a whole frame, and this packet begins with {packet.name}; "
            "make one of it first: qp.crafted(packet)"
        )
    return bytearray(bytes(packet))
