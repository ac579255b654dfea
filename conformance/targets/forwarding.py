# SPDX-License-Identifier: BSD-2-Clause
"""A target that hands everything on to another: what stands before a device starts from it."""

from __future__ import annotations

from collections.abc import Mapping

from roceproof.conformance.targets.interface import Arrival, Patience, Target
from roceproof.conformance.targets.movement import Movement
from roceproof.conformance.targets.records_seen import RecordsSeen
from roceproof.dpi.session.streams import Standing
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import FULL_ACCESS, Qp, QpSpec, State
from roceproof.verbs.work import Outcome, Region, Work


class ForwardingTarget(Target):
    """Every method is the inner target's."""

    def __init__(self, inner: Target) -> None:
        self._inner = inner

    @property
    def patience(self) -> Patience:  # type: ignore[override]
        """As the inner target's now is."""
        return self._inner.patience

    @property
    def host(self) -> Host:  # type: ignore[override]
        return self._inner.host

    @property
    def clock_ps(self) -> int | None:  # type: ignore[override]
        return self._inner.clock_ps

    def host_for(self, spec: QpSpec) -> Host:
        return self._inner.host_for(spec)

    @property
    def commands_waiting(self) -> int:
        return self._inner.commands_waiting

    @property
    def now_ns(self) -> int:
        return self._inner.now_ns

    @property
    def waited_in_vain(self) -> bool:
        return self._inner.waited_in_vain

    @property
    def cut_short(self) -> str:
        return self._inner.cut_short

    def memory_is_late(self) -> bool:
        return self._inner.memory_is_late()

    def held_up_ns(self) -> int:
        return self._inner.held_up_ns()

    def send(self, frame: bytes) -> None:
        self._inner.send(frame)

    def receive(self, timeout_ns: int) -> Arrival | None:
        return self._inner.receive(timeout_ns)

    def send_marked_early(self, frame: bytes) -> None:
        self._inner.send_marked_early(frame)

    def send_damaged(self, frame: bytes) -> None:
        self._inner.send_damaged(frame)

    def taken_ns(self) -> list[int]:
        return self._inner.taken_ns()

    def untaken(self) -> int:
        return self._inner.untaken()

    def plays(self, host: Host) -> None:
        self._inner.plays(host)

    def wait(self, duration_ns: int) -> None:
        self._inner.wait(duration_ns)

    def asides(self) -> list[bytes]:
        return self._inner.asides()

    def open(self, spec: QpSpec) -> Qp:
        return self._inner.open(spec)

    def reopen(self, qp: Qp, spec: QpSpec) -> Qp:
        return self._inner.reopen(qp, spec)

    def restart(self, qp: Qp, spec: QpSpec) -> Qp:
        return self._inner.restart(qp, spec)

    def set_state(self, qp: Qp, state: State) -> None:
        self._inner.set_state(qp, state)

    def post(self, qp: Qp, work: Work) -> None:
        self._inner.post(qp, work)

    def post_receive(
        self,
        qp: Qp,
        *,
        wr_id: int,
        region: Region,
        offset: int = 0,
        length: int,
        may_wait: bool = False,
    ) -> None:
        self._inner.post_receive(
            qp, wr_id=wr_id, region=region, offset=offset, length=length, may_wait=may_wait
        )

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        return self._inner.completions(qp, count=count, timeout_ns=timeout_ns)

    def contradictions(self) -> list[str]:
        return self._inner.contradictions()

    def complaint(self) -> str:
        return self._inner.complaint()

    def stray_completions(self) -> list[Outcome]:
        return self._inner.stray_completions()

    def register(
        self, size: int, *, access: frozenset[str] = FULL_ACCESS, domain: int = 0
    ) -> Region:
        return self._inner.register(size, access=access, domain=domain)

    def register_elsewhere(self, size: int) -> Region:
        return self._inner.register_elsewhere(size)

    def listen(self, service_id: int, spec: QpSpec) -> None:
        self._inner.listen(service_id, spec)

    def accepted(self, qpn: int, spec: QpSpec) -> Qp:
        return self._inner.accepted(qpn, spec)

    def call(self, service_id: int, spec: QpSpec) -> Qp:
        return self._inner.call(service_id, spec)

    def hang_up(self, qp: Qp) -> None:
        self._inner.hang_up(qp)

    def counters(self) -> Mapping[str, int]:
        return self._inner.counters()

    def stand_still(self, duration_ns: int) -> None:
        self._inner.stand_still(duration_ns)

    def power_on(self) -> None:
        self._inner.power_on()

    def disturb(self, **percent: int) -> None:
        self._inner.disturb(**percent)

    def watch(self) -> bool:
        return self._inner.watch()

    def moved(self) -> list[Movement]:
        return self._inner.moved()

    def records(self) -> RecordsSeen | None:
        return self._inner.records()

    def streams(self) -> list[str]:
        return self._inner.streams()

    def standing(self) -> Mapping[str, Standing]:
        return self._inner.standing()

    def ping(self, peer: Host, *, timeout_ns: int) -> bool:
        return self._inner.ping(peer, timeout_ns=timeout_ns)
