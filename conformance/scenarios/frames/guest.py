# SPDX-License-Identifier: BSD-2-Clause
"""Soft-RoCE in a guest at a switch's port: thousands of queue pairs that only receive.

They share one completion queue and one receive queue, so that what each takes of the guest's
memory is small. Time is the switch's: the guest has taken what was sent when it has answered a
question behind it, and frames that it cannot take wait for it on the wire.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from roceproof.conformance.targets.interface import Arrival, CasePlace
from roceproof.conformance.targets.verbs import work as verbs_work
from roceproof.conformance.targets.verbs.device import VerbsDevice
from roceproof.conformance.targets.verbs.memory import VerbsRegion
from roceproof.conformance.targets.verbs.rxe import RxeFactory
from roceproof.conformance.targets.verbs.target import VerbsTarget
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import FULL_ACCESS, Qp, QpSpec, State
from roceproof.verbs.work import Outcome, Region

_POLLED = 1024
_WAIT_MS = 2000
"""For a completion that is due once the guest has answered; what has not come then, will not."""


class Guest:
    """One end of a switch's port, in the terms of `Receiver`."""

    def __init__(self, device: VerbsDevice, *, receives: int) -> None:
        self.host = device.host
        self._device, self._now = device, 0
        self._pd = int(device.call("alloc_pd")["pd"])
        self._cq = int(device.call("create_cq", depth=receives)["cq"])
        self._srq = int(device.call("create_srq", pd=self._pd, max_wr=receives)["srq"])
        self._came: defaultdict[int, list[Outcome]] = defaultdict(list)  # by queue pair number

    @property
    def now_ns(self) -> int:
        return self._now

    def plays(self, host: Host) -> None:
        self._device.wire.play(host)

    def send(self, frame: bytes) -> None:
        with self._device.told():
            self._device.wire.send(frame)

    def receive(self, timeout_ns: int) -> Arrival | None:
        self._now += timeout_ns
        return None

    def open(self, spec: QpSpec) -> Qp:
        """A queue pair that is ready to receive; its number is the kernel's choice."""
        self.plays(spec.remote)
        made = self._device.call(
            "create_qp",
            pd=self._pd,
            type=spec.service.name,
            send_cq=self._cq,
            recv_cq=self._cq,
            srq=self._srq,
            max_send_wr=1,
        )
        sgid_index = self._device.address_for(spec).sgid_index
        for step in (State.INIT, State.RTR):
            fields = verbs_work.attributes(spec, step, sgid_index)
            self._device.call("modify_qp", qp=made["qp"], state=step.value, **fields)
        return Qp(made["qpn"], spec, made["qp"])

    def register(self, size: int) -> Region:
        return VerbsRegion(self._device.call, pd=self._pd, size=size, access=FULL_ACCESS)

    def post_receives(self, qp: Qp, count: int) -> None:
        self._device.call("post_recv", srq=self._srq, wrs=[{}] * count)

    def settle(self, count: int) -> None:
        self._device.run_empty()
        while count > 0:
            wcs = self._device.call(
                "poll_cq", cq=self._cq, min=min(_POLLED, count), max=_POLLED, timeout_ms=_WAIT_MS
            )["wcs"]
            for wc in wcs:
                self._came[wc["qp_num"]].append(verbs_work.outcome(wc))
            if not wcs:
                break
            count -= len(wcs)

    def received(self, qp: Qp) -> list[Outcome]:
        return self._came.pop(qp.qpn, [])


@contextmanager
def guest(place: CasePlace, *, receives: int) -> Iterator[Guest]:
    """One that is booted or restored, and ends with the scope."""
    factory = RxeFactory()
    try:
        with factory.device(place) as target:
            assert isinstance(target, VerbsTarget)
            yield Guest(target.device, receives=receives)
    finally:
        factory.close()
