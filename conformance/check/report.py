# SPDX-License-Identifier: BSD-2-Clause
"""The document that a check of one capture ends in; every other form is printed from it.

Its keys are those of `roceproof check --json`, described in docs/check.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from roceproof.common.printable import printable
from roceproof.conformance.rules.table import RULES, Severity

if TYPE_CHECKING:
    from roceproof.conformance.check.groups import Groups

Document = dict[str, Any]


def gather(file: str, lines: Iterable[dict[str, Any]], *, keep: int | None = None) -> Document:
    """Bring what the oracle said into one document: findings in the order of frames.

    Groups are of all findings that it told, `findings` the first `keep` of them (None: all).
    """
    document = unread(file, None)
    findings: list[dict[str, Any]] = document["findings"]
    groups: Groups | None = None
    grouped = 0
    for line in lines:
        kind = line.pop("type")
        if kind == "finding":
            grouped += 1
            groups = groups or _no_groups()
            line["group"] = groups.add(line)
            if keep is None or len(findings) < keep:
                findings.append(line)
        elif kind == "flow":
            document["flows"].append(line)
        elif kind == "summary":
            document.update(line)
    if document["error"] is not None:
        document["error"] = f"{printable(file)}: {document['error']}"
    findings.sort(key=lambda row: row["frame"])
    document["groups"] = groups.documents(document["flows"]) if groups else []
    total = sum(document["severities"].values())
    document["left_out"] = total - len(findings)
    document["ungrouped"] = total - grouped
    return document


def _no_groups() -> Groups:
    from roceproof.conformance.check.groups import Groups  # not loaded where nothing was found

    return Groups()


def unread(file: str, error: str | None) -> Document:
    """The document of a capture of which nothing was judged."""
    return {
        "file": file,
        "frames": 0,
        "roce_frames": 0,
        "icrc": {"ok": 0, "bad": 0, "unchecked": 0},
        "flows": [],
        "findings": [],
        "groups": [],
        "rules": {},
        "severities": dict.fromkeys(map(str, Severity), 0),
        "waived": dict.fromkeys(map(str, Severity), 0),
        "left_out": 0,
        "ungrouped": 0,
        "error": error,
    }


def failed(document: Document) -> bool:
    """Whether a rule of weight is broken; information does not count, nor what is waived."""
    broken, waived = document["severities"], document["waived"]
    return any(broken[each] > waived[each] for each in (Severity.MUST, Severity.SHOULD))


def message_of(row: dict[str, Any]) -> str:
    """A finding in one line; of many findings only the rows are worth keeping."""
    told = f"expected {row['expected']}, got {row['got']}. {RULES[row['rule']].sentence}"
    return f"{row['rule']} frame {row['frame']}: {told}"
