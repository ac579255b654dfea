# SPDX-License-Identifier: BSD-2-Clause
"""The interface between the suite and a device under test.

A `Source` knows what a kind of target claims before anything is built or booted, and
hands out one fresh `Target` per case. A target is a device and the wire to it: whole
Ethernet frames without FCS go in and come out, work is posted, memory is looked at.
Every wait has a deadline on the target's own clock, in nanoseconds: simulated time
where the clock can stand still, the wall's elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from roceproof.conformance.targets.capability import Capability
from roceproof.dpi.records import Service
from roceproof.errors import RoceproofError


class TargetError(RoceproofError):
    """The bench failed, not the device."""


class DeviceDied(TargetError):
    """The device or its kernel is gone; the text names the reason and the last frame sent to it."""


class Refused(TargetError):
    """The device or its driver would not do what it was asked; the text says why."""


class Host(NamedTuple):
    """One address on the wire. `ip` has 4 or 16 bytes."""

    mac: bytes
    ip: bytes


class State(Enum):
    """States of a queue pair."""

    RESET = "RESET"
    INIT = "INIT"
    RTR = "RTR"
    RTS = "RTS"
    ERR = "ERR"


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


FULL_ACCESS = frozenset({"local_write", "remote_write", "remote_read", "remote_atomic"})
"""Rights of memory and of queue pairs, in the words of the verbs agent."""


@dataclass(frozen=True, kw_only=True)
class QpSpec:
    """A queue pair of the device, and what it is told of the other end.

    Codes are those of the InfiniBand Architecture. `local_qpn` is a wish: a target that
    gives numbers itself ignores it, so ask the `Qp`.
    """

    service: Service
    remote: Host
    remote_qpn: int
    local_qpn: int = 0
    path_mtu: int = 1024  # bytes
    sq_psn: int = 0  # of the first request that the device sends
    rq_psn: int = 0  # of the first request that it accepts
    udp_sport: int = 0xC000
    traffic_class: int = 0
    hop_limit: int = 64
    ip_id: int = 0
    vlan: int | None = None  # the 16 bits behind 0x8100
    ack_timeout: int = 0  # code t: 4.096 us * 2^t, 0 = never
    retry_count: int = 7
    rnr_retry: int = 7
    flow_control: bool = False  # end-to-end credits are agreed on
    min_rnr_timer: int = 1  # code that the device as responder sends
    max_rd_atomic: int = 1  # that the device as requester may have outstanding
    max_dest_rd_atomic: int = 4  # that the device as responder accepts
    access: frozenset[str] = FULL_ACCESS
    qkey: int = 0x11111111
    state: State = State.RTS
    shared_receive: bool = False
    completed_messages: int = 0  # that a responder has counted before; needs MSN_PRESET


@dataclass(frozen=True)
class Qp:
    """A queue pair that the device has. `handle` is the target's own business."""

    qpn: int
    spec: QpSpec
    handle: int = 0


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


class Arrival(NamedTuple):
    """A frame that the device sent, and when; with its FCS from a target that shows it."""

    time_ns: int
    frame: bytes
    fcs: bytes = b""


class Region(ABC):
    """Registered memory of the device."""

    addr: int
    rkey: int
    size: int

    @abstractmethod
    def read(self, offset: int, length: int) -> bytes:
        """Bytes as they are now."""

    @abstractmethod
    def write(self, offset: int, data: bytes) -> None:
        """Change bytes from the device's side."""

    @abstractmethod
    def deregister(self) -> None:
        """Make its key invalid."""


class Patience(NamedTuple):
    """How long the suite waits, in ns of the target's clock."""

    answer_ns: int  # by then what must come has come
    quiet_ns: int  # this long nothing comes before silence is believed
    grain_ns: int = 0  # how much too early a timer of the device may seem to be


@dataclass(frozen=True, kw_only=True)
class CasePlace:
    """What a case brings along."""

    name: str
    seed: int
    waves: Path | None = None


