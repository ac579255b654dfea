# SPDX-License-Identifier: BSD-2-Clause
"""A target that shows an observer all that moves between a bench and its device.

Where the target can be watched, movements come from its streams with their cycles; elsewhere
they are what the bench did and saw, with the target's clock.
"""

from collections.abc import Callable

from roceproof.conformance.targets.bus_events import (
    Completed,
    Configured,
    Disturbed,
    Grant,
    Movement,
    Posted,
    Provided,
    Received,
    Registered,
    Sent,
)
from roceproof.conformance.targets.forwarding import ForwardingTarget
from roceproof.conformance.targets.interface import Arrival, Target
from roceproof.dpi.session.options import Flow
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import FULL_ACCESS, Qp, QpSpec, State
from roceproof.verbs.work import Outcome, Region, Work

Observer = Callable[[Movement | Grant], None]
_COMMANDS = {State.RTS: "activate", State.ERR: "error"}  # else the name of the state


class ObservedTarget(ForwardingTarget):
    """The device behind it notices nothing."""

    def __init__(self, inner: Target, observer: Observer) -> None:
        super().__init__(inner)
        self._observer = observer
        self._is_watched = inner.watch()
        self._kept: list[Movement] | None = None  # for a second watcher

    def watch(self) -> bool:
        if self._is_watched:
            self.drain()
            self._kept = []
        return self._is_watched

    def moved(self) -> list[Movement]:
        self.drain()
        moved, self._kept = self._kept or [], []
        return moved

    def drain(self) -> None:
        """Show what has moved and was not shown yet."""
        if not self._is_watched:
            return
        for movement in self._inner.moved():
            self._observer(movement)
            if self._kept is not None:
                self._kept.append(movement)

    def _show(self, movement: Movement) -> None:
        if not self._is_watched:
            self._observer(movement)

    def send(self, frame: bytes) -> None:
        self._show(Received(self.now_ns, frame))
        self._inner.send(frame)

    def send_marked_early(self, frame: bytes) -> None:
        self._show(Received(self.now_ns, frame))
        self._inner.send_marked_early(frame)

    def send_damaged(self, frame: bytes) -> None:
        self._show(Received(self.now_ns, frame, is_damaged=True))
        self._inner.send_damaged(frame)

    def receive(self, timeout_ns: int) -> Arrival | None:
        return self._shown(self._inner.receive(timeout_ns))

    def more(self) -> Arrival | None:
        return self._shown(self._inner.more())

    def _shown(self, arrival: Arrival | None) -> Arrival | None:
        if arrival is not None:
            self._show(Sent(arrival.time_ns, arrival.frame))
        self.drain()
        return arrival

    def wait(self, duration_ns: int) -> None:
        self._inner.wait(duration_ns)
        self.drain()

    def open(self, spec: QpSpec) -> Qp:
        qp = self._inner.open(spec)
        command = _COMMANDS.get(spec.state, spec.state.value.lower())
        self._show(Configured(self.now_ns, qp.qpn, spec, command))
        return qp

    def reopen(self, qp: Qp, spec: QpSpec) -> Qp:
        self._show(Configured(self.now_ns, qp.qpn, qp.spec, "reset"))
        fresh = self._inner.reopen(qp, spec)
        self._show(Configured(self.now_ns, fresh.qpn, spec))
        self.drain()
        return fresh

    def restart(self, qp: Qp, spec: QpSpec) -> Qp:
        self._show(Configured(self.now_ns, qp.qpn, spec))
        return self._inner.restart(qp, spec)

    def set_state(self, qp: Qp, state: State) -> None:
        """A queue pair may be reset, or go on."""
        command = "error" if state is State.ERR else state.value.lower()
        self._show(Configured(self.now_ns, qp.qpn, qp.spec, command))
        self._inner.set_state(qp, state)

    def accepted(self, qpn: int, spec: QpSpec) -> Qp:
        qp = self._inner.accepted(qpn, spec)
        self._show(Configured(self.now_ns, qp.qpn, spec))
        return qp

    def call(self, service_id: int, spec: QpSpec) -> Qp:
        qp = self._inner.call(service_id, spec)
        self._show(Configured(self.now_ns, qp.qpn, spec))
        return qp

    def register(
        self, size: int, *, access: frozenset[str] = FULL_ACCESS, domain: int = 0
    ) -> Region:
        region = self._inner.register(size, access=access, domain=domain)
        self._grant(Registered(region.rkey, region.addr, region.size, access))
        return region

    def register_at(self, addr: int, size: int, *, access: frozenset[str] = FULL_ACCESS) -> Region:
        region = self._inner.register_at(addr, size, access=access)
        self._grant(Registered(region.rkey, addr, size, access))
        return region

    def register_elsewhere(self, size: int) -> Region:
        region = self._inner.register_elsewhere(size)
        self._grant(Registered(region.rkey, region.addr, region.size, FULL_ACCESS, is_foreign=True))
        return region

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
        self._inner.post_receive(
            qp,
            wr_id=wr_id,
            region=region,
            offset=offset,
            length=length,
            may_wait=may_wait,
            key_mask=key_mask,
        )
        self._grant(Provided(qp.qpn, region.rkey, region.addr + offset, length))

    def _grant(self, grant: Grant) -> None:
        self.drain()
        self._observer(grant)

    def post(self, qp: Qp, work: Work) -> None:
        self._show(Posted(self.now_ns, qp.qpn, work))
        self._inner.post(qp, work)

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        found = self._inner.completions(qp, count=count, timeout_ns=timeout_ns)
        for done in found:
            self._show(
                Completed(self.now_ns, qp.qpn, done.wr_id, done.status, is_receive=done.is_receive)
            )
        self.drain()
        return found

    def disturb(self, **percent: int) -> None:
        self._show(Disturbed(self.now_ns, Flow(**percent)))
        self._inner.disturb(**percent)

    def ping(self, peer: Host, *, timeout_ns: int) -> bool:
        """Frames of hosts, which only a watched target shows."""
        answers = self._inner.ping(peer, timeout_ns=timeout_ns)
        self.drain()
        return answers
