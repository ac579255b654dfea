# SPDX-License-Identifier: BSD-2-Clause
"""The page of all scenarios in a real browser, on a desk and on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import DESKTOP, PHONE, resize, start_browser
from selenium.webdriver.common.by import By

from roceproof.conformance.scenarios.catalogue import SCENARIOS
from roceproof.conformance.scenarios.plot import svg
from roceproof.conformance.scenarios.report import page
from roceproof.conformance.scenarios.run import run


def test_figures_verdicts_and_plots_are_shown_and_nothing_sticks_out(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    result = run(SCENARIOS["daq-size"], quick=True)
    failed = {**result.document(), "scenario": "odd", "title": "<odd>", "passed": False}
    failed["checks"] = [{"name": "<law>", "want": "1", "got": "2", "passed": False}]
    path = tmp_path / "scenarios.html"
    path.write_text(page([{**result.document(), "plot": svg(result)}, {**failed, "plot": ""}]))
    browser = start_browser()
    try:
        for size in (DESKTOP, PHONE):
            with subtests.test(size):
                resize(browser, size)
                browser.get(path.as_uri())
                rows = browser.find_elements(By.CSS_SELECTOR, "[aria-labelledby=all] tbody tr")
                first, odd = (
                    [cell.text for cell in row.find_elements(By.CSS_SELECTOR, "th, td")]
                    for row in rows
                )
                assert first[0] == "daq-size" and first[1].startswith("over 98 from 50 KiB")
                assert first[2].startswith("goodput (Gb/s): 97.57 to 98.04")
                assert (first[3:], odd[3:]) == (["5 of 5", "passed"], ["0 of 1", "failed"])
                assert "<law>" in browser.find_element(By.CSS_SELECTOR, "details[open]").text
                plot = browser.find_element(By.TAG_NAME, "img")
                assert browser.execute_script("return arguments[0].naturalWidth", plot) > 300
                width = "return document.documentElement.scrollWidth - window.innerWidth"
                assert browser.execute_script(width) <= 0
                assert browser.get_log("browser") == []
    finally:
        browser.quit()


def test_the_same_rows_give_the_same_plot() -> None:
    one, two = (svg(run(SCENARIOS["radio-pfc-victim"], quick=True)) for _ in range(2))
    assert one == two
