# SPDX-License-Identifier: BSD-2-Clause
"""The InfiniBand transport headers as immutable values.

Each packs to and unpacks from its big-endian wire form. Unpacking never fails
once the bytes are there: reserved bits are kept, so that packing an unpacked
header gives the same bytes back.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, Self

_MASK24 = 0xFFFFFF


@dataclass(frozen=True, slots=True)
class Bth:
    """Base transport header."""

    opcode: int
    dest_qpn: int
    psn: int
    solicited: bool = False
    migreq: bool = True
    pad_count: int = 0
    version: int = 0
    pkey: int = 0xFFFF
    fecn: bool = False
    becn: bool = False
    reserved6: int = 0  # beside FECN and BECN
    ack_req: bool = False
    reserved7: int = 0  # beside AckReq

    FORMAT: ClassVar[Struct] = Struct(">BBHII")
    SIZE: ClassVar[int] = 12

    @classmethod
    def unpack(cls, data: bytes, offset: int = 0) -> Bth:
        """Read the header at `offset`."""
        opcode, flags, pkey, qpn_word, psn_word = cls.FORMAT.unpack_from(data, offset)
        return cls(
            opcode,
            qpn_word & _MASK24,
            psn_word & _MASK24,
            flags >= 0x80,
            bool(flags & 0x40),
            flags >> 4 & 3,
            flags & 15,
            pkey,
            qpn_word >= 1 << 31,
            bool(qpn_word & 1 << 30),
            qpn_word >> 24 & 63,
            psn_word >= 1 << 31,
            psn_word >> 24 & 127,
        )

    def pack(self) -> bytes:
        """The wire form."""
        return self.FORMAT.pack(
            self.opcode,
            self.solicited << 7 | self.migreq << 6 | self.pad_count << 4 | self.version,
            self.pkey,
            self.fecn << 31 | self.becn << 30 | self.reserved6 << 24 | self.dest_qpn,
            self.ack_req << 31 | self.reserved7 << 24 | self.psn,
        )


@dataclass(frozen=True, slots=True)
class Extension:
    """A header between BTH and payload whose fields are those of `FORMAT`."""

    FORMAT: ClassVar[Struct]
    SIZE: ClassVar[int]

    @classmethod
    def unpack(cls, data: bytes, offset: int = 0) -> Self:
        """Read the header at `offset`."""
        return cls(*cls.FORMAT.unpack_from(data, offset))

    def pack(self) -> bytes:
        """The wire form."""
        names: tuple[str, ...] = self.__match_args__
        return self.FORMAT.pack(*[getattr(self, name) for name in names])


@dataclass(frozen=True, slots=True)
class Reth(Extension):
    """RDMA extended transport header."""

    address: int
    rkey: int
    length: int

    FORMAT: ClassVar[Struct] = Struct(">QII")
    SIZE: ClassVar[int] = 16


@dataclass(frozen=True, slots=True)
class ImmDt(Extension):
    """Immediate data: four bytes that nobody interprets, first byte most significant."""

    value: int

    FORMAT: ClassVar[Struct] = Struct(">I")
    SIZE: ClassVar[int] = 4


@dataclass(frozen=True, slots=True)
class Ieth(Extension):
    """Invalidate extended transport header."""

    rkey: int

    FORMAT: ClassVar[Struct] = Struct(">I")
    SIZE: ClassVar[int] = 4


@dataclass(frozen=True, slots=True)
class Feth(Extension):
    """Flush extended transport header: selectivity and placement type in one word."""

    word: int

    FORMAT: ClassVar[Struct] = Struct(">I")
    SIZE: ClassVar[int] = 4


@dataclass(frozen=True, slots=True)
class AtomicEth(Extension):
    """Atomic extended transport header."""

    address: int
    rkey: int
    swap_or_add: int
    compare: int

    FORMAT: ClassVar[Struct] = Struct(">QIQQ")
    SIZE: ClassVar[int] = 28


@dataclass(frozen=True, slots=True)
class AtomicAckEth(Extension):
    """Atomic acknowledge extended transport header: the value found in memory."""

    original: int

    FORMAT: ClassVar[Struct] = Struct(">Q")
    SIZE: ClassVar[int] = 8


@dataclass(frozen=True, slots=True)
class Deth(Extension):
    """Datagram extended transport header; the word holds the source QPN in bits 23:0."""

    qkey: int
    source_word: int

    FORMAT: ClassVar[Struct] = Struct(">II")
    SIZE: ClassVar[int] = 8


@dataclass(frozen=True, slots=True)
class CnpReserved(Extension):
    """The sixteen reserved bytes of a congestion notification packet."""

    value: bytes = bytes(16)

    FORMAT: ClassVar[Struct] = Struct(">16s")
    SIZE: ClassVar[int] = 16


@dataclass(frozen=True, slots=True)
class Aeth(Extension):
    """ACK extended transport header."""

    syndrome: int
    msn: int

    FORMAT: ClassVar[Struct] = Struct(">I")
    SIZE: ClassVar[int] = 4

    @classmethod
    def unpack(cls, data: bytes, offset: int = 0) -> Self:
        word = cls.FORMAT.unpack_from(data, offset)[0]
        return cls(word >> 24, word & _MASK24)

    def pack(self) -> bytes:
        return self.FORMAT.pack(self.syndrome << 24 | self.msn)
