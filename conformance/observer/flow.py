# SPDX-License-Identifier: BSD-2-Clause
"""One direction of one queue pair: its requests, and its responses to those of the other.

A flow is trusted to itself: packets with a wrong ICRC in a flow that has shown
right ones count as lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from roceproof.conformance.observer.constants import Constants
from roceproof.conformance.observer.facts import FlowFacts
from roceproof.conformance.observer.gaps import Late, Place
from roceproof.conformance.observer.observed import READ_MIDDLE, IcrcVerdict, Observed
from roceproof.conformance.observer.psn import PATH_MTUS
from roceproof.conformance.observer.requests import RESTART_DISTANCE, Requests
from roceproof.conformance.observer.responses import Response, Responses, configured
from roceproof.conformance.rules.findings import FlowKey, Violation
from roceproof.conformance.rules.table import Severity
from roceproof.conformance.wire.opcodes import Opcode, Position, Transport

_READ_FIRST = 0x0D
_ENTROPY_PORTS = 0xC000
_CONNECTED = (Transport.RC, Transport.UC)

Seek = Callable[["Flow", int], None]


class Flow:
    """The state of one flow; `counterpart` carries the requests that it answers."""

    def __init__(self, key: FlowKey, facts: FlowFacts, overdue: list[Late]) -> None:
        self.key = key
        self.facts = facts
        self.restarts = 0
        self.counterpart: Flow | None = None
        self._overdue = overdue
        self.has_right_icrc = False
        self._has_tag_note = self._has_port_note = False
        self._begin()

    def _begin(self) -> None:
        self.service = self.facts.service
        self.start_psn = self.facts.start_psn
        self.path_mtu = self.facts.path_mtu
        self.first_sport: int | None = None
        self.has_requests = False
        self.requests = Requests(self.key, self._overdue)
        self.responses = Responses(self.key, self._overdue)
        self._constants = Constants()

    # what both directions share

    def told(self, start_psn: int, path_mtu: int | None) -> None:
        """Communication management has set this direction up; configuration outweighs it."""
        facts = self.facts
        self.start_psn = start_psn if facts.start_psn is None else facts.start_psn
        self.path_mtu = facts.path_mtu or path_mtu

    def restart(self) -> None:
        """The QP was set up again, so that both its directions begin anew."""
        other = self.counterpart
        self.restart_alone()
        if other is not None:
            other.restart_alone()

    def restart_alone(self) -> None:
        """Drop what was learnt, but for the counterpart and the proof of right ICRCs."""
        self.restarts += self.has_requests
        self.give_up()
        self._begin()

    def give_up(self) -> None:
        """Nothing more will come that could tell who is wrong."""
        self.requests.gaps.give_up()
        self.responses.give_up()

    def learn(self, path_mtu: int) -> None:
        """A packet has shown the path MTU of the QP."""
        for flow in (self, self.counterpart):
            if flow is not None and flow.path_mtu is None:
                flow.path_mtu = path_mtu
                flow.requests.learn(path_mtu)

    def link(self, counterpart: Flow) -> None:
        """Two directions belong together, and to nobody else any more."""
        if self.counterpart is counterpart:
            return
        for former in (self.counterpart, counterpart.counterpart):
            if former is not None:
                former.counterpart = None
        self.counterpart, counterpart.counterpart = counterpart, self
        for giver, taker in ((self, counterpart), (counterpart, self)):
            if giver.path_mtu is not None:
                taker.learn(giver.path_mtu)

    def trusts(self, packet: Observed) -> bool:
        """Whether the packet is judged as part of the flow; notes whether its ICRC is right."""
        if packet.icrc is IcrcVerdict.OK:
            self.has_right_icrc = True
        return packet.icrc is not IcrcVerdict.BAD or not self.has_right_icrc

    # one packet

    def odd_tags(self) -> Iterator[Violation]:
        """VLAN-04, once."""
        if not self._has_tag_note:
            self._has_tag_note = True
            yield Violation("VLAN-04", "one VLAN tag without DEI", "more, or DEI")

    def take_cnp(self, packet: Observed) -> Iterator[Violation]:
        """Judge a CNP as part of the flow."""
        yield from self._constants.take(packet)

    def take_response(
        self, packet: Observed, row: Opcode, place: Place, seek: Seek
    ) -> Iterator[Violation]:
        """Judge a trusted response; `seek` looks for the counterpart, if it is not known."""
        yield from self._configured(packet)
        yield from self._constants.take(packet)
        self.requests.responses_heard += 1
        response = Response(packet, row)
        if not response.is_judged:
            return
        if self.service in (Transport.UC, Transport.UD):
            yield response.forbidden(self.service.name)
            return
        if packet.opcode in (_READ_FIRST, READ_MIDDLE):
            self._infer_path_mtu(packet)
        if self.counterpart is None:
            seek(self, packet.psn)
        other = self.counterpart
        if other is not None and other.service in (Transport.UC, Transport.UD):
            yield response.forbidden(other.service.name)
            return
        yield from configured(response, self.facts)
        if other is None or not other.has_requests:
            yield from self.responses.take_alone(response, place)
        else:
            yield from self.responses.take(response, place, other.requests, other.path_mtu)

    def take_request(self, packet: Observed, row: Opcode, place: Place) -> Iterator[Violation]:
        yield from self._configured(packet)
        if self.service is None:
            self.service = row.transport
        if row.transport is not self.service:
            yield Violation("BTH-01", f"an opcode of {self.service.name}", row.name)
            self.requests.resync()
            return
        connected = row.transport in _CONNECTED
        far = abs(self.requests.step_to(packet.psn)) > RESTART_DISTANCE
        if connected and far and row.position & Position.FIRST:
            self.restart()
            self.service = row.transport
        yield from self._constants.take(packet)
        is_first, self.has_requests = not self.has_requests, True
        if not connected:
            self.requests.take_datagram(packet)
            return
        yield from self._port(packet)
        if row.position in (Position.FIRST, Position.MIDDLE):
            self._infer_path_mtu(packet)
        if is_first and self.start_psn is not None:
            yield from self.requests.start(packet.psn, self.start_psn, row, place)
        yield from self.requests.take(packet, row, place, self.path_mtu)

    def _configured(self, packet: Observed) -> Iterator[Violation]:
        dscp, ttl = self.facts.dscp, self.facts.ttl
        if dscp is not None and packet.dscp != dscp:
            yield Violation("IP-07", f"DSCP {dscp}", str(packet.dscp), Severity.SHOULD)
        if ttl is not None and packet.hops > ttl:
            yield Violation("IP-06", f"TTL of at most {ttl}", str(packet.hops), Severity.SHOULD)

    def _port(self, packet: Observed) -> Iterator[Violation]:
        if self.first_sport is None:
            self.first_sport = packet.sport
        if self._has_port_note or packet.sport is None:
            return
        self._has_port_note = True
        if packet.sport < _ENTROPY_PORTS:
            yield Violation("UDP-05", f"a port of {_ENTROPY_PORTS} or more", str(packet.sport))

    def _infer_path_mtu(self, packet: Observed) -> None:
        size = packet.payload_size + packet.pad_size
        if self.path_mtu is None and size in PATH_MTUS:
            self.learn(size)
