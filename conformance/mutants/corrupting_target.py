# SPDX-License-Identifier: BSD-2-Clause
"""A healthy device behind a wire fault that corrupts its frames, as a target and its factory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from roceproof.conformance.mutants.wire import WireFault, WireMutant
from roceproof.conformance.targets.interface import Arrival, CasePlace, DeviceFactory, Target
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import FULL_ACCESS, Qp, QpSpec, State
from roceproof.verbs.work import Outcome, Region, Work


class CorruptingFactory(DeviceFactory):
    """Devices of another source, each behind a fresh fault."""

    def __init__(self, inner: DeviceFactory, mutant: WireMutant) -> None:
        self._inner = inner
        self._mutant = mutant
        self.claims = inner.claims

    def prepare(self, progress: Callable[[str], None], *, waves: bool = False) -> None:
        """Prepare the inner source."""
        self._inner.prepare(progress, waves=waves)

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        """A fresh device and a fresh fault."""
        with self._inner.device(place) as target:
            yield CorruptingTarget(target, self._mutant.make())

    def versions(self) -> Mapping[str, str]:
        """Those of the inner source, and the fault."""
        return {**self._inner.versions(), "mutant": self._mutant.id}

    def close(self) -> None:
        """Close the inner source."""
        self._inner.close()


class CorruptingTarget(Target):
    """Only the wire differs; everything else is the inner target's."""

    def __init__(self, inner: Target, fault: WireFault) -> None:
        self._inner = inner
        self._fault = fault
        self._ready: deque[Arrival] = deque()
        self.patience = inner.patience

    @property
    def host(self) -> Host:  # type: ignore[override]
        """The device's address."""
        return self._inner.host

    def host_for(self, spec: QpSpec) -> Host:
        """As the inner target."""
        return self._inner.host_for(spec)

    @property
    def now_ns(self) -> int:
        """The inner clock."""
        return self._inner.now_ns

    def send(self, frame: bytes) -> None:
        """Hand over what the fault makes of a frame."""
        now = self.now_ns
        self._ready += (Arrival(now, answer) for answer in self._fault.answers(frame, now))
        for each in self._fault.received(frame, now):
            self._inner.send(each)

    def receive(self, timeout_ns: int) -> Arrival | None:
        """The next frame that the fault lets through."""
        deadline = self.now_ns + timeout_ns
        while not self._ready:
            arrival = self._inner.receive(max(0, deadline - self.now_ns))
            if arrival is None:
                return None
            frames = self._fault.sent(arrival.frame, arrival.time_ns)
            self._ready += (
                Arrival(arrival.time_ns, frame, arrival.fcs and self._fault.fcs(frame))
                for frame in frames
            )
        return self._ready.popleft()

    def wait(self, duration_ns: int) -> None:
        """Let time pass."""
        self._inner.wait(duration_ns)

    def open(self, spec: QpSpec) -> Qp:
        """As the inner target."""
        return self._inner.open(spec)

    def reopen(self, qp: Qp, spec: QpSpec) -> Qp:
        """As the inner target."""
        return self._inner.reopen(qp, spec)

    def set_state(self, qp: Qp, state: State) -> None:
        """As the inner target."""
        self._inner.set_state(qp, state)

    def post(self, qp: Qp, work: Work) -> None:
        """As the inner target."""
        self._inner.post(qp, work)

    def post_receive(
        self, qp: Qp, *, wr_id: int, region: Region, offset: int = 0, length: int
    ) -> None:
        """As the inner target."""
        self._inner.post_receive(qp, wr_id=wr_id, region=region, offset=offset, length=length)

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        """As the inner target."""
        return self._inner.completions(qp, count=count, timeout_ns=timeout_ns)

    def register(self, size: int, *, access: frozenset[str] = FULL_ACCESS) -> Region:
        """As the inner target."""
        return self._inner.register(size, access=access)

    def register_elsewhere(self, size: int) -> Region:
        """As the inner target."""
        return self._inner.register_elsewhere(size)

    def listen(self, service_id: int, spec: QpSpec) -> None:
        """As the inner target."""
        self._inner.listen(service_id, spec)

    def accepted(self, qpn: int, spec: QpSpec) -> Qp:
        """As the inner target."""
        return self._inner.accepted(qpn, spec)

    def call(self, service_id: int, spec: QpSpec) -> Qp:
        """As the inner target."""
        return self._inner.call(service_id, spec)

    def hang_up(self, qp: Qp) -> None:
        """As the inner target."""
        self._inner.hang_up(qp)

    def counters(self) -> Mapping[str, int]:
        """As the inner target."""
        return self._inner.counters()

    def disturb(self, **percent: int) -> None:
        """As the inner target, with the fault's knowledge."""
        self._fault.disturbed(percent)
        self._inner.disturb(**percent)

    def send_damaged(self, frame: bytes) -> None:
        """As the inner target: no fault sees what the MAC drops."""
        self._inner.send_damaged(frame)

    def ping(self, peer: Host, *, timeout_ns: int) -> bool:
        """As the inner target."""
        return self._inner.ping(peer, timeout_ns=timeout_ns)
