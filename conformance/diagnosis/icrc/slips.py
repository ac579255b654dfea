# SPDX-License-Identifier: BSD-2-Clause
"""S65: results that have slipped against their packets, in whichever order the device queues them.

An entry lost from a queue of results gives each packet the result of a later one from then on, an
entry doubled that of an earlier one; two entries swapped exchange the results of neighbours.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.icrc.alignment import PRICE, Run, align, carries, copies_of_one
from roceproof.conformance.diagnosis.icrc.history import is_again
from roceproof.conformance.diagnosis.icrc.parts.crc import ONES
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.observation import InExcerpt

_UNITS = 3
_NEIGHBOURS = 3
"""Over how many places results are exchanged at most."""
_SHOWN = 4

Predict = Callable[[CrcInput], int | None]


class Slip(NamedTuple):
    packet: CrcInput
    """The first that carries another's result at the new offset."""
    before: int
    after: int

    def __str__(self) -> str:
        count = abs(self.after - self.before)
        what = "lost" if self.after > self.before else "doubled"
        entries = "1 entry" if count == 1 else f"{count} entries"
        return f"frame {self.packet.seen.number}: {entries} {what}, {_place(self.after)}"


@dataclass(slots=True)
class Slipped:
    """How the results lie against the packets if they are queued in one order."""

    order: str
    """Whose results stand in one queue, in words; empty for all of the transmitter's."""
    result: Predict
    """What a packet should hold if nothing had slipped."""
    explained: list[CrcInput] = field(default_factory=list)
    """Wrong packets that carry what the path says, or exchange it with a neighbour."""
    displaced: list[CrcInput] = field(default_factory=list)
    """Packets that carry another's result."""
    exchanged: list[tuple[CrcInput, CrcInput]] = field(default_factory=list)
    judged: int = 0
    """Wrong packets of which it says anything; the owners of the others' results are missing."""
    contradicting: list[CrcInput] = field(default_factory=list)
    """Right packets at an offset other than 0."""
    slips: list[Slip] = field(default_factory=list)
    offsets: set[int] = field(default_factory=set)
    in_step: int = 0
    """Packets in front of the first slip that hold their own result and not the one before."""
    first_is_reset: bool = False
    """Whether the first packet carries what a register holds after reset."""
    since_before: int = 0
    """The offset at which the capture begins."""
    expected: dict[int, int | None] = field(default_factory=dict)
    """What each packet should hold by this, by its number."""
    owners: list[tuple[CrcInput, CrcInput]] = field(default_factory=list)
    """Wrong packets that hold something else, with those whose results lie at their places."""
    ids: tuple[str, ...] = ("S65",)
    note: str = ""

    @property
    def score(self) -> float:
        """How well it explains what there is, in packets."""
        return len(self.explained) - len(self.contradicting) - PRICE * len(self.slips)

    def explain(self, packet: CrcInput, offset: int, *, own: bool) -> None:
        """Count a packet that carries what lies at its place."""
        if packet.seen.wrong:
            self.explained.append(packet)
        if not own and not packet.seen.is_beside:
            self.displaced.append(packet)
            if offset:
                self.offsets.add(offset)

    def predict(self, packet: CrcInput) -> int | None:
        """The result that lies at the packet's place; None if its owner is not in the capture."""
        return self.expected.get(packet.seen.number)

    @property
    def facts(self) -> tuple[str, ...]:
        """Where it slipped, in which direction, and how deep the queue must be."""
        found = []
        if self.since_before:
            found.append(f"from the first packet on, {_place(self.since_before)}")
        if self.slips:
            words = "; ".join(map(str, self.slips[:_SHOWN]))
            more = len(self.slips) - _SHOWN
            found.append(f"slipped at {words}" + (f"; and {more} times more" if more > 0 else ""))
        if self.exchanged:
            pairs = (f"{a.seen.number} and {b.seen.number}" for a, b in self.exchanged[:_SHOWN])
            more = len(self.exchanged) - _SHOWN
            words = ", ".join(pairs) + (f" and {more} pairs more" if more > 0 else "")
            found.append(f"results exchanged between frames {words}")
        if self.order:
            found.append(f"places are counted among the packets {self.order}")
        return (*found, *self._depth())

    def _depth(self) -> list[str]:
        farthest = max((abs(offset) for offset in self.offsets), default=0)
        if not farthest:
            return []
        known = (
            f"known: the CRC and the place of insertion were at least {_packets(farthest)} apart,"
            " for so far is a packet from the owner of its result"
        )
        jump = max((abs(slip.after - slip.before) for slip in self.slips), default=0)
        if jump > 1:
            return [
                f"{known}; estimated: a queue of {jump} results, if it was overwritten whole"
                f" where {jump} went at once"
            ]
        return [
            f"{known}; how many results the queue holds beyond that, single entries do not tell"
        ]


def _packets(count: int) -> str:
    return "1 packet" if count == 1 else f"{count} packets"


def _place(offset: int) -> str:
    if not offset:
        return "then in step again"
    where = "later" if offset > 0 else "earlier"
    return f"each carries the result of the one {_packets(abs(offset))} {where}"


def _queue_pair(packet: CrcInput) -> object:
    return packet.seen.destination, packet.seen.bth.dest_qpn


_ORDERS: tuple[tuple[str, Callable[[CrcInput], object]], ...] = (
    ("", lambda packet: None),
    ("to one queue pair", _queue_pair),
    ("of one kind (request, response, CNP)", lambda packet: packet.kind),
    ("of one priority", lambda packet: (packet.tags, packet.head[1] >> 2, packet.seen.version)),
)


