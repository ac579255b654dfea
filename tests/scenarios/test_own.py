# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios of one's own: the documented one is played, and what is wrong with one is said."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from roceproof.cli.scenario import scenario as command
from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REPOSITORY
from roceproof.conformance.scenarios.own import ScenarioFileError, own_scenario
from roceproof.conformance.scenarios.run import run

DOCUMENT = (REPOSITORY / "docs" / "scenarios.md").read_text()
(EXAMPLE,) = re.findall(r"^```toml\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(EXAMPLE)
    return path


def test_the_documented_one_keeps_its_bounds(file: Path) -> None:
    result = run(own_scenario(file), quick=False)
    assert [row["flow.size"] for row in result.rows] == [4096, 4096, 16384, 16384]
    assert {check.name: check.passed for check in result.checks} == {"gbps": True, "dropped": True}


def test_a_bound_that_does_not_hold_fails(file: Path) -> None:
    file.write_text(EXAMPLE.replace("21_000_000_000", "15_000_000_000"))
    result = run(own_scenario(file), quick=False)
    assert {check.name: check.passed for check in result.checks} == {
        "gbps": False,
        "dropped": False,
    }


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("until = 20_000_000_000", "", "until: it is a whole number of 1 to"),
        ("until = 20_000_000_000", "until = 1.5", "until: it is a whole number of 1 to"),
        ("since = 5_000_000_000", "since = 20_000_000_000", "since: it is a whole number"),
        ('name = "other"', "", "port 1: it has no `name`"),
        ('name = "other"', 'name = "another"', "path names 'other', and no port has that name"),
        ("buffer = 1_000_000", "buffers = 1", "port server: buffers: there is no such key"),
        ("buffer = 1_000_000", "buffer = -1", "port server: buffer: it is a whole number"),
        ('kind = "uc"  ', 'kind = "ud"  ', "flow 0: kind is one of rc, uc, tcp, not 'ud'"),
        ("count = 8", "count = 0", "flow 0: count: it is a whole number of 1 to"),
        ("count = 8", "count = 100_000", "more than 100000 in all"),
        ("immediate = true", "immediate = 1", "immediate is true or false"),
        ('path = ["other", "server"]', "path = []", "one to eight names"),
        ('path = ["other", "server"]', "", "flow 1: it has no `path`"),
        ("[bounds]", "[bound]", "bound: there is no such key"),
        ("gbps = {", "gpbs = {", "bounds.gpbs: what is measured is gbps"),
        ("{ most = 0 }", "0", "bounds.dropped: it is a table of `least` and `most`"),
        ('"flow.size"', '"size"', "neither flow.KEY nor port.NAME.KEY"),
        ('"port.server.rate"', '"port.sever.rate"', "no port has that name"),
        ("[4096, 16384]", "4096", "it is no list of values"),
        ("[4096, 16384]", "[4096, 'x']", "flow 0: size: it is a whole number"),
        ("title = ", "title == ", "see docs/scenarios.md"),
    ],
)
def test_what_is_wrong_is_said(file: Path, old: str, new: str, words: str) -> None:
    assert old in EXAMPLE
    file.write_text(EXAMPLE.replace(old, new))
    with pytest.raises(ScenarioFileError, match=re.escape(words)):
        run(own_scenario(file), quick=False)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFileError, match="name a file that is there"):
        own_scenario(tmp_path / "none.toml")


def test_the_command_keeps_results_and_a_page_and_ends_by_the_laws(file: Path) -> None:
    out = file.parent / "out"
    words = ["run", "daq-size", str(file), "--quick", "--no-plots", "-q", "--out", str(out)]
    done = CliRunner().invoke(command, [*words, "--json"])
    assert done.exit_code == 0
    printed = json.loads(done.stdout)
    assert [each["scenario"] for each in printed] == ["daq-size", "mine"]
    assert json.loads((out / "mine" / "result.json").read_text()) == printed[1]
    assert "2 of 2 scenarios passed" in CliRunner().invoke(command, words).stdout
    page = (out / "scenarios.html").read_text()
    assert "daq-size" in page and "Two detectors into one server" in page
    file.write_text(EXAMPLE.replace("least = 19.5", "least = 99"))
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 1
    assert "FAIL  gbps  at least 99" in done.stdout
    done = CliRunner().invoke(command, ["report", str(out)])
    assert (done.exit_code, done.stdout) == (1, f"{out / 'scenarios.html'}\n")


def test_results_that_are_not_there_or_of_another_version_are_said(tmp_path: Path) -> None:
    for text in (None, "{", '{"schema": 0}', '{"schema": 1}', "[]"):
        if text is not None:
            (tmp_path / "daq-size").mkdir(exist_ok=True)
            (tmp_path / "daq-size" / "result.json").write_text(text)
        done = CliRunner().invoke(command, ["report", str(tmp_path)])
        assert isinstance(done.exception, RoceproofError)


def test_a_scenario_that_nobody_knows_is_said() -> None:
    done = CliRunner().invoke(command, ["run", "wan-clear"])
    assert isinstance(done.exception, RoceproofError)
    assert "roceproof scenario list" in str(done.exception)