class Target(ABC):
    """One device for the length of one case. What it cannot do it does not claim."""

    host: Host  # the device's own address
    patience: Patience

    @property
    @abstractmethod
    def now_ns(self) -> int:
        """The clock."""

    def host_for(self, spec: QpSpec) -> Host:
        """The device's address that such a queue pair uses: of its IP version and VLAN."""
        return self.host

    # the wire

    @abstractmethod
    def send(self, frame: bytes) -> None:
        """Hand the device a frame, behind all those before; at the next wait it travels."""

    @abstractmethod
    def receive(self, timeout_ns: int) -> Arrival | None:
        """The next frame of the device that is not ARP, ND or ping, or None when time is over.

        On the wall's clock targets answer the device's ARP for `neighbours` themselves.
        """

    def send_damaged(self, frame: bytes) -> None:
        """As `send`, but the MAC finds the frame's check sequence wrong; needs DAMAGE."""
        raise NotImplementedError

    def wait(self, duration_ns: int) -> None:
        """Let time pass; what arrives is kept for `receive`."""
        raise NotImplementedError

    # queue pairs

    @abstractmethod
    def open(self, spec: QpSpec) -> Qp:
        """Create a queue pair and bring it to the state of its spec."""

    @abstractmethod
    def reopen(self, qp: Qp, spec: QpSpec) -> Qp:
        """The same queue pair through RESET to the state of a new spec."""

    def set_state(self, qp: Qp, state: State) -> None:
        """Move a queue pair to RESET (needs RESET) or ERR, or on from INIT or RTR (STATES)."""
        raise NotImplementedError

    @abstractmethod
    def post(self, qp: Qp, work: Work) -> None:
        """Post work on the send queue; `Refused` if that is all that comes of it."""

    def post_receive(
        self, qp: Qp, *, wr_id: int, region: Region, offset: int = 0, length: int
    ) -> None:
        """Post a receive; needs RESPONDER."""
        raise NotImplementedError

    @abstractmethod
    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        """Wait until `count` more completions have come or time is over; all that have come."""

    # memory and counters

    def register(self, size: int, *, access: frozenset[str] = FULL_ACCESS) -> Region:
        """Zeroed memory that the device serves; needs MEMORY."""
        raise NotImplementedError

    def register_elsewhere(self, size: int) -> Region:
        """Memory of another protection domain than every queue pair's; needs MEMORY."""
        raise NotImplementedError

    def listen(self, service_id: int, spec: QpSpec) -> None:
        """Accept connections to a service by connection management; needs CM.

        What a REQ does not say of the queue pair is taken from `spec`.
        """
        raise NotImplementedError

    def accepted(self, qpn: int, spec: QpSpec) -> Qp:
        """The queue pair of this number that has come of a REQ; needs CM."""
        raise NotImplementedError

    def call(self, service_id: int, spec: QpSpec) -> Qp:
        """Ask a service of the spec's remote for a connection; needs CM.

        The queue pair's number goes into the REQ. What comes of it REP and RTU say.
        """
        raise NotImplementedError

    def hang_up(self, qp: Qp) -> None:
        """End a connection with a DREQ; needs CM."""
        raise NotImplementedError

    def counters(self) -> Mapping[str, int]:
        """What the device counts, by its own names; needs COUNTERS."""
        raise NotImplementedError

    def disturb(self, **percent: int) -> None:
        """Stall streams (fields of roceproof.dpi.options.Flow); needs DISTURBANCE."""
        raise NotImplementedError

    def ping(self, peer: Host, *, timeout_ns: int) -> bool:
        """Whether the device answers an ARP request and an echo request; needs PING."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What a kind of target is, before one is built or booted."""

    target: str  # hdl, rxe, nic, model
    device: str  # its name, for reports
    capabilities: frozenset[Capability]
    path_mtus: tuple[int, ...] = (256, 512, 1024, 2048, 4096)
    qps: int = 16
    data_width: int | None = None  # bits of the streams, on HDL
    absent: Mapping[Capability, str] = field(default_factory=dict)
    """Why a capability is not there, where "does not claim it" says too little."""


class Source(ABC):
    """Where targets of one kind come from. Builds and boots on first use, then stays warm."""

    claims: Claims

    @contextmanager
    @abstractmethod
    def device(self, place: CasePlace) -> Iterator[Target]:
        """A fresh device for one case; a dead one is replaced before the next."""

    def versions(self) -> Mapping[str, str]:
        """What the header and the reports say of tools and kernels."""
        return {}

    def identity(self) -> tuple[str, str]:
        """Under which kind and version deviations of the device are declared."""
        return self.claims.target, ""

    @abstractmethod
    def close(self) -> None:
        """Give everything back."""
