# SPDX-License-Identifier: BSD-2-Clause
"""The matrix of rules and kernels: what a cell says, and what is drafted of what is new."""

from __future__ import annotations

import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from roceproof.conformance.devices import sheet
from roceproof.conformance.devices.column import column_of
from roceproof.conformance.devices.files import page
from roceproof.conformance.devices.matrix import deviation_lines, document_of, rule_lines
from roceproof.conformance.kernels.drafts import drafts_of
from roceproof.conformance.suite.limits.deviations import load_deviations

OLD, NEW = "6.1.0-56-amd64", "6.12.117+deb12-amd64"


def case(name: str, outcome: str, rules: list[str], **more: Any) -> dict[str, Any]:
    file, _, function = name.partition(".")
    return {
        "file": f"test_{file}.py",
        "case": f"test_{function}",
        "outcome": outcome,
        "rules": rules,
        **more,
    }


def results(*cases: dict[str, Any]) -> dict[str, Any]:
    return {"target": "rxe", "suite": "full", "seed": 1, "cases": list(cases)}


PASSED = case("a.passes", "passed", ["PSN-02", "MTU-06"])
DEVIATES = case(
    "a.deviates", "deviation", ["MTU-06", "PSN-02"], deviation="rxe-send-lengths", broken=["MTU-06"]
)
FAILS = case(
    "b.fails[1]", "failed", ["ACK-09"], broken=["ACK-09", "NAK-13"], head='it "fails"', replay="r"
)
FAILS_TOO = case("b.fails[2]", "not_reached", ["ACK-09"], broken=["ACK-09"], head="it stops")
SKIPPED = case("a.skipped", "skipped", ["CNP-01"])
BROKE = case("d.breaks", "error", ["ACK-08", "PSN-02"], case_broke="KeyError: 1")
DIED = {"file": "test_d.py", "case": "test_dies", "outcome": "error"}  # its worker: that is all
STALE = case("c.passes", "failed", ["BTH-13"], deviation="rxe-reserved-opcode")


def verdicts(*cases: dict[str, Any]) -> dict[str, Any]:
    rules = column_of(results(*cases), OLD)["rules"]
    return {rule: cell["verdict"] for rule, cell in rules.items()}


def test_a_rule_conforms_deviates_or_is_undeclared() -> None:
    assert verdicts(PASSED) == {"PSN-02": "conforms", "MTU-06": "conforms"}
    assert verdicts(PASSED, DEVIATES) == {"PSN-02": "conforms", "MTU-06": "deviates"}
    assert verdicts(SKIPPED) == {"CNP-01": "not tested"}
    found = verdicts(FAILS, FAILS_TOO)
    assert found == {"ACK-09": "undeclared", "NAK-13": "undeclared"}
    assert verdicts(STALE) == {"BTH-13": "no longer deviates"}
    assert verdicts(STALE, case("c.fails", "failed", ["BTH-13"])) == {"BTH-13": "undeclared"}
    assert column_of(results(STALE, FAILS), OLD)["stale"] == {"rxe-reserved-opcode": 1}


def test_an_error_of_the_bench_is_no_word_on_the_device() -> None:
    assert verdicts(BROKE, DIED) == {"ACK-08": "not tested", "PSN-02": "not tested"}
    assert verdicts(PASSED, BROKE)["PSN-02"] == "conforms"
    assert column_of(results(BROKE, DIED), OLD)["cases"] == {"error": 2}


def two_kernels() -> dict[str, Any]:
    return document_of(
        [column_of(results(PASSED, FAILS), NEW), column_of(results(PASSED, DEVIATES, SKIPPED), OLD)]
    )


def test_kernels_stand_from_old_to_new_and_changes_are_told() -> None:
    document = two_kernels()
    assert [row["version"] for row in document["devices"]] == ["6.1", "6.12"]
    lines = {line.rule: line for line in rule_lines(document)}
    assert lines["MTU-06"].verdicts == ("deviates", "conforms")
    assert lines["MTU-06"].by[0] == ("rxe-send-lengths",)
    assert lines["MTU-06"].changed == ("6.12",)
    assert lines["PSN-02"].changed == ()
    assert lines["ACK-09"].verdicts == ("not tested", "undeclared")
    (deviation,) = [line for line in deviation_lines(document) if any(line.counts)]
    assert (deviation.deviation.id, deviation.counts) == ("rxe-send-lengths", (1, 0))


LUCK = case(
    "d.luck", "deviation", ["RTX-13"], deviation="rxe-ack-ahead-of-replay", broken=["RTX-13"]
)
NO_LUCK = case("d.luck", "passed", ["RTX-13"])


