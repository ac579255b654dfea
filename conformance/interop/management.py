# SPDX-License-Identifier: BSD-2-Clause
"""Connection management for any device: QP1 of its host in software, with the model's manager.

Queue pairs are made through the target interface, so that a device needs no QP1 of its own.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import cast

from roceproof.conformance.model.cm.manager import ConnectionManager
from roceproof.conformance.model.egress import Egress
from roceproof.conformance.model.ingress import GSI_QPN
from roceproof.conformance.model.queue_pair import QueuePair
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.targets.interface import Target
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.icrc import Judgement
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec, State
from roceproof.verbs.service import Service

_PORT_SPACE_TCP = 0x0106
_READS = 4


class Managed:
    """A queue pair of the device, as the manager sees it."""

    def __init__(self, target: Target, spec: QpSpec) -> None:
        self.qp: Qp = target.open(spec)
        self.spec = replace(spec, local_qpn=self.qp.qpn)
        self.state = spec.state
        self._target = target

    def enter(self, state: State) -> None:
        self.state = state
        self._target.set_state(self.qp, state)

    def fail(self) -> None:
        self.enter(State.ERR)


class Management:
    """One host's QP1, listening on a port of rdma_cm's TCP space. `opened` gets each new pair."""

    def __init__(
        self, target: Target, port: int, opened: Callable[[Managed], None], *, first_qpn: int
    ) -> None:
        self._target = target
        self._opened = opened
        self._qpns = count(first_qpn)
        self.pairs: list[Managed] = []
        # The manager wants no more of a queue pair than Managed has.
        opener = cast("Callable[[QpSpec], QueuePair]", self._open)
        self._manager = ConnectionManager({target.host.ip}, opener, self._never)
        nobody = Host(bytes(6), bytes(4))
        offer = QpSpec(
            service=Service.RC,
            remote=nobody,
            remote_qpn=0,
            max_rd_atomic=_READS,
            max_dest_rd_atomic=_READS,
        )
        self._manager.listen(_PORT_SPACE_TCP << 16 | port, offer)

    def take(self, frame: bytes, packet: Packet) -> list[bytes]:
        """A frame to QP1; what is answered."""
        if icrc.check(frame).judgement is not Judgement.OK:
            return []
        answer = self._manager.receive(packet)
        peer = Host(packet.src_mac, packet.ip.src)
        return [] if answer is None else [self._frame(peer, answer)]

    def data_came(self, qpn: int) -> None:
        """A packet for a queue pair that waits to be told that all is ready says so itself."""
        for pair in self.pairs:
            if pair.spec.local_qpn == qpn:
                self._manager.data_came(cast(QueuePair, pair))

    def due(self) -> list[bytes]:
        """What is to be said now."""
        told = self._manager.expire(self._target.now_ns)
        return [self._frame(peer, datagram) for peer, datagram in told]

    def hang_up(self, pair: Managed) -> None:
        self._manager.hang_up(pair.spec.local_qpn)

    def _frame(self, peer: Host, datagram: Segment) -> bytes:
        return Egress(self._target.host, replace(self._manager.spec, remote=peer)).frame(datagram)

    def _open(self, spec: QpSpec) -> Managed:
        pair = Managed(self._target, replace(spec, local_qpn=next(self._qpns)))
        self.pairs.append(pair)
        self._opened(pair)
        return pair

    def _never(self, qpn: int, spec: QpSpec) -> QueuePair:
        raise NotImplementedError  # what only the side that asks does


def is_management(packet: Packet) -> bool:
    return packet.bth.dest_qpn == GSI_QPN
