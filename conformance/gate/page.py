# SPDX-License-Identifier: BSD-2-Clause
"""The verdict of a gate as one HTML page that needs nothing but itself, and no script."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from roceproof.common.page import rendered, templates
from roceproof.conformance.regression.findings import in_words
from roceproof.conformance.regression.report import warnings_told
from roceproof.conformance.rules.table import RULES
from roceproof.conformance.runner.findings.accused import by_certainty
from roceproof.conformance.runner.outcomes import BAD

Document = dict[str, Any]
_ROOM = "roceproof.conformance.gate"
_STYLES = (("roceproof.conformance.coverage", "page.css"), (_ROOM, "gate.css"))


def page(gate: Document, stories: Sequence[Document]) -> str:
    """The page of a gate's document; `stories` are told of its root findings, in their order."""
    environment = templates(_ROOM)
    environment.filters |= {"counted": _counted, "by_certainty": by_certainty, "in_words": in_words}
    groups: dict[str, list[Document]] = {}
    for rule in gate["rules"]:
        groups.setdefault(rule["rule"].partition("-")[0], []).append(rule)
    return rendered(
        environment.get_template("gate.html.j2"),
        _STYLES,
        gate=gate,
        warnings=list(warnings_told(gate["warnings"])),
        findings=list(zip(gate["findings"], stories, strict=True)),
        groups=groups,
        sentences={rule.id: rule.sentence for rule in RULES.values()},
        bad=BAD,
    )


def _counted(verdicts: Iterable[str]) -> list[tuple[str, int]]:
    return Counter(verdicts).most_common()
