# SPDX-License-Identifier: BSD-2-Clause
"""A group of findings in one line: how often, where, and the one thing that differs.

Groups that say the same of several flows become one line; those that may
follow from another stand beneath it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from roceproof.conformance.check.styles import WAIVED
from roceproof.conformance.rules.table import RULES

Row = dict[str, Any]
_FEW_FLOWS = 3
_FEW_RANGES = 4
_FEW_VALUES = 3
_SIDES = ("expected", "got")


@dataclass
class Told:
    """A line, and the lines beneath it."""

    severity: str
    rule: str
    text: str
    first_frame: int
    count: int
    beneath: list[Told]


def told(groups: Sequence[Row]) -> list[Told]:
    """Every group, by the frame where it begins."""
    beneath: dict[int | None, list[Row]] = {}
    for number, group in enumerate(groups):
        row = {**group, "numbers": [number], "flows": [group["flow"]]}
        beneath.setdefault(group["cause"], []).append(row)
    return _lines(beneath.get(None, []), beneath, few=_FEW_FLOWS)


def _lines(groups: list[Row], beneath: dict[int | None, list[Row]], *, few: int) -> list[Told]:
    lines = []
    for group in _folded(groups, few):
        effects = [each for number in group["numbers"] for each in beneath.get(number, [])]
        lines.append(
            Told(
                severity=WAIVED if group["waived"] else group["severity"],
                rule=group["rule"],
                text=sentence_of(group),
                first_frame=group["first_frame"],
                count=group["count"],
                beneath=_lines(effects, beneath, few=few if len(group["numbers"]) == 1 else 1),
            )
        )
    return sorted(lines, key=lambda line: line.first_frame)


def _folded(groups: list[Row], few: int) -> Iterator[Row]:
    """One row for flows that do the same to the letter, and for more than a few that do in kind."""
    alike: dict[tuple[Any, ...], list[Row]] = {}
    for number, group in enumerate(groups):
        sides = [tuple(group[side]) for side in _SIDES if _is_one(group, side)]
        alike.setdefault((*_kind(group), *(sides if len(sides) == 2 else [number])), []).append(
            group
        )
    kinds: dict[tuple[Any, ...], list[Row]] = {}
    for several in alike.values():
        row = _joined(several)
        if len(row["flows"]) > few:
            yield row
        else:
            kinds.setdefault(_kind(row), []).append(row)
    for rows in kinds.values():
        if len(rows) > few:
            yield _joined(rows)
        else:
            yield from rows


def _kind(group: Row) -> tuple[Any, ...]:
    known = group["known"] is not None
    return (group["rule"], group["severity"], group["why"], group["waived"], known)


def _is_one(group: Row, side: str) -> bool:
    return len(group[side]) == 1 and bool(group[f"{side}_complete"])


def _joined(several: list[Row]) -> Row:
    if len(several) == 1:
        return several[0]
    first = min(several, key=lambda group: group["first_frame"])
    ranges = sorted(each for group in several for each in group["frames"])
    merged: list[list[int]] = []
    for start, end in ranges:
        if merged and start <= merged[-1][1] + 1:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    sides = {side: {value: 0 for group in several for value in group[side]} for side in _SIDES}
    return {
        **first,
        **sides,
        "numbers": [number for group in several for number in group["numbers"]],
        "flows": sorted({flow for each in several for flow in each["flows"] if flow is not None}),
        "count": sum(group["count"] for group in several),
        "last_frame": max(group["last_frame"] for group in several),
        "frames": merged,
        "frames_complete": all(group["frames_complete"] for group in several),
        "expected_complete": all(group["expected_complete"] for group in several),
        "got_complete": all(group["got_complete"] for group in several),
    }


def sentence_of(group: Row) -> str:
    """The line itself, without its severity."""
    rule = group["rule"]
    sentence = RULES[rule].sentence
    why = f" May follow from the finding above: {group['why']}." if group["why"] else ""
    if known := group["known"]:
        why += f" Known of real devices ({known['evidence']}): {known['practice']}."
    why += f" {group['waived'][0].upper()}{group['waived'][1:]}." if group["waived"] else ""
    first = group["first"]
    if group["count"] == 1:
        told = f"expected {first['expected']}, got {first['got']}"
        return f"{rule} frame {group['first_frame']}: {told}. {sentence}{why}"
    where = f"{rule} {group['count']:,} times{_flows(group)}, {_frames(group)}"
    return f"{where}: {_difference(group)}. {sentence}{why}"


def _flows(group: Row) -> str:
    flows = [flow for flow in group["flows"] if flow is not None]
    if not flows:
        return ""
    if len(flows) == 1:
        return f" in flow {flows[0]}"
    shown = ", ".join(map(str, flows[:_FEW_FLOWS]))
    more = ", ..." if len(flows) > _FEW_FLOWS else ""
    return f" in {len(flows):,} flows ({shown}{more})"


def _frames(group: Row) -> str:
    ranges = group["frames"]
    whole = group["frames_complete"]
    few = ranges if whole and len(ranges) <= _FEW_RANGES else ranges[: _FEW_RANGES - 1]
    shown = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in few)
    if few is ranges:
        return f"frame{'s' if len(ranges) > 1 or ranges[0][0] != ranges[0][1] else ''} {shown}"
    return f"frames {shown}, ... {group['last_frame']}"


def _difference(group: Row) -> str:
    count, first = group["count"], group["first"]
    same = [side for side in _SIDES if _is_one(group, side)]
    whole = f"expected {first['expected']}, got {first['got']}"
    if len(same) == 2:
        return f"{whole} in {'both' if count == 2 else f'all {count:,}'}"
    if not same:
        return f"{whole} in frame {group['first_frame']}; both differ from frame to frame"
    side = same[0]
    other = "got" if side == "expected" else "expected"
    return f"{side} {first[side]} in all {count:,}, {other} {_values(group, other)}"


def _values(group: Row, side: str) -> str:
    values, complete = group[side], group[f"{side}_complete"]
    first = group["first"][side]
    if complete and len(values) <= _FEW_VALUES and all(values.values()):
        *front, last = [f"{value} ({count:,})" for value, count in values.items()]
        return f"{', '.join(front)} and {last}"
    number = f"{len(values)}" if complete else f"more than {len(values)}"
    return f"{first} in frame {group['first_frame']}, {number} values in all"
