# SPDX-License-Identifier: BSD-2-Clause
"""The reference model as a device: no build, no machine, virtual time.

It proves the suite itself, and with one of its components exchanged, or with filters on its
wire, that a check can fail.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from roceproof.conformance.model.components import Components
from roceproof.conformance.model.device import Device
from roceproof.conformance.model.memory import Region as ModelRegion
from roceproof.conformance.model.receive_queue import Receive
from roceproof.conformance.model.responder.policy import Credits, Persistence
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.drawn_address import drawn_address
from roceproof.conformance.targets.interface import (
    Arrival,
    CasePlace,
    Claims,
    DeviceFactory,
    Patience,
    Target,
    TargetError,
    is_from,
)
from roceproof.conformance.targets.ping import echo_request, is_echo_reply
from roceproof.conformance.wire import neighbours
from roceproof.conformance.wire.framing import frame_check_sequence
from roceproof.conformance.wire.host_traffic import host_traffic
from roceproof.dpi.session.options import Flow
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import FULL_ACCESS, Qp, QpSpec, State
from roceproof.verbs.work import Outcome, Region, Work

PATIENCE = Patience(answer_ns=100_000, quiet_ns=20_000)
Filter = Callable[[bytes, int], list[bytes]]
"""What becomes of a frame on the wire at a time: itself, something else, nothing, more."""

_GAP_BYTES = 24  # preamble, FCS and interframe gap
_PS_PER_BYTE = 800  # 10 Gbit/s
_CANNOT = (Capability.RESTART,)


def unchanged(frame: bytes, _time_ns: int) -> list[bytes]:
    """The wire of a healthy device."""
    return [frame]


def wire_ns(frame: bytes) -> int:
    """How long a frame occupies the wire."""
    return (len(frame) + _GAP_BYTES) * _PS_PER_BYTE // 1000


class ModelTarget(Target):
    """One model device and the wire to it."""

    def __init__(
        self,
        device: Device,
        *,
        corrupt_sent: Filter = unchanged,
        repair_received: Filter = unchanged,
    ) -> None:
        self.host = device.host
        self.patience = PATIENCE
        self.device = device
        self._corrupt_sent = corrupt_sent
        self._repair_received = repair_received
        self._now = 0
        self._stall = 0
        self._disturbed: set[str] = set()
        self._inbound: deque[Arrival] = deque()
        self._taken_ns: list[int] = []
        self._leaving: Arrival | None = None
        self._arrivals: deque[Arrival] = deque()
        self._asides: deque[bytes] = deque()  # ARP, ND and ping
        self.played: dict[bytes, bytes] = {}  # MACs of hosts that the bench is, by their addresses
        self._replies: deque[Arrival] = deque()  # to questions after them

    @property
    def now_ns(self) -> int:
        return self._now

    # the wire

    def send(self, frame: bytes) -> None:
        """The frame follows those before at the speed of the wire."""
        free = self._inbound[-1].time_ns if self._inbound else self._now
        self._inbound.append(Arrival(free + wire_ns(frame), frame))

    def receive(self, timeout_ns: int) -> Arrival | None:
        deadline = self._now + timeout_ns
        self._run(deadline, lambda: bool(self._arrivals))
        return self._arrivals.popleft() if self._arrivals else None

    def send_damaged(self, frame: bytes) -> None:
        self._taken_ns.append(self._now)

    def taken_ns(self) -> list[int]:
        return self._taken_ns

    def untaken(self) -> int:
        return len(self._inbound)

    def plays(self, host: Host) -> None:
        self.played[host.ip] = host.mac

    def wait(self, duration_ns: int) -> None:
        self._run(self._now + duration_ns, lambda: False)

    def asides(self) -> list[bytes]:
        taken = list(self._asides)
        self._asides.clear()
        return taken

    def _run(self, deadline: int, is_enough: Callable[[], bool]) -> None:
        while not is_enough():
            time = self._act()
            if time is None or time > deadline:
                if not is_enough():
                    self._now = deadline
                return
            self._now = time
            self._arrive()

    def _act(self) -> int | None:
        """Let the device do what is due; when something happens next."""
        self.device.expire(self._now)
        if self._leaving is None:
            frame = self.device.next_frame(self._now)
            if frame is not None:
                busy = wire_ns(frame) * 100 // (100 - self._stall)
                self._leaving = Arrival(self._now + busy, frame)
        times = (
            self._inbound[0].time_ns if self._inbound else None,
            self._replies[0].time_ns if self._replies else None,
            self._leaving.time_ns if self._leaving else None,
            self.device.next_deadline(self._now),
        )
        return min((time for time in times if time is not None), default=None)

    def _arrive(self) -> None:
        """Whatever has reached the end of the wire by now."""
        while self._inbound and self._inbound[0].time_ns <= self._now:
            self._taken_ns.append(self._inbound[0].time_ns)
            for frame in self._repair_received(self._inbound.popleft().frame, self._now):
                self.device.receive(frame, self._now)
        while self._replies and self._replies[0].time_ns <= self._now:
            self.device.receive(self._replies.popleft().frame, self._now)
        if self._leaving is not None and self._leaving.time_ns <= self._now:
            frames = self._corrupt_sent(self._leaving.frame, self._now)
            is_aside = host_traffic(self._leaving.frame, ()) is not None
            self._leaving = None
            if is_aside:
                self._take_asides(frames)
            else:
                self._arrivals.extend(
                    Arrival(self._now, frame, frame_check_sequence(frame)) for frame in frames
                )

    def _take_asides(self, frames: list[bytes]) -> None:
        """Questions after hosts that the bench is are answered, the rest is kept."""
        for frame in frames:
            reply = neighbours.answer(frame, self.played)
            if reply is None:
                self._asides.append(frame)
            else:
                self._replies.append(Arrival(self._now + wire_ns(reply), reply))

    # queue pairs

    def open(self, spec: QpSpec) -> Qp:
        self.plays(spec.remote)
        return Qp(self.device.open(spec).spec.local_qpn, spec)

    def reopen(self, qp: Qp, spec: QpSpec) -> Qp:
        """The same queue pair as new; what its former life has left on the wire is dropped."""
        self.plays(spec.remote)
        self.device.reset(qp.qpn, spec)
        self._arrivals = deque(found for found in self._arrivals if not is_from(qp, found.frame))
        if self._leaving is not None and is_from(qp, self._leaving.frame):
            self._leaving = None
        return Qp(qp.qpn, spec)

    def set_state(self, qp: Qp, state: State) -> None:
        if qp.qpn in self.device.queue_pairs:  # the contract lets others be told, and nothing come
            self.device.enter(qp.qpn, state)

    def post(self, qp: Qp, work: Work) -> None:
        self.device.queue_pairs[qp.qpn].requester.post(work)

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
        """Post a receive on the queue pair's own queue or the shared one."""
        if not isinstance(region, ModelRegion):
            raise TargetError("a receive needs memory of the same device: register it there")
        self.device.queue_pairs[qp.qpn].post_receive(
            Receive(wr_id, region, offset, length, is_misnamed=key_mask != 0)
        )

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        """The completions of both queues, in the order in which they came about.

        A queue pair in error tells of it when the frame that it had begun has left.
        """
        found: list[Outcome] = []
        queue_pair = self.device.queue_pairs[qp.qpn]

        def collect() -> bool:
            is_in_error = queue_pair.requester.state is State.ERR
            if is_in_error and self._leaving is not None and is_from(qp, self._leaving.frame):
                return False
            found.extend(queue_pair.take_outcomes())
            return len(found) >= count

        self._run(self._now + timeout_ns, collect)
        collect()  # what the last step brought
        return found

    def listen(self, service_id: int, spec: QpSpec) -> None:
        self.plays(spec.remote)
        self.device.cm.listen(service_id, spec)

    def accepted(self, qpn: int, spec: QpSpec) -> Qp:
        """Queue pairs are known by their numbers."""
        return Qp(qpn, spec)

    def call(self, service_id: int, spec: QpSpec) -> Qp:
        self.plays(spec.remote)
        return Qp(self.device.call(service_id, spec).spec.local_qpn, spec)

    def hang_up(self, qp: Qp) -> None:
        self.device.cm.hang_up(qp.qpn)

    # memory and counters

    def register(
        self, size: int, *, access: frozenset[str] = FULL_ACCESS, domain: int = 0
    ) -> Region:
        return self.device.register(size, access, domain)

    def register_at(self, addr: int, size: int, *, access: frozenset[str] = FULL_ACCESS) -> Region:
        return self.device.memory.register(size, addr=addr, access=access)

    def register_elsewhere(self, size: int) -> Region:
        return self.device.register_elsewhere(size)

    def counters(self) -> Mapping[str, int]:
        return dict(self.device.counters)

    def stand_still(self, duration_ns: int) -> None:
        """It has no streams; the wire goes on."""
        self.wait(duration_ns)

    def power_on(self) -> None:
        """Another device of the same kind, and an empty wire."""
        self.device = Device(self.device.host, self.device.components)
        self._taken_ns += [self._now] * len(self._inbound)
        self._leaving = None
        for waiting in (self._inbound, self._arrivals, self._replies):
            waiting.clear()
        self._asides.clear()

    def disturb(self, **percent: int) -> None:
        """Stalls of the MAC make the wire slower; nothing inside the device waits for streams."""
        self._disturbed |= {name for name, often in percent.items() if often}
        before, self._stall = self._stall, Flow(**percent).tx_stall
        if self._leaving is not None:
            rest = max(0, self._leaving.time_ns - self._now)
            rest = rest * (100 - before) // (100 - self._stall)
            self._leaving = self._leaving._replace(time_ns=self._now + rest)

    @property
    def disturbed(self) -> frozenset[str]:
        return frozenset(self._disturbed)

    def ping(self, peer: Host, *, timeout_ns: int) -> bool:
        """ARP or ND, then an echo request, each answered in time."""
        own = self.host.facing(peer)
        deadline = self._now + timeout_ns
        return self._answers(
            neighbours.solicit(peer, own.ip),
            lambda frame: neighbours.is_advertised(frame, own.ip),
            deadline,
        ) and self._answers(echo_request(peer, own), is_echo_reply, deadline)

    def _answers(self, question: bytes, is_answer: Callable[[bytes], bool], deadline: int) -> bool:
        self._asides.clear()
        self.send(question)
        self._run(deadline, lambda: any(map(is_answer, self._asides)))
        return any(map(is_answer, self._asides))


class ModelFactory(DeviceFactory):
    """Fresh devices, all alike but for their addresses, unless these are given, too."""

    def __init__(
        self,
        *,
        components: Components | None = None,
        host: Host | None = None,
        corrupt_sent: Filter = unchanged,
        repair_received: Filter = unchanged,
    ) -> None:
        self._components = components or Components()
        self._host = host
        self._corrupt_sent = corrupt_sent
        self._repair_received = repair_received
        self.claims = Claims(
            target="model",
            device="the reference model",
            capabilities=_capabilities(self._components),
            qps=1024,
            shared_queues=1024,
        )

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        yield ModelTarget(
            Device(place.host or self._host or drawn_address(place.seed), self._components),
            corrupt_sent=self._corrupt_sent,
            repair_received=self._repair_received,
        )

    def close(self) -> None:
        """Nothing is held."""


def _capabilities(components: Components) -> frozenset[Capability]:
    lacking = set(_CANNOT)
    if components.responder_policy.credits is Credits.INVALID:
        lacking.add(Capability.RECEIVE_CREDITS)
    if components.responder_policy.persistence is Persistence.UNSUPPORTED:
        lacking.add(Capability.FLUSH)
    return frozenset(Capability) - lacking
