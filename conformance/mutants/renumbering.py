# SPDX-License-Identifier: BSD-2-Clause
"""Requests that leave under PSNs of the fault's own making.

The device behind it counts rightly and never learns: what is answered is translated back. A
flow is told by its UDP source port, which a queue pair keeps when it connects anew.
"""

from dataclasses import dataclass, field

from roceproof.conformance.mutants.frames import request_of, response_of, with_bth
from roceproof.conformance.mutants.wire import WireFault
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.opcodes import OPCODES, Family, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, distance

_NEW_CONNECTION = 1 << 16
_READ_RESPONSES = 64


@dataclass(frozen=True)
class Sent:
    """One request as the device meant it, and the PSN that it got."""

    packet: Packet
    time_ns: int
    psn: int

    @property
    def closes(self) -> bool:
        """Whether its message ends with it."""
        row = OPCODES.get(self.packet.bth.opcode)
        return row is not None and Position.LAST in row.position

    @property
    def is_read(self) -> bool:
        row = OPCODES.get(self.packet.bth.opcode)
        return row is not None and row.family is Family.READ

    @property
    def is_empty(self) -> bool:
        """Whether it is a message without payload that could have some."""
        return self.closes and not self.is_read and not self.packet.payload


@dataclass
class Flow:
    """What one queue pair has sent since it connected."""

    last: Sent
    given: dict[int, int] = field(default_factory=dict)
    """The PSN that each right one became."""


class Renumbered(WireFault):
    """Each new request of a flow is `step` behind the one before it."""

    def __init__(self) -> None:
        self.flows: dict[int, Flow] = {}
        self._meant: dict[int, int] = {}

    def first(self, packet: Packet, before: Sent | None) -> int:
        """The PSN with which a connection starts; `before` is the last of the one before."""
        return packet.bth.psn

    def step(self, before: Sent, after: Packet, due: int, time_ns: int) -> int:
        """How far the next packet's PSN lies ahead; `due` would be right."""
        return due

    def dressed(self, frame: bytes, psn: int) -> bytes:
        """The request with its PSN."""
        return with_bth(frame, psn=psn)

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        if packet is None or request_of(frame) is None:
            return [frame]
        psn = self.number(packet, time_ns)
        responses = _READ_RESPONSES if Sent(packet, time_ns, psn).is_read else 1
        for ahead in range(responses):
            self._meant[(psn + ahead) % PSN_MODULUS] = (packet.bth.psn + ahead) % PSN_MODULUS
        return [self.dressed(frame, psn)]

    def received(self, frame: bytes, time_ns: int) -> list[bytes]:
        bth = response_of(frame)
        if bth is None:
            return [frame]
        return [with_bth(frame, psn=self._meant.get(bth.psn, bth.psn))]

    def number(self, packet: Packet, time_ns: int) -> int:
        """The PSN of a packet: that of its original if it is sent again."""
        flow, meant = self.flows.get(packet.udp_sport), packet.bth.psn
        before = flow.last if flow is not None else None
        due = 0 if before is None else distance(meant, before.packet.bth.psn)
        if flow is None or before is None or abs(due) > _NEW_CONNECTION:
            psn = self.first(packet, before) % PSN_MODULUS
            self.flows[packet.udp_sport] = Flow(Sent(packet, time_ns, psn), {meant: psn})
            return psn
        if meant in flow.given:
            return self.again(flow, packet, time_ns)
        psn = (before.psn + self.step(before, packet, due, time_ns)) % PSN_MODULUS
        flow.last = Sent(packet, time_ns, psn)
        flow.given[meant] = psn
        return psn

    def again(self, flow: Flow, packet: Packet, time_ns: int) -> int:
        """The PSN of a packet that was sent before."""
        return flow.given[packet.bth.psn]
