# SPDX-License-Identifier: BSD-2-Clause
"""The lines of a manifest under which a finding is a limit of the device, and no fault."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from roceproof.conformance.runner.findings.bounds import lines_of
from roceproof.conformance.runner.findings.feature_words import LATER
from roceproof.conformance.runner.findings.quantities import QUANTITIES
from roceproof.conformance.runner.findings.root import Root, fields_of
from roceproof.conformance.suite.packet_flow import FLUSHED
from roceproof.verbs.limit_table import ANY, CONSTANT, LONGEST_MESSAGE, ONCE

Document = dict[str, Any]
_FIXABLE = {
    "ttl": "hop_limit",
    "tos": "traffic_class",
    "sport": "udp_sport",
    "ident": "ip_id",
    "va": "remote_addr",
    "rkey": "rkey",
    "imm": "immediate",
}
"""Fields of packets that a device need not let anybody choose, and their keys in `[fixed]`."""
_TOO_LONG = re.compile(
    r"work (?P<id>0x\w+) \(\w+ of (?P<size>\d+) bytes.*got +work (?P=id) completed with loc_len_err"
)
_UNFLUSHED = re.compile(rf"want +work 0x\w+ completed with {FLUSHED}; got +nothing")
_SIZE = QUANTITIES.index("size")
_NUMBER = re.compile(r"0x[0-9a-f]+|0|[1-9]\d*")


class Line(NamedTuple):
    """A key with its value, and the table where it stands."""

    table: str
    text: str

    def __str__(self) -> str:
        return f"[{self.table}] {self.text}"


def lines_for(root: Root, seen: Mapping[str, Document]) -> list[Line]:
    """Those that say all of a finding; none where a manifest has no words for it."""
    if root.says:
        return []
    if root.head:
        return [Line("limits", text) for text in lines_of(_refused(root, seen))]
    shown = [seen[case]["values"] for case in sorted(root.cases & seen.keys())]
    if once := _once(root, shown):
        return [Line("limits", text) for text in lines_of(once)]
    if any(root.causes):
        said = [{line for kind in each for line in kind.limits} for each in root.causes]
        return [Line("limits", text) for text in sorted(set.intersection(*said)) or root.limits]
    fields = fields_of(root.troubles)
    if root.stops or not fields or not fields <= _FIXABLE.keys():
        return []
    found: list[Line] = []
    for name in sorted(fields):
        told = [values[name] for values in shown if name in values]
        got = {value for each in told for value in each["got"]}
        if name == "ident":
            found += [Line("limits", line) for line in lines_of(_identification(told))]
        if len(got) == 1 and _NUMBER.fullmatch(min(got)):
            found.append(Line("fixed", f"{_FIXABLE[name]} = {int(min(got), 0)}"))
        elif name != "ident":
            return []
    return found


def _identification(told: Sequence[Document]) -> dict[str, Any]:
    """Constant only if no case shows it to count at all."""
    counts = any(len(each["got"]) >= max(2, len(each["want"])) for each in told)
    return {"identification": CONSTANT if _is_still(told) and not counts else ANY}


def _is_still(told: Sequence[Document]) -> bool:
    """Whether a field changes less than it should."""
    came, wanted = (sum(len(each[key]) for each in told) for key in ("got", "want"))
    return came < wanted


def _once(root: Root, shown: Sequence[Document]) -> dict[str, Any]:
    """Where only what comes behind the first work of queue pairs is wrong: what does not change."""
    fields = sorted(fields_of(root.troubles))
    if not root.causes or not all(LATER in each for each in root.causes):
        return {}
    told = [values[name] for values in shown for name in fields if name in values]
    if fields == ["ident"]:
        return _identification(told)
    is_once = _is_still(told) and all(_FIXABLE.get(name) in ONCE for name in fields)
    return {"per_queue_pair": [_FIXABLE[name] for name in fields]} if is_once else {}


def _refused(root: Root, seen: Mapping[str, Document]) -> dict[str, Any]:
    """What a device says by itself: no such length, or nothing at all of flushed work."""
    told = (seen[case].get("failures", ()) for case in root.cases & seen.keys())
    heads = [head for each in told for head, _ in each]
    is_flushed = any(each.get("flushed") for each in seen.values())
    if not is_flushed and heads and all(_UNFLUSHED.search(head) for head in heads):
        return {"flushes": False}
    sizes = [int(found["size"]) for head in heads if (found := _TOO_LONG.search(head))]
    passed = [
        (least[_SIZE], most[_SIZE])
        for each in seen.values()
        for _, _, troubles, _, least, most in each["rows"]
        if not troubles
    ]
    if not sizes or len(sizes) < len(heads) or not passed:
        return {}
    shortest, longest = min(least for least, _ in passed), max(most for _, most in passed)
    if min(sizes) > longest:
        return {"length": [0, longest]}
    return {"length": [shortest, LONGEST_MESSAGE]} if max(sizes) < shortest else {}
