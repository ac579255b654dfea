# SPDX-License-Identifier: BSD-2-Clause
"""Where docs/observer.md says when a passive observer reports a rule."""

import re
from collections.abc import Iterator
from functools import cache

from roceproof.common.paths import REPOSITORY

CONTRACT = "docs/observer.md"
_HEADING = re.compile(r"#+ (\d+(?:\.\d+)?)\.? ")
_NAMES = re.compile(r"\b([A-Z]{2,4}-)(\d\d(?: / -\d\d)*)")


def sections_of(rule: str) -> list[str]:
    """Numbers of the sections that name the rule; none where the document is not installed."""
    return list(dict.fromkeys(section for section, name in _places() if name == rule))


@cache
def _places() -> list[tuple[str, str]]:
    document = REPOSITORY / CONTRACT
    return list(_scan(document.read_text(encoding="utf-8"))) if document.exists() else []


def _scan(text: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            section = heading[1]
        for family, numbers in _NAMES.findall(line):
            yield from ((section, family + number) for number in numbers.split(" / -"))
