# SPDX-License-Identifier: BSD-2-Clause
"""Findings gathered into groups, one for each habit: of one rule, one flow and one cause.

Takes findings one at a time, in the order in which they are decided, and keeps
of each group how often, where and what; memory is bounded whatever comes.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from roceproof.conformance.rules.consequences import CAUSES, CAUSES_OF, NEAR_FRAMES, Where
from roceproof.conformance.rules.known_devices import known_practice

MOST_GROUPS = 20_000
_MOST_RANGES = 64
_MOST_VALUES = 8
_MOST_PLACES = 1024

Row = dict[str, Any]
_Key = tuple[str, str, int | None, int | None]


class Group:
    """Findings that say the same of the same flow; `values` of each side count what differs."""

    def __init__(self, row: Row, *, cause: int | None, why: str | None) -> None:
        self.rule: str = row["rule"]
        self.severity: str = row["severity"]
        self.flow: int | None = row["flow"]
        self.cause = cause
        self.why = why
        self.count = 0
        self.first: Row = row
        self.last = row["frame"]
        self.ranges: list[list[int]] = []
        self.more_ranges = False
        self.values: dict[str, dict[str, int]] = {"expected": {}, "got": {}}
        self.more_values = {"expected": False, "got": False}

    def add(self, row: Row) -> None:
        self.count += 1
        frame = row["frame"]
        ranges = self.ranges
        if ranges and ranges[-1][0] <= frame <= ranges[-1][1] + 1:
            if frame > ranges[-1][1]:
                ranges[-1][1] = frame
        elif len(ranges) < _MOST_RANGES:
            ranges.append([frame, frame])
        else:
            self.more_ranges = True
        if frame > self.last:
            self.last = frame
        elif frame < self.first["frame"]:
            self.first = row
        for side, values in self.values.items():
            value = row[side]
            if value in values:
                values[value] += 1
            elif len(values) < _MOST_VALUES:
                values[value] = 1
            else:
                self.more_values[side] = True

    def document(self) -> Row:
        """Everything about it for machines."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "flow": self.flow,
            "count": self.count,
            "first_frame": self.first["frame"],
            "last_frame": self.last,
            "frames": sorted(self.ranges),
            "frames_complete": not self.more_ranges,
            "expected": self.values["expected"],
            "expected_complete": not self.more_values["expected"],
            "got": self.values["got"],
            "got_complete": not self.more_values["got"],
            "first": {side: self.first[side] for side in self.values},
            "cause": self.cause,
            "why": self.why,
            "known": self._known(),
            "waived": None,
        }

    def _known(self) -> Row | None:
        if self.more_values["got"]:
            return None
        practice = known_practice(self.rule, self.values["got"])
        if practice is None:
            return None
        told = {"practice": practice.practice, "evidence": str(practice.evidence)}
        return {**told, "source": practice.source}


class Groups:
    """All groups of a capture; a group's number is its place in the order of first findings."""

    def __init__(self) -> None:
        self._groups: list[Group] = []
        self._numbers: dict[_Key, int] = {}
        self._places: dict[tuple[str, int | None], list[tuple[int, int]]] = {}

    def add(self, row: Row) -> int:
        """Put a finding where it belongs; the number of its group."""
        cause, why = self._cause(row)
        key = (row["rule"], row["severity"], row["flow"], cause)
        number = self._numbers.get(key)
        if number is None:
            if len(self._groups) >= MOST_GROUPS:  # told without its flow from here on
                key = (row["rule"], row["severity"], None, None)
                row, why, cause = {**row, "flow": None}, None, None
            number = self._numbers.setdefault(key, len(self._groups))
            if number == len(self._groups):
                self._groups.append(Group(row, cause=cause, why=why))
        self._groups[number].add(row)
        if cause is None and row["rule"] in CAUSES:
            places = self._places.setdefault((row["rule"], row["flow"]), [])
            if len(places) < _MOST_PLACES:
                places.append((row["frame"], number))
            else:
                places[-1] = (row["frame"], number)
        return number

    def documents(self, flows: Sequence[Row]) -> list[Row]:
        """All groups, those of answers beneath what they answer."""
        for group in self._groups:
            if group.cause is None:
                self._answer(group, flows)
        return [group.document() for group in self._groups]

    def _cause(self, row: Row) -> tuple[int | None, str | None]:
        for each in CAUSES_OF.get(row["rule"], ()):
            if each.where is Where.ANSWERS:
                continue
            places = self._places.get((each.cause, row["flow"]))
            if not places:
                continue
            at = bisect_right(places, (row["frame"], MOST_GROUPS)) - 1
            if at < 0:
                continue
            frame, number = places[at]
            reach = {Where.FRAME: 0, Where.NEAR: NEAR_FRAMES}.get(each.where, row["frame"])
            if row["frame"] - frame <= reach:
                return number, each.why
        return None, None

    def _answer(self, group: Group, flows: Sequence[Row]) -> None:
        if group.flow is None or group.flow >= len(flows):
            return
        asked = flows[group.flow]["counterpart"]
        for each in CAUSES_OF.get(group.rule, ()):
            if each.where is not Where.ANSWERS or asked is None:
                continue
            for severity in ("must", "should", "info"):
                number = self._numbers.get((each.cause, severity, asked, None))
                if number is None or number == group.cause:
                    continue
                cause = self._groups[number]
                if cause.first["frame"] <= group.first["frame"] and cause.cause is None:
                    group.cause, group.why = number, each.why
                    return
