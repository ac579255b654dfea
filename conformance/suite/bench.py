# SPDX-License-Identifier: BSD-2-Clause
"""What a case is given: a device, and the queue pairs that it opens there."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from enum import Enum
from random import Random
from typing import TYPE_CHECKING, Any

from roceproof.common.errors import RoceproofError
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.deviations import tolerated
from roceproof.conformance.suite.limits.outstanding_window import Room
from roceproof.conformance.suite.limits.within_limits import (
    allowed_values,
    require_queue_pairs,
    require_service,
)
from roceproof.conformance.targets.interface import Claims, Target
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service

if TYPE_CHECKING:
    from scapy.packet import Packet as ScapyPacket
    from scapy.plist import PacketList

from roceproof.conformance.suite.exchange import Exchange

_FIRST_QPN, _LAST_QPN = 2, 0xFFE000
"""Below are numbers with a meaning; above, room for cases that count on from a number."""
_ECN_BITS = 3
_NEAR = 8
Another = Callable[[int, "Host | None"], "AbstractContextManager[Bench]"]


def _start_psn(draw: Random) -> int:
    """Any PSN; one of four so near the end of the number line that a few packets cross it."""
    psn = draw.randrange(PSN_MODULUS)
    return psn if psn % 4 else PSN_MODULUS - 1 - psn // 4 % _NEAR


class BenchError(RoceproofError):
    """A case asks its bench for what only another has; the text says what."""


class Bystander:
    """A connection that lives on beside others, or none on a device with too few queue pairs."""

    def __init__(self, qp: Connection | None) -> None:
        self.qp = qp

    def fence(self, psn: int) -> None:
        """It serves a request at the PSN that is due, and nothing else has come."""
        if self.qp is not None:
            self.qp.fence(psn)


class Bench(Exchange):
    """The exchange with one device, and the connections that the case has opened."""

    def __init__(
        self,
        target: Target,
        claims: Claims,
        *,
        seed: int,
        version: str = "",
        another: Another | None = None,
        tolerates: Collection[Enum] | None = None,
    ) -> None:
        super().__init__(target, claims, seed=seed)
        self.identity = claims.target, version
        self.tolerates = tolerated(self.identity) if tolerates is None else tolerates
        """Values of the model's switches that the device may play: those that are declared."""
        self._another = another
        self.connections: list[Connection] = []
        self.plans = 0
        """How many random plans the case has played."""
        self.unjudged: set[str] = set()
        """Rules that the observer must not judge, since what was sent here looks like a break."""

    def another(self, seed: int, host: Host | None = None) -> AbstractContextManager[Bench]:
        """A bench with a fresh device of this kind, for cases that need many.

        It is judged when it closes, as every case is.
        """
        if self._another is None:
            raise BenchError("no fresh devices here: only the bench of a case has them")
        return self._another(seed, host)

    def shows(self, other: Bench) -> None:
        """What is kept and judged behind the case is what passed on another bench."""
        self.transcript, self.strays = other.transcript, other.strays
        self.unjudged = other.unjudged

    def connect(
        self, service: Service = Service.RC, *, ipv6: bool = False, **spec: Any
    ) -> Connection:
        """A new queue pair; what is not said is drawn from the case's seed."""
        index = len(self.connections)
        require_queue_pairs(self.claims, index + 1)
        require_service(self.claims, service)
        draw = self.random
        values: dict[str, Any] = {
            "remote": self.peer(ipv6=ipv6, vlan=spec.get("vlan")),
            "local_qpn": self._local_qpn(),
            "remote_qpn": self._remote_qpn(),
            "sq_psn": _start_psn(draw),
            "rq_psn": _start_psn(draw),
            "path_mtu": min(self.claims.path_mtus),
            "udp_sport": 0xC000 | draw.getrandbits(14),
            "traffic_class": draw.getrandbits(8) & ~_ECN_BITS,
            "hop_limit": draw.randrange(16, 250),
            "ip_id": draw.getrandbits(16),
        }
        qp = self.target.open(QpSpec(service=service, **allowed_values(self.claims, spec, values)))
        self.transcript.know(qp, self.target.host_for(qp.spec))
        connection = Connection(self, qp, thought_mtu=spec.get("path_mtu"))
        connection.chose_depth = "max_dest_rd_atomic" in spec
        self.add(connection)
        return connection

    def fresh(self, **spec: Any) -> Connection:
        """Another connection, or the last one connected anew where the device has no more."""
        if self._has_more:
            return self.connect(**spec)
        self.connections[-1].reconnect(**spec)
        return self.connections[-1]

    def bystander(self) -> Bystander:
        """Another connection, to which nothing must happen, where the device has one more."""
        return Bystander(self.connect() if self._has_more else None)

    @property
    def _has_more(self) -> bool:
        return len(self.connections) < self.claims.qps

    def _local_qpn(self) -> int:
        """Any number in a place of the device's table that no connection of the case has."""
        places = self.claims.qps
        taken = {connection.qp.qpn % places for connection in self.connections}
        while (drawn := self.numbers.randrange(_FIRST_QPN, _LAST_QPN)) % places in taken:
            pass
        return drawn

    def _remote_qpn(self) -> int:
        taken = {connection.spec.remote_qpn for connection in self.connections}
        while (drawn := self.numbers.randrange(_FIRST_QPN, _LAST_QPN)) in taken:
            pass
        return drawn

    def power_on(self) -> None:
        """Reset the whole device: its queue pairs, memory and work are gone. Needs POWER_ON.

        Another connection may have any number, those of before included.
        """
        self.target.power_on()
        self.transcript.power_on()
        self.connections.clear()
        self._ends.clear()
        self.room = Room(self.claims)

    def add(self, connection: Connection) -> None:
        """Give a connection the packets that come for it from now on."""
        self._ends.append(connection)
        self.connections.append(connection)
        self.room.add(connection)

    def sniff(
        self,
        *,
        count: int = 0,
        timeout: float | None = None,
        lfilter: Callable[[ScapyPacket], bool] | None = None,
    ) -> PacketList:
        """What has passed in both directions, as Scapy packets with their times.

        With `timeout`, in seconds of the device's clock, also what passes until then; no more
        than `count`, and only what fits `lfilter`.
        """
        from roceproof.conformance.suite.reporting.sniffing import sniffed

        return sniffed(self.transcript, self.pump, count=count, timeout=timeout, lfilter=lfilter)

    def pump_until_complete(self, connection: Connection, *, within_ns: int) -> None:
        """Let a connection that answers by itself go on until it has a completion."""
        deadline = self.target.now_ns + within_ns
        while not connection.has_outcome() and self.target.now_ns < deadline:
            self.pump(self.target.patience.quiet_ns, connection.has_outcome)
