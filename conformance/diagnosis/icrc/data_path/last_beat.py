# SPDX-License-Identifier: BSD-2-Clause
"""Faults of the last, partial beat: S57 and S64."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from roceproof.conformance.diagnosis.icrc.data_path.beats import ORIGINS, WIDTHS, Origin
from roceproof.conformance.diagnosis.icrc.parts.crc import ETHERNET, ONES
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.engine import Engine
from roceproof.conformance.diagnosis.icrc.parts.floor import distinct, shortage

_SHARE = 0.8
_CHECKS = 4
_PER_CHANGED = 20


@dataclass(frozen=True)
class Tail:
    """The packets whose last beat is partial in one way."""

    width: int
    remainder: int
    origin: Origin

    def holds(self, packet: CrcInput) -> bool:
        """Whether the packet is one of them."""
        return self.size(packet) == self.remainder

    def size(self, packet: CrcInput) -> int:
        """Bytes in the last, partial beat."""
        return (packet.size + self.origin.lead(packet)) % self.width

    def __str__(self) -> str:
        return f"{self.remainder} bytes in the last beat of {self.width}{self.origin.words}"


@dataclass(frozen=True)
class WrongCount:
    """S57: with one kind of last beat, too few or too many bytes are taken."""

    tail: Tail
    surplus: int
    ids: tuple[str, ...] = ("S57",)

    @property
    def note(self) -> str:
        """Which beat, and how many bytes."""
        kind = "more (zeros)" if self.surplus > 0 else "fewer"
        return f"with {self.tail} the CRC takes {abs(self.surplus)} {kind}"

    def predict(self, packet: CrcInput) -> int | None:
        """Take so many bytes more or fewer."""
        if not self.tail.holds(packet):
            return packet.right
        data = packet.masked + packet.seen.body
        data = data + bytes(self.surplus) if self.surplus > 0 else data[: self.surplus]
        return ETHERNET.run(data, Engine().start) ^ ONES

    def contrasts(self, packet: CrcInput) -> bool:
        """Whether the packet ends otherwise."""
        return not self.tail.holds(packet)


@dataclass(frozen=True)
class WrongTable:
    """S64: with one kind of last beat, one of its bytes goes through a wrong table."""

    tail: Tail
    behind: int
    """How many bytes follow that byte."""
    table: Mapping[int, tuple[int, int]] = field(hash=False)
    """What bits of the byte add to the ICRC: by leading bit, the bits and their sum."""
    ids: tuple[str, ...] = ("S64",)

    @property
    def note(self) -> str:
        """Which beat, and which byte of it."""
        which = self.tail.remainder - self.behind
        return f"with {self.tail}, byte {which} of these goes through a wrong table"

    def predict(self, packet: CrcInput) -> int | None:
        """Add what the table does wrongly; None for a byte that it has not been learned for."""
        if not self.tail.holds(packet):
            return packet.right
        rest, error = _reduced(self.table, _byte(packet, self.behind), 0)
        return None if rest else packet.right ^ error

    def contrasts(self, packet: CrcInput) -> bool:
        """Whether the packet ends otherwise."""
        return not self.tail.holds(packet)


def tails(wrong: Sequence[CrcInput]) -> Iterator[Tail]:
    """The kinds of last beat that (nearly) all of the wrong packets have."""
    alike: dict[tuple[int, int], list[CrcInput]] = {}
    for packet in wrong:
        alike.setdefault((packet.size, packet.seen.ip), []).append(packet)
    for width in WIDTHS[1:]:
        for origin in ORIGINS:
            sizes: Counter[int] = Counter()
            for group in alike.values():
                sizes[Tail(width, 0, origin).size(group[0])] += len(group)
            size, count = sizes.most_common(1)[0]
            if count >= _SHARE * len(wrong):
                yield Tail(width, size, origin)


def wrong_counts(tail: Tail) -> Iterator[WrongCount]:
    """Every number of bytes too many or too few."""
    for size in range(1, tail.width + 1):
        yield WrongCount(tail, -size)
        yield WrongCount(tail, size)


def wrong_tables(tail: Tail, packets: Sequence[CrcInput]) -> Iterator[WrongTable]:
    """The table of each byte, as far as these packets bear it out; copies of one do so once."""
    affected = {(packet.right, packet.found): packet for packet in packets if tail.holds(packet)}
    for behind in range(tail.remainder):
        table = _learned([*affected.values()], behind)
        if table is not None:
            yield WrongTable(tail, behind, table)


def tells_apart(tail: Tail, wrong: Sequence[CrcInput], right: Sequence[CrcInput]) -> str | None:
    """Whether the kind of last beat decides which packets are wrong: empty, or what is in doubt.

    None if it does not. It has to be this kind and nothing that goes with it: not one length, not
    all long or all short packets, not one opcode.
    """
    others = [packet for packet in right if not tail.holds(packet)]
    if not all(map(tail.holds, wrong)) or 4 * (len(right) - len(others)) > len(wrong):
        return None
    short = shortage(("S57",), distinct(wrong), distinct(others))
    if short:
        return short
    bad, good = ({packet.size for packet in packets} for packets in (wrong, others))
    if len(bad) < 2:
        return "all of the wrong packets have one length"
    if min(bad) > max(good) or max(bad) < min(good) or len(good) < 2:
        return "no right packet is as long as the wrong ones"
    if {packet.seen.bth.opcode for packet in wrong}.isdisjoint(p.seen.bth.opcode for p in others):
        return "no right packet has an opcode that a wrong one has"
    return ""


def _learned(packets: Sequence[CrcInput], behind: int) -> dict[int, tuple[int, int]] | None:
    """Learn what a byte adds to the ICRC, linearly; None unless repetitions bear it out.

    One in many may say otherwise, because it was changed on the way.
    """
    table: dict[int, tuple[int, int]] = {}
    checks = borne_out = against = 0
    for packet in packets:
        rest, error = _reduced(table, _byte(packet, behind), packet.found ^ packet.right)
        if rest:
            table[rest.bit_length()] = rest, error
        elif error:
            against += 1
        else:
            checks += 1
            borne_out += packet.seen.wrong
    enough = checks >= _CHECKS + _PER_CHANGED * against
    return table if enough and borne_out else None


def _reduced(table: Mapping[int, tuple[int, int]], bits: int, error: int) -> tuple[int, int]:
    while row := table.get(bits.bit_length()):
        bits ^= row[0]
        error ^= row[1]
    return bits, error


def _byte(packet: CrcInput, behind: int) -> int:
    return packet.seen.frame[packet.covered_end - 1 - behind]
