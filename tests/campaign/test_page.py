# SPDX-License-Identifier: BSD-2-Clause
"""The page of a campaign in a real browser, on a desk and on a phone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browser import DESKTOP, PHONE, resize, start_browser
from click.testing import CliRunner
from selenium.webdriver.common.by import By

from roceproof.cli.console.main import cli
from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.campaign.folder import Folder
from roceproof.conformance.campaign.worker import Part, play
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.stimulus.plan import Plan, Step

PLAN = Plan(steps=(Step("connect", {"key": 0, "hop_limit": 7}), Step("wait", {"ns": 9})))
FACTS = {"device": "<odd>", "mutant": None, "programs": 40, "found": {}, "broke": 0}


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A run of three rounds with one finding, and one that was killed in its first."""
    folder = Folder(tmp_path / "night & day")
    options = Options(target="model", dut=REFERENCE_DUT, mutant="ip-ttl-fixed")
    entry = folder.keep(PLAN)
    part = Part(folder=folder.path, options=options, width=None, first=1, count=1, entries=(entry,))
    found = dict(play(part).found)
    rounds = [{**FACTS, "seconds": 10 * n, "empty": 90 - 30 * n, "is_over": False} for n in (1, 2)]
    first = folder.begin({**rounds[-1], "found": found, "is_over": True})
    first.with_suffix(".jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in rounds))
    second = folder.begin({**rounds[0]})
    second.with_suffix(".jsonl").write_text(f"{json.dumps(rounds[0])}\n{{")
    return folder.path


def test_runs_coverage_and_findings_are_shown_and_nothing_sticks_out(
    campaign: Path, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    path = tmp_path / "campaign.html"
    words = ["fuzz", "report", str(campaign), "-o", str(path)]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 1 and done.output.endswith(f"1 findings\n{path}\n")
    browser = start_browser()
    try:
        for size in (DESKTOP, PHONE):
            with subtests.test(size):
                resize(browser, size)
                browser.get(path.as_uri())
                assert browser.find_element(By.TAG_NAME, "h1").text == "Campaign night & day"
                first, second = browser.find_elements(By.CSS_SELECTOR, "tbody tr")
                assert first.text == "1 <odd> 40 20 2.0 1 30 over"
                assert second.text == "2 <odd> 40 10 4.0 0 60 running, or was ended"
                (curve,) = browser.find_elements(By.CSS_SELECTOR, "svg polyline")
                assert curve.get_attribute("points") == "500,0 1000,500"
                finding = browser.find_element(By.TAG_NAME, "details")
                assert "IP-06-" in finding.text and "ttl: want 7, got" in finding.text
                finding.find_element(By.TAG_NAME, "summary").click()
                assert "--mutant ip-ttl-fixed" in finding.text
                links = finding.find_elements(By.TAG_NAME, "a")
                files = [link.get_attribute("href").removeprefix("file://") for link in links]
                assert [
                    Path(file.replace("%20", " ").replace("%26", "&")).is_file() for file in files
                ] == [True] * 4
                width = "return document.documentElement.scrollWidth - window.innerWidth"
                assert browser.execute_script(width) <= 0
                assert browser.get_log("browser") == []
    finally:
        browser.quit()
