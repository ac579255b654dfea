# SPDX-License-Identifier: BSD-2-Clause
"""One direction of a cable in virtual time: a queue, a line, and by seed what goes wrong on it.

Frames are charged with FCS, preamble and gap. What the link does to a frame it says in words, for
the capture's comment.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from roceproof.conformance.scenarios.line import AROUND_FRAME
from roceproof.conformance.scenarios.network import SECOND
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.frame_edits import with_congestion_experienced, with_flipped_bit
from roceproof.conformance.wire.psn import PSN_MODULUS

_AFTER_BTH = 14 + 20 + 8 + 12
"""From here on bits may flip: no ICRC masks them there."""
FAULTS = LOST, TWICE, LATE, CORRUPT = "lost", "twice", "late", "corrupt"


@dataclass(frozen=True, kw_only=True)
class Line:
    """Rates in bits a second, times in picoseconds, queues in bytes; shares of frames."""

    rate: int
    delay: int = 0
    buffer: int = 0
    """What does not fit is dropped; 0 is endless."""
    mark: int = 0
    """A frame that finds more waiting and says that it may be marked is: CE; 0 is never."""
    xoff: int = 0
    """Of a line from a switch: with so much waiting, whoever sends is paused; 0 is never."""
    xon: int = 0
    """With so much left they go on."""
    police: int = 0
    """The rate that passes a token bucket, which drops what is over; 0 is every rate."""
    burst: int = 0
    """What the bucket holds."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """How often a frame is lost, twice, late or corrupt."""
    chosen: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """The same for a packet by destination queue pair and place behind the first PSN seen."""


class Passage(NamedTuple):
    """What becomes of a frame: when what arrives, and what was done to it."""

    arrivals: tuple[tuple[int, bytes], ...]
    comment: str
    is_harmed: bool = False
    """Whether it did not arrive, or with wrong bytes."""


class Link:
    """One line, and what has passed it."""

    def __init__(self, line: Line, *, seed: int) -> None:
        self.line = line
        self.dropped = 0
        self.marked: list[bytes] = []
        """Frames that were told of congestion."""
        self.done: Counter[str] = Counter()
        """How many frames were lost on the line, twice, late or corrupt."""
        self.peak = 0
        self._draw = Random(seed)
        self.passed: list[tuple[int, int]] = []
        """When each frame has left, and what it took of the line."""
        self.free = 0  # when the last frame has left
        self._tokens, self._filled = line.burst * 8 * SECOND, 0  # bits a second, times picoseconds
        self._firsts: dict[int, int] = {}

    def carry(self, frame: bytes, time: int) -> Passage:
        """A frame that comes at a time, no sooner than the one before."""
        size = len(frame) + AROUND_FRAME
        if not self._has_tokens(size, time):
            return self._drop("dropped: over the policer's rate")
        line, waiting = self.line, self.waiting(time)
        if line.buffer and waiting + size > line.buffer:
            return self._drop(f"dropped: {waiting} bytes wait in a queue of {line.buffer}")
        self.peak = max(self.peak, waiting + size)
        self.free = max(self.free, time) + size * 8 * SECOND // line.rate
        self.passed.append((self.free, size))
        told = ""
        if line.mark and waiting > line.mark:
            marked = with_congestion_experienced(frame)
            if marked != frame:
                self.marked.append(frame)
                frame, told = marked, f"CE: {waiting} bytes wait"
        passage = self._cross(frame, self.free + line.delay)
        return passage._replace(comment="; ".join(filter(None, (told, passage.comment))))

    def _cross(self, frame: bytes, there: int) -> Passage:
        """What the line does to a frame that would arrive then."""
        done = self._done_to(frame)
        self.done[done] += 1
        if done == LOST:
            return self._drop("lost on the line")
        if done == CORRUPT:
            bit = self._draw.randrange(8 * _AFTER_BTH, 8 * len(frame))
            changed = bytes(with_flipped_bit(frame, bit))
            return Passage(((there, changed),), f"bit {bit} flips on the line", is_harmed=True)
        if done == TWICE:
            return Passage(((there, frame), (there, frame)), "arrives twice")
        if done == LATE:
            late = 2 * (len(frame) + AROUND_FRAME) * 8 * SECOND // self.line.rate
            return Passage(((there + late, frame),), "arrives behind those after it")
        return Passage(((there, frame),), "")

    def waiting(self, time: int) -> int:
        """The bytes that have not left by a time at which something comes."""
        return max(0, self.free - time) * self.line.rate // (8 * SECOND)

    def line_rate(self) -> float:
        """Bits of line a second that left, over the middle half of the frames."""
        middle = self.passed[len(self.passed) // 4 : 3 * len(self.passed) // 4]
        elapsed = middle[-1][0] - middle[0][0]
        return 8 * SECOND * sum(size for _, size in middle[1:]) / elapsed

    def _drop(self, comment: str) -> Passage:
        self.dropped += 1
        return Passage((), comment, is_harmed=True)

    def _has_tokens(self, size: int, time: int) -> bool:
        if not self.line.police:
            return True
        gained = (time - self._filled) * self.line.police
        most, cost = (8 * SECOND * each for each in (self.line.burst, size))
        self._tokens, self._filled = min(most, self._tokens + gained), time
        if self._tokens < cost:
            return False
        self._tokens -= cost
        return True

    def _done_to(self, frame: bytes) -> str:
        if self.line.chosen and (packet := parse(frame)) is not None:
            qpn, psn = packet.bth.dest_qpn, packet.bth.psn
            place = (psn - self._firsts.setdefault(qpn, psn)) % PSN_MODULUS
            if (qpn, place) in self.line.chosen:
                return self.line.chosen[qpn, place]
        return next(
            (what for what, share in self.line.shares.items() if self._draw.random() < share), ""
        )
