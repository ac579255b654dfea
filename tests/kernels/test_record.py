# SPDX-License-Identifier: BSD-2-Clause
"""The matrix on record is told by docs/findings.md, and agrees with what is declared."""

from __future__ import annotations

import json
from typing import Any

import pytest

from roceproof.conformance.kernels.__main__ import FINDINGS, RECORD, record_of, retold
from roceproof.conformance.suite.limits.deviations import judged_kernels, load_deviations

ROWS: list[dict[str, Any]] = json.loads(RECORD.read_text())["devices"]


def test_findings_tell_what_is_on_record() -> None:
    text = FINDINGS.read_text(encoding="utf-8")
    assert retold(text) == text


def test_the_record_is_written_with_a_line_for_each_rule() -> None:
    text = RECORD.read_text(encoding="utf-8")
    assert record_of(json.loads(text)) == text
    assert '    "ACK-01": {"verdict": "conforms"},\n' in text


def test_every_judged_kernel_is_on_record() -> None:
    assert [row["version"] for row in ROWS] == judged_kernels()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["version"])
def test_a_kernel_on_record_shows_what_is_declared_and_nothing_else(row: dict[str, Any]) -> None:
    assert not {"failed", "not_reached", "error"} & set(row["cases"])
    assert row["suite"] == "full"
    declared = [each for each in load_deviations() if row["release"] in each.kernels]
    certain = {each.id for each in declared if each.cases}
    assert certain <= set(row["deviations"]) <= {each.id for each in declared}
    found = {cell["verdict"] for cell in row["rules"].values()}
    assert found <= {"conforms", "deviates", "not tested"}
