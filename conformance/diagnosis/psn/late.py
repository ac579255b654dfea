# SPDX-License-Identifier: BSD-2-Clause
"""P14: a register that a packet close behind another still sees as it was."""

from collections.abc import Sequence

from roceproof.conformance.diagnosis.psn.steps import Step
from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.wire.psn import PSN_MODULUS

_ASTRAY = 4  # packets that a late register explains, for each that came too late for it


def latched_early(stream: Stream, _: list[Step]) -> bool:
    """P14: packets close behind another carry the PSN of that one, and the next ones do not."""
    late: list[int] = []
    timely: list[int] = []
    returned = 0
    for run in stream.runs:
        right: int | None = None
        for step in run:
            if step.healthy is None:
                right = None
                continue
            before = step.before.psn if right is None else right
            right = (before + step.healthy) % PSN_MODULUS
            if step.after.psn not in (before, right):
                return False
            (timely if step.after.psn == right else late).append(step.pause_ns)
            returned += bool(late) and step.after.psn == right
    if not late or not returned:
        return False
    return _come_sooner(late, timely)


def taken_up_by_a_loss(stream: Stream, steps: list[Step]) -> bool:
    """P23 where it looks like P14, but one loss may be all that takes up what was left out."""
    taken_up = sum(step.taken != 0 for step in steps if step.wrong)
    return not stream.side.reliable and taken_up <= 1 and latched_early(stream, steps)


def _come_sooner(some: Sequence[int], others: Sequence[int]) -> bool:
    """Whether one length of a pause parts them, but for few, and pauses that are equal."""
    if len(some) == 1:
        return max(some) < min(others)
    astray = fewest = len(some)
    for _, is_other in sorted([*((pause, 0) for pause in some), *((pause, 1) for pause in others)]):
        astray += 1 if is_other else -1
        fewest = min(fewest, astray)
    return _ASTRAY * fewest <= len(some)


def some_alike(stream: Stream, _: list[Step]) -> bool:
    """P14 where packets are alike, so that one that carries the PSN before seems a repeat."""
    return any(each.jump.psn == each.before.psn for each in stream.recoveries)