def _queues(packets: Sequence[CrcInput], key: Callable[[CrcInput], object]) -> list[list[CrcInput]]:
    """The packets in the order of each queue; in pieces where an excerpt leaves packets out."""
    pieces: dict[object, list[CrcInput]] = {}
    stretch: Counter[object] = Counter()
    for packet in packets:
        own = key(packet)
        if key is _queue_pair:
            stretch[own] += InExcerpt.AFTER_OTHERS_OF_QP in packet.seen.in_excerpt
        else:
            stretch[None] += InExcerpt.AFTER_OTHERS in packet.seen.in_excerpt
        number = stretch[own if key is _queue_pair else None]
        pieces.setdefault((own, number), []).append(packet)
    return [*pieces.values()]


def slipped(packets: Sequence[CrcInput], budget: Budget, predict: Predict) -> list[Slipped]:
    """Every order that explains any wrong packet, the best first.

    `predict` is what a packet should hold if nothing had slipped.
    """
    found = []
    parts: set[frozenset[tuple[int, ...]]] = set()
    for words, key in _ORDERS:
        queues = _queues(packets, key)
        shape = frozenset(tuple(each.seen.number for each in queue) for queue in queues)
        if shape in parts:
            continue
        parts.add(shape)
        budget.spend(_UNITS * len(packets))
        result = Slipped(words, predict)
        for queue in queues:
            _add(result, queue)
        if result.explained:
            found.append(result)
    return sorted(found, key=lambda each: -each.score)


def _add(result: Slipped, queue: list[CrcInput]) -> None:
    """Account for the packets of one queue."""
    results = [result.result(packet) for packet in queue]
    path, found, swapped = _read(results, [packet.found for packet in queue])
    if not path:
        return
    index = set(results)
    result.first_is_reset |= queue[0].seen.wrong and queue[0].found in (0, ONES)
    if InExcerpt.AFTER_OTHERS not in queue[0].seen.in_excerpt:
        result.since_before = result.since_before or path[0].offset
    ends = [run.start for run in path[1:]] + [len(queue)]
    real, newest = path[0], 0
    copies = copies_of_one(path, found)
    for number, (run, end) in enumerate(zip(path, ends, strict=True)):
        if not run.feigned and run.offset != real.offset:
            places = range(newest, run.start)
            begin = next((place for place in places if queue[place].seen.wrong), run.start)
            result.slips.append(Slip(queue[begin], real.offset, run.offset))
            real = run
        for place in range(run.start, end):
            offset = copies.get(place, run.offset)
            packet, source = queue[place], place + offset
            expected = results[source] if 0 <= source < len(queue) else None
            if expected not in (None, results[place]) and is_again(packet, queue[source]):
                expected = results[place]  # a repetition that was changed is no slip
            if expected == found[place] or _missed_one(results, found, place, offset):
                newest = newest if place in copies else place + 1
                expected = found[place]
                result.explain(packet, offset, own=results[place] == packet.found)
                if not number and not offset and place:
                    result.in_step += found[place] != results[place - 1]
            elif offset and results[place] == found[place]:
                result.contradicting.append(packet)
            elif expected is not None and packet.seen.wrong:
                result.owners.append((packet, queue[source]))
                if offset and found[place] not in index:
                    expected = None  # its owner was not captured
            result.judged += packet.seen.wrong and expected is not None
            result.expected[packet.seen.number] = expected
    for one, other in swapped:
        result.exchanged.append((queue[one], queue[other]))
        result.expected[queue[one].seen.number] = queue[one].found
        result.expected[queue[other].seen.number] = queue[other].found


def _read(
    results: Sequence[int | None], found: list[int]
) -> tuple[list[Run], list[int], list[tuple[int, int]]]:
    """The path, what was found with exchanges undone, and these; whichever goes better first."""
    ways = []
    for first in (align(results, found), [Run(0, 0)]):
        put_back = [*found]
        swapped = _put_back(results, put_back, first)
        path = align(results, put_back)
        ways.append((path, put_back, swapped))
        if not swapped and first != [Run(0, 0)]:
            break
    return max(ways, key=lambda way: _carried(results, way[1], way[0]))


def _offsets(path: Sequence[Run], count: int) -> list[int]:
    ends = [run.start for run in path[1:]] + [count]
    return [run.offset for run, end in zip(path, ends, strict=True) for _ in range(run.start, end)]


def _carried(results: Sequence[int | None], found: Sequence[int], path: Sequence[Run]) -> int:
    offsets = enumerate(_offsets(path, len(found))) if path else ()
    return sum(carries(results, found, place, offset) for place, offset in offsets)


def _put_back(
    results: Sequence[int | None], found: list[int], path: Sequence[Run]
) -> list[tuple[int, int]]:
    """Undo the exchanges of neighbours that do not carry what the path says, and tell which."""
    swapped = []
    offsets = _offsets(path, len(found)) if path else []
    for one, offset in enumerate(offsets):
        if carries(results, found, one, offset):
            continue
        for other in range(one + 1, min(one + 1 + _NEIGHBOURS, len(found))):
            away = other - one
            if (
                not carries(results, found, other, offset)
                and carries(results, found, one, offset + away)
                and carries(results, found, other, offset - away)
            ):
                found[one], found[other] = found[other], found[one]
                swapped.append((one, other))
                break
    return swapped


def _missed_one(
    results: Sequence[int | None], found: Sequence[int], place: int, offset: int
) -> bool:
    """Whether the owner of the result is nearer by what a missing packet or two make up."""
    toward = -1 if offset > 0 else 1
    steps = range(1, min(abs(offset), _NEIGHBOURS))
    return any(carries(results, found, place, offset + toward * step) for step in steps)
