# SPDX-License-Identifier: BSD-2-Clause
"""What a manifest could say of a gate's findings: lines to choose from, and what they leave."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from roceproof.common.printable import printable
from roceproof.common.whole_file import whole_file
from roceproof.verbs.limit_table import LIMITS, LONGEST_MESSAGE
from roceproof.verbs.limits import Limits

Document = dict[str, Any]


def proposals_of(document: Document) -> str:
    """Tables of a manifest, each line with the finding that it would make a limit."""
    proposed = [each for each in document["findings"] if each["manifest"]]
    others = [each for each in document["findings"] if not each["manifest"]]
    failing = {case for each in document["findings"] for case in each["cases"]}
    left = {case for each in others for case in each["cases"]}
    lines = [f"# What a manifest can say of what the gate holds against {document['device']}."]
    if not proposed:
        return "\n".join([*lines, "# Nothing: no finding is a limit that it has a word for.", ""])
    lines += [
        "# Take over what is a limit of the device, and leave out what is a fault.",
        f"# With all of it {len(left)} of {len(failing)} failing cases would still fail.",
    ]
    tables: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for finding in proposed:
        for line in finding["manifest"]:
            table, _, text = line.removeprefix("[").partition("] ")
            why = f"# {finding['count']} cases {printable(finding['sentence'])}"
            key, _, value = text.partition(" = ")
            tables.setdefault(table, {}).setdefault(key, []).append((why, value))
    for table, keys in tables.items():
        lines += ["", f"[{table}]"]
        for key, told in keys.items():
            lines += [*(why for why, _ in told), f"{key} = {_strictest(key, told)}"]
    return "\n".join([*lines, ""])


def _strictest(key: str, told: Sequence[tuple[str, str]]) -> str:
    """The value that takes all these findings away: a table has each key once."""
    values = [value for _, value in told]
    row = next((row for row in LIMITS if row.key == key), None)
    return values[0] if row is None else json.dumps(row.strictest([*map(json.loads, values)]))


def within_claims(line: str, limits: Limits) -> str:
    """A line that is proposed, without lengths that the manifest does not claim now."""
    key, _, value = line.partition(" = ")
    if key != "[limits] length":
        return line
    claimed = [limits.shortest, LONGEST_MESSAGE if limits.longest is None else limits.longest]
    return f"{key} = {_strictest('length', [('', value), ('', json.dumps(claimed))])}"


def write_proposals(path: Path, document: Document) -> None:
    with whole_file(path) as part:
        part.write_text(proposals_of(document), encoding="utf-8")
