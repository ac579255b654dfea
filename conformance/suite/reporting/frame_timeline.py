# SPDX-License-Identifier: BSD-2-Clause
"""The frames of a case in order, and how near to its neighbours each was offered to the device.

A receive path fails by what it was offered and when: how long after the frame before, how long
before the next one. Cycles are told of a device whose clock stands still between steps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from roceproof.conformance.suite.reporting.transcript import Entry
from roceproof.conformance.wire import icrc

_SHOWN_FRAMES = 40
_PS_PER_NS = 1000


@dataclass(frozen=True)
class Clock:
    """When the device took each frame that it was sent, and how long its cycle is."""

    taken_ns: Sequence[int]
    cycle_ps: int | None = None

    def told(self, duration_ns: int) -> str:
        """A distance in cycles, in ns where the device has none."""
        if self.cycle_ps is None:
            return f"{duration_ns:,} ns"
        return f"{round(duration_ns * _PS_PER_NS / self.cycle_ps):,} cycles"


FRAMES_SEEN = "frames seen:"
"""Above the frames of a story."""


def story(entries: Sequence[Entry], tell: Callable[[Entry], str], clock: Clock) -> str:
    """`>` to the device, `<` from it; the last ones if there are many."""
    timed = _timed(entries, clock)
    first = max(0, len(timed) - _SHOWN_FRAMES)
    lines = [f"  ... {first} frames before"] if first else []
    for number in range(first, len(timed)):
        time_ns, entry = timed[number]
        arrow = "<" if entry.is_sent else ">"
        beside = "" if entry.is_sent else _offered(timed, number, clock)
        lines.append(f"  {time_ns / 1000:11.3f} us {arrow} {tell(entry)}{beside}")
    return "\n".join([FRAMES_SEEN, *lines])


def _timed(entries: Sequence[Entry], clock: Clock) -> list[tuple[int, Entry]]:
    """Each with when its last byte moved, where that is known; in that order.

    What the device has not taken whole yet stands behind what it has.
    """
    taken, last_ns = iter(clock.taken_ns), 0
    timed = []
    for entry in entries:
        time_ns = entry.time_ns
        if not entry.is_sent:
            time_ns = last_ns = max(last_ns, next(taken, time_ns))
        timed.append((time_ns, entry))
    return sorted(timed, key=lambda each: each[0])


def _offered(timed: Sequence[tuple[int, Entry]], number: int, clock: Clock) -> str:
    time_ns, entry = timed[number]
    told = []
    if icrc.check(entry.frame).judgement is icrc.Judgement.BAD:
        told.append("wrong ICRC")
    if entry.comment:
        told.append(entry.comment)
    if number:
        told.append(f"{clock.told(time_ns - timed[number - 1][0])} behind the frame before")
    if number + 1 < len(timed):
        told.append(f"{clock.told(timed[number + 1][0] - time_ns)} before the next")
    return f"  [{len(entry.frame)} bytes; {', '.join(told)}]" if told else ""
