# SPDX-License-Identifier: BSD-2-Clause
"""The READ and ATOMIC requests whose responses may still come, or come again."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from roceproof.conformance.observer.observed import READ_REQUEST, Observed
from roceproof.conformance.observer.psn import distance, packets_of

KEPT = 64
_FIRST, _MIDDLE, _LAST, _ONLY = 0x0D, 0x0E, 0x0F, 0x10
_ATOMICS = (0x13, 0x14)
_ADDRESSES = 1 << 64
_EMPTY_READS = (0x1C, 0x1D)  # FLUSH and ATOMIC WRITE are answered like a READ of 0 bytes


@dataclass
class Read:
    """One request that is answered with data, and what has been seen of its answer."""

    psn: int
    is_atomic: bool
    length: int | None = 0
    address: int = 0
    seen: set[int] = field(default_factory=set)
    restarts: set[int] = field(default_factory=set)
    is_repeated: bool = False
    acked_to: int | None = None
    """The highest PSN of an ACK since it was requested."""
    overtaken: bool = False
    """A response of a newer one has been seen."""
    highest_msn: int | None = None
    frame: int = 0

    def span(self, path_mtu: int | None) -> int | None:
        """The number of its responses, None if that is not known."""
        return packets_of(self.length, path_mtu)

    def covers(self, psn: int, path_mtu: int | None) -> bool:
        """Whether that PSN is known to be one of its responses'."""
        at = distance(psn, self.psn)
        return 0 <= at < (self.span(path_mtu) or 1)

    def is_acked_past(self, path_mtu: int | None) -> bool:
        """Whether an ACK at or beyond its end has been seen."""
        span = self.span(path_mtu)
        if span is None or self.acked_to is None:
            return False
        return distance(self.acked_to, self.psn) >= span - 1

    def note_ack(self, psn: int) -> None:
        """An ACK has been seen."""
        if self.acked_to is None or distance(psn, self.acked_to) > 0:
            self.acked_to = psn

    def opcodes_at(self, at: int, span: int) -> set[int]:
        """What the response with that offset may be, here or in a repetition from there on."""
        allowed = {_place(at, span)}
        if at in self.restarts:
            allowed.add(_place(0, span - at))
        return allowed


class Asked(NamedTuple):
    """What is due from a PSN of a READ on, and what is asked for there: address and length."""

    read: Read
    due: tuple[int, int]
    got: tuple[int, int]


class Unanswered(NamedTuple):
    """A request that is answered with data, and how much of that was seen; `of` may be unknown."""

    frame: int
    responses: int
    of: int | None


def _place(at: int, span: int) -> int:
    if span == 1:
        return _ONLY
    if at == 0:
        return _FIRST
    return _LAST if at == span - 1 else _MIDDLE


class Reads:
    """The last READs and ATOMICs of a flow."""

    def __init__(self) -> None:
        self._kept: deque[Read] = deque()
        self.pending: list[Read] = []
        """Those whose responses have not all been seen, oldest first."""

    def __iter__(self) -> Iterator[Read]:
        """Those that are kept, oldest first."""
        return iter(self._kept)

    def unanswered(self, path_mtu: int | None) -> Read | None:
        """The last one, if its answer is not whole and nothing behind it was acknowledged."""
        last = self._kept[-1] if self._kept else None
        waits = any(read is last for read in self.pending)
        return last if last and waits and not last.is_acked_past(path_mtu) else None

    def keep(self, packet: Observed, frame: int) -> None:
        """Remember a request, if it is one that is answered with data."""
        opcode = packet.opcode
        if opcode in _ATOMICS:
            read = Read(packet.psn, True)
        elif opcode in _EMPTY_READS:
            read = Read(packet.psn, False)
        elif opcode == READ_REQUEST:
            reth = packet.reth
            read = Read(
                packet.psn, False, reth.length if reth else None, reth.address if reth else 0
            )
        else:
            return
        read.frame = frame
        self._kept.append(read)
        self.pending.append(read)
        if len(self._kept) > KEPT:
            oldest = self._kept.popleft()
            self.pending = [other for other in self.pending if other is not oldest]

    def answer(self, read: Read, at: int, path_mtu: int | None) -> None:
        """The response with that offset has been seen."""
        read.seen.add(at)
        if len(read.seen) == read.span(path_mtu):
            self.pending = [other for other in self.pending if other is not read]

    def covering(self, psn: int, path_mtu: int | None) -> Read | None:
        """The newest request whose responses include that PSN."""
        for read in reversed(self._kept):
            if read.covers(psn, path_mtu):
                return read
        return None

    def repeated_by(self, packet: Observed, path_mtu: int | None) -> Read | None:
        """The READ of which a READ REQUEST asks for the rest, or for all."""
        asked = self._asked(packet, path_mtu)
        return asked.read if asked is not None and asked.due == asked.got else None

    def wrong_rest(self, packet: Observed, path_mtu: int | None) -> Asked | None:
        """What a READ REQUEST inside a READ asks for, if address or length alone is the rest's."""
        asked = self._asked(packet, path_mtu)
        if asked is None or asked.read.psn == packet.psn:
            return None
        right = [due == got for due, got in zip(asked.due, asked.got, strict=True)]
        return asked if right.count(True) == 1 else None

    def _asked(self, packet: Observed, path_mtu: int | None) -> Asked | None:
        reth = packet.reth
        if reth is None or path_mtu is None or packet.opcode != READ_REQUEST:
            return None
        read = self.covering(packet.psn, path_mtu)
        if read is None or read.is_atomic or read.length is None:
            return None
        skipped = distance(packet.psn, read.psn) * path_mtu
        due = (read.address + skipped) % _ADDRESSES, read.length - skipped
        return Asked(read, due, (reth.address, reth.length))
