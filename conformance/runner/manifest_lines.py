# SPDX-License-Identifier: BSD-2-Clause
"""The lines of a manifest under which a finding is a limit of the device, and no fault."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from roceproof.conformance.runner.kinds import KINDS
from roceproof.conformance.runner.root import Root, fields_of
from roceproof.verbs.limits import LONGEST_MESSAGE

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
_WORDS = "length_multiple = 4"
_LIMITS = {
    "of a length that is no multiple of 4": _WORDS,
    **{f"of a length of 4n+{rest} bytes": _WORDS for rest in (1, 2, 3)},
    "of no bytes": f"length = [1, {LONGEST_MESSAGE}]",
    "on any queue pair but the first": "qps = 1",
}
_NUMBER = re.compile(r"0x[0-9a-f]+|0|[1-9]\d*")


class Line(NamedTuple):
    """A key with its value, and the table where it stands."""

    table: str
    text: str

    def __str__(self) -> str:
        return f"[{self.table}] {self.text}"


def lines_for(root: Root, seen: Mapping[str, Document]) -> list[Line]:
    """Those that say all of a finding; none where a manifest has no words for it."""
    if root.says or root.head:
        return []
    if any(root.causes):
        said = [{_LIMITS.get(KINDS[kind].words, "") for kind in each} for each in root.causes]
        return [Line("limits", text) for text in sorted(set.intersection(*said)) if text]
    fields = fields_of(root.troubles)
    if root.stops or not fields or not fields <= _FIXABLE.keys():
        return []
    found: list[Line] = []
    shown = [seen[case]["values"] for case in sorted(root.cases & seen.keys())]
    for name in sorted(fields):
        told = [values[name] for values in shown if name in values]
        got = {value for each in told for value in each["got"]}
        if name == "ident":
            came, wanted = (sum(len(each[key]) for each in told) for key in ("got", "want"))
            is_still = came < wanted
            kind = "constant" if is_still else "any"
            found.append(Line("limits", f'identification = "{kind}"'))
        if len(got) == 1 and _NUMBER.fullmatch(min(got)):
            found.append(Line("fixed", f"{_FIXABLE[name]} = {int(min(got), 0)}"))
        elif name != "ident":
            return []
    return found
