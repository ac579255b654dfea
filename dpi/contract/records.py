# SPDX-License-Identifier: BSD-2-Clause
"""The records of the DUT contract as Python values: rtl/roceproof_dut_pkg.sv, byte for byte.

Every record is big-endian, its first field first. Names of enumerations are the verbs' own.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Any, ClassVar, Self

from roceproof.common.errors import RoceproofError
from roceproof.verbs.addresses import parse_gid, parse_mac
from roceproof.verbs.service import PathMtu, Service

BREACH = "the device breaks its contract"
_DEI = 1 << 12
_FLOW_CONTROL = 1 << 7  # beside the rights


class RecordError(RoceproofError, ValueError):
    """A value does not fit its record. The text names the field and what it may hold."""


class QpCommand(IntEnum):
    RESET = 0
    ACTIVATE = 1
    INIT = 2
    RTR = 3
    RTS = 4
    ERROR = 5
    CONNECT = 6
    DISCONNECT = 7


class Access(IntFlag):
    """Rights of a memory region, or of the peer on a queue pair: those of ibv_access_flags."""

    LOCAL_WRITE = 1
    REMOTE_WRITE = 2
    REMOTE_READ = 4
    REMOTE_ATOMIC = 8


NO_ACCESS = Access(0)


class Operation(IntEnum):
    """What a work request asks for."""

    SEND = 0
    SEND_IMM = 1
    WRITE = 2
    WRITE_IMM = 3
    READ = 4
    CMP_SWAP = 5
    FETCH_ADD = 6


ASKING = frozenset({Operation.READ, Operation.CMP_SWAP, Operation.FETCH_ADD})
"""What is answered with data; the payload of such a work request is `Operands`."""
SENDING = tuple(each for each in Operation if each not in ASKING)
"""The others, with payload."""


class Status(IntEnum):
    """Completion status, with the names and numbers of ibv_wc_status.

    The contract knows few of them; a device may say any, and is told by its name what it said.
    """

    SUCCESS = 0
    LOC_LEN_ERR = 1
    LOC_QP_OP_ERR = 2
    LOC_EEC_OP_ERR = 3
    LOC_PROT_ERR = 4
    WR_FLUSH_ERR = 5
    MW_BIND_ERR = 6
    BAD_RESP_ERR = 7
    LOC_ACCESS_ERR = 8
    REM_INV_REQ_ERR = 9
    REM_ACCESS_ERR = 10
    REM_OP_ERR = 11
    RETRY_EXC_ERR = 12
    RNR_RETRY_EXC_ERR = 13
    LOC_RDD_VIOL_ERR = 14
    REM_INV_RD_REQ_ERR = 15
    REM_ABORT_ERR = 16
    INV_EECN_ERR = 17
    INV_EEC_STATE_ERR = 18
    FATAL_ERR = 19
    RESP_TIMEOUT_ERR = 20
    GENERAL_ERR = 21
    TM_ERR = 22
    TM_RNDV_INCOMPLETE = 23


class Record:
    """A record of the contract: a dataclass whose fields stand in the order of its bytes."""

    FORM: ClassVar[struct.Struct]
    SIZE: ClassVar[int]

    def __init_subclass__(cls, *, form: str) -> None:
        cls.FORM = struct.Struct(f">{form}")
        cls.SIZE = cls.FORM.size

    def packed_values(self) -> Iterable[Any]:
        """The fields as numbers and bytes."""
        return vars(self).values()

    def pack(self) -> bytes:
        """The bytes of the record; a value that is too wide for its field is a RecordError."""
        try:
            return self.FORM.pack(*self.packed_values())
        except struct.error as error:
            name = type(self).__name__
            raise RecordError(f"{name}: a field does not fit its width: {error}") from error

    @classmethod
    def fields_of(cls, what: str, data: bytes) -> dict[str, Any]:
        """The numbers in the bytes of one, by the names of the fields."""
        if len(data) != cls.SIZE:
            raise RecordError(f"{what} of {len(data)} bytes, expected {cls.SIZE}")
        return dict(zip(cls.__annotations__, cls.FORM.unpack(data), strict=True))


def read_status(kind: str, port: str, wr_id: int, status: int) -> Status:
    """The status of a completion; one that there is not is an error that names it."""
    try:
        return Status(status)
    except ValueError:
        raise RecordError(
            f"{kind} {wr_id:#x} completed with status {status}, expected one of ibv_wc_status, "
            f"0..{max(Status)}: look at the status field of {port}"
        ) from None


def _check(kind: str, field: str, value: int, limit: int) -> None:
    if not 0 <= value < limit:
        raise RecordError(f"{kind}.{field} is {value:#x}, expected 0..{limit - 1:#x}")


@dataclass(frozen=True, kw_only=True)
class QpConfig(Record, form="BBBB IIII 6s H 16s BBH BBBB HHIBBH"):
    """One queue pair's state; a QP that is active restarts from it."""

    command: QpCommand = QpCommand.ACTIVATE
    service: Service = Service.RC
    path_mtu: PathMtu = PathMtu.MTU_1024
    access: Access = NO_ACCESS
    local_qpn: int
    remote_qpn: int = 0
    sq_psn: int = 0
    rq_psn: int = 0
    remote_mac: str = "02:00:00:00:00:02"
    udp_sport: int = 0xC000
    remote_gid: str = "192.168.1.2"
    traffic_class: int = 0
    hop_limit: int = 64
    ip_id: int = 0
    ack_timeout: int = 0
    retry_count: int = 0
    rnr_retry: int = 0
    min_rnr_timer: int = 0
    pd: int = 0
    srq: int = 0
    qkey: int = 0
    max_rd_atomic: int = 0
    max_dest_rd_atomic: int = 0
    completed: int = 0  # messages that count as received before, in units of 256
    vlan: int | None = None
    """Control information of the tag of its packets, for devices that claim `vlan`; DEI is 0."""
    flow_control: bool = False
    """Whether it obeys end-to-end credits, for devices that claim `credits`."""

    def packed_values(self) -> Iterable[Any]:
        """The fields as numbers and bytes; those of 24 bits are checked here."""
        for name in ("local_qpn", "remote_qpn", "sq_psn", "rq_psn"):
            _check("QpConfig", name, getattr(self, name), 1 << 24)
        high, low = divmod(self._tag(), 1 << 8)
        packed = {
            "access": self.access | (_FLOW_CONTROL if self.flow_control else 0),
            "sq_psn": high << 24 | self.sq_psn,
            "rq_psn": low << 24 | self.rq_psn,
            "remote_mac": parse_mac(self.remote_mac),
            "remote_gid": parse_gid(self.remote_gid),
        }
        fields = vars(self) | packed
        return [value for name, value in fields.items() if name not in ("vlan", "flow_control")]

    def _tag(self) -> int:
        """The control information with a 1 where DEI is, or 0 if there is no tag."""
        if self.vlan is None:
            return 0
        _check("QpConfig", "vlan", self.vlan, 1 << 16)
        if self.vlan & _DEI:
            raise RecordError(f"QpConfig.vlan is {self.vlan:#06x}, expected DEI, bit 12, to be 0")
        return self.vlan | _DEI


@dataclass(frozen=True, kw_only=True)
class WorkRequest(Record, form="Q I B B H Q I I I 4x"):
    """One message to send. `length` and `payload_offset` say how its payload arrives."""

    wr_id: int
    qpn: int
    operation: Operation
    solicited: bool = False
    payload_offset: int = 0
    remote_addr: int = 0
    rkey: int = 0
    length: int
    immediate: int = 0


@dataclass(frozen=True, kw_only=True)
class Operands(Record, form="Q I 4x Q Q"):
    """Where an answer goes, in a region of the device's, and what an atomic works with."""

    address: int
    lkey: int
    compare: int = 0
    swap_or_add: int = 0


@dataclass(frozen=True, kw_only=True)
class Completion(Record, form="Q I B B 2x"):
    """The end of one work request. `syndrome` is 0xFF where no response decided it."""

    wr_id: int
    qpn: int
    status: Status
    syndrome: int = 0xFF

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Read a completion; a status that is none of Status is an error that names it."""
        said = cls.fields_of("completion", data)
        status = read_status("work", "cpl_o", said["wr_id"], said["status"])
        return cls(**said | {"status": status})
