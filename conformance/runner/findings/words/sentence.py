# SPDX-License-Identifier: BSD-2-Clause
"""What a finding shows in one sentence, and what supports it."""

import re
from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any

from roceproof.conformance.rules.table import RULES
from roceproof.conformance.runner.findings.feature_words import in_words
from roceproof.conformance.runner.findings.observations import FIELD, RULE
from roceproof.conformance.runner.findings.ports import of_a_foreign_key, of_a_refusal, of_a_repeat
from roceproof.conformance.runner.findings.root import DECIDES, STOPS, Root
from roceproof.conformance.runner.findings.swaps import are_swapped
from roceproof.conformance.suite.header_displacement import DISPLACING
from roceproof.conformance.suite.reporting.failure_heads import in_short
from roceproof.conformance.suite.reporting.failure_site import Kind

Document = dict[str, Any]
_EXPECTED = re.compile(r": expected (?P<want>.+?), got (?P<got>.+?)\. ")
"""In what `rules.findings` says of a violation."""
_LONGEST = 300
_USUAL = 10
"""Cases in which a good request is refused, before a port of the wrapper is looked at for it."""
_OF_NO_BYTES, _NO_BYTES = "RETH-05", "the request had no bytes"
_MOST_FIELDS = 4
"""More are counted in a sentence, and the first is named."""


def sentence(
    root: Root, shown: str, seen: Mapping[str, Document], rules: Sequence[str], *, is_plain: bool
) -> str:
    """What shows, and which port to look at unless that is plain from the frames."""
    verb = "stop" if root.stops else "show"
    if root.says:
        return f"{verb}: {root.says}"
    what = _what(root, shown, seen, next(iter(rules), ""), is_plain=is_plain)
    if not root.has_cause:
        return f"{verb}: {what}"
    kind = ", or ".join(map(in_words, root.causes)) if any(root.causes) else ""
    if root.stops:
        return f"stop at {kind or 'every message'}: {what}"
    of = "packets of " if kind.startswith("messages") else ""
    return f"show in {of}{kind or 'every packet'}: {what}"


def _what(
    root: Root, shown: str, seen: Mapping[str, Document], rule: str, *, is_plain: bool
) -> str:
    trouble = root.troubles[0]
    stopped = (seen.get(shown, {}).get("stop") or {}).get("words")
    if trouble in STOPS and stopped:
        others = {(seen.get(case, {}).get("stop") or {}).get("words") for case in root.cases}
        return f"{stopped} in the first" if others - {stopped, None} else str(stopped)
    if fields := [each.removeprefix(FIELD) for each in root.troubles if each.startswith(FIELD)]:
        return _of_fields(root, fields, seen)
    if trouble.startswith(RULE) and not root.head:
        return f'{rule} is broken: "{RULES[rule].sentence}"{_in_the_first(rule, root, shown, seen)}'
    words = in_short(root.head)
    told = shorten(words, _LONGEST, placeholder=" ...") or trouble
    streams = seen.get(shown, {}).get("standing", {})
    is_usual = len(root.cases) >= _USUAL
    where = (
        (rule == _OF_NO_BYTES and _NO_BYTES)
        or (is_usual and of_a_refusal(words, streams))
        or of_a_foreign_key(rule, words, streams)
        or of_a_repeat(words)
    )
    return f"{told}; {where}" if where and streams and not is_plain else told


def _in_the_first(rule: str, root: Root, shown: str, seen: Mapping[str, Document]) -> str:
    """What the observer expected and got, where a case has that; first the one that is shown."""
    told = (
        seen.get(case, {}).get("rules", {}).get(rule, "") for case in (shown, *sorted(root.cases))
    )
    found = next(filter(None, map(_EXPECTED.search, told)), None)
    return f" (expected {found['want']}, got {found['got']} in the first)" if found else ""


def _of_fields(root: Root, fields: Sequence[str], seen: Mapping[str, Document]) -> str:
    first = fields[0]
    if first in DISPLACING:
        return DISPLACING[first]
    told = _values(root, first, seen)
    if len(fields) == 1:
        got = {value for each in told for value in each["got"]}
        right = {
            str(each)
            for case in seen.values()
            for known in ("right", "shown")
            for each in case.get(known, {}).get(first, ())
        }
        if len(got) == 1 and len(told) > 1 and right <= got:
            value, want = told[0]["got"][0], told[0]["want"][0]
            return f"{first} is always {value} (want {want} in the first)"
    values = [seen.get(case, {}).get("values", {}) for case in sorted(root.cases)]
    others = [name for name in fields[1:] if are_swapped(first, name, values)]
    if others:
        return f"{first} and {others[0]} are swapped ({_of_one(first, told)})"
    more = fields[1:] if len(fields) <= _MOST_FIELDS else [f"{len(fields) - 1} other fields"]
    also = f"; {' and '.join(more)}, too" if more else ""
    if more and FIELD + first in DECIDES:
        also = f", and with it {' and '.join(more)}"
    return f"{first} is wrong ({_of_one(first, told)} in the first){also}"


def _of_one(name: str, told: Sequence[Document]) -> str:
    return f"want {told[0]['want'][0]}, got {told[0]['got'][0]}"


def _values(root: Root, name: str, seen: Mapping[str, Document]) -> list[Document]:
    return [seen[case]["values"][name] for case in sorted(root.cases) if _is_in(seen, case, name)]


def _is_in(seen: Mapping[str, Document], case: str, name: str) -> bool:
    return name in seen.get(case, {}).get("values", {})


def support(root: Root) -> str | None:
    if root.has_cause:
        if not root.passing:
            return None
        if root.troubles[0] == str(Kind.NO_COMPLETION):
            return f"none of these completed; {root.passing:,} other messages did"
        if root.stops:
            return f"none of these came whole; {root.passing:,} other messages did"
        return f"none of these is right; {root.passing:,} other packets are"
    if root.troubles[0] in STOPS and not root.says:
        return "by kind, length and place of the message these are not told from those that pass"
    return None
