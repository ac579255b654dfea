# SPDX-License-Identifier: BSD-2-Clause
"""How a client comes to a queue pair: it is told of one over TCP, or asks for one by rdma_cm."""

from abc import ABC, abstractmethod

from roceproof.conformance.interop.answering import Talk
from roceproof.conformance.interop.dialogues import End
from roceproof.conformance.interop.management import Managed, Management, is_management
from roceproof.conformance.interop.scenarios import PORT, Scenario
from roceproof.conformance.interop.server import Server, Servers
from roceproof.conformance.interop.tcp import TcpServer
from roceproof.conformance.targets.interface import Target
from roceproof.conformance.wire.codec import Packet
from roceproof.verbs.queue_pair import Qp, QpSpec, State

_FIRST_QPN = 0x11
_PSN = 0xFFFFFD
"""It wraps soon."""
_READS = 4
_CONNECTED = 3
"""A client of perftest that tells its first key so often has taken ours, and connected."""
_ACK_TIMEOUT = 18
"""A second: a guest may be slow, and only what it was not ready for is lost."""
_WORD = 64
"""No message of a dialogue is longer."""


class Introduction(ABC):
    """One of the two ways."""

    @abstractmethod
    def take(self, frame: bytes, packet: Packet | None) -> list[bytes] | None:
        """What is answered to a frame; None if it is the device's business."""

    def step(self) -> list[bytes]:
        """What is to be said now."""
        return []


class ByTcp(Introduction):
    """QPN, PSN and key are told over TCP, each way."""

    def __init__(self, target: Target, scenario: Scenario, servers: Servers) -> None:
        assert scenario.dialogue is not None
        self._target, self._scenario, self._servers = target, scenario, servers
        self._tcp = TcpServer(target.host, [PORT], scenario.dialogue(self._connect).hear)
        self._ends: dict[int, tuple[Server, End]] = {}  # by the client's numbers
        self._times_told = 0

    def take(self, frame: bytes, packet: Packet | None) -> list[bytes] | None:
        return self._tcp.take(frame)

    def _connect(self, theirs: End) -> End:
        if theirs.qpn not in self._ends:
            self._ends[theirs.qpn] = self._servers.begin(self._open(theirs), theirs)
        server, own = self._ends[theirs.qpn]
        server.role.theirs = theirs
        if theirs.qpn == next(iter(self._ends)):
            self._times_told += 1
            if self._times_told == _CONNECTED:
                for each, _ in self._ends.values():
                    each.role.established()
        return own

    def _open(self, theirs: End) -> Qp:
        spec = QpSpec(
            service=self._scenario.service,
            remote=theirs.host,
            remote_qpn=theirs.qpn,
            local_qpn=_FIRST_QPN + len(self._ends),
            path_mtu=self._scenario.path_mtu,
            sq_psn=_PSN,
            rq_psn=theirs.psn,
            ack_timeout=_ACK_TIMEOUT,
            max_dest_rd_atomic=_READS,
        )
        return self._target.open(spec)


class ByManagement(Introduction):
    """REQ and REP tell QPN and PSN. A tool that tells more does so on a connection before it."""

    def __init__(self, target: Target, scenario: Scenario, servers: Servers) -> None:
        assert scenario.cm_port is not None
        (self._server,) = servers.all
        self._servers = servers
        self._talk: Talk | None = None
        if scenario.dialogue is not None:
            self._talk = Talk(target, size=_WORD, dialogue=scenario.dialogue(self._introduce))
            self._talk.prepare()
        self._management = Management(target, scenario.cm_port, self._opened, first_qpn=_FIRST_QPN)
        self._pair: Managed | None = None
        self._own = End(target.host, 0, 0)
        self._is_ready = self._is_over = False

    def take(self, frame: bytes, packet: Packet | None) -> list[bytes] | None:
        if packet is None:
            return None
        if not is_management(packet):
            self._management.data_came(packet.bth.dest_qpn)
            self._follow()
            return None
        answers = self._management.take(frame, packet)
        self._follow()
        return answers

    def step(self) -> list[bytes]:
        """Hang up when the server wants it, and say again what was not answered."""
        role, pair = self._server.role, self._pair
        if pair is not None and role.is_over and not self._is_over:
            self._is_over = True
            self._management.hang_up(pair)
            self._follow()
        return self._management.due()

    def _follow(self) -> None:
        for pair in self._management.pairs:
            if pair.state is State.ERR:
                self._servers.end(pair.qp.qpn)
        if self._talk is None and self._pair is not None and self._pair.state is State.RTS:
            self._begin()

    def _begin(self) -> None:
        if not self._is_ready:
            self._is_ready = True
            self._server.role.established()

    def _opened(self, pair: Managed) -> None:
        spec = pair.spec
        theirs = End(spec.remote, spec.remote_qpn, spec.rq_psn)
        if self._talk is not None and pair is self._management.pairs[0]:
            self._servers.play(self._talk, pair.qp, theirs)
        else:
            self._pair = pair
            _, self._own = self._servers.begin(pair.qp, theirs)

    def _introduce(self, theirs: End) -> End:
        """The client tells of the memory beside what it has connected, or at first of nothing."""
        self._server.role.theirs = theirs
        if self._pair is not None and theirs.rkey:
            self._begin()
        return self._own
