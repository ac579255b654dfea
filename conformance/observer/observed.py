# SPDX-License-Identifier: BSD-2-Clause
"""One RoCE packet, read where it lies in its frame, cut or whole.

Fields that need bytes beyond the end of what was captured are None. Sizes come
from the length fields, so they are those of the packet on the wire.
"""

from enum import Enum, auto
from struct import Struct
from typing import NamedTuple

from roceproof.conformance.wire.framing import BTH_BYTES, ICRC_BYTES, UDP_BYTES, Layout
from roceproof.conformance.wire.headers import Aeth, Deth, Extension, Reth
from roceproof.conformance.wire.opcodes import OPCODES, Family, Opcode, Transport

_BTH = Struct(">BBHII").unpack_from
_RETH = Struct(">QII").unpack_from
_U16 = Struct(">H").unpack_from
_U32 = Struct(">I").unpack_from
_DETH = Struct(">II").unpack_from
_MASK24 = 0xFFFFFF

READ_REQUEST, READ_MIDDLE, ACKNOWLEDGE, ATOMIC_ACK, ATOMIC_WRITE = 0x0C, 0x0E, 0x11, 0x12, 0x1D


class IcrcVerdict(Enum):
    """What became of the ICRC."""

    OK = auto()
    BAD = auto()
    UNCHECKED = auto()


class ReadHeader(NamedTuple):
    address: int
    rkey: int
    length: int


def _offsets(row: Opcode) -> dict[type[Extension], int]:
    """Where each header of an opcode begins, counted from the end of the BTH."""
    at, offsets = 0, {}
    for kind in row.headers:
        offsets[kind] = at
        at += kind.SIZE
    return offsets


_OFFSETS = {row.value: _offsets(row) for row in OPCODES.values()}
_HEADER_BYTES = {row.value: sum(kind.SIZE for kind in row.headers) for row in OPCODES.values()}
_NONE: dict[type[Extension], int] = {}


def has_bth(frame: bytes, layout: Layout) -> bool:
    """Whether the whole BTH was captured."""
    return len(frame) >= layout.udp + UDP_BYTES + BTH_BYTES


class Observed:
    """A packet of a sound layout whose BTH was captured whole."""

    __slots__ = (
        "ack_requested",
        "beside_ack_request",
        "body",
        "byte4",
        "ce_marked",
        "cut",
        "dest_qpn",
        "dscp",
        "dst",
        "end",
        "extension_bytes",
        "frame",
        "hops",
        "icrc",
        "ip",
        "layout",
        "migreq",
        "opcode",
        "pad_count",
        "pad_size",
        "payload_at",
        "payload_size",
        "pkey",
        "psn",
        "row",
        "size",
        "solicited",
        "sport",
        "src",
        "tver",
        "udp",
        "udp_length",
        "version",
    )

    def __init__(self, frame: bytes, layout: Layout, size: int) -> None:
        ip, version, udp, end, _ = layout
        self.frame, self.layout, self.size = frame, layout, size
        self.ip, self.version, self.udp, self.end = ip, version, udp, end
        self.cut = len(frame) < end
        self.icrc = IcrcVerdict.UNCHECKED
        self.udp_length = end - udp
        if version == 4:
            self.src, self.dst = frame[ip + 12 : ip + 16], frame[ip + 16 : ip + 20]
            traffic_class, self.hops = frame[ip + 1], frame[ip + 8]
        else:
            self.src, self.dst = frame[ip + 8 : ip + 24], frame[ip + 24 : ip + 40]
            traffic_class, self.hops = _U16(frame, ip)[0] >> 4 & 255, frame[ip + 7]
        self.dscp, self.ce_marked = traffic_class >> 2, traffic_class & 3 == 3
        self.sport: int | None = None if version == 1 else _U16(frame, udp)[0]

        bth = udp + UDP_BYTES
        self.opcode, flags, self.pkey, qpn_word, psn_word = _BTH(frame, bth)
        self.solicited, self.migreq = flags >> 7, flags >> 6 & 1
        self.pad_count, self.tver = flags >> 4 & 3, flags & 15
        self.byte4, self.dest_qpn = qpn_word >> 24, qpn_word & _MASK24
        self.ack_requested, self.psn = psn_word >> 31, psn_word & _MASK24
        self.beside_ack_request = psn_word >> 24 & 127

        self.row = OPCODES.get(self.opcode)
        self.body = bth + BTH_BYTES
        self.extension_bytes = _HEADER_BYTES.get(self.opcode, 0)
        self.payload_at = self.body + self.extension_bytes
        behind = end - ICRC_BYTES - self.payload_at
        self.pad_size = self.pad_count if self.pad_count <= behind else 0
        self.payload_size = behind - self.pad_size

    # what kind of packet

    @property
    def transport_class(self) -> int:
        """Opcode bits 7:5."""
        return int(self.opcode) >> 5

    @property
    def is_foreign(self) -> bool:
        """Whether its opcode belongs to a service that is counted but not judged."""
        return int(self.opcode) >= Transport.XRC << 5

    @property
    def is_cnp(self) -> bool:
        return self.row is not None and self.row.family is Family.CONGESTION

    @property
    def is_response(self) -> bool:
        """Whether an RC responder sends its opcode."""
        return self.row is not None and self.row.is_response

    @property
    def vlan_tag(self) -> int | None:
        """The TCI of the innermost VLAN tag."""
        return None if self.ip == 14 else int(_U16(self.frame, self.ip - 4)[0])

    # headers behind the BTH

    def missing_header(self) -> type[Extension] | None:
        """The first header of the opcode for which the packet has no room."""
        room = self.end - ICRC_BYTES - self.body
        if self.extension_bytes <= room:
            return None
        fits = (kind for kind, at in _OFFSETS[self.opcode].items() if at + kind.SIZE > room)
        return next(fits)

    def header_at(self, kind: type[Extension]) -> int | None:
        """Where a header begins in the frame; None if the opcode lacks it or it is cut off."""
        at = _OFFSETS.get(self.opcode, _NONE).get(kind)
        if at is None or len(self.frame) < self.body + at + kind.SIZE:
            return None
        return self.body + at

    @property
    def reth(self) -> ReadHeader | None:
        at = self.header_at(Reth)
        return None if at is None else ReadHeader(*_RETH(self.frame, at))

    @property
    def aeth(self) -> tuple[int, int] | None:
        at = self.header_at(Aeth)
        if at is None:
            return None
        word = _U32(self.frame, at)[0]
        return word >> 24, word & _MASK24

    @property
    def syndrome(self) -> int | None:
        """The first byte of the AETH."""
        at = _OFFSETS.get(self.opcode, _NONE).get(Aeth)
        if at is None or len(self.frame) <= self.body + at:
            return None
        return self.frame[self.body + at]

    @property
    def deth(self) -> tuple[int, int] | None:
        """Q_Key, and the word with the source QPN."""
        at = self.header_at(Deth)
        return None if at is None else _DETH(self.frame, at)

    @property
    def payload(self) -> bytes:
        """What was captured of the payload."""
        return self.frame[self.payload_at : self.payload_at + self.payload_size]

    @property
    def pad(self) -> bytes:
        """What was captured of the pad."""
        at = self.payload_at + self.payload_size
        return self.frame[at : at + self.pad_size]

    @property
    def found_icrc(self) -> bytes:
        """The last four bytes of a packet that is not cut."""
        return self.frame[self.end - ICRC_BYTES : self.end]
