# SPDX-License-Identifier: BSD-2-Clause
"""A device behind a wire and the verbs agent, for one case: a real kernel's or a real NIC's."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from roceproof.common.cpu_wait import held_up_ns
from roceproof.conformance.targets import ping
from roceproof.conformance.targets.interface import (
    Arrival,
    Patience,
    Refused,
    Target,
    TargetError,
    is_from,
    one_domain,
)
from roceproof.conformance.targets.verbs import work as verbs_work
from roceproof.conformance.targets.verbs.connections import Connections, Made
from roceproof.conformance.targets.verbs.device import CALL_SECONDS, VerbsDevice
from roceproof.conformance.targets.verbs.memory import Staging, VerbsRegion
from roceproof.conformance.targets.verbs.route import hop_limit_towards
from roceproof.conformance.wire import neighbours
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import FULL_ACCESS, Qp, QpSpec, State
from roceproof.verbs.service import Service
from roceproof.verbs.work import ATOMICS, Outcome, Region, Work

QUEUE_DEPTH = 512
MAX_POLL = 1024
NS_PER_MS = 1_000_000
_QUESTIONS = 3
_WRITE_TOO = ("remote_write", "remote_atomic")


@dataclass
class _Held:
    """What the agent holds for a queue pair."""

    cq: int
    state: State = State.RESET
    ah: dict[Host, int] = field(default_factory=dict)


class VerbsTarget(Target):
    """One case's view of a device, which must be clear."""

    def __init__(self, device: VerbsDevice, *, patience: Patience | None = None) -> None:
        self.host = device.host
        self.patience = patience or device.patience
        self.device = device
        self._held_up_before = held_up_ns() + device.held_up_ns()
        self._wire = device.wire
        self._call = device.call
        self._held: dict[int, _Held] = {}
        self._srq: int | None = None
        self._cm: Connections | None = None
        self._pd = int(self._call("alloc_pd")["pd"])
        self._staging = Staging(self._call, self._pd)

    @property
    def now_ns(self) -> int:
        """The wall's clock since the case began."""
        return self._wire.now_ns

    def held_up_ns(self) -> int:
        """What the scheduler says of this process and, where it is one, of the device."""
        return held_up_ns() + self.device.held_up_ns() - self._held_up_before

    @property
    def host_traffic(self) -> Mapping[str, int]:
        """How much of what `receive` leaves out has come in this case."""
        return dict(self._wire.host_traffic)

    def send(self, frame: bytes) -> None:
        with self.device.told():
            self._wire.send(frame)

    def receive(self, timeout_ns: int) -> Arrival | None:
        with self.device.told():
            return self._wire.receive(timeout_ns)

    def more(self) -> Arrival | None:
        """In haste, what the kernel has sent before it answers some questions one after the other.

        Frames keep their order, and what it works at has a turn between two questions.
        """
        if self.patience == self.device.patience:
            return super().more()
        for _ in range(_QUESTIONS):
            if (arrival := self.receive(0)) is not None:
                return arrival
            self.device.fence()
        return self.receive(0)

    def wait(self, duration_ns: int) -> None:
        with self.device.told():
            self._wire.wait(duration_ns)

    def host_for(self, spec: QpSpec) -> Host:
        return self.device.address_for(spec).host

    def open(self, spec: QpSpec) -> Qp:
        """Create a queue pair; its number is the kernel's choice."""
        cq = self._call("create_cq", depth=2 * QUEUE_DEPTH)["cq"]
        made = self._call(
            "create_qp",
            pd=self._pd,
            type=spec.service.name,
            send_cq=cq,
            recv_cq=cq,
            max_send_wr=QUEUE_DEPTH,
            max_recv_wr=QUEUE_DEPTH,
            **({"srq": self._shared_queue()} if spec.shared_receive else {}),
        )
        qp = Qp(made["qpn"], spec, made["qp"])
        self._held[qp.handle] = _Held(cq)
        return self._brought(qp)

    def reopen(self, qp: Qp, spec: QpSpec) -> Qp:
        """The same queue pair anew; what is left of its former life is dropped.

        A kernel that has refused a request may come late to put the queue pair into error, amid
        the steps of its next life; they are gone once more then.
        """
        if (spec.service, spec.shared_receive) != (qp.spec.service, qp.spec.shared_receive):
            raise TargetError("a queue pair keeps its service and its receive queue: open another")
        self.set_state(qp, State.RESET)
        self._poll(qp, at_least=0, timeout_ns=0)
        self.device.run_empty(lambda frame: is_from(qp, frame))
        anew = Qp(qp.qpn, spec, qp.handle)
        try:
            return self._brought(anew)
        except Refused:
            self._held[qp.handle].state = State.ERR
            self.set_state(qp, State.RESET)
            return self._brought(anew)

    def set_state(self, qp: Qp, state: State) -> None:
        """Move a queue pair, step by step where verbs want that."""
        own = self.device.address_for(qp.spec)
        self._play(qp.spec.remote)
        held = self._held[qp.handle]
        for step in verbs_work.steps(held.state, state):
            fields = verbs_work.attributes(qp.spec, step, own.sgid_index)
            self._call("modify_qp", qp=qp.handle, state=step.value, **fields)
            held.state = step

    def post(self, qp: Qp, work: Work) -> None:
        """Post work; its data gets a place of its own in the device's memory."""
        ah = self._address_handle(qp) if qp.spec.service is Service.UD else None
        request = verbs_work.send_request(work, self._gather(work), ah)
        self._call("post_send", qp=qp.handle, wrs=[request])

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
        """Post a receive, on the shared queue where the queue pair has that."""
        queue = {"srq": self._srq} if qp.spec.shared_receive else {"qp": qp.handle}
        sge = [_handle_of(region) | {"offset": offset, "length": length}]
        wr = {"wr_id": wr_id | verbs_work.RECEIVE_BIT, "sge": sge}
        self._call("post_recv", wrs=[wr], **queue)

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        found = self._poll(qp, at_least=count, timeout_ns=timeout_ns)
        return [verbs_work.outcome(wc) for wc in found]

    def register(
        self, size: int, *, access: frozenset[str] = FULL_ACCESS, domain: int = 0
    ) -> Region:
        """Zeroed memory in the queue pairs' protection domain."""
        if domain:
            raise one_domain()
        if not access.isdisjoint(_WRITE_TOO):  # verbs grant no remote write without it
            access |= {"local_write"}
        return VerbsRegion(self._call, pd=self._pd, size=size, access=access)

    def register_elsewhere(self, size: int) -> Region:
        """Zeroed memory in a protection domain of its own."""
        pd = int(self._call("alloc_pd")["pd"])
        return VerbsRegion(self._call, pd=pd, size=size, access=FULL_ACCESS)

    def listen(self, service_id: int, spec: QpSpec) -> None:
        """Accept connections through the host's connection manager."""
        self._reach(spec)
        self._connections().listen(self.host_for(spec), service_id, spec)

    def accepted(self, qpn: int, spec: QpSpec) -> Qp:
        return self._made(self._connections().accepted(qpn), spec)

    def call(self, service_id: int, spec: QpSpec) -> Qp:
        """Ask for a connection through the host's connection manager."""
        self._reach(spec)
        return self._made(self._connections().connect(service_id, spec), spec)

    def hang_up(self, qp: Qp) -> None:
        self._connections().disconnect(qp.handle)

    def counters(self) -> Mapping[str, int]:
        return dict(self._call("counters")["hw"])

    def ping(self, peer: Host, *, timeout_ns: int) -> bool:
        self._play(peer)
        question = neighbours.solicit(peer, self.host.ip)
        echo = ping.echo_request(peer, self.host)
        with self.device.told():
            return self._wire.ask(
                question, self.device.is_own_mac, timeout_ns=timeout_ns
            ) and self._wire.ask(echo, ping.is_echo_reply, timeout_ns=timeout_ns)

    def _brought(self, qp: Qp) -> Qp:
        """In the state of its spec, and with the hop limit that it really has."""
        self.set_state(qp, qp.spec.state)
        return self._routed(qp)

    def _routed(self, qp: Qp) -> Qp:
        return replace(qp, spec=replace(qp.spec, hop_limit=self._hop_limit(qp.spec)))

    def _hop_limit(self, spec: QpSpec) -> int:
        limits = self.device.hop_limits
        if spec.remote.ip not in limits:
            index = self.device.address_for(spec).sgid_index
            limits[spec.remote.ip] = hop_limit_towards(spec, index, call=self._call, pd=self._pd)
        return limits[spec.remote.ip]

    def _reach(self, spec: QpSpec) -> None:
        """Let the kernel learn the remote's MAC address before it connects.

        While it does, it may miss an ARP answer that comes at once, and wait two seconds.
        """
        self._play(spec.remote)
        self._hop_limit(spec)

    def _connections(self) -> Connections:
        if self._cm is None:
            self._cm = Connections(self._call, pd=self._pd, depth=QUEUE_DEPTH)
        return self._cm

    def _made(self, made: Made, spec: QpSpec) -> Qp:
        self._held[made.handle] = _Held(self._connections().cq, State.RTS)
        return self._routed(Qp(made.qpn, spec, made.handle))

    def _play(self, host: Host) -> None:
        with self.device.told():
            self._wire.play(host)

    def _shared_queue(self) -> int:
        if self._srq is None:
            self._srq = int(self._call("create_srq", pd=self._pd, max_wr=QUEUE_DEPTH)["srq"])
        return self._srq

    def _address_handle(self, qp: Qp) -> int:
        handles = self._held[qp.handle].ah
        remote = qp.spec.remote
        if remote not in handles:
            own = self.device.address_for(qp.spec)
            fields = verbs_work.address(qp.spec, own.sgid_index)
            handles[remote] = int(self._call("create_ah", pd=self._pd, **fields)["ah"])
        return handles[remote]

    def _gather(self, work: Work) -> list[dict[str, int]]:
        size = verbs_work.ATOMIC_BYTES if work.op in ATOMICS else work.size
        if size == 0:
            return []
        if work.into is not None:
            return [_handle_of(work.into) | {"offset": work.into_offset, "length": size}]
        return [self._staging.place(work.data, size=size, lane=work.offset)]

    def _poll(self, qp: Qp, *, at_least: int, timeout_ns: int) -> list[dict[str, Any]]:
        wait_ms = -(-timeout_ns // NS_PER_MS) if at_least else 0
        got = self._call(
            "poll_cq",
            within=CALL_SECONDS + wait_ms / 1000,
            cq=self._held[qp.handle].cq,
            min=max(1, at_least),
            max=MAX_POLL,
            timeout_ms=wait_ms,
        )
        return list(got["wcs"])


def _handle_of(region: Region) -> dict[str, int]:
    if not isinstance(region, VerbsRegion):
        raise TargetError("this memory is another target's: register it with this one")
    return {"mr": region.handle}
