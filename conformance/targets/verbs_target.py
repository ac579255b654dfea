# SPDX-License-Identifier: BSD-2-Clause
"""A device behind a wire and the verbs agent: a real kernel's or a real NIC's.

The wire shows what the device sends, the agent makes its queue pairs and looks at
its memory. When either end goes away, the device has died, and whoever asks next is
told so, with the last frame that was sent to it and its console's last lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from roceproof.conformance.targets import neighbours, ping, verbs_work
from roceproof.conformance.targets.interface import (
    FULL_ACCESS,
    Arrival,
    DeviceDied,
    Host,
    Outcome,
    Patience,
    Qp,
    QpSpec,
    Region,
    State,
    Target,
    TargetError,
    Work,
)
from roceproof.conformance.targets.live_wire import Wire
from roceproof.conformance.targets.ports import PortGone
from roceproof.conformance.targets.verbs_memory import Staging, VerbsRegion
from roceproof.dpi.records import Service
from roceproof.rxe_env.errors import AgentError, PeerDied
from roceproof.rxe_env.verbs import Verbs

CALL_SECONDS = 10.0
QUEUE_DEPTH = 512
MAX_POLL = 1024
MS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class VerbsDevice:
    """What a target is made of. It outlives the cases that it serves."""

    name: str  # in what is said of it
    verbs: Verbs
    wire: Wire
    host: Host
    tester: Host  # a host that no case plays: it asks whether the device is there
    sgid_index: int
    patience: Patience
    last_words: Callable[[], str]  # what its console said, when it has died
    close: Callable[[], None]


@dataclass
class _Held:
    """What the agent holds for a queue pair."""

    cq: int
    state: State = State.RESET
    ahs: dict[Host, int] = field(default_factory=dict)


class VerbsTarget(Target):
    """One case's view of a device."""

    def __init__(self, device: VerbsDevice) -> None:
        self.host = device.host
        self.patience = device.patience
        self.has_died = False
        self._device = device
        self._wire = device.wire
        self._held: dict[int, _Held] = {}
        self._srq: int | None = None
        self.clear()
        self._pd = int(self._call("alloc_pd")["pd"])
        self._staging = Staging(self._call, self._pd)

    def clear(self) -> None:
        """Free everything in the device and let the wire run empty; it must be alive for that."""
        self._call("reset")
        self._run_empty()
        self._wire.restart()

    @property
    def now_ns(self) -> int:
        """The wall's clock since the case began."""
        return self._wire.now_ns

    def send(self, frame: bytes) -> None:
        """Hand the device a frame at once."""
        with self._said():
            self._wire.send(frame)

    def receive(self, timeout_ns: int) -> Arrival | None:
        """The next RoCE frame of the device."""
        with self._said():
            return self._wire.receive(timeout_ns)

    def wait(self, duration_ns: int) -> None:
        """Let the wall's time pass."""
        with self._said():
            self._wire.wait(duration_ns)

    def open(self, spec: QpSpec) -> Qp:
        """Create a queue pair; its number is the kernel's choice."""
        cq = self._call("create_cq", depth=2 * QUEUE_DEPTH)["cq"]
        shared = {"srq": self._shared_queue()} if spec.shared_receive else {}
        made = self._call(
            "create_qp",
            pd=self._pd,
            type=spec.service.name,
            send_cq=cq,
            recv_cq=cq,
            max_send_wr=QUEUE_DEPTH,
            max_recv_wr=QUEUE_DEPTH,
            **shared,
        )
        qp = Qp(made["qpn"], spec, made["qp"])
        self._held[qp.handle] = _Held(cq)
        self.set_state(qp, spec.state)
        return qp

    def reopen(self, qp: Qp, spec: QpSpec) -> Qp:
        """The same queue pair anew; what is left of its former life is dropped."""
        if (spec.service, spec.shared_receive) != (qp.spec.service, qp.spec.shared_receive):
            raise TargetError("a queue pair keeps its service and its receive queue: open another")
        self.set_state(qp, State.RESET)
        self._poll(self._held[qp.handle].cq, at_least=1, timeout_ns=0)
        self._run_empty()
        again = Qp(qp.qpn, spec, qp.handle)
        self.set_state(again, spec.state)
        return again

    def set_state(self, qp: Qp, state: State) -> None:
        """Move a queue pair, step by step where verbs want that."""
        self._play(qp.spec.remote)
        held = self._held[qp.handle]
        for step in verbs_work.steps(held.state, state):
            fields = verbs_work.attributes(qp.spec, step, self._device.sgid_index)
            self._call("modify_qp", qp=qp.handle, state=step.value, **fields)
            held.state = step

    def post(self, qp: Qp, work: Work) -> None:
        """Post work; its data gets a place of its own in the device's memory."""
        ah = self._address_handle(qp) if qp.spec.service is Service.UD else None
        request = verbs_work.send_request(work, self._gather(work), ah)
        self._call("post_send", qp=qp.handle, wrs=[request])

    def post_receive(
        self, qp: Qp, *, wr_id: int, region: Region, offset: int = 0, length: int
    ) -> None:
        """Post a receive, on the shared queue where the queue pair has that."""
        assert isinstance(region, VerbsRegion)
        queue = {"srq": self._srq} if qp.spec.shared_receive else {"qp": qp.handle}
        sge = [{"mr": region.handle, "offset": offset, "length": length}]
        wr = {"wr_id": wr_id | verbs_work.RECEIVE_BIT, "sge": sge}
        self._call("post_recv", wrs=[wr], **queue)

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        """Completions of one queue pair, in order."""
        cq = self._held[qp.handle].cq
        found = self._poll(cq, at_least=count, timeout_ns=timeout_ns)
        return [verbs_work.outcome(wc) for wc in found]

    def register(self, size: int, *, access: frozenset[str] = FULL_ACCESS) -> Region:
        """Zeroed memory in the queue pairs' protection domain."""
        return VerbsRegion(self._call, pd=self._pd, size=size, access=access)

    def register_elsewhere(self, size: int) -> Region:
        """Zeroed memory in a protection domain of its own."""
        pd = int(self._call("alloc_pd")["pd"])
        return VerbsRegion(self._call, pd=pd, size=size, access=FULL_ACCESS)

    def counters(self) -> Mapping[str, int]:
        """The RDMA port's hw_counters."""
        return dict(self._call("counters")["hw"])

    @property
    def chatter(self) -> Mapping[str, int]:
        """How much of what was left out of `receive` came in this case."""
        return dict(self._wire.chatter)

    def ping(self, peer: Host, *, timeout_ns: int) -> bool:
        """Address resolution, then an echo."""
        self._play(peer)
        question = neighbours.solicit(peer, self.host.ip)
        echo = ping.echo_request(peer, self.host, number=1)
        with self._said():
            return self._wire.ask(question, self._is_our_mac, timeout_ns=timeout_ns) and (
                self._wire.ask(
                    echo,
                    lambda frame: ping.is_echo_reply(frame, number=1),
                    timeout_ns=timeout_ns,
                )
            )

    def _is_our_mac(self, frame: bytes) -> bool:
        return neighbours.is_advertised(frame, self.host.ip)

    def _run_empty(self) -> None:
        """The device sends in order: behind its answer nothing older can come."""
        with self._said():
            self._wire.play(self._device.tester)
            question = neighbours.solicit(self._device.tester, self.host.ip)
            answer_ns = self.patience.answer_ns
            if not self._wire.ask(question, self._is_our_mac, timeout_ns=answer_ns):
                raise PortGone("it no longer answers ARP")
            self._wire.discard()

    def _play(self, host: Host) -> None:
        with self._said():
            self._wire.play(host)

    def _shared_queue(self) -> int:
        if self._srq is None:
            self._srq = int(self._call("create_srq", pd=self._pd, max_wr=QUEUE_DEPTH)["srq"])
        return self._srq

    def _address_handle(self, qp: Qp) -> int:
        handles = self._held[qp.handle].ahs
        remote = qp.spec.remote
        if remote not in handles:
            fields = verbs_work.address(qp.spec, self._device.sgid_index)
            handles[remote] = int(self._call("create_ah", pd=self._pd, **fields)["ah"])
        return handles[remote]

    def _gather(self, work: Work) -> list[dict[str, Any]]:
        size = verbs_work.ATOMIC_BYTES if work.op in verbs_work.ATOMICS else work.size
        if size == 0:
            return []
        if work.into is not None:
            assert isinstance(work.into, VerbsRegion)
            return [{"mr": work.into.handle, "offset": work.into_offset, "length": size}]
        return [self._staging.place(work.data, size=size, lane=work.offset)]

    def _poll(self, cq: int, *, at_least: int, timeout_ns: int) -> list[dict[str, Any]]:
        wait_ms = -(-timeout_ns // MS)
        got = self._call(
            "poll_cq",
            within=CALL_SECONDS + wait_ms / 1000,
            cq=cq,
            min=max(1, at_least),
            max=MAX_POLL,
            timeout_ms=wait_ms if at_least else 0,
        )
        return list(got["wcs"])

    def _call(self, op: str, *, within: float = CALL_SECONDS, **fields: Any) -> dict[str, Any]:
        with self._said():
            return self._device.verbs.call(op, within=within, **fields)

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Whatever goes wrong below is said in the words of targets."""
        try:
            yield
        except AgentError as error:
            raise TargetError(f"{self._device.name} refused {error}") from error
        except PeerDied as error:
            raise self._died(error.reason) from error
        except PortGone as error:
            raise self._died(str(error)) from error

    def _died(self, reason: str) -> DeviceDied:
        self.has_died = True
        last = self._wire.last_sent.hex() or "none"
        words = self._device.last_words()
        console = f"\nlast console lines:\n{words}" if words else ""
        name = self._device.name
        return DeviceDied(f"{name} died: {reason}; the last frame sent to it: {last}{console}")
