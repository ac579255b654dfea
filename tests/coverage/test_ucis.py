# SPDX-License-Identifier: BSD-2-Clause
"""What is exported as UCIS reads back, by the library that other tools use."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from roceproof.cli.console.main import cli
from roceproof.conformance.coverage.document import Coverage
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.coverage.summary import summarized
from roceproof.conformance.targets.capability import Capability

SCOPE = Scope(capabilities=frozenset(Capability), path_mtus=(256, 1024), qps=16, widths=(64,))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    coverage = Coverage("hdl", "it", SCOPE)
    coverage.counts.add("config.path_mtu", "RC/256", 7)
    coverage.counts.add("message.mtu.length", "SEND/256/n*mtu+1..3", 2)
    coverage.write(tmp_path / "coverage.json")
    return tmp_path / "coverage.json"


def test_every_bin_reads_back_with_its_hits(file: Path, tmp_path: Path) -> None:
    from ucis.report.coverage_report_builder import CoverageReportBuilder
    from ucis.xml.xml_factory import XmlFactory

    out = tmp_path / "coverage.xml"
    run = CliRunner().invoke(cli, ["coverage", "ucis", "-o", str(out), str(file)])
    assert run.exit_code == 0, run.output
    report = CoverageReportBuilder.build(XmlFactory.read(str(out)))
    found = {
        (group.name, point.name): {each.name: each.count for each in point.bins}
        for group in report.covergroups
        for point in group.coverpoints
    }
    summary = summarized(Coverage.read(file))
    assert found == {
        (standing.point.group, standing.point.id): dict(standing.hits)
        for standing in summary.standings
    }


def test_without_the_library_the_remedy_is_one_line(
    file: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setitem(sys.modules, "ucis", None)
    run = CliRunner().invoke(
        cli, ["coverage", "ucis", "-o", str(tmp_path / "coverage.xml"), str(file)]
    )
    assert "pip install 'roceproof[ucis]'" in str(run.exception)
    assert not (tmp_path / "coverage.xml").exists()