def test_what_is_shown_by_chance_is_no_change_where_it_is_not_seen() -> None:
    document = document_of([column_of(results(NO_LUCK), OLD), column_of(results(LUCK), NEW)])
    lines = {line.deviation.id: line for line in deviation_lines(document)}
    deviation = lines["rxe-ack-ahead-of-replay"]
    assert deviation.cells == ("by chance", "deviates")
    assert deviation.changed == ()
    (rule,) = rule_lines(document)
    assert rule.verdicts == ("conforms", "deviates")
    assert rule.changed == ()
    text = sheet.markdown_of(document)
    assert "(#rxe-ack-ahead-of-replay) | by chance | deviates |  | RTX-13 |" in text
    assert 'class="by-chance">by chance<' in page(document)


def test_what_is_shown_by_chance_is_told_where_no_run_has_seen_it() -> None:
    document = document_of([column_of(results(NO_LUCK), OLD), column_of(results(NO_LUCK), NEW)])
    cells = {line.deviation.id: line.cells for line in deviation_lines(document)}
    assert cells == {
        "rxe-ack-ahead-of-replay": ("by chance", "by chance"),
        "rxe-nak-psn-of-broken-read": ("by chance", "by chance"),
        "rxe-posts-put-off-timeout": ("-", "by chance"),  # declared from 6.12 on
    }


def test_a_card_has_no_deviation_of_soft_roce_by_chance() -> None:
    assert deviation_lines(document_of([column_of(results(NO_LUCK), "mlx5_core fw 22.31")])) == []


def test_an_entry_out_of_date_has_a_verdict_of_its_own() -> None:
    document = document_of([column_of(results(STALE), NEW)])
    assert "| BTH-13 | **no longer deviates** |" in sheet.markdown_of(document)
    assert 'class="no-longer-deviates">no longer deviates: rxe-reserved-opcode<' in page(document)


def test_the_sheet_tells_what_is_not_the_same_everywhere() -> None:
    text = sheet.markdown_of(two_kernels())
    assert "| MTU-06 | **deviates** | conforms | 6.12 |" in text
    assert "| ACK-09 | not tested | **UNDECLARED** | 6.12 |" in text
    assert "PSN-02" not in text
    assert "1 other rules hold on all of them" in text
    assert "[rxe-send-lengths](#rxe-send-lengths) | deviates | - | 6.12 | MTU-06 |" in text


class Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.classes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "td":
            self.classes.append(dict(attrs).get("class") or "")


def test_the_page_has_a_cell_for_each_rule_and_kernel() -> None:
    document = two_kernels()
    cells = Cells()
    cells.feed(page(document))
    for verdict, word in (("conforms", "-"), ("deviates", "deviates"), ("undeclared", None)):
        in_rules = sum(line.verdicts.count(verdict) for line in rule_lines(document))
        in_deviations = sum(line.cells.count(word) for line in deviation_lines(document))
        assert cells.classes.count(verdict) == in_rules + in_deviations


def test_what_nobody_has_declared_becomes_a_draft_with_its_smallest_capture(tmp_path: Path) -> None:
    small, large = tmp_path / "small.pcapng", tmp_path / "large.pcapng"
    small.write_bytes(b"1")
    large.write_bytes(b"22")
    cases = [{**FAILS, "capture": str(large)}, {**FAILS_TOO, "capture": str(small)}]
    text = drafts_of(results(PASSED, DEVIATES, *cases, STALE), NEW)
    (draft,) = tomllib.loads(text)["deviation"].items()
    assert draft[0] == "rxe-draft-b-fails"
    assert draft[1] == {
        "target": "rxe",
        "rules": ["ACK-09", "NAK-13"],
        "cases": [r"^b\.fails\[1\]$", r"^b\.fails\[2\]$"],
        "says": "it stops",
        "kernels": "6.12",
    }
    assert f"# capture: {small}" in text
    assert "# not seen: rxe-reserved-opcode in c.passes" in text


def test_a_draft_is_an_entry_as_it_stands(tmp_path: Path) -> None:
    table = tmp_path / "drafts.toml"
    table.write_text(drafts_of(results(FAILS), NEW))
    (entry,) = load_deviations(table)
    assert entry.covers("b.fails[1]", NEW)
    assert not entry.covers("b.fails[10]", NEW)


@pytest.mark.parametrize("cases", [[], [PASSED, DEVIATES, SKIPPED], [BROKE, DIED]])
def test_without_news_there_is_no_draft(cases: list[dict[str, Any]]) -> None:
    assert drafts_of(results(*cases), NEW) == ""
