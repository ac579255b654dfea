# SPDX-License-Identifier: BSD-2-Clause
"""Who sent which PSN when: the requests and replies of every direction of every QP.

A side is one direction, as docs/observer.md calls a flow. Its counterpart sends
the replies to its requests; where neither configuration nor CM tells which side
that is, the one whose replies fit its PSNs best is taken, if there is only one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_address
from typing import Any, NamedTuple
from zlib import crc32

from roceproof.conformance.diagnosis.observation import Observation, Station, address_text
from roceproof.conformance.diagnosis.psn.index import Latest
from roceproof.conformance.diagnosis.psn.strays import Strays, strays_of
from roceproof.conformance.wire.headers import Aeth, Reth
from roceproof.conformance.wire.opcodes import OPCODES, Opcode, Transport

ACKNOWLEDGE = 0x11
SEQUENCE_NAK = 0x60
PATH_MTUS = (256, 512, 1024, 2048, 4096)


class Suffered(NamedTuple):
    """What is known of frames with wrong ICRCs."""

    changed: frozenset[int]
    """Those that were changed on the way."""
    as_sent: frozenset[int] = frozenset()
    """Those that were sent like that."""
    is_open: bool = False
    """The changed ones may have been sent like that, too."""


class Key(NamedTuple):
    """One direction of one QP."""

    interface: int
    source: bytes
    destination: bytes
    qpn: int

    def __str__(self) -> str:
        return f"{address_text(self.source)} > {address_text(self.destination)} QP {self.qpn:#x}"


@dataclass(frozen=True, slots=True)
class Sent:
    number: int
    time_ns: int
    psn: int
    reserved7: int
    ack_req: bool
    row: Opcode
    body: int
    """Bytes between BTH and ICRC."""
    size: int
    """Payload bytes."""
    content: int
    """Equal for packets of equal opcode, headers and payload."""
    reth: Reth | None
    damaged: bool
    """A wrong ICRC where right ones came before: corrupt on the way, or sent like that."""
    on_the_way: bool
    """Whether it is corrupt on the way."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One response packet; `syndrome` is None on the middle ones of a READ."""

    number: int
    time_ns: int
    psn: int
    opcode: int
    syndrome: int | None
    size: int
    """Payload bytes."""
    msn: int | None
    heard: bool
    """Whether its ICRC is right, so that a requester takes notice."""

    @property
    def is_sequence_nak(self) -> bool:
        """Whether it asks for a PSN that did not come."""
        return self.opcode == ACKNOWLEDGE and self.syndrome == SEQUENCE_NAK

    @property
    def is_positive(self) -> bool:
        """Whether it acknowledges its PSN."""
        return self.syndrome is None or self.syndrome >> 5 == 0


def behind(packets: Sequence[Sent] | Sequence[Reply], number: int) -> int:
    """How many of some packets stand up to that place in the capture, so where the rest begins."""
    return bisect_right(packets, number, key=_number)


def _number(packet: Sent | Reply) -> int:
    return packet.number


@dataclass(eq=False)
class Side:
    """One direction of one QP with all that it carried."""

    key: Key
    station: Station
    requests: list[Sent] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    counterpart: Side | None = None
    may_be_counterpart: list[Side] = field(default_factory=list)
    """Where nothing tells which it is, as on UC without configuration."""
    start: int | None = None
    """The configured first PSN of its requests."""
    other_start: int | None = None
    path_mtu: int | None = None
    _steps: dict[tuple[int, int, int, int], int] = field(default_factory=dict, repr=False)
    messages_are_odd: bool = False
    """Whether they are built wrongly, so that what is missing in one need not be lost."""
    fault_is_known: bool = False
    """Whether wrong ICRCs of it were sent like that, so that one which was not suffered more."""
    is_proven: bool = False
    """Whether ICRCs tell which of its packets left like that."""
    strays: Strays = field(default_factory=dict)
    """Packets of its station that the way may have taken out of any of its directions."""

    def repeats_step(self, before: Sent, after: Sent) -> bool:
        """Whether two packets followed each other earlier, so that what is wrong is repeated."""
        pair = before.psn, before.content, after.psn, after.content
        return self._steps.setdefault(pair, after.number) < after.number

    @property
    def answers(self) -> list[Reply]:
        """The replies to its requests, as far as it is known who sends them."""
        return self.counterpart.replies if self.counterpart else []

    @cached_property
    def heard(self) -> list[Reply]:
        """Those that the requester takes notice of."""
        return [reply for reply in self.answers if reply.heard]

    @cached_property
    def naks(self) -> list[Reply]:
        """Those of them that ask for a PSN that did not come."""
        return [reply for reply in self.heard if reply.is_sequence_nak]

    @cached_property
    def accepted(self) -> Latest:
        """The PSNs that were acknowledged, and when."""
        return Latest((reply.psn, reply.number) for reply in self.answers if reply.is_positive)

    @cached_property
    def marked(self) -> list[Sent]:
        """The requests with bits beside AckReq that were not set on the way."""
        return [sent for sent in self.requests if sent.reserved7 and not sent.damaged]

    @cached_property
    def reliable(self) -> bool:
        """Whether its requests are those of an RC QP."""
        return any(sent.row.transport is Transport.RC for sent in self.requests)


