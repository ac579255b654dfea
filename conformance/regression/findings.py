# SPDX-License-Identifier: BSD-2-Clause
"""The root findings of a run in one screen: what to mend first, a capture and a command each."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape

from roceproof.common.terminal import Terminal
from roceproof.conformance.runner.findings.accused import by_certainty
from roceproof.conformance.runner.findings.kin import MAY_BE
from roceproof.conformance.runner.outcomes import FAILING, SKIPPED

Document = dict[str, Any]
MOST_FINDINGS = 5
_MOST_RULES = 6
_INDENT = "     "


def print_findings(
    findings: Sequence[Document], counts: Mapping[str, int], console: Terminal
) -> None:
    """The findings, the one that stops most cases first; those beyond a screen are counted.

    `counts` is of the outcomes of all cases.
    """
    if not findings:
        return
    failing = sum(counts.get(outcome, 0) for outcome in FAILING)
    ran = sum(counts.values()) - counts.get(SKIPPED, 0)
    console.print()
    for number, finding in enumerate(findings[:MOST_FINDINGS], start=1):
        console.print(f"[red]{number}.[/] {escape(in_words(finding, ran))}", highlight=False)
        # How one of them stood is enough for a screen, and of a sign where to see it.
        streams = finding.get("streams", []) if number == 1 else []
        details = _again(finding) if perhaps(finding) else _details(finding)
        for line in [*details, *streams]:
            console.print(escape(_INDENT + line), highlight=False)
    left = findings[MOST_FINDINGS:]
    if left:
        cases = len({case for finding in left for case in finding["cases"]})
        console.print(f"and {len(left)} more findings in {cases} cases: results.json has them all")
    untold = failing - len({case for finding in findings for case in finding["cases"]})
    if untold > 0:
        console.print(f"{untold} failing cases belong to none of these")


def counted(finding: Document, ran: int | None = None) -> list[str]:
    """In how many cases, of so many that ran, and in how many random plans it shows."""
    count, plans = finding["count"], len(finding.get("plans", ()))
    of_all = "" if ran is None else f" of {ran}"
    told = [(plans, f"{plans} random plan")] if plans else []
    if finding["cases"]:
        told.insert(0, (ran or count, f"{count}{of_all} case"))
    return [noun if many == 1 else f"{noun}s" for many, noun in told]


def in_words(finding: Document, ran: int | None = None) -> str:
    """In how many cases and plans it shows, and what; of which finding it may be a sign."""
    said = str(finding["sentence"])
    if finding["count"] + len(finding.get("plans", ())) == 1:
        said = re.sub(r"^\w+", r"\g<0>s", said)  # one shows, two show
    return f"{perhaps(finding)}{' and '.join(counted(finding, ran))} {said}"


def perhaps(finding: Document) -> str:
    """In front of what may be no more than a sign of another finding."""
    return f"perhaps {other} again: " if (other := finding.get(MAY_BE)) else ""


def accusation(finding: Document, *, most: int) -> str:
    """Which rules are broken, and of which of them that is not sure: so many of either."""
    words = dict(zip(("accuses", "in doubt:"), by_certainty(finding), strict=True))
    return "; ".join(
        f"{how} {', '.join(rules[:most])}{', ...' if len(rules) > most else ''}"
        for how, rules in words.items()
        if rules
    )


def _details(finding: Document) -> list[str]:
    told = [accusation(finding, most=_MOST_RULES)] if finding["rules"] else []
    if finding["support"]:
        told.insert(0, finding["support"])
    if finding["not_reached"]:
        were = "was" if finding["not_reached"] == 1 else "were"
        told.append(f"{finding['not_reached']} of the cases {were} not reached")
    lines = ["; ".join(told)] if told else []
    if finding.get("explained"):
        lines.append(f"explain: {finding['explained']}")
    if finding.get("manifest"):
        left = len(finding["cases"]) - finding["only"]
        lines.append(
            "if that is a limit, say so in a manifest of schema 2: "
            f"{', '.join(finding['manifest'])}; "
            f"{left or 'none'} of these cases would fail all the same"
        )
    if finding["representative"]["capture"]:
        lines.append(f"capture: {finding['representative']['capture']}")
    return lines + _again(finding)


def _again(finding: Document) -> list[str]:
    """The commands that show it again."""
    of_case, of_plan = finding["representative"]["replay"], finding.get("plan_replay")
    return [f"replay:  {of_case}"] * bool(of_case) + [f"plan:    {of_plan}"] * bool(of_plan)
