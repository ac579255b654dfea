# SPDX-License-Identifier: BSD-2-Clause
"""A whole device: one port, its queue pairs and its memory. Frames go in, frames come out.

The owner tells the time. `next_frame` gives at most one frame, so that the owner decides
how fast the wire is; queue pairs take turns.
"""

from collections import ChainMap, Counter, defaultdict, deque
from dataclasses import replace
from typing import cast

from roceproof.conformance.model.components import Components
from roceproof.conformance.model.echo import echo_reply
from roceproof.conformance.model.ingress import GSI_QPN, Drop, QueuePairView
from roceproof.conformance.model.memory import FOREIGN_DOMAIN, OWN_DOMAIN, Region
from roceproof.conformance.model.pause import Pauses
from roceproof.conformance.model.queue_pair import QueuePair
from roceproof.conformance.model.receive_queue import ReceiveQueue
from roceproof.conformance.model.resolution import Resolution
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire import neighbours
from roceproof.conformance.wire.codec import Packet
from roceproof.verbs.addresses import Host, link_local
from roceproof.verbs.queue_pair import FULL_ACCESS, QpSpec, State

_FIRST_QPN = 0x11
_GROUP_BIT = 1  # of a MAC address


class Device:
    def __init__(self, host: Host, components: Components | None = None) -> None:
        self.host = host
        self.components = components or Components()
        self.memory = self.components.memory()
        self.queue_pairs: dict[int, QueuePair] = {}
        ip6 = host.ip if len(host.ip) == 16 else link_local(host.mac)
        self.addresses = {host.ip, ip6}
        self.cm = self.components.connection_manager(self.addresses, self.open, self.reset)
        special: dict[int, QueuePairView] = {GSI_QPN: self.cm}
        self.ingress = self.components.ingress(
            host.mac,
            self.addresses,
            ChainMap(special, cast("dict[int, QueuePairView]", self.queue_pairs)),
            self.components.responder_policy,
        )
        self.shared_receives = defaultdict[int, ReceiveQueue](lambda: ReceiveQueue(shared=True))
        self.counters: Counter[str] = Counter()
        self.pauses = Pauses()
        self._turns: deque[int] = deque()  # QPNs, the next to send first
        self._control: deque[bytes] = deque()  # answers to ARP, ND and ping, and questions
        self._told: deque[tuple[Host, bytes]] = deque()  # packets of QP1, and to whom
        self._resolution = Resolution(asks=self.components.resolves_addresses)

    # queue pairs

    def open(self, spec: QpSpec) -> QueuePair:
        """A queue pair with the number of its spec, or with another if that is taken."""
        qpn = spec.local_qpn
        if not qpn or qpn in self.queue_pairs:
            qpn = max((_FIRST_QPN - 1, *self.queue_pairs)) + 1
        self._turns.append(qpn)
        return self.reset(qpn, spec)

    def reset(self, qpn: int, spec: QpSpec) -> QueuePair:
        """The queue pair as new, in the state of its spec."""
        shared = self.shared_receives[spec.shared_queue] if spec.shared_receive else None
        queue_pair = self.components.queue_pair(
            replace(spec, local_qpn=qpn),
            host=self.host.facing(spec.remote),
            memory=self.memory,
            receives=ReceiveQueue() if shared is None else shared,
        )
        self.queue_pairs[qpn] = queue_pair
        return queue_pair

    def call(self, service_id: int, spec: QpSpec) -> QueuePair:
        """A queue pair that asks a service of its remote for a connection."""
        return self.cm.call(service_id, spec, self.host.facing(spec.remote))

    def enter(self, qpn: int, state: State) -> None:
        """Move a queue pair to another state."""
        if state is State.RESET:
            self.reset(qpn, replace(self.queue_pairs[qpn].spec, state=State.RESET))
        else:
            self.queue_pairs[qpn].enter(state)

    # memory

    def register(
        self, size: int, access: frozenset[str] = FULL_ACCESS, domain: int = OWN_DOMAIN
    ) -> Region:
        """Memory of a protection domain of queue pairs."""
        return self.memory.register(size, access=access, domain=domain)

    def register_elsewhere(self, size: int) -> Region:
        """Memory of a protection domain that no queue pair has."""
        return self.memory.register(size, domain=FOREIGN_DOMAIN)

    # the wire

    def receive(self, frame: bytes, now_ns: int) -> None:
        if self.pauses.take(frame, now_ns):
            return
        admitted = self.ingress.examine(frame)
        if admitted is Drop.NOT_ROCE:
            self.answer_host(frame)
        elif isinstance(admitted, Drop):
            self.counters[admitted.name.lower()] += 1
        elif admitted.qpn == GSI_QPN:
            self.answer_management(admitted.packet)
        else:
            queue_pair = self.queue_pairs[admitted.qpn]
            self.cm.data_came(queue_pair)
            queue_pair.receive(admitted, now_ns)

    def answer_management(self, packet: Packet) -> None:
        """What came to QP1; its answer goes where it came from."""
        answer = self.cm.receive(packet)
        if answer is not None:
            peer = Host(packet.src_mac, packet.ip.src)
            self.tell(peer, answer, vlan=self.tag_of(packet))

    def tell(self, peer: Host, datagram: Segment, *, vlan: int | None = None) -> None:
        """Send a packet of QP1."""
        spec = replace(self.cm.spec, remote=peer, vlan=vlan)
        egress = self.components.egress(self.host.facing(peer), spec)
        self._told.append((peer, egress.frame(datagram)))

    @staticmethod
    def tag_of(packet: Packet) -> int | None:
        return int.from_bytes(packet.vlans[-2:], "big") if packet.vlans else None

    def answer_host(self, frame: bytes) -> None:
        """What any host answers: questions after its MAC address, and ping."""
        if frame[:6] != self.host.mac and not frame[0] & _GROUP_BIT:
            return
        if self._resolution.hear(frame):
            return
        addresses = dict.fromkeys(self.addresses, self.host.mac)
        reply = echo_reply(frame, addresses) or neighbours.answer(frame, addresses)
        if reply is not None:
            self._control.append(reply)

    def next_frame(self, now_ns: int) -> bytes | None:
        """The frame that leaves now, if one does."""
        if self._control:
            return self._control.popleft()
        for place, (peer, frame) in enumerate(self._told):
            if self.may_send(peer, now_ns):
                del self._told[place]
                return frame
        for _ in range(len(self._turns)):
            queue_pair = self.queue_pairs[self._turns[0]]
            self._turns.rotate(-1)
            if self.pauses.holds(queue_pair.egress.priority, now_ns):
                continue
            if not self.may_send(queue_pair.spec.remote, now_ns):
                continue
            segment = queue_pair.take(now_ns)
            if segment is not None:
                return queue_pair.egress.frame(segment)
        return self._control.popleft() if self._control else None

    def may_send(self, peer: Host, now_ns: int) -> bool:
        """Whether the peer's MAC is known; a device that has to ask for it does."""
        if self._resolution.may_send(peer):
            return True
        question = self._resolution.question(self.host.facing(peer), peer, now_ns)
        if question is not None:
            self._control.append(question)
        return False

    def next_deadline(self, now_ns: int) -> int | None:
        """When to call `next_frame` and `expire` after now; None if nothing is planned."""
        deadlines = [pair.requester.next_deadline() for pair in self.queue_pairs.values()]
        deadlines += [pair.responder.next_deadline() for pair in self.queue_pairs.values()]
        deadlines += [self.pauses.next_end(now_ns), self.cm.next_deadline()]
        deadlines.append(self._resolution.next_deadline())
        return min((time for time in deadlines if time is not None and time > now_ns), default=None)

    def expire(self, now_ns: int) -> None:
        for queue_pair in self.queue_pairs.values():
            queue_pair.expire(now_ns)
        for peer, datagram in self.cm.expire(now_ns):
            self.tell(peer, datagram)
