# SPDX-License-Identifier: BSD-2-Clause
"""Rules on the PSNs of the requests of one flow, and what its responses are held against.

A capture may begin anywhere and may have lost packets: what can be a copy or a
loss of the capture is not reported, and one fault gives one finding.
"""

from collections.abc import Iterator
from typing import NamedTuple

from roceproof.conformance.observer.gaps import Gap, Gaps, Late, Place
from roceproof.conformance.observer.history import KEPT_PSNS, History, may_be_copy, seen
from roceproof.conformance.observer.messages import Messages
from roceproof.conformance.observer.msn_counter import MsnCounter
from roceproof.conformance.observer.observed import READ_REQUEST, Observed
from roceproof.conformance.observer.psn import ahead, distance, packets_of, reversed_bytes
from roceproof.conformance.observer.reads import Reads
from roceproof.conformance.rules.findings import FlowKey, Violation
from roceproof.conformance.wire.headers import ImmDt
from roceproof.conformance.wire.opcodes import Family, Opcode, Position, Transport

RESTART_DISTANCE = 1 << 16
_SIXTEEN_BITS = 1 << 16


class _Previous(NamedTuple):
    """The new packet before this one."""

    psn: int
    was_read: bool
    was_empty: bool


class Requests:
    def __init__(self, key: FlowKey, overdue: list[Late]) -> None:
        self._key = key
        self.gaps = Gaps(overdue)
        self.messages = Messages()
        self.reads = Reads()
        self.msn_counter: MsnCounter | None = None
        self.expected: int | None = None
        self.newest: int | None = None
        self.is_corrupted = False
        """A PSN has been reported, so that nobody knows what a responder should say to it."""
        self.lost = 0
        """Untrusted requests since the last trusted one."""
        self.responses_heard = 0
        """Responses sent in this flow since its last request."""
        self.awaited: int | None = None
        """The PSN of a sequence NAK, until a request with it is seen."""
        self.replay_until: int | None = None
        """What newest was at the last copy, until a positive response goes beyond it."""
        self.new_since_aeth = False
        self.copies_since_aeth = False
        self._starts_connection = False
        self._extent = 0
        self._history = History()
        self._previous: _Previous | None = None

    def step_to(self, psn: int) -> int:
        """How far a PSN lies from the expected one; 0 where none is expected."""
        return 0 if self.expected is None else distance(psn, self.expected)

    def holds(self, psn: int) -> bool:
        """Whether a response with that PSN may belong to these requests."""
        if self.newest is None:
            return False
        at = distance(psn, self.newest)
        return max(-RESTART_DISTANCE, -self._extent - 2) <= at <= 2

    def known_opcode(self, psn: int) -> int | None:
        """The opcode of the request with that PSN, if it was seen not long ago."""
        before = self._history.at(psn)
        return before.opcode if before else None

    def is_recent(self, psn: int) -> bool:
        """Whether that PSN is among those for which packets are kept."""
        return self.newest is not None and -KEPT_PSNS <= distance(psn, self.newest) - 1 < 0

    def resync(self) -> None:
        """Pick up anew at the next packet."""
        self.expected = None
        self._doubt()

    def learn(self, path_mtu: int) -> None:
        """The path MTU has become known: so is the end of a READ at the newest PSN."""
        for read in self.reads:
            if self.newest == read.psn:
                self._reach(ahead(read.psn, (read.span(path_mtu) or 1) - 1))

    def take_datagram(self, packet: Observed) -> None:
        """UD: nothing is judged, but responses may come that should not."""
        self._reach(packet.psn)

    def start(self, psn: int, right: int, row: Opcode, place: Place) -> Iterator[Violation]:
        """PSN-01: hold the first PSN against the one that configuration or CM gives."""
        step = distance(psn, right)
        self._starts_connection = step == 0
        if step:
            wrong = Violation("PSN-01", f"PSN {right:#08x}", f"{psn:#08x}")
            if row.transport is Transport.RC and 0 < step <= RESTART_DISTANCE:
                self._open_gap(place, wrong, right, step)
            else:
                self.is_corrupted = True
                yield wrong

    def take(
        self, packet: Observed, row: Opcode, place: Place, path_mtu: int | None
    ) -> Iterator[Violation]:
        """Judge the next trusted request."""
        heard, self.responses_heard = self.responses_heard, 0
        lost, self.lost = self.lost, 0
        if packet.psn == self.awaited:
            self.awaited = None
        step = self.step_to(packet.psn)
        reliable = row.transport is Transport.RC
        if self.expected is None and self.newest is not None:
            if reliable and self._repeats(packet, path_mtu):
                self._note_copy(packet.psn, path_mtu)
                return
            if not 0 < distance(packet.psn, self.newest) <= RESTART_DISTANCE:
                self._doubt()
        if step < 0 and reliable:
            if self._is_old(packet, step, path_mtu, place):
                return
            if asked := self.reads.wrong_rest(packet, path_mtu):
                self._note_copy(packet.psn, path_mtu)
                expected, got = (f"{n} bytes at {at:#x}" for at, n in asked[1:])
                yield Violation("RTX-17", expected, got)
                return
        if step:
            self._doubt()
            if step != lost:
                wrong = self._blame(packet.psn, step, heard, reliable=reliable)
                if reliable and 0 < step <= RESTART_DISTANCE:
                    self._open_gap(place, wrong, ahead(packet.psn, -step), step)
                else:
                    self.is_corrupted = True
                    yield wrong
        yield from self.messages.take(packet, row, path_mtu, place.frame)
        self._advance(packet, row, path_mtu, place)

    # copies and late packets

    def _repeats(self, packet: Observed, path_mtu: int | None) -> bool:
        """Whether the last packet with that PSN may be the same."""
        before = self._history.at(packet.psn)
        if before is not None and may_be_copy(before, seen(packet)):
            return True
        return self.reads.repeated_by(packet, path_mtu) is not None

    def _is_old(self, packet: Observed, step: int, path_mtu: int | None, place: Place) -> bool:
        """Whether an RC packet fills a gap or repeats one; it is dealt with then."""
        psn = packet.psn
        if self.gaps.fill(psn, _span(packet, path_mtu) or 1):
            self._history.keep(seen(packet))
            self.reads.keep(packet, place.frame)
            self.new_since_aeth = True
            return True
        if step < -KEPT_PSNS:
            if step == -_SIXTEEN_BITS and self.expected is not None and not psn % _SIXTEEN_BITS:
                return False
        else:
            before = self._history.at(psn)
            if before is None or not may_be_copy(before, seen(packet)):
                partial = self.reads.repeated_by(packet, path_mtu)
                if partial is None and (before is not None or self._is_inside_read(psn, path_mtu)):
                    return False
        self._note_copy(psn, path_mtu)
        return True

    def _is_inside_read(self, psn: int, path_mtu: int | None) -> bool:
        read = self.reads.covering(psn, path_mtu)
        return read is not None and read.psn != psn

    def _note_copy(self, psn: int, path_mtu: int | None) -> None:
        self.replay_until = self.newest
        self.copies_since_aeth = True
        read = self.reads.covering(psn, path_mtu)
        if read is not None:
            read.is_repeated = True
            read.restarts.add(distance(psn, read.psn))

    # packets that are out of step

    def _open_gap(self, place: Place, wrong: Violation, first: int, size: int) -> None:
        last = ahead(first, size - 1)
        self.gaps.open(Gap(self._key, place, wrong, first, last, [(0, size)]))

    def _blame(self, psn: int, step: int, heard: int, *, reliable: bool) -> Violation:
        expected, previous = self.expected or 0, self._previous
        rule = "PSN-02" if reliable else "PSN-18"
        if previous is not None and _counts_backwards(psn, previous.psn):
            rule = "BTH-14"
        elif expected == 0 or (step == -_SIXTEEN_BITS and expected % _SIXTEEN_BITS == 0):
            rule = "PSN-03"
        elif previous is not None and previous.was_read:
            rule = "PSN-05"
        elif previous is not None and previous.was_empty and previous.psn == psn:
            rule = "PSN-04"
        elif reliable and 0 < step == heard:
            rule = "PSN-07"
        return Violation(rule, f"PSN {expected:#08x}", f"{psn:#08x}")

    def _doubt(self) -> None:
        self.messages.doubt()
        self.msn_counter = None

    # packets in step

    def _advance(self, packet: Observed, row: Opcode, path_mtu: int | None, place: Place) -> None:
        psn = packet.psn
        span = _span(packet, path_mtu)
        self._history.keep(seen(packet))
        self.reads.keep(packet, place.frame)
        self.expected = None if span is None else ahead(psn, span)
        self._reach(psn)
        self._reach(ahead(psn, (span or 1) - 1))
        may_be_empty = row.position is Position.ONLY and row.family is not Family.ATOMIC
        was_read = packet.opcode == READ_REQUEST
        self._previous = _Previous(psn, was_read, may_be_empty and not packet.payload_size)
        self.new_since_aeth = True
        self._count(psn, row)

    def _count(self, psn: int, row: Opcode) -> None:
        starts, self._starts_connection = self._starts_connection, False
        if self.messages.in_doubt:
            self.msn_counter = None
            return
        if self.msn_counter is None:
            self.msn_counter = MsnCounter(psn, 0 if starts else None)
        if row.position & Position.LAST:
            plain = row.family is Family.WRITE and ImmDt not in row.headers
            self.msn_counter.add(psn, plain_write=plain)

    def position(self, psn: int) -> int:
        """Where a PSN stands beside the newest, in a count that does not wrap; 0 if there is none.

        PSNs that lie 2^23 apart are in order by it, where the newest has passed both.
        """
        return 0 if self.newest is None else self._extent + distance(psn, self.newest)

    def _reach(self, psn: int) -> None:
        if self.newest is None:
            self.newest = psn
            return
        step = distance(psn, self.newest)
        if step > 0:
            self.newest = psn
            self._extent += step


def _span(packet: Observed, path_mtu: int | None) -> int | None:
    """How many PSNs a request uses, None if that is not known."""
    if packet.opcode != READ_REQUEST:
        return 1
    reth = packet.reth
    return packets_of(reth.length if reth else None, path_mtu)


def _counts_backwards(psn: int, previous: int) -> bool:
    mirrored = reversed_bytes(previous)
    return mirrored != previous and reversed_bytes(psn) == ahead(mirrored, 1)
