# SPDX-License-Identifier: BSD-2-Clause
"""Findings brought together by rule and flow: one habit is one line, however often it shows."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

MOST_GROUPS = 1000


@dataclass(slots=True)
class Group:
    """All findings of one kind; `place` is the flow by the number that the findings name, or -1."""

    rule: str
    severity: str
    place: int
    text: str
    """What the first of them says."""
    count: int = 0
    first: int = 0
    last: int = 0


class FindingGroups:
    """Takes findings in any order. Beyond MOST_GROUPS a rule's flows are told together."""

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self._numbers: dict[Hashable, int] = {}

    def add(self, rule: str, severity: str, flow: int | None, frame: int, text: str) -> int:
        """Count a finding; the number of its group."""
        place = -1 if flow is None else flow
        number = self._numbers.get((rule, severity, place))
        if number is None and len(self.groups) >= MOST_GROUPS:
            place = -1
            number = self._numbers.get((rule, severity, place))
        if number is None:
            number = self._numbers[rule, severity, place] = len(self.groups)
            self.groups.append(Group(rule, severity, place, text, first=frame, last=frame))
        group = self.groups[number]
        group.count += 1
        group.first = min(group.first, frame)
        group.last = max(group.last, frame)
        return number
