# SPDX-License-Identifier: BSD-2-Clause
"""What a run says of its gaps: few words for many bins, open ones apart, exit code 1 where due."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from roceproof.cli.console.main import cli
from roceproof.conformance.coverage.bin_summary import boxes
from roceproof.conformance.coverage.document import Coverage
from roceproof.conformance.coverage.run_report import COVERAGE, PAGE, conclude_reach
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.coverage.summary import summarized
from roceproof.conformance.coverage.table import load_table
from roceproof.conformance.targets.capability import Capability

SCOPE = Scope(
    capabilities=frozenset({Capability.RC, Capability.UC}),
    path_mtus=(256, 1024),
    qps=4,
    widths=(64, 512),
)
TABLE = """
[dimension.service]
bins = { RC = "RC", UC = "UC" }
[dimension.path_mtu]
each = "path_mtu"
[point."config.path_mtu"]
group = "fields"
says = "each"
cross = ["service", "path_mtu"]
open = [{ bins = "UC/*", why = "not yet" }]
"""


def filled(*, but: str = "") -> Coverage:
    """Every bin of the real table hit, but for the points that begin so."""
    made = Coverage("hdl", "it", SCOPE, [{"suite": "full", "seed": 1}])
    for point in load_table().points.values():
        for name in point.bins(SCOPE):
            if not but or not point.id.startswith(but):
                made.counts.add(point.id, name)
    return made


@pytest.mark.parametrize(
    ("bins", "told"),
    [
        (["a/1", "a/2", "a/3", "b/1", "b/2", "b/3"], ["*/1..3"]),
        (["a/1", "b/1", "c/1"], ["*/1"]),
        (["a/1", "a/2"], ["a/{1, 2}"]),
        (["a/1", "b/3"], ["a/1", "b/3"]),
        ([f"{letter}/{number}" for letter in "abc" for number in range(1, 9)], ["*/*"]),
    ],
)
def test_many_bins_are_told_as_few_boxes(bins: list[str], told: list[str]) -> None:
    axes = [list("abc"), [str(number) for number in range(1, 9)]]
    found = boxes([name.split("/") for name in bins], axes)
    assert found == [each.replace("*/1..3", "{a, b}/1..3") for each in told]


def test_bits_of_fields_are_told_as_spans() -> None:
    axis = [f"psn.{bit}" for bit in range(24)]
    assert boxes([(name,) for name in axis[2:20]], [axis]) == ["psn.2..19"]


def test_an_open_bin_is_no_gap_until_it_is_filled(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_text(TABLE)
    coverage = Coverage("hdl", "it", SCOPE)
    coverage.counts.add("config.path_mtu", "RC/256")
    coverage.counts.add("config.path_mtu", "UC/256")
    (standing,) = summarized(coverage, table=load_table(path)).standings
    assert standing.gaps == ("RC/1024",)
    assert standing.open == {"UC/1024": "not yet"}
    assert standing.closed == ("UC/256",)
    assert standing.filled == 2


def conclude(folder: Path, coverage: Coverage, **how: bool) -> bool:
    coverage.write(folder / COVERAGE)
    usual = {"is_whole": True, "is_silent": False, "quiet": False}
    return conclude_reach(folder, **(usual | how))


def test_a_whole_run_with_a_gap_fails_and_names_it(tmp_path: Path, capsys) -> None:
    assert conclude(tmp_path, filled())
    assert "empty:" not in capsys.readouterr().out
    assert not conclude(tmp_path, filled(but="config.path_mtu"))
    told = capsys.readouterr().out
    assert "config.path_mtu (4 of 4): */*" in told
    assert "coverage: 4 bins that it claims are empty after a full run" in told
    assert str(tmp_path / PAGE) in told


def test_a_part_of_the_suite_only_reports(tmp_path: Path, capsys) -> None:
    assert conclude(tmp_path, filled(but="config"), is_whole=False)
    assert "config.path_mtu (4 of 4)" in capsys.readouterr().out
    assert conclude(tmp_path, filled(but="config"), is_whole=False, quiet=True)
    assert capsys.readouterr().out == ""


def test_silence_for_json_keeps_the_verdict(tmp_path: Path, capsys) -> None:
    assert not conclude(tmp_path, filled(but="config"), is_silent=True)
    assert capsys.readouterr().out == ""


def test_the_summary_is_one_screen(tmp_path: Path, capsys) -> None:
    conclude(tmp_path, Coverage("hdl", "it", SCOPE))
    assert len(capsys.readouterr().out.splitlines()) <= 36


def test_the_command_merges_and_shows(tmp_path: Path) -> None:
    for name, but in (("a", "config"), ("b", "depth")):
        filled(but=but).write(tmp_path / f"{name}.json")
    files = [str(tmp_path / f"{name}.json") for name in "ab"]
    merged = str(tmp_path / "sum.json")
    run = CliRunner().invoke
    assert run(cli, ["coverage", "merge", "-o", merged, *files]).exit_code == 0
    shown = run(cli, ["coverage", "show", "--json", merged])
    assert shown.exit_code == 0
    assert json.loads(shown.output)["empty"] == {}
    alone = json.loads(run(cli, ["coverage", "show", "--json", files[1]]).output)
    assert set(alone["empty"]) == {name for name in load_table().points if name[:5] == "depth"} - {
        *("depth.work", "depth.work_of_one", "depth.packets", "depth.held")
    }
    assert run(cli, ["coverage", "show", "-o", str(tmp_path / "p.html"), merged]).exit_code == 0
    assert "Coverage of hdl: it" in (tmp_path / "p.html").read_text()
