# SPDX-License-Identifier: BSD-2-Clause
"""The comment of a pull request: the verdict, what to mend first, and no markup but ours."""

from __future__ import annotations

from gate_documents import FAILING, PASSING, REPLAY, case, judged, session

from roceproof.conformance.gate.document import Baseline
from roceproof.conformance.gate.guest import Landed
from roceproof.conformance.gate.markdown import markdown_of
from roceproof.conformance.runner.outcomes import FAILED

ROW = {"service": "UC", "path_mtu": 1024, "operation": "WRITE", "landed": 3, "messages": 4}


def test_a_device_that_passes_is_told_in_a_table() -> None:
    told = markdown_of(judged(PASSING))
    assert told.startswith("## roceproof gate: pass\n\n`uc_writer`, 64 bit, seed 1\n")
    assert "| suite (full) | 1 passed, 1 skipped |" in told
    assert "| random plans | 3 played, 0 fail (seed 1) |" in told
    assert "| Soft-RoCE | skipped `left out by --no-guest` |" in told


def test_what_fails_comes_first_with_its_rules_and_the_command_that_repeats_it() -> None:
    told = markdown_of(judged(FAILING, landed=Landed(outcome=FAILED, rows=[ROW], words="it died")))
    assert told.startswith("## roceproof gate: FAIL")
    assert "1. `show in every packet: psn is wrong (want 1, got <2>)` (1 case)\n" in told
    assert f"   accuses PSN-01\n   repeat it: `{REPLAY}`\n" in told
    assert told.index("1. `show") < told.index("| stage |")
    assert "| Soft-RoCE | 3 of 4 messages landed, failed `it died` |" in told


def test_a_baseline_is_told_by_what_is_new_and_what_is_better() -> None:
    known = frozenset(["case test_mine.py::test_psn", "case test_mine.py::test_gone"])
    worse = session(*FAILING["cases"][:1], case("test_mtu", "failed"))
    told = markdown_of(judged(worse, baseline=Baseline("old.json", known)))
    assert "Against `old.json`: 1 failures are known.\n" in told
    assert "- 1 new: `case test_mine.py::test_mtu`\n" in told
    assert "- 1 better: `case test_mine.py::test_gone`\n" in told


def test_what_files_and_devices_are_called_is_no_markup() -> None:
    named = "a`b|c\n# d @e"
    told = markdown_of(judged(PASSING, baseline=Baseline(named, frozenset())))
    assert "Against `a'b\\|c # d @e`: 0 failures are known.\n" in told
