# SPDX-License-Identifier: BSD-2-Clause
"""The interface between the suite and a device under test.

A `DeviceFactory` knows what a kind of target claims before anything is built or booted, and
hands out one fresh `Target` per case. A target is a device and the wire to it: whole
Ethernet frames without FCS go in and come out, work is posted, memory is looked at.
Every wait has a deadline on the target's own clock, in nanoseconds: simulated time
where the clock can stand still, the wall's elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from roceproof.common.errors import RoceproofError
from roceproof.conformance.targets.bus_events import Movement
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.records_seen import RecordsSeen
from roceproof.conformance.wire.codec import parse
from roceproof.dpi.manifest.responder import StaticRegion
from roceproof.dpi.session.streams import Standing
from roceproof.verbs.addresses import Host
from roceproof.verbs.limits import Limits
from roceproof.verbs.queue_pair import FULL_ACCESS, Qp, QpSpec, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Region, Work

AROUND_PAYLOAD = 128
"""Bytes of a frame's time on the wire: headers, preamble, FCS, gap."""


class TargetError(RoceproofError):
    """The bench failed, not the device."""


class DeviceDied(TargetError):
    """The device or its kernel is gone; the text names the reason and the last frame sent to it.

    `rule` is what that breaks.
    """

    said = "the device died"

    def __init__(self, text: str, *, rule: str = "LIVE-01") -> None:
        super().__init__(text)
        self.rule = rule


class NoEnd(DeviceDied):
    """A case goes on for ever, though something still moves; the text says what is too much.

    `is_late` where only the processor's time says so: that accuses nobody.
    """

    said = "no end"

    def __init__(self, text: str, *, is_late: bool = False) -> None:
        super().__init__(text)
        self.is_late = is_late


class Refused(TargetError):
    """The device or its driver would not do what it was asked; the text says why."""


class Beyond(Refused):
    """The device is not made for that, as it says: a case that needs it is skipped."""


def one_domain() -> Beyond:
    """Why there is no memory of a second protection domain."""
    return Beyond("its memory is of one protection domain, as its queue pairs are")


class Arrival(NamedTuple):
    """A frame that the device sent, and when; with its FCS from a target that shows it."""

    time_ns: int
    frame: bytes
    fcs: bytes = b""


RESET_AMID_LIFE = "the device_reset"
"""Among what a case has disturbed: it was switched off and on."""


