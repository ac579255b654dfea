# SPDX-License-Identifier: BSD-2-Clause
"""Joins the halves of queue pairs to network adapters, and answers congestion marks with CNPs."""

from collections.abc import Callable
from random import Random

from roceproof.conformance.faults.conversation.envelope import Envelope
from roceproof.conformance.faults.conversation.network import Network, Port, Sending, Transmit
from roceproof.conformance.faults.conversation.plan import Connection
from roceproof.conformance.faults.conversation.requester import Requester, Trouble
from roceproof.conformance.faults.conversation.responder import Responder
from roceproof.conformance.faults.psn.counting import Counting
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.ip import Ipv4
from roceproof.conformance.wire.opcodes import Transport
from roceproof.verbs.service import Service

_CE = 3
_CNP_INTERVAL_NS = 50_000


Registers = Callable[[dict[object, int]], Counting]
"""Makes the PSN registers of a queue pair, in a bank that is its station's."""


def right_registers(bank: dict[object, int]) -> Counting:
    """Those of a correct station."""
    return Counting(Random(0), bank)


class Notifier:
    """Sends a CNP after CE-marked packets, not more often than the interval allows."""

    def __init__(self, port: Port, connection: Connection, side: int) -> None:
        self._port = port
        self._envelope = Envelope(connection, side)
        self._pending = False
        self._not_before = 0
        port.attach(self)

    def receive(self, packet: Packet) -> None:
        """Look at the congestion mark of any packet."""
        now = self._port.network.now
        mark = packet.ip.tos if isinstance(packet.ip, Ipv4) else packet.ip.traffic_class
        if mark & 3 == _CE and now >= self._not_before:
            self._not_before = now + _CNP_INTERVAL_NS
            self._pending = True
            self._port.wake(now)

    def next_packet(self, now: int) -> Sending | None:
        """The CNP, if one is due."""
        if not self._pending:
            return None
        self._pending = False
        return Sending(self._envelope.congestion())


class QueuePair:
    """One end of a connection."""

    def __init__(
        self,
        port: Port,
        connection: Connection,
        side: int,
        counting: Counting,
        trouble: Trouble,
        *,
        rnr_rate: float,
        rereads_whole: bool,
        seed: int,
    ) -> None:
        self._notifier: Notifier | None = None
        self._responder: Responder | None = None
        if connection.service is not Service.UD:
            self._notifier = Notifier(port, connection, side)
        if connection.service is Service.RC:
            name = counting.name(connection, connection.ends[side])
            self._responder = Responder(
                port, connection, side, counting, name, rnr_rate=rnr_rate, seed=seed
            )
        self._requester = Requester(
            port, connection, side, counting, trouble, rereads_whole=rereads_whole
        )

    def receive(self, packet: Packet, *, corrupted: bool) -> None:
        """Hand a packet to the half that it is for."""
        opcode = packet.bth.opcode
        if corrupted:
            if self._responder is not None:
                self._responder.corrupted(packet)
            return
        if self._notifier is not None:
            self._notifier.receive(packet)
        if opcode >> 5 == Transport.RC and packet.aeth is None and not _is_read_middle(opcode):
            assert self._responder is not None
            self._responder.receive(packet)
        elif opcode >> 5 == Transport.RC:
            self._requester.receive(packet)


def _is_read_middle(opcode: int) -> bool:
    return opcode == 0x0E


class Adapter:
    """A port with its queue pairs, by number."""

    def __init__(self, network: Network, *, at_tap: bool, transmit: Transmit | None = None) -> None:
        self.port = Port(network, at_tap=at_tap, transmit=transmit)
        self.queue_pairs: dict[int, QueuePair] = {}
        self.port.receive = self._receive

    def _receive(self, packet: Packet, *, corrupted: bool) -> None:
        self.queue_pairs[packet.bth.dest_qpn].receive(packet, corrupted=corrupted)
