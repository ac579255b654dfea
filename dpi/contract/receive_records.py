# SPDX-License-Identifier: BSD-2-Clause
"""The records of the contract's second version: memory regions, receives and how they end.

As in records.py: rtl/roceproof_dut_pkg.sv byte for byte, big-endian, the first field first.
"""

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Self

from roceproof.dpi.contract.records import NO_ACCESS, Access, Record, Status, read_status


class RegionCommand(IntEnum):
    """What a record says of its region."""

    FORGET = 0
    REGISTER = 1


class ReceiveFlags(IntFlag):
    IMMEDIATE = 1
    INVALIDATE = 2
    SOLICITED = 4


NOTHING_ELSE = ReceiveFlags(0)


@dataclass(frozen=True, kw_only=True)
class MemoryRegion(Record, form="BBH II QQQ 4x"):
    """Memory that keys name; byte `va` of it lies at `base` in the device's memory."""

    command: RegionCommand = RegionCommand.REGISTER
    access: Access = NO_ACCESS
    pd: int = 0
    lkey: int
    rkey: int
    va: int = 0
    length: int = 0
    base: int = 0


@dataclass(frozen=True, kw_only=True)
class PostedReceive(Record, form="Q II Q I H 2x"):
    """Where one message may go: of a queue pair, or of a shared queue if `srq` is not 0."""

    wr_id: int
    qpn: int
    lkey: int
    address: int
    length: int
    srq: int = 0


@dataclass(frozen=True, kw_only=True)
class ReceiveCompletion(Record, form="Q I BB 2x III 4x"):
    wr_id: int
    qpn: int
    status: Status
    flags: ReceiveFlags = NOTHING_ELSE
    byte_len: int = 0
    immediate: int = 0
    src_qpn: int = 0

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Read one; a status that is none of Status is an error that names it."""
        said = cls.fields_of("receive completion", data)
        status = read_status("receive", "rcp_o", said["wr_id"], said["status"])
        return cls(**said | {"status": status, "flags": ReceiveFlags(said["flags"])})
