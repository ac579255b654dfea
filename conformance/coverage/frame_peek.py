# SPDX-License-Identifier: BSD-2-Clause
"""The few fields of a frame that coverage asks for, read without building a packet."""

from struct import Struct
from typing import NamedTuple

from roceproof.conformance.wire.codec import has_room
from roceproof.conformance.wire.framing import BTH_BYTES, ICRC_BYTES, UDP_BYTES, locate
from roceproof.conformance.wire.icrc import compute_at
from roceproof.conformance.wire.opcodes import OPCODES

_BTH = Struct(">BBHII")
_HEADERS = {opcode: sum(kind.SIZE for kind in row.headers) for opcode, row in OPCODES.items()}
_MASK24 = 0xFFFFFF
_SOLICITED, _IPV4 = 0x80, 4
_AETH_FIRST = frozenset({0x0D, 0x0F, 0x10, 0x11, 0x12})


class Glimpse(NamedTuple):
    """One RoCEv2 packet. `syndrome` is that of an AETH, -1 without."""

    opcode: int
    dest_qpn: int
    psn: int
    syndrome: int
    payload: int  # bytes
    trailer: int  # bytes behind the packet
    is_sound: bool  # no fault, and a right ICRC
    solicited: bool
    source: bytes  # address
    behind: int  # where in the frame the BTH ends

    @property
    def is_response(self) -> bool:
        """Whether a responder of a reliable connection sends such an opcode."""
        return 0x0D <= self.opcode <= 0x12


def glimpse(frame: bytes, *, believes: bool = False) -> Glimpse | None:
    """Look at a frame; None if it is not RoCEv2 or ends before BTH and ICRC.

    `believes` that the ICRC is right: others judge what a device sends.
    """
    layout = locate(frame)
    if layout is None or not has_room(frame, layout):
        return None
    end = min(layout.end, len(frame))
    at = layout.udp + UDP_BYTES
    opcode, flags, _, qpn_word, psn_word = _BTH.unpack_from(frame, at)
    behind = at + BTH_BYTES
    has_aeth = opcode in _AETH_FIRST and behind < end
    room = end - ICRC_BYTES - behind - _HEADERS.get(opcode, 0) - (flags >> 4 & 3)
    is_sound = layout.fault is None and (
        believes or frame[end - ICRC_BYTES : end] == compute_at(frame, layout)
    )
    return Glimpse(
        opcode,
        qpn_word & _MASK24,
        psn_word & _MASK24,
        frame[behind] if has_aeth else -1,
        max(0, room),
        len(frame) - end,
        is_sound,
        flags >= _SOLICITED,
        frame[layout.ip + 12 : layout.ip + 16]
        if layout.version == _IPV4
        else frame[layout.ip + 8 : layout.ip + 24],
        behind,
    )
