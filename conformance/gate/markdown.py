# SPDX-License-Identifier: BSD-2-Clause
"""The verdict of a gate as Markdown, for the comment of a pull request: what to mend, first."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from roceproof.conformance.gate.document import told_landed, told_plans, told_seeds
from roceproof.conformance.regression.findings import accusation, counted, perhaps
from roceproof.conformance.runner.outcomes import FAILED

Document = dict[str, Any]
_MOST_FINDINGS, _MOST_NAMES = 5, 8


def markdown_of(document: Document) -> str:
    """At most some forty lines; what a device or a file says stands in code's letters."""
    verdict = document["verdict"]
    widths = " and ".join(map(str, document["widths"]))
    title = f"## roceproof gate: {verdict if verdict == 'pass' else verdict.upper()}"
    lines = [title, "", f"{_code(document['device'])}, {widths} bit, seed {document['seed']}", ""]
    if document["lacks"]:
        lines += [f"Not all was judged: {_code('; '.join(document['lacks']))}", ""]
    lines += _against(document)
    lines += _findings(document)
    lines += ["| stage | came to |", "|---|---|"]
    lines += [f"| {stage} | {words} |" for stage, words in _stages(document)]
    return "\n".join(lines) + "\n"


def _against(document: Document) -> Iterable[str]:
    baseline = document["baseline"]
    if baseline is None:
        return
    known = len(document["failures"]) - len(baseline["new"])
    yield f"Against {_code(baseline['file'])}: {known} failures are known."
    for word in ("new", "better"):
        names = baseline[word]
        if names:
            more = ", ..." if len(names) > _MOST_NAMES else ""
            yield f"- {len(names)} {word}: {', '.join(map(_code, names[:_MOST_NAMES]))}{more}"
    yield ""


def _findings(document: Document) -> Iterable[str]:
    findings = document["findings"]
    for check in document["connectivity"]:
        if check["outcome"] == FAILED:
            first = check["words"].partition("\n")[0]
            yield f"- {check['width']} bit: {check['says']}: failed, {_code(first)}"
    for number, finding in enumerate(findings[:_MOST_FINDINGS], start=1):
        said = f"{_code(finding['sentence'])} ({', '.join(counted(finding))})"
        yield f"{number}. {perhaps(finding)}{said}"
        if finding["explained"]:
            yield f"   explained by {_code(finding['explained'])}"
        if finding["manifest"]:
            yield f"   as a limit in the manifest: {_code('; '.join(finding['manifest']))}"
        if finding["rules"]:
            yield f"   {accusation(finding, most=_MOST_NAMES)}"
        replay = finding["representative"]["replay"] or finding["plan_replay"]
        if replay:
            yield f"   repeat it: {_code(replay)}"
    if len(findings) > _MOST_FINDINGS:
        yield f"\nand {len(findings) - _MOST_FINDINGS} more findings: gate.html has them all"
    if findings:
        yield ""


def _stages(document: Document) -> Iterable[tuple[str, str]]:
    questions = Counter(check["outcome"] for check in document["connectivity"])
    yield "connectivity", _counts(questions)
    yield f"suite ({document['suite']})", _counts(document["cases"]) or "nothing to test"
    played = f"{document['plans']} played, {told_plans(document)}"
    yield "random plans", f"{played} ({told_seeds(document)})"
    guest = document["guest"]
    words = f"{told_landed(guest)}{guest['outcome']} {_code(guest['words'])}"
    yield "Soft-RoCE", words.rstrip()
    stale = sum(bool(waiver["finding"]) for waiver in document["waivers"])
    yield "waivers", f"{len(document['waivers'])}, {stale} of them out of date"


def _counts(outcomes: dict[str, int]) -> str:
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in outcomes.items())


def _code(text: str) -> str:
    """One line in code's letters: no sign in it is markup, and no name in it calls anybody."""
    words = " ".join(text.split()).replace("`", "'").replace("|", "\\|")
    return f"`{words}`" if words else ""
