# SPDX-License-Identifier: BSD-2-Clause
"""`roceproof test --coverage`: workers count, one file adds up, a part of a suite only reports."""

from __future__ import annotations

from collections.abc import Callable

from own_cases import Suite

from roceproof.conformance.coverage.document import Coverage

CASES = """
@case("PSN-02")
def test_one(bench):
    bench.connect(path_mtu=256).transfer(Op.SEND, 300)

@case("MTU-03")
def test_other(bench):
    bench.connect(path_mtu=512).transfer(Op.WRITE, 0)
"""


def test_what_workers_count_is_added_up(suite: Callable[[str], Suite]) -> None:
    mine = suite(CASES)
    done = mine.run("--target", "model", "--coverage", "-j2")
    assert done.returncode == 0, done.stdout
    assert "coverage of model: the reference model:" in done.stdout
    coverage = Coverage.read(mine.folder / "out" / "coverage.json")
    hits = coverage.counts.hits
    assert hits("rules.group") == {"MTU": 1, "PSN": 1}
    assert hits("message.mtu.length") == {"SEND/256/above": 1, "WRITE/512/0": 1}
    assert hits("life.frames") == {"-/1..7": 2}
    assert [run["suite"] for run in coverage.runs] == ["full"]
    assert "Coverage of model" in (mine.folder / "out" / "coverage.html").read_text()


def test_a_run_without_coverage_leaves_none_of_an_older_one(suite: Callable[[str], Suite]) -> None:
    mine = suite(CASES)
    files = [mine.folder / "out" / name for name in ("coverage.json", "coverage.html")]
    for options, are_there in ((["--coverage"], True), ([], False)):
        mine.run("--target", "model", "-k", "test_one", *options)
        assert [file.exists() for file in files] == [are_there] * 2
