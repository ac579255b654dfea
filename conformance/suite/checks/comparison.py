# SPDX-License-Identifier: BSD-2-Clause
"""Every packet that the device sent of its own work against its prediction, field by field.

A case looks at what it is about; this looks at all the rest, in every case: packets that a case
only counts, fields that it does not say, the identification, the device's own addresses. What is
sent again is left to those who know when it may be.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.length_fields import (
    udp_length_of,
    wrong_frame_pad,
    wrong_lengths,
)
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.header_displacement import DISPLACING
from roceproof.conformance.suite.notation import Mismatch, mismatches
from roceproof.conformance.suite.packet_flow import is_request
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.suite.requester_side import Life
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.ip import Ipv4
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.limit_table import ANY, COUNTED

_IDENTITIES = 1 << 16
_LENGTHS_FOLLOW = frozenset({"opcode", "payload", "pad", *DISPLACING})
_SAY_THE_END = _LENGTHS_FOLLOW | {"ip_length", "udp_length"}


@dataclass(frozen=True)
class Predicted:
    """A packet of posted work: which one, and what of it was wrong."""

    connection: Connection
    life: Life
    message: Posted
    index: int
    packet: Packet
    entry: Entry
    wrong: tuple[Mismatch, ...]

    @property
    def pattern(self) -> Pattern:
        """The packet as it had to be."""
        return self.message.packet(self.index)


def compared(bench: Bench) -> Iterator[Predicted]:
    """The first copy of every predicted packet that came; of each queue pair's lives in turn."""
    sent: dict[int, list[tuple[Packet, Entry]]] = {}
    for packet, entry in bench.arrived():
        sent.setdefault(id(entry.flow), []).append((packet, entry))
    identification = ANY
    is_padded = Capability.LOCKSTEP in bench.claims.capabilities
    if is_padded:
        identification = bench.claims.limits.identification
    for connection in bench.connections:
        for life in connection.lives:
            came = sent.get(id(life.codec), [])
            yield from _of_life(
                connection, life, came, identification=identification, is_padded=is_padded
            )


class Due(NamedTuple):
    """A packet of posted work that has not come."""

    connection: Connection
    message: Posted
    packet: int


def earliest_due(bench: Bench) -> Due | None:
    """Of all queue pairs that go on, the packet of the work posted first that has not come.

    What is posted later may wait for it, also on another queue pair.
    """
    came: Counter[int] = Counter(id(each.life) for each in compared(bench))
    found = []
    for connection in bench.connections:
        life = connection.lives[-1]
        place = next(islice(_places(life), came[id(life)], None), None)
        if place is not None and not connection.has_failed:
            found.append(Due(connection, *place))
    return min(found, key=lambda due: bench.turns[due.message.work.wr_id], default=None)


def _places(life: Life) -> Iterator[tuple[Posted, int]]:
    for message in life.posted:
        for index in range(message.count):
            yield message, index


def _of_life(
    connection: Connection,
    life: Life,
    came: list[tuple[Packet, Entry]],
    *,
    identification: str,
    is_padded: bool,
) -> Iterator[Predicted]:
    places = _places(life)
    due = next(places, None)
    taken = 0
    for number, (packet, entry) in enumerate(came):
        if due is None:
            return
        message, index = due
        psn = (life.codec.request_start + message.psn + index) % PSN_MODULUS
        if not is_request(packet) or packet.bth.psn != psn:
            continue
        wanted = message.packet(index)
        wrong = mismatches(wanted, packet, life.codec, in_front=message.in_front_of(index))
        if not any(each.field in _LENGTHS_FOLLOW for each in wrong):
            wrong += wrong_lengths(packet, udp_length_of(wanted))
        wrong += _of_itself(life, packet)
        if is_padded and not any(each.field in _SAY_THE_END for each in wrong):
            wrong += wrong_frame_pad(entry.frame, packet)
        if identification != ANY:
            is_counted = identification == COUNTED
            wrong += _identification(life, packet, {taken, number} if is_counted else {0})
        yield Predicted(connection, life, message, index, packet, entry, tuple(wrong))
        taken += 1
        due = next(places, None)


def _of_itself(life: Life, packet: Packet) -> list[Mismatch]:
    own = life.codec.src
    found = []
    if packet.src_mac != own.mac:
        found.append(Mismatch("src_mac", own.mac.hex(":"), packet.src_mac.hex(":")))
    if packet.ip.src != own.ip:
        found.append(Mismatch("src_ip", _dotted(own.ip), _dotted(packet.ip.src)))
    return found


def _identification(life: Life, packet: Packet, before: set[int]) -> list[Mismatch]:
    """That of the packet behind one of these numbers of packets, from the one configured on.

    Whether what was sent again in between has counted or not is the device's own matter.
    """
    if not isinstance(packet.ip, Ipv4):
        return []
    right = sorted((life.spec.ip_id + count) % _IDENTITIES for count in before)
    if packet.ip.ident in right:
        return []
    return [Mismatch("ident", " or ".join(map(str, right)), str(packet.ip.ident))]


def _dotted(address: bytes) -> str:
    return ".".join(map(str, address))
