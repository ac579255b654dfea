# SPDX-License-Identifier: BSD-2-Clause
"""A healthy device behind a wire fault that corrupts its frames, as a target and its factory."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from roceproof.conformance.mutants.wire import WireFault, WireMutant
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import Arrival, CasePlace, DeviceFactory, Target


class CorruptingFactory(DeviceFactory):
    """Devices of another source, each behind a fresh fault."""

    def __init__(self, inner: DeviceFactory, mutant: WireMutant) -> None:
        self._inner = inner
        self._mutant = mutant
        self.claims = inner.claims

    def prepare(self, progress: Callable[[str], None], *, waves: bool = False) -> None:
        self._inner.prepare(progress, waves=waves)

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        with self._inner.device(place) as target:
            yield CorruptingTarget(target, self._mutant.make())  # type: ignore[abstract]

    def versions(self) -> Mapping[str, str]:
        """Those of the inner source, and the fault."""
        return {**self._inner.versions(), "mutant": self._mutant.id}

    def close(self) -> None:
        self._inner.close()


class CorruptingTarget(ForwardingTarget):
    """Only the wire differs; everything else is the inner target's."""

    def __init__(self, inner: Target, fault: WireFault) -> None:
        super().__init__(inner)
        self._fault = fault
        self._ready: deque[Arrival] = deque()

    def send(self, frame: bytes) -> None:
        now = self.now_ns
        self._ready += (Arrival(now, answer) for answer in self._fault.answers(frame, now))
        for each in self._fault.received(frame, now):
            self._inner.send(each)

    def receive(self, timeout_ns: int) -> Arrival | None:
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

    def disturb(self, **percent: int) -> None:
        """As the inner target, with the fault's knowledge."""
        self._fault.disturbed(percent)
        self._inner.disturb(**percent)

    def taken_ns(self) -> list[int]:
        """The inner device's frames are not those of the wire."""
        return []

    def watch(self) -> bool:
        """The inner device's frames are not those of the wire."""
        return False
