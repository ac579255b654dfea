# SPDX-License-Identifier: BSD-2-Clause
"""What a capture asks of responders: its requests by interface and the queue pair they go to.

A lane is all that has to be known to have the same asked of another device: service, path MTU,
first PSN, the memory that is named, the receives that are used up. Datagrams, and what parses
and does not build to the same bytes, are left out and counted.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from roceproof.conformance.capture.record import Record
from roceproof.conformance.nic.named_memory import NamedMemory
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.headers import AtomicEth
from roceproof.conformance.wire.opcodes import OPCODES, REQUESTS, Family, Position, Transport
from roceproof.conformance.wire.psn import packet_count
from roceproof.verbs.service import Service

PATH_MTUS = (256, 512, 1024, 2048, 4096)
MOST_BYTES = 1 << 24
ATOMIC_BYTES = 8
_SERVICES = {Transport.RC: Service.RC, Transport.UC: Service.UC}
_BEGIN = (Position.FIRST, Position.ONLY)
_END = (Position.LAST, Position.ONLY)


@dataclass
class Lane:
    """The requests to one queue pair, by their numbers in the capture."""

    service: Service
    requests: list[tuple[int, Packet]] = field(default_factory=list)
    receives: int = 0
    longest: int = 1
    memory: NamedMemory = field(default_factory=NamedMemory)
    _payload: int = 0
    _message: int = 0

    def add(self, number: int, packet: Packet) -> None:
        """Take in the next request."""
        row = OPCODES[packet.bth.opcode]
        self.requests.append((number, packet))
        if (reth := packet.reth) is not None:
            self.memory.name(reth.address, reth.length, reth.rkey)
        if (atomic := packet.extension(AtomicEth)) is not None:
            self.memory.name(atomic.address, ATOMIC_BYTES, atomic.rkey)
        self._payload = max(self._payload, len(packet.payload))
        if row.family is Family.SEND:
            begun = 0 if row.position in _BEGIN else self._message
            self._message = begun + len(packet.payload)
            self.longest = max(self.longest, self._message)
        if row.position in _END and (row.family is Family.SEND or packet.immediate is not None):
            self.receives += 1

    @property
    def first_psn(self) -> int:
        return self.requests[0][1].bth.psn

    def offset_of(self, packet: Packet) -> int:
        """Its PSN, counted from the first."""
        return (packet.bth.psn - self.first_psn) % (1 << 24)

    @property
    def path_mtu(self) -> int:
        """The least that all packets fit, and by which most READs take the PSNs that they do."""
        fit = [mtu for mtu in PATH_MTUS if self._payload <= mtu] or [PATH_MTUS[-1]]
        return max(fit, key=lambda mtu: (self.reads_of(mtu), -mtu))

    def reads_of(self, path_mtu: int) -> int:
        """READs behind which the next request has the PSN that it would at that path MTU."""
        found = 0
        for (_, before), (_, after) in pairwise(self.requests):
            if OPCODES[before.bth.opcode].family is Family.READ and before.reth is not None:
                behind = before.bth.psn + packet_count(before.reth.length, path_mtu)
                found += behind % (1 << 24) == after.bth.psn
        return found


@dataclass
class Asked:
    """All lanes of a capture, in the order in which they begin, and what could not be taken."""

    lanes: list[Lane]
    left_out: int


def asked(records: Iterable[Record]) -> Asked:
    lanes: dict[tuple[int, bytes, int], Lane] = {}
    left_out = 0
    for record, packet in _requests(records):
        service = _SERVICES.get(Transport(packet.bth.opcode >> 5))
        if service is None or not _is_sound(packet):
            left_out += 1
            continue
        whose = record.interface_index, packet.ip.dst, packet.bth.dest_qpn
        lanes.setdefault(whose, Lane(service)).add(record.number, packet)
    fit = [lane for lane in lanes.values() if max(lane.memory.size, lane.longest) <= MOST_BYTES]
    too_large = sum(len(lane.requests) for lane in lanes.values())
    too_large -= sum(len(lane.requests) for lane in fit)
    return Asked(fit, left_out + too_large)


def _requests(records: Iterable[Record]) -> Iterator[tuple[Record, Packet]]:
    for record in records:
        packet = parse(record.frame)
        if packet is None:
            continue
        row = OPCODES.get(packet.bth.opcode)
        if row is not None and row.family in REQUESTS:
            yield record, packet


def _is_sound(packet: Packet) -> bool:
    """Whether the packet is told whole by its fields, so that another can be made like it."""
    if packet.fault is not None:
        return False
    again = parse(build(packet))
    return again is not None and replace(again, icrc=packet.icrc, trailer=packet.trailer) == packet


def is_wrong(packet: Packet) -> bool:
    """Whether its ICRC is not what its bytes call for."""
    return icrc.compute(build(packet)) != packet.icrc
