# SPDX-License-Identifier: BSD-2-Clause
"""The C and the Python oracle decide the same set of rules, in their code and over captures.

Traffic that breaks a rule nowhere cannot show that one of the two has lost it. So every rule that
is decided must be reported by both, over captures that break each rule once, and is named in the
code of both.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from observed_scenarios import DECIDED, SCENARIOS, facts_for
from roce_check import RoceCheck
from scenarios import findings_of

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.observer.facts import Facts

C_FILES = sorted(
    path
    for path in (REPOSITORY / "pcap").rglob("*.c")
    if re.search(r"\bRULE_[A-Z0-9]+_\d", path.read_text(encoding="utf-8"))
)


def rules_in_c(path: Path) -> set[str]:
    """The rules that the code of a file names, comments apart."""
    code = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
    return {name.replace("_", "-") for name in re.findall(r"\bRULE_([A-Z0-9]+_\d+)\b", code)}


def test_both_report_every_rule_and_no_other(build: Path, tmp_path: Path) -> None:
    check = RoceCheck(build / "roce-check", tmp_path)
    in_c: set[str] = set()
    in_python: set[str] = set()
    for scenario in SCENARIOS:
        frames = scenario.frames()
        facts = facts_for(scenario, frames)
        in_c |= {rule for _, rule, _ in check.frames(frames, facts=facts).places}
        found = findings_of(frames, facts=Facts.from_json(facts) if facts else None)
        in_python |= {each.rule.id for each in found}
    assert sorted(in_c ^ DECIDED) == sorted(in_python ^ DECIDED) == []


def test_both_name_every_rule_in_their_code() -> None:
    in_python = {
        rule
        for path in (REPOSITORY / "conformance" / "observer").glob("*.py")
        for rule in re.findall(r"\"([A-Z0-9]+-\d+)\"", path.read_text(encoding="utf-8"))
    }
    assert set().union(*map(rules_in_c, C_FILES)) == in_python == DECIDED


@pytest.mark.parametrize("path", C_FILES, ids=lambda path: path.name)
def test_a_search_for_a_rule_finds_the_c_that_decides_it(path: Path) -> None:
    head = path.read_text(encoding="utf-8").partition("\n\n")[0]
    told = re.search(r"Decides (.*)\.", head.replace("\n//", ""))
    assert told is not None, f"{path.name} does not say which rules it decides"
    assert set(told.group(1).split(", ")) == rules_in_c(path)
