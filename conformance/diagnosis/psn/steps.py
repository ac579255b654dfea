# SPDX-License-Identifier: BSD-2-Clause
"""How the new requests of a stream follow each other.

A step joins two with nothing repeated in between, so recovery never looks like counting.
"""

from dataclasses import dataclass, field

from roceproof.conformance.diagnosis.psn.timeline import Sent
from roceproof.conformance.wire.psn import PSN_MODULUS, distance

LARGEST_GAP = 4096
_NEAR = 64


@dataclass(frozen=True, slots=True)
class Step:
    """From one new request to the next; `healthy` is the distance that would be right."""

    before: Sent
    after: Sent
    healthy: int | None

    @property
    def taken(self) -> int:
        """The distance on the wire."""
        return distance(self.after.psn, self.before.psn)

    @property
    def is_known(self) -> bool:
        """Whether it can be judged: neither end was changed on the way."""
        return self.healthy is not None and not (self.before.on_the_way or self.after.on_the_way)

    @property
    def wrong(self) -> bool:
        """Whether a receiver would stumble here."""
        return self.healthy is not None and self.taken != self.healthy

    @property
    def skipped(self) -> list[int]:
        """The PSNs left out, if it is a gap that a network could make."""
        if self.healthy is None or not self.healthy < self.taken <= LARGEST_GAP:
            return []
        psn = self.before.psn
        return [(psn + ahead) % PSN_MODULUS for ahead in range(self.healthy, self.taken)]

    @property
    def pause_ns(self) -> int:
        """The time between the two."""
        return self.after.time_ns - self.before.time_ns


@dataclass(slots=True)
class Recovery:
    """A jump back: what was newest then, the repeats, and the way on to what is new."""

    jump: Sent
    before: Sent
    due: int
    """The PSN behind the newest one."""
    repeats: list[Sent] = field(default_factory=list)
    sends_again: bool = False
    """Whether a PSN among them was seen before; else they only came out of order, or late."""
    resumed: Step | None = None
    """From the newest to the first new request behind the repeats."""

    @property
    def onward(self) -> Sent | None:
        """The first new request behind the repeats."""
        return self.resumed.after if self.resumed else None

    @property
    def goes_on(self) -> bool:
        """Whether it follows close behind what came before, and so does not jump back."""
        return 0 < distance(self.jump.psn, self.before.psn) <= _NEAR

    @property
    def repeats_at_once(self) -> bool:
        """Whether it is one packet again right behind itself, which a late register makes, too."""
        return len(self.repeats) == 1 and self.jump.psn == self.before.psn
