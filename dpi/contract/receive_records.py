# SPDX-License-Identifier: BSD-2-Clause
"""The records of the contract's second version: memory regions, receives and how they end.

As in records.py: rtl/roceproof_dut_pkg.sv byte for byte, big-endian, the first field first.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Self

from roceproof.dpi.contract.records import (
    NO_ACCESS,
    Access,
    RecordError,
    Status,
    pack_record,
    read_status,
)

_REGION = struct.Struct(">BBH II QQQ 4x")
_RECEIVE = struct.Struct(">Q II Q I H 2x")
_COMPLETION = struct.Struct(">Q I BB 2x III 4x")


class RegionCommand(IntEnum):
    """What a record says of its region."""

    FORGET = 0
    REGISTER = 1


class ReceiveFlags(IntFlag):
    """What came with a message."""

    IMMEDIATE = 1
    INVALIDATE = 2
    SOLICITED = 4


NOTHING_ELSE = ReceiveFlags(0)


@dataclass(frozen=True, kw_only=True)
class MemoryRegion:
    """Memory that keys name; byte `va` of it lies at `base` in the device's memory."""

    lkey: int
    rkey: int
    va: int = 0
    length: int = 0
    base: int = 0
    command: RegionCommand = RegionCommand.REGISTER
    access: Access = NO_ACCESS
    pd: int = 0

    SIZE = _REGION.size

    def pack(self) -> bytes:
        """The 40 bytes of the record."""
        return pack_record(
            "MemoryRegion",
            _REGION,
            self.command,
            self.access,
            self.pd,
            self.lkey,
            self.rkey,
            self.va,
            self.length,
            self.base,
        )


@dataclass(frozen=True, kw_only=True)
class PostedReceive:
    """Where one message may go: of a queue pair, or of a shared queue if `srq` is not 0."""

    wr_id: int
    qpn: int
    lkey: int
    address: int
    length: int
    srq: int = 0

    SIZE = _RECEIVE.size

    def pack(self) -> bytes:
        """The 32 bytes of the record."""
        return pack_record(
            "PostedReceive",
            _RECEIVE,
            self.wr_id,
            self.qpn,
            self.lkey,
            self.address,
            self.length,
            self.srq,
        )


@dataclass(frozen=True, kw_only=True)
class ReceiveCompletion:
    """The end of one receive."""

    wr_id: int
    qpn: int
    status: Status
    flags: ReceiveFlags = NOTHING_ELSE
    byte_len: int = 0
    immediate: int = 0
    src_qpn: int = 0

    SIZE = _COMPLETION.size

    def pack(self) -> bytes:
        """The 32 bytes of the record."""
        return pack_record(
            "ReceiveCompletion",
            _COMPLETION,
            self.wr_id,
            self.qpn,
            self.status,
            self.flags,
            self.byte_len,
            self.immediate,
            self.src_qpn,
        )

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Read one; a status that is none of Status is an error that names it."""
        if len(data) != cls.SIZE:
            raise RecordError(f"receive completion of {len(data)} bytes, expected {cls.SIZE}")
        wr_id, qpn, status, flags, byte_len, immediate, src_qpn = _COMPLETION.unpack(data)
        return cls(
            wr_id=wr_id,
            qpn=qpn,
            status=read_status("receive", "rcp_o", wr_id, status),
            flags=ReceiveFlags(flags),
            byte_len=byte_len,
            immediate=immediate,
            src_qpn=src_qpn,
        )
