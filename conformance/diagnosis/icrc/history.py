# SPDX-License-Identifier: BSD-2-Clause
"""Faults that show only against the packets around: S53, S54 and S63, and what S60 looks for."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import product

from roceproof.conformance.diagnosis.icrc.hypothesis import Hypothesis
from roceproof.conformance.diagnosis.icrc.parts.crc import ETHERNET, ONES
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput

WINDOW = 16
"""How many packets away another one's ICRC is looked for."""

Value = Callable[[CrcInput], int | None]


@dataclass(frozen=True)
class Stale:
    """S53: the field holds what an earlier packet should have."""

    before: Callable[[CrcInput], CrcInput | None]
    note: str
    inner: Hypothesis | None = None
    """What else is wrong with the values."""

    @property
    def ids(self) -> tuple[str, ...]:
        """S53, and what is wrong with the values."""
        return tuple(sorted(("S53", *(self.inner.ids if self.inner else ()))))

    def predict(self, packet: CrcInput) -> int | None:
        earlier = self.before(packet)
        return None if earlier is None else self.result(earlier)

    def result(self, packet: CrcInput) -> int | None:
        """What the packet should hold if nothing came late."""
        return packet.right if self.inner is None else self.inner.predict(packet)


@dataclass(frozen=True)
class NotReseeded:
    """S54: the register goes on from where the packet before has left it."""

    note: str
    inverted: bool
    dummy: bool
    ids: tuple[str, ...] = ("S54",)

    def predict(self, packet: CrcInput) -> int | None:
        """Go on from the field of the packet before."""
        if packet.previous is None:
            return None
        register = packet.previous.found ^ (ONES if self.inverted else 0)
        data = (b"\xff" * 8 if self.dummy else b"") + packet.masked + packet.seen.body
        return ETHERNET.run(data, register) ^ ONES


@dataclass(frozen=True)
class PartlyLatched:
    """S63: some bytes of the field are right, the others are something else's."""

    stale: int
    """The bits that are."""
    source: Value
    note: str
    ids: tuple[str, ...] = ("S63",)

    def predict(self, packet: CrcInput) -> int | None:
        other = self.source(packet)
        return None if other is None else packet.right & ~self.stale | other & self.stale

    def hides(self, packet: CrcInput) -> bool:
        """Whether it is wrong in those bytes alone, as where the other packet was not captured."""
        return (packet.found ^ packet.right) & ~self.stale == 0


def previous(packet: CrcInput) -> CrcInput | None:
    """What the station sent before."""
    return packet.previous


def predecessor(packet: CrcInput) -> CrcInput | None:
    """What the station sent to the same QP before."""
    return packet.predecessor


def _previous_found(packet: CrcInput) -> int | None:
    return None if packet.previous is None else packet.previous.found


def _previous_right(packet: CrcInput) -> int | None:
    return None if packet.previous is None else packet.previous.right


def _predecessor_found(packet: CrcInput) -> int | None:
    return None if packet.predecessor is None else packet.predecessor.found


_SOURCES: tuple[tuple[str, Value], ...] = (
    ("are left from the field of the packet before", _previous_found),
    ("are those of the packet before", _previous_right),
    ("are left from the field of the packet before on the same QP", _predecessor_found),
    ("are always zeros", lambda packet: 0),
    ("are always ones", lambda packet: ONES),
)


def _partly_latched() -> list[PartlyLatched]:
    found = []
    for (words, source), places in product(_SOURCES, product((0, 1), repeat=4)):
        if 0 < sum(places) < 4:
            stale = sum(255 << 8 * place for place in range(4) if places[place])
            which = ", ".join(str(place + 1) for place in range(4) if places[place])
            found.append(PartlyLatched(stale, source, f"bytes {which} {words}"))
    return found


HISTORIES: tuple[Hypothesis, ...] = (
    Stale(previous, ""),
    Stale(predecessor, "per queue pair"),
    NotReseeded("", inverted=True, dummy=False),
    NotReseeded("the dummy bytes are fed again", inverted=True, dummy=True),
    NotReseeded("from the inverted result", inverted=False, dummy=False),
    NotReseeded("from the inverted result, the dummy bytes are fed", inverted=False, dummy=True),
    *_partly_latched(),
)


def held_nearby(
    packets: Sequence[CrcInput], *, other_qp: bool, besides: Collection[tuple[int, int, int]] = ()
) -> list[CrcInput]:
    """The wrong packets that hold what another packet nearby should have.

    `besides` are changed bits, by frame, byte and bit: a copy without the change does not count.
    """
    bits = {number: (offset, bit) for number, offset, bit in besides}
    places: dict[int, list[int]] = {}
    for place, packet in enumerate(packets):
        places.setdefault(packet.right, []).append(place)
    result = []
    for place, packet in enumerate(packets):
        if packet.seen.wrong and (near := places.get(packet.found)):
            first, last = bisect_left(near, place - WINDOW), bisect_right(near, place + WINDOW)
            others = [packets[each] for each in near[first:last]]
            if packet.seen.number in bits:
                as_it_was = _flipped(packet.seen.frame, *bits[packet.seen.number])
                others = [other for other in others if other.seen.frame != as_it_was]
            if any(not other_qp or elsewhere(packet, other) for other in others):
                result.append(packet)
    return result


def _flipped(frame: bytes, offset: int, bit: int) -> bytes:
    changed = bytearray(frame)
    changed[offset] ^= 1 << bit
    return bytes(changed)


def elsewhere(packet: CrcInput, other: CrcInput) -> bool:
    """Whether two packets go to different queue pairs."""
    return (packet.seen.bth.dest_qpn, packet.seen.destination) != (
        other.seen.bth.dest_qpn,
        other.seen.destination,
    )


def is_again(packet: CrcInput, other: CrcInput) -> bool:
    """Whether one of two packets is the other once more, and not another answer of its number."""
    ones, others = packet.seen.bth, other.seen.bth
    same = ones.psn == others.psn and ones.opcode == others.opcode and _id(packet) == _id(other)
    return same and packet is not other and not elsewhere(packet, other)


def _id(packet: CrcInput) -> list[int]:
    return [packet.head[at] for at, _ in packet.spans("id")]
