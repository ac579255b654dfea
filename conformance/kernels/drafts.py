# SPDX-License-Identifier: BSD-2-Clause
"""Drafts of entries for deviations.toml: what a run found that nobody has declared yet.

A draft is to be looked at, not to be believed: whether the device deviates or the case is wrong
is for a person to say.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from roceproof.conformance.devices.column import is_stale
from roceproof.conformance.runner.outcomes import FAILING
from roceproof.conformance.runner.session.names import short_name
from roceproof.conformance.suite.limits.versions import version_of

Document = dict[str, Any]


def drafts_of(results: Document, release: str) -> str:
    """TOML: an entry for the failing cases of each function on a kernel; "" if there are none.

    Above them stand, as a comment, cases that passed though a deviation is declared for them.
    """
    version = ".".join(map(str, version_of(release)[:2]))
    failing: dict[str, list[Document]] = {}
    stale: list[str] = []
    for case in results["cases"]:
        if case["outcome"] not in FAILING:
            continue
        name = short_name(f"{case['file']}::{case['case']}")
        if is_stale(case):
            stale.append(f"# not seen: {case['deviation']} in {name}")
        else:
            failing.setdefault(name.partition("[")[0], []).append({**case, "name": name})
    lines = [*stale, *([""] if stale else [])]
    for function, cases in sorted(failing.items()):
        lines += [*_entry(function, cases, results["target"], version), ""]
    return "\n".join(lines)


def _entry(function: str, cases: list[Document], target: str, version: str) -> Iterator[str]:
    smallest = min(cases, key=lambda case: (_size(case), case["name"]))
    rules = dict.fromkeys(rule for case in cases for rule in case.get("broken") or case["rules"])
    yield f"# capture: {smallest.get('capture', 'none')}"
    yield f"# replay:  {smallest.get('replay', 'none')}"
    yield f"[deviation.{target}-draft-{re.sub('[^a-z0-9]+', '-', function)}]"
    yield f"target = {_quoted(target)}"
    yield f"rules = {json.dumps(list(rules))}"
    patterns = (f"^{re.escape(case['name'])}$" for case in cases)
    yield "cases = [" + ", ".join(map(_quoted, patterns)) + "]"
    yield f"says = {_quoted(str(smallest.get('head', 'no answer')))}"
    yield f"kernels = {_quoted(version)}"


def _size(case: Document) -> int:
    try:
        return Path(case["capture"]).stat().st_size
    except (KeyError, OSError):
        return 1 << 62


def _quoted(text: str) -> str:
    """A string as TOML has it; JSON's escapes are among them."""
    return json.dumps(text)
