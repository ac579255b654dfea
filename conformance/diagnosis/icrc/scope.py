# SPDX-License-Identifier: BSD-2-Clause
"""The packets that one explanation has to hold for, and how a hypothesis is held against them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.icrc.corruption import FlippedBit, flipped_bit
from roceproof.conformance.diagnosis.icrc.effects import Effects
from roceproof.conformance.diagnosis.icrc.hypothesis import Hypothesis
from roceproof.conformance.diagnosis.icrc.parts.crc_input import CrcInput
from roceproof.conformance.diagnosis.icrc.parts.sampling import diverse, spread

FEW = 0.05
"""The share of packets that may have suffered on the way."""
_LOOKED_AT = 300
_FLIPPED = 500
_HABIT = 3
"""Flips of one header field that are hardly chance."""
_PREDICTION_UNITS = 12
_BYTES_PER_UNIT = 600
_SEARCHED = 5
_PAUSES = 3
"""So many right packets on end are no more what pauses of a device leave among wrong ones."""
_SHARE = 0.8  # of the wrong packets; the others may have suffered on the way


class Scope:
    """Sound packets of one transmitter in their order."""

    def __init__(
        self, packets: Sequence[CrcInput], budget: Budget, place: str, words: str = ""
    ) -> None:
        self.packets = packets
        self.budget = budget
        self.place = place
        """Which transmitter, for people."""
        self.words = words
        """Which part of the transmitter's packets these are; empty for all."""
        self.effects = Effects()
        self.wrong = [packet for packet in packets if packet.seen.wrong]
        self.right = [
            packet
            for packet in packets
            if not (packet.seen.wrong or packet.seen.is_beside or packet.seen.is_of_another)
        ]

    @property
    def has_few_wrong(self) -> bool:
        """Whether so few are wrong that they may have suffered on the way."""
        return self.is_few(len(self.wrong))

    def is_few(self, count: int) -> bool:
        """The same of some of the wrong packets."""
        return count <= max(2, FEW * (len(self.wrong) + len(self.right)))

    def sample(self, seed: int) -> list[CrcInput]:
        """A few wrong packets and a few right ones, for a search."""
        return diverse(self.telling, _SEARCHED, seed) + diverse(self.right, _SEARCHED, seed)

    @cached_property
    def chance_flips(self) -> list[FlippedBit]:
        """The bits that explain single wrong packets, and are not always of one field."""
        flips = [flip for packet in self.wrong[:_FLIPPED] if (flip := flipped_bit(packet))]
        counts = Counter(flip.field for flip in flips)
        return [flip for flip in flips if counts[flip.field] < _HABIT]

    @cached_property
    def telling(self) -> list[CrcInput]:
        """The wrong packets, without those that seem to have suffered on the way.

        That is where one bit flipped by chance, or where nothing else goes to that QP.
        """
        chance = {flip.number for flip in self.chance_flips}
        of_queue = Counter(packet.seen.bth.dest_qpn for packet in self.packets)
        return [
            packet
            for packet in self.wrong
            if packet.seen.number not in chance and of_queue[packet.seen.bth.dest_qpn] > 1
        ] or self.wrong

    @cached_property
    def some_wrong(self) -> list[CrcInput]:
        """The wrong packets that hypotheses are held against."""
        return spread(self.wrong, _LOOKED_AT)

    @cached_property
    def some_right(self) -> list[CrcInput]:
        """The right packets that hypotheses are held against."""
        return spread(self.right, _LOOKED_AT)

    @property
    def looked_at(self) -> int:
        """How many packets each hypothesis was held against."""
        return len(self.some_wrong) + len(self.some_right)

    def best(self, hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
        """Those that explain the most, and enough; the simplest first, one per id."""
        hits = [(self._hits(hypothesis), hypothesis) for hypothesis in hypotheses]
        most = max((count for count, _ in hits), default=0)
        chosen: dict[tuple[str, ...], Hypothesis] = {}
        if most:
            fitting = [hypothesis for count, hypothesis in hits if count == most]
            fewest = min(len(hypothesis.ids) for hypothesis in fitting)
            fitting = [hypothesis for hypothesis in fitting if len(hypothesis.ids) == fewest]
            for hypothesis in sorted(fitting, key=_simplicity):
                chosen.setdefault(hypothesis.ids, hypothesis)
        return [*chosen.values()]

    def _hits(self, hypothesis: Hypothesis) -> int:
        """Count the wrong packets that it predicts; 0 if too few, or if a right one contradicts."""
        misses = 0
        for packet in self.some_wrong:
            self.budget.spend(cost(packet))
            misses += hypothesis.predict(packet) != packet.found
            if misses > (1 - _SHARE) * len(self.some_wrong):
                return 0
        hits = len(self.some_wrong) - misses
        contradictions = on_end = 0
        for packet in self.some_right:
            self.budget.spend(cost(packet))
            predicted = hypothesis.predict(packet)
            contradicts = predicted is not None and predicted != packet.found
            contradictions += contradicts
            on_end = on_end + 1 if contradicts and _follows_right(packet) else 0
            if contradictions > (hits // 10 if _forgets(hypothesis) else 0) or on_end > _PAUSES:
                return 0
        return hits


def cost(packet: CrcInput) -> int:
    """Units of work that it takes to predict a packet's ICRC."""
    return _PREDICTION_UNITS + packet.size // _BYTES_PER_UNIT


def _simplicity(hypothesis: Hypothesis) -> tuple[int, bool, tuple[str, ...]]:
    return len(hypothesis.ids), bool(hypothesis.note), hypothesis.ids


def _follows_right(packet: CrcInput) -> bool:
    return packet.previous is not None and not packet.previous.seen.wrong


def _forgets(hypothesis: Hypothesis) -> bool:
    """Whether a pause of the device, or a packet that was not captured, can interrupt it."""
    return bool({"S53", "S54"} & {*hypothesis.ids})
