# SPDX-License-Identifier: BSD-2-Clause
"""Work requests, the memory that they name, and how they end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum

LOCAL_ERRORS = ("loc_len_err", "loc_qp_op_err")
"""Of work that may not be sent, and that leaves its queue pair as it was."""


class Op(Enum):
    """What work asks for."""

    SEND = "SEND"
    SEND_IMM = "SEND_IMM"
    SEND_INV = "SEND_INV"
    WRITE = "WRITE"
    WRITE_IMM = "WRITE_IMM"
    READ = "READ"
    CMP_SWAP = "CMP_SWAP"
    FETCH_ADD = "FETCH_ADD"


ATOMICS = (Op.CMP_SWAP, Op.FETCH_ADD)


@dataclass(frozen=True, kw_only=True)
class Work:
    """One work request. `data` is what to send; READ and atomics say where results go."""

    wr_id: int
    op: Op
    data: bytes = b""
    remote_addr: int = 0
    rkey: int = 0
    immediate: int = 0
    invalidate: int = 0
    solicited: bool = False
    offset: int = 0  # first byte lane, or source address modulo the bus
    into: Region | None = None
    into_offset: int = 0
    length: int | None = None  # if it shall differ from the data's; of a READ
    compare: int = 0
    swap_or_add: int = 0
    datagram_qpn: int = 0  # UD only, with datagram_qkey
    datagram_qkey: int = 0

    @property
    def size(self) -> int:
        """Bytes that the message moves."""
        return len(self.data) if self.length is None else self.length


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A completion; `status` in libibverbs' words in lower case ("success", "rem_access_err")."""

    wr_id: int
    status: str
    is_receive: bool = False
    byte_len: int | None = None
    immediate: int | None = None
    invalidated: int | None = None
    solicited: bool | None = field(default=None, compare=False)
    """Of a receive, whether its message asks for attention; from targets that say it."""
    src_qpn: int | None = field(default=None, compare=False)
    """Of a receive, whose message it took; from targets that say it."""
    syndrome: int | None = field(default=None, compare=False)
    """Of the response that decided it, 0xFF where none did; from targets that say it."""
    time_ns: int | None = field(default=None, compare=False)
    """When it came, from targets that say it."""


class Region(ABC):
    """Registered memory of the device."""

    addr: int
    rkey: int
    size: int
    lkey: int = 0
    """How the device's own receives name it, where somebody knows."""
    built_in: frozenset[int] = frozenset()
    """All keys of the device where nobody gives them out: of regions that no case has, too."""

    def wrong_key(self, mask: int) -> int:
        """A key that names nothing: this one with these bits turned, or the next such one."""
        key = self.rkey ^ mask
        while mask and key in self.built_in:
            key = (key + 1) % (1 << 32)
        return key

    @property
    def extent(self) -> int:
        """Bytes that peers reach by its key: more than `size` where a device has none so short."""
        return self.size

    @abstractmethod
    def read(self, offset: int, length: int) -> bytes:
        """Bytes as they are now."""

    @abstractmethod
    def write(self, offset: int, data: bytes) -> None:
        """Change bytes from the device's side."""

    @abstractmethod
    def deregister(self) -> None:
        """Make its key invalid."""