def sides_of(
    observations: Iterable[Observation],
    facts: Mapping[str, Any] | None,
    suffered: Suffered | None = None,
) -> list[Side]:
    """All directions with connected service, in the order in which they begin."""
    sides: dict[Key, Side] = {}
    trusting: set[Key] = set()
    observations = [*observations]
    known = suffered or Suffered(frozenset())
    strays = strays_of(observations, known.changed, known.as_sent)
    for seen in observations:
        row = OPCODES.get(seen.bth.opcode)
        if row is None or row.transport not in (Transport.RC, Transport.UC):
            continue
        key = _key(seen)
        side = sides.setdefault(key, Side(key, Station(seen.interface, seen.frame[6:12])))
        side.strays = strays.get(side.station, {})
        as_sent = suffered is not None and seen.number in suffered.as_sent
        if seen.sound and (as_sent or not seen.wrong):
            trusting.add(key)
        side.fault_is_known |= as_sent
        if row.is_response:
            if seen.sound and (as_sent or not seen.wrong or key not in trusting):
                side.replies.append(_reply(seen, row))
        else:
            damaged = not seen.sound or (seen.wrong and key in trusting)
            damaged = damaged and not (seen.sound and as_sent)
            damaged = damaged or (suffered is not None and seen.number in suffered.changed)
            on_the_way = damaged and (suffered is None or seen.number in suffered.changed)
            side.requests.append(_sent(seen, row, damaged=damaged, on_the_way=on_the_way))
    found = list(sides.values())
    for side in found:
        side.is_proven = side.key in trusting
    _configure(found, facts)
    return found


def _key(seen: Observation) -> Key:
    return Key(seen.interface, seen.source, seen.destination, seen.bth.dest_qpn)


def _sent(seen: Observation, row: Opcode, *, damaged: bool, on_the_way: bool) -> Sent:
    body = seen.body if seen.sound else b""
    headers = sum(kind.SIZE for kind in row.headers)
    whole = len(body) >= Reth.SIZE and row.headers[:1] == (Reth,)
    return Sent(
        seen.number,
        seen.time_ns,
        seen.bth.psn,
        seen.bth.reserved7,
        seen.bth.ack_req,
        row,
        len(body),
        max(0, len(body) - headers - seen.bth.pad_count),
        crc32(body, row.value),
        Reth.unpack(body) if whole else None,
        damaged,
        on_the_way,
    )


def _reply(seen: Observation, row: Opcode) -> Reply:
    aeth = Aeth.unpack(seen.body) if row.headers and seen.body_size >= Aeth.SIZE else None
    size = seen.body_size - sum(kind.SIZE for kind in row.headers) - seen.bth.pad_count
    return Reply(
        seen.number,
        seen.time_ns,
        seen.bth.psn,
        row.value,
        aeth.syndrome if aeth else None,
        size,
        aeth.msn if aeth else None,
        not seen.wrong,
    )


def _configure(sides: Iterable[Side], facts: Mapping[str, Any] | None) -> None:
    """Take start PSNs, path MTU and counterpart from the rows of either end."""
    sent_by, sent_to = {}, {}
    for row in (facts or {}).get("qps", ()):
        here, there = (ip_address(row[name]).packed for name in ("address", "remote_address"))
        sent_by[here, there, row["remote_qpn"]] = row
        sent_to[there, here, row["qpn"]] = row
    by_key = {side.key: side for side in sides}
    for side in by_key.values():
        key = side.key
        way = (key.source, key.destination, key.qpn)
        if (row := sent_by.get(way)) is not None:
            side.start, side.other_start = row.get("start_psn"), row.get("remote_start_psn")
            qpn = row["qpn"]
        elif (row := sent_to.get(way)) is not None:
            side.start, side.other_start = row.get("remote_start_psn"), row.get("start_psn")
            qpn = row["remote_qpn"]
        else:
            continue
        side.path_mtu = row.get("path_mtu")
        side.counterpart = by_key.get(Key(key.interface, key.destination, key.source, qpn))
