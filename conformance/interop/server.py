# SPDX-License-Identifier: BSD-2-Clause
"""The servers of one scenario, one for each queue pair: a role, and a shadow to judge it by."""

from roceproof.conformance.interop.dialogues import End
from roceproof.conformance.interop.roles import Role
from roceproof.conformance.interop.scenarios import Scenario
from roceproof.conformance.interop.shadow import Shadow
from roceproof.conformance.targets.interface import Target, TargetError
from roceproof.conformance.wire.codec import Packet
from roceproof.verbs.queue_pair import Qp


class Server:
    """Has its memory at once, and begins when there is a queue pair."""

    def __init__(self, target: Target, scenario: Scenario) -> None:
        self.role = scenario.role(target, size=scenario.size, count=scenario.count)
        self._region = self.role.prepare()
        self._target = target
        self._shadow: Shadow | None = None

    def begin(self, qp: Qp, theirs: End) -> End:
        """Serve on this queue pair; what the client may be told of it."""
        self.role.begin(qp, theirs)
        region, spec = self._region, qp.spec
        self._shadow = Shadow(region, spec.path_mtu, self.role.places())
        reads = spec.max_dest_rd_atomic
        return End(self._target.host, qp.qpn, spec.sq_psn, region.rkey, region.addr, reads)

    def came(self, packet: Packet) -> None:
        """A packet to the device."""
        if self._shadow is not None and packet.bth.dest_qpn == self.role.qp.qpn:
            self._shadow.came(packet)

    def left(self, packet: Packet) -> None:
        """A packet of the device."""
        if self._shadow is not None and packet.bth.dest_qpn == self.role.theirs.qpn:
            self._shadow.left(packet)

    def lack(self) -> str:
        """What is missing when the client has ended."""
        if self._shadow is None:
            return "nobody asked for a queue pair"
        return self.role.lack() or self._shadow.lack(self.role.header)


class Servers:
    """All of them. Beside their own roles there may be others for a while."""

    def __init__(self, target: Target, scenario: Scenario) -> None:
        self.all = [Server(target, scenario) for _ in range(scenario.qps)]
        self._unused = list(self.all)
        self._active: dict[int, Role] = {}

    def begin(self, qp: Qp, theirs: End) -> tuple[Server, End]:
        """The next of them serves on this queue pair."""
        if not self._unused:
            raise TargetError("the client wants more queue pairs than it was told to")
        server = self._unused.pop(0)
        end = server.begin(qp, theirs)
        self._active[qp.qpn] = server.role
        return server, end

    def play(self, role: Role, qp: Qp, theirs: End) -> None:
        """Play a role, which has its memory, on this queue pair."""
        role.begin(qp, theirs)
        self._active[qp.qpn] = role

    def end(self, qpn: int) -> None:
        """The queue pair is dead: what is flushed now is no trouble."""
        self._active.pop(qpn, None)

    def step(self) -> None:
        """Let every role do what is due."""
        for role in list(self._active.values()):
            role.step()

    def came(self, packet: Packet) -> None:
        """A packet to the device."""
        for server in self.all:
            server.came(packet)

    def left(self, packet: Packet) -> None:
        """A packet of the device."""
        for server in self.all:
            server.left(packet)

    def lack(self) -> str:
        """What the first of them misses."""
        return next(filter(None, (server.lack() for server in self.all)), "")
