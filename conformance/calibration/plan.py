# SPDX-License-Identifier: BSD-2-Clause
"""What a device is given to do, and how peers and link behave: the vocabulary of a capture."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from roceproof.conformance.faults.icrc.packet import Face

PSNS = 1 << 24


class Richness(Enum):
    """How much a capture shows."""

    POOR = "poor"
    """One queue pair, one length, some twenty frames."""
    FAIR = "fair"
    RICH = "rich"
    """Several queue pairs of both services over both versions of IP, all lengths, both ways."""


class Work(NamedTuple):
    """One work request: FIRST, MIDDLE, LAST and ONLY opcodes (without the service), and more."""

    name: str
    opcodes: tuple[int, int, int, int]
    reads: bool = False
    writes: bool = False
    immediate: bool = False
    reliable_only: bool = False


SEND = Work("send", (0, 1, 2, 4))
SEND_IMM = Work("send with immediate", (0, 1, 3, 5), immediate=True)
WRITE = Work("write", (6, 7, 8, 10), writes=True)
WRITE_IMM = Work("write with immediate", (6, 7, 9, 11), writes=True, immediate=True)
READ = Work("read", (12, 12, 12, 12), reads=True, reliable_only=True)
ALL_WORK = (SEND, SEND_IMM, WRITE, WRITE_IMM, READ)


class Message(NamedTuple):
    """A work request and when it is posted."""

    work: Work
    data: bytes
    """Of a READ only the length counts."""
    at_ns: int
    address: int
    ask: bool
    """Whether its last packet asks for an acknowledgement."""


@dataclass(frozen=True)
class End:
    """One end of a queue pair; `queue` is its own number."""

    face: Face
    queue: int
    start: int
    key: int
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Pair:
    """A connected queue pair, the device's end first; `slot` is its context in the device."""

    reliable: bool
    mtu: int
    begins_ns: int
    slot: int
    ends: tuple[End, End]


@dataclass(frozen=True)
class Peer:
    """How the other stations behave: real hardware, a twin with the same bugs, or none."""

    answers: bool
    strict: bool
    """Whether it expects PSNs as the standard says."""
    checks_icrc: bool
    """By the standard; otherwise it has the device's faults and finds its ICRCs right."""
    marks: float
    """The share of packets for which it sends a CNP."""


@dataclass(frozen=True)
class Way:
    """What happens between device, tap and peer."""

    loss_before: float = 0.0
    """Of what has not passed the tap yet."""
    loss_behind: float = 0.0
    flips: float = 0.0
    """The share of packets of which a bit flips before the tap."""


@dataclass(frozen=True)
class Plan:
    """All that is drawn about a capture, but for the faults."""

    richness: Richness
    pairs: tuple[Pair, ...]
    peer: Peer
    way: Way
    ident_counts: bool
    udp_checksums: bool
    facts: bool
    """Whether the configured facts are given to the diagnosis."""
    seed: int
    frames: int
    """At most so many are captured."""


@dataclass(frozen=True)
class Needs:
    """What a fault needs so that it can show; the rest is left to chance."""

    reads: bool = False
    reconnect: bool = False
    losses: bool = False
    wraps: int | None = None
    """The start PSNs lie a few below a multiple of this."""
    several: bool = False
    both_ways: bool = False
    empty: bool = False
    acks: bool = False
    unreliable: bool = False
    reliable: bool = False
    long: bool = False
    healthy_peer: bool = False
    bursts: bool = False
    writes: bool = False
    sends: bool = False
    uneven: bool = False
    tagged: bool = False
    version: int = 0
    flips: bool = False
    facts: bool = False
    rare_acks: bool = False
