# SPDX-License-Identifier: BSD-2-Clause
"""What the documents count is what the tables hold."""

from __future__ import annotations

import re

import pytest

from roceproof.common.exit_codes import Exit
from roceproof.common.paths import REPOSITORY
from roceproof.conformance.mutants.rtl import load_mutants
from roceproof.conformance.rules.signatures import SIGNATURES
from roceproof.conformance.rules.table import RULES

DOCUMENTS = sorted(path for place in ("*.md", "docs/*.md") for path in REPOSITORY.glob(place))
ENDS = {kind: sorted(each for each in SIGNATURES if each[0] == kind) for kind in "SP"}


def test_rules_and_signatures_are_counted_rightly(subtests: pytest.Subtests) -> None:
    for document in DOCUMENTS:
        with subtests.test(document.name):
            text = document.read_text(encoding="utf-8")
            exact = re.findall(r"(?<!more than )\b(\d{3}) rules\b", text)
            assert {int(count) for count in exact} <= {len(RULES)}
            for first, last in re.findall(r"`([SP]\d\d)` ?\.\. ?`([SP]\d\d)`", text):
                assert [first, last] == ENDS[first[0]][:: len(ENDS[first[0]]) - 1]


def test_pages_know_the_exit_codes_that_there_are() -> None:
    head = "\n| exit code | meaning |\n|---|---|\n"
    texts = [page.read_text(encoding="utf-8") for page in DOCUMENTS]
    tables = [table for text in texts for table in text.split(head)[1:]]
    rows = [row for table in tables for row in table.partition("\n\n")[0].splitlines()]
    told = {int(code) for row in rows for code in re.findall(r"\d+", row.split("|")[1])}
    assert len(tables) >= 3
    assert told <= {*Exit}


def test_the_readme_says_about_how_many_rules_there_are() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"more than (\d+) rules of the protocol", text)
    assert int(told) < len(RULES) <= int(told) + 50


def test_the_faults_that_measure_the_stimulus_are_counted_rightly() -> None:
    kinds = [mutant.kind for mutant in load_mutants().mutants if mutant.kind]
    text = (REPOSITORY / "docs" / "suite.md").read_text(encoding="utf-8")
    assert f"\n{len(kinds)} faults of {len(set(kinds))} kinds " in text