class Patience(NamedTuple):
    """How long the suite waits, in ns of the target's clock."""

    answer_ns: int  # by then what must come has come
    quiet_ns: int  # this long nothing comes before silence is believed
    grain_ns: int = 0  # how much too early a timer of the device may seem to be

    def while_stalled(self, *percents: int, frame_ns: int) -> Patience:
        """For answers, longer by what a frame that lasts so long waits, stream after stream."""
        waits = sum(frame_ns * percent // (100 - percent) for percent in percents)
        return self._replace(answer_ns=self.answer_ns + waits)


@dataclass(frozen=True, kw_only=True)
class CasePlace:
    """What a case brings along."""

    name: str
    seed: int
    waves: Path | None = None
    host: Host | None = None  # the address that the device shall have, where it lets itself be told
    is_hasty: bool = False  # on the wall's clock silence may be believed too soon


class Target(ABC):
    """One device for the length of one case. What it cannot do it does not claim."""

    host: Host  # the device's own address
    patience: Patience
    clock_ps: int | None = None  # of a device whose time is counted in cycles

    @property
    @abstractmethod
    def now_ns(self) -> int:
        """The clock."""

    def host_for(self, spec: QpSpec) -> Host:
        """The device's address that such a queue pair uses: of its IP version and VLAN."""
        return self.host.facing(spec.remote)

    def held_up_ns(self) -> int:
        """For how long in this case device and bench could have gone on and had no processor.

        By so much may what was measured on the wall's clock be wrong.
        """
        return 0

    # the wire

    @abstractmethod
    def send(self, frame: bytes) -> None:
        """Hand the device a frame, behind all those before; at the next wait it travels."""

    @abstractmethod
    def receive(self, timeout_ns: int) -> Arrival | None:
        """The next frame of the device that is not ARP, ND or ping, or None when time is over.

        On the wall's clock targets answer the device's ARP for `neighbours` themselves.
        """

    def more(self) -> Arrival | None:
        """The next frame, or None when silence may be believed."""
        return self.receive(self.patience.quiet_ns)

    def taken_ns(self) -> list[int]:
        """When the device took each of the frames sent, in order; empty if none can tell."""
        return []

    def untaken(self) -> int:
        """Frames sent that the device has not taken; 0 if none can tell."""
        return 0

    def takes_on(self) -> bool:
        """Whether there are such frames, and the first has not waited for longer than it may."""
        return self.untaken() > 0

    def send_damaged(self, frame: bytes) -> None:
        """As `send`, but the MAC finds the frame's check sequence wrong; needs DAMAGE."""
        raise NotImplementedError

    def send_marked_early(self, frame: bytes) -> None:
        """As `send`; the MAC raises its mark in the midst, not at the end: the frame is good."""
        self.send(frame)

    def plays(self, host: Host) -> None:
        """The bench is this host, too, from now on: a device that asks after it is answered."""
        return None

    def wait(self, duration_ns: int) -> None:
        """Let time pass; what arrives is kept for `receive`."""
        raise NotImplementedError

    def asides(self) -> list[bytes]:
        """ARP, ND and ICMP frames of the device since the last call or ping; needs LOCKSTEP."""
        raise NotImplementedError

    # queue pairs

    @abstractmethod
    def open(self, spec: QpSpec) -> Qp:
        """Create a queue pair and bring it to the state of its spec."""

    @abstractmethod
    def reopen(self, qp: Qp, spec: QpSpec) -> Qp:
        """The same queue pair through RESET to the state of a new spec."""

    def restart(self, qp: Qp, spec: QpSpec) -> Qp:
        """The same queue pair starts anew amid whatever goes on; needs RESTART.

        No time passes, and what its former life leaves behind still comes.
        """
        raise NotImplementedError

    def set_state(self, qp: Qp, state: State) -> None:
        """Move a queue pair to RESET (needs RESET) or ERR, or on from INIT or RTR (STATES)."""
        raise NotImplementedError

    @abstractmethod
    def post(self, qp: Qp, work: Work) -> None:
        """Post work on the send queue; `Refused` if that is all that comes of it."""

    def post_receive(
        self,
        qp: Qp,
        *,
        wr_id: int,
        region: Region,
        offset: int = 0,
        length: int,
        may_wait: bool = False,
        key_mask: int = 0,
    ) -> None:
        """Post a receive, which `may_wait` until there is room; needs RESPONDER.

        Of the key that names its region the bits of `key_mask` are turned; needs LOCKSTEP.
        """
        raise NotImplementedError

    @abstractmethod
    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        """Wait until `count` more completions have come or time is over; all that have come."""

    def stray_completions(self) -> list[Outcome]:
        """Those of queue pairs that were never given work, where the target can tell."""
        return []

    def stray_writes(self) -> list[int]:
        """Addresses of the device's memory that no region has and something was written to,
        where the target can tell."""
        return []

    def contradictions(self) -> list[str]:
        """What the device has told the bench beside the wire that cannot be true, in words."""
        return []

    def complaint(self) -> str:
        """What an assertion inside the device has said first; a stranger's device has none."""
        return ""

    # memory and counters

    def register(
        self, size: int, *, access: frozenset[str] = FULL_ACCESS, domain: int = 0
    ) -> Region:
        """Zeroed memory that the device serves, of a protection domain; needs MEMORY."""
        raise NotImplementedError

    def register_at(self, addr: int, size: int, *, access: frozenset[str] = FULL_ACCESS) -> Region:
        """As `register`, other memory for which peers have this address; needs TOLD_KEYS."""
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

    def power_on(self) -> None:
        """Reset the whole device, whatever goes on: it is new, and so are its streams.

        What it had begun to send or to take is lost on both sides; its memory stays what it is.
        Needs POWER_ON.
        """
        raise NotImplementedError

    def disturb(self, **percent: int) -> None:
        """Stall streams (fields of roceproof.dpi.session.options.Flow); needs DISTURBANCE."""
        raise NotImplementedError

    @property
    def disturbed(self) -> frozenset[str]:
        """The fields of Flow that have been set so far, and resets; none where nobody can."""
        return frozenset()

    def stand_still(self, duration_ns: int) -> None:
        """Let time pass in which no stream of the device moves; needs DISTURBANCE."""
        raise NotImplementedError

    @property
    def commands_waiting(self) -> int:
        """How many commands for queue pairs the device has not taken; 0 where nobody can see it."""
        return 0

    def watch(self) -> bool:
        """Keep what moves from now on, for `moved`; False where only the bench can see it."""
        return False

    def moved(self) -> list[Movement]:
        """What has moved on the device's streams since the last call, in order of the cycles."""
        raise NotImplementedError

    def records(self) -> RecordsSeen | None:
        """What the records of a watched device have been; None where it has none."""
        return None

    def just_read(self) -> bytes:
        """The bytes of memory that were read last, if nothing has moved since."""
        return b""

    def memory_is_late(self) -> bool:
        """Whether the bytes that were read now are others soon, though nothing more is sent."""
        return False

    def streams(self) -> list[str]:
        """What of the device's streams waits for what, in lines; empty where nobody can see it."""
        return []

    def standing(self) -> Mapping[str, Standing]:
        """How each of the device's streams stands, by its name; empty where nobody can see it."""
        return {}

    def ping(self, peer: Host, *, timeout_ns: int) -> bool:
        """Whether the device answers an ARP request and an echo request; needs PING."""
        raise NotImplementedError

    @property
    def waited_in_vain(self) -> bool:
        """Whether something did not come that the whole patience has been waited for."""
        return False

    @property
    def not_taken(self) -> Sequence[str]:
        """What stood on offer for all the patience that the device claims, and its streams then.

        In lines; of the first such thing, empty where there was none, or where nothing has moved
        since: such a device stands still, which says more.
        """
        return ()

    @property
    def cut_short(self) -> str:
        """Why this case is less patient than its device may claim to need; empty if it is not."""
        return ""


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What a kind of target is, before one is built or booted."""

    target: str  # hdl, rxe, nic, model
    device: str  # its name, for reports
    capabilities: frozenset[Capability]
    path_mtus: tuple[int, ...] = (256, 512, 1024, 2048, 4096)
    qps: int = 16
    receives: int = 1 << 24  # on one queue
    built_in: tuple[StaticRegion, ...] = ()  # all its memory, where that is built in
    shared_queues: int = 1
    data_width: int | None = None  # bits of the streams, on HDL
    resolves_addresses: bool = False  # it asks for its peers by ARP or ND before it sends
    limits: Limits = field(default_factory=Limits)
    executes: Mapping[Service, frozenset[Op]] | None = None
    """What it has as a responder, of each service; everything where nothing is said."""
    absent: Mapping[Capability, str] = field(default_factory=dict)
    """Why a capability is not there, where "does not claim it" says too little."""

    def executed_on(self, service: Service) -> frozenset[Op] | None:
        """The operations that it executes on a service, None where that is all."""
        return None if self.executes is None else self.executes.get(service, frozenset())

    def does_execute(self, service: Service, operation: Op) -> bool:
        """Whether it executes one operation on a service."""
        executed = self.executed_on(service)
        return executed is None or operation in executed


class DeviceFactory(ABC):
    """Where targets of one kind come from. Builds and boots on first use, then stays warm."""

    claims: Claims

    def prepare(self, progress: Callable[[str], None], *, waves: bool = False) -> None:
        """Make once what all devices need, so that no case waits for it or fails for it."""
        return None

    @contextmanager
    @abstractmethod
    def device(self, place: CasePlace) -> Iterator[Target]:
        """A fresh device for one case; a dead one is replaced before the next.

        A KeyboardInterrupt inside means that nothing of it is wanted any more.
        """

    def hung(self) -> None:
        """A case has failed because something never came."""
        return None

    def versions(self) -> Mapping[str, str]:
        """What the header and the reports say of tools and kernels."""
        return {}

    def identity(self) -> tuple[str, str]:
        """Under which kind and version deviations of the device are declared."""
        return self.claims.target, ""

    @abstractmethod
    def close(self) -> None:
        """Give everything back."""


def is_from(qp: Qp, frame: bytes) -> bool:
    """Whether the device has sent the frame on that queue pair."""
    packet = parse(frame)
    return packet is not None and packet.bth.dest_qpn == qp.spec.remote_qpn
