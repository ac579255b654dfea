# SPDX-License-Identifier: BSD-2-Clause
"""What a requester has put on the wire so far, as anybody beside it sees it."""

from collections import deque
from dataclasses import dataclass, field
from itertools import takewhile

from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import ahead
from roceproof.conformance.wire.headers import Reth
from roceproof.conformance.wire.opcodes import Family, Position
from roceproof.conformance.wire.psn import PSN_MODULUS, distance, packet_count

_KEPT = 1 << 10  # packets
_FAR = PSN_MODULUS >> 2


def awaits_data(segment: Segment) -> bool:
    """Whether only data can answer a request."""
    row = segment.row
    return row is not None and row.family in (Family.READ, Family.ATOMIC, Family.FLUSH)


@dataclass(slots=True)
class Sent:
    """A request packet that has left at least once."""

    segment: Segment  # as it left first
    span: int
    sent_ns: int  # when it left last
    begun_ns: int  # when its timer may have begun then
    starts: dict[int, int] = field(init=False)  # offsets a READ was asked for from, first when

    def __post_init__(self) -> None:
        self.starts = {0: self.sent_ns}

    @property
    def psn(self) -> int:
        return self.segment.bth.psn

    @property
    def end(self) -> int:
        """The first PSN behind it."""
        return ahead(self.psn, self.span)

    def says_what(self, other: Segment) -> bool:
        """Whether that packet says the same, its PSN aside."""
        mine = (self.segment.bth.opcode, self.segment.extensions, self.segment.payload)
        return mine == (other.bth.opcode, other.extensions, other.payload)

    @property
    def awaits_data(self) -> bool:
        """Whether only data can answer it."""
        return awaits_data(self.segment)

    @property
    def is_read(self) -> bool:
        """Whether it can be asked for in parts."""
        row = self.segment.row
        return row is not None and row.family is Family.READ

    @property
    def asks(self) -> bool:
        """Whether it demands an answer."""
        return self.awaits_data or self.segment.bth.ack_req

    @property
    def read_length(self) -> int:
        reth = self.segment.extension(Reth)
        return reth.length if reth is not None else 0


class WireRecord:
    """The requests of one queue pair, by PSN."""

    def __init__(self, first_psn: int, path_mtu: int) -> None:
        self.fresh = first_psn
        """The first PSN that was never used."""
        self.ends: list[int] = []
        """The PSN behind each message that has left wholly, in order."""
        self.last_ns = 0
        """When the last packet left."""
        self._path_mtu = path_mtu
        self._by_psn: dict[int, Sent] = {}
        self._order: deque[Sent] = deque()
        self._data_requests: deque[Sent] = deque()

    def span_of(self, segment: Segment) -> int:
        """How many PSNs a request uses."""
        reth = segment.extension(Reth)
        row = segment.row
        is_read = row is not None and row.family is Family.READ
        return packet_count(reth.length, self._path_mtu) if is_read and reth is not None else 1

    def add(self, segment: Segment, now_ns: int, begun_ns: int) -> Sent:
        """A packet with a PSN that was never used."""
        sent = Sent(segment, self.span_of(segment), now_ns, begun_ns)
        self._by_psn[sent.psn] = sent
        self._order.append(sent)
        if sent.awaits_data:
            self._data_requests.append(sent)
        self.fresh = sent.end
        self.last_ns = now_ns
        if segment.row is not None and segment.row.position & Position.LAST:
            self.ends.append(sent.end)
        return sent

    def repeat(self, sent: Sent, psn: int, now_ns: int, begun_ns: int) -> None:
        """It has left again, a READ perhaps from a later PSN on."""
        sent.sent_ns = self.last_ns = now_ns
        sent.begun_ns = begun_ns
        sent.starts.setdefault(distance(psn, sent.psn), now_ns)

    def at(self, psn: int) -> Sent | None:
        """The packet with that PSN; the READ whose responses have it."""
        found = self._by_psn.get(psn)
        if found is not None:
            return found
        inside = (sent for sent in self._data_requests if 0 < distance(psn, sent.psn) < sent.span)
        return next(inside, None)

    def unanswered(self, oldest: int) -> list[Sent]:
        """The packets from that PSN on, in order; of a READ, what is left."""
        newest_first = takewhile(lambda sent: distance(sent.end, oldest) > 0, reversed(self._order))
        return list(newest_first)[::-1]

    def data_missing(self, oldest: int, before: int) -> int | None:
        """The first PSN without an answer, before that one, whose answer must be data."""
        for sent in self._data_requests:
            if distance(sent.end, oldest) > 0:
                first = oldest if distance(oldest, sent.psn) > 0 else sent.psn
                return first if distance(first, before) < 0 else None
        return None

    def data_requests_after(self, oldest: int) -> int:
        """READs and atomics without all their data."""
        return sum(distance(sent.end, oldest) > 0 for sent in self._data_requests)

    def first_asking(self, oldest: int) -> Sent | None:
        """The first packet without an answer that demands one."""
        return next((sent for sent in self.unanswered(oldest) if sent.asks), None)

    def twin_of(self, segment: Segment, oldest: int) -> Sent | None:
        """A packet without an answer that says the same under another PSN."""
        return next((x for x in self.unanswered(oldest) if x.says_what(segment)), None)

    def forget_before(self, oldest: int) -> None:
        """Nothing before that PSN needs an answer: keep only what may still be sent by mistake."""
        while self._order and distance(self._order[0].end, oldest) <= 0:
            first = self._order[0]
            if len(self._order) <= _KEPT and (self.fresh - first.psn) % PSN_MODULUS < _FAR:
                return
            self._order.popleft()
            del self._by_psn[first.psn]
            if first.awaits_data:
                self._data_requests.remove(first)
