# SPDX-License-Identifier: BSD-2-Clause
"""Which finding is told first: what is true of all, what stops cases, what most cases show.

Among findings of one kind the short way leads. A fault that a case of a few frames shows is seen
again, by its consequences and under other names, where hundreds of frames come before. A stop
that has no cause of its own comes behind packets that are wrong in as many cases.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from roceproof.conformance.runner.findings.observations import FIELD, RULE
from roceproof.conformance.runner.findings.root import Root
from roceproof.conformance.suite.reporting.divergence import is_vague
from roceproof.conformance.suite.reporting.failure_heads import COMPLAINT, WITHOUT_A_PAUSE

Document = dict[str, Any]
_FEW, _MANY_TIMES = 3, 4
"""A stop of so few cases comes behind what so many times as many show."""
_SHORTER = 4
"""So many times as many frames before the failure are a long way."""


def in_order(
    found: Sequence[Root], cases: Mapping[str, Document], seen: Mapping[str, Document]
) -> list[Root]:
    """All of them, each once."""
    most = max((len(root.cases) for root in found), default=0)
    sent_wrongly = max((len(root.cases) for root in found if _is_sent(root)), default=0)

    def kind(root: Root) -> tuple[bool, ...]:
        count = len(root.cases)
        is_rare = count < _FEW and _MANY_TIMES * count <= most
        return (
            not root.says,
            not root.stops or is_rare or (not root.has_cause and count <= sent_wrongly),
            COMPLAINT in root.head,
            WITHOUT_A_PAUSE not in root.head,
        )

    left = sorted(
        found,
        key=lambda root: (
            kind(root),
            -len(root.cases),
            not _is_sent(root),
            all(is_vague(cases[name].get("rules", ())) for name in root.cases),
            root.troubles,
        ),
    )
    frames = {id(root): fewest_frames(root, seen) for root in left}
    ordered: list[Root] = []
    while left:
        first = left[0]
        alike = [root for root in left if kind(root) == kind(first) and not root.says]
        shortest = min(alike, key=lambda root: frames[id(root)] or inf, default=first)
        is_far = is_far_longer(frames[id(first)], frames[id(shortest)])
        ordered.append(shortest if is_far else first)
        left.remove(ordered[-1])
    return ordered


def _is_sent(root: Root) -> bool:
    """Whether packets of the device are wrong, as all see who look at the wire."""
    return not (root.stops or root.says or root.head) and root.troubles[0].startswith((FIELD, RULE))


def is_far_longer(frames: int, others: int) -> bool:
    """Whether so many frames before a failure are a long way, where so many others are enough."""
    return frames >= _SHORTER * (others or inf)


def fewest_frames(root: Root, seen: Mapping[str, Document]) -> int:
    """Of the shortest case that tells of it; 0 where nobody has counted them."""
    return min((seen.get(name, {}).get("frames", 0) for name in root.tellers), default=0)
