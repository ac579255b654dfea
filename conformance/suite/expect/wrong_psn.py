# SPDX-License-Identifier: BSD-2-Clause
"""Which rule a request breaks whose PSN is wrong, by what is in front of it."""

from collections.abc import Collection, Sequence

from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.work import Op, Work

_FIRST, _FIRST_AGAIN, _NEXT, _WRAPS = "PSN-01", "PSN-09", "PSN-02", "PSN-03"
_OF_ANOTHER = "PSN-08"
_BEHIND_EMPTY, _BEHIND_READ, _BEHIND_REFUSED = "PSN-04", "PSN-05", "PSN-21"


def rule_of_psn(
    in_front: Sequence[Work | None],
    *,
    want: int,
    got: int,
    start: int,
    lives: int,
    others: Collection[int] = (),
) -> str:
    """The rule that a first packet of a message breaks, which has not the PSN that it wants.

    `in_front` is the work of this life before it, None for what was refused; `lives` counts
    configurations, this one included. PSNs are absolute, `start` is the configured one, `others`
    those that are next on other queue pairs.
    """
    if got in others:
        return _OF_ANOTHER
    ahead = (got - want) % PSN_MODULUS < PSN_MODULUS // 2
    if in_front and in_front[-1] is None and ahead:
        return _BEHIND_REFUSED
    behind = next((work for work in reversed(in_front) if work is not None), None)
    if behind is None:
        return _FIRST if lives == 1 else _FIRST_AGAIN
    if behind.op is Op.READ:
        return _BEHIND_READ
    if behind.size == 0 and abs(got - want) == 1:
        return _BEHIND_EMPTY
    return _WRAPS if want == 0 and start != 0 else _NEXT
