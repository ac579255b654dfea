# SPDX-License-Identifier: BSD-2-Clause
"""The page that says what to touch names files that exist, and tests that are there to be run."""

from __future__ import annotations

import re

from roceproof.common.paths import REPOSITORY

TEXT = (REPOSITORY / "docs" / "extending.md").read_text(encoding="utf-8")
QUOTED = {word for quote in re.findall(r"`([^`\n]+)`", TEXT) for word in quote.split()}
PATHS = sorted(
    word
    for word in QUOTED
    if ("/" in word or word.startswith(".import")) and not word.startswith((".venv", "-", "*"))
)


def test_what_is_named_exists() -> None:
    assert [path for path in PATHS if not (REPOSITORY / path).exists()] == []


def test_every_thing_comes_with_its_proof() -> None:
    sections = TEXT.split("\n## ")[1:]
    without = [each.splitlines()[0] for each in sections if "Proof: " not in each]
    assert without == ["A rule that only a case can decide", "A room"]
