# SPDX-License-Identifier: BSD-2-Clause
"""The page of coverage in a real browser: figures and gaps, on a desk and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import DESKTOP, PHONE, resize, start_browser
from selenium import webdriver
from selenium.webdriver.common.by import By

from roceproof.conformance.coverage.document import Coverage
from roceproof.conformance.coverage.html import page
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.coverage.summary import summarized
from roceproof.conformance.targets.capability import Capability

SCOPE = Scope(
    capabilities=frozenset(Capability) - {Capability.IPV6},
    path_mtus=(256, 512, 1024, 2048, 4096),
    qps=16,
    widths=(64, 512),
)


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    coverage = Coverage("hdl", "<it>", SCOPE, [{"suite": "full", "seed": 7}])
    coverage.counts.add("config.path_mtu", "RC/256", 1234)
    path = tmp_path_factory.mktemp("page") / "coverage.html"
    path.write_text(page(summarized(coverage)), encoding="utf-8")
    return path


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_figures_and_gaps_are_shown_and_nothing_sticks_out(browser, file, size) -> None:
    resize(browser, size)
    browser.get(file.as_uri())
    assert "Coverage of hdl: <it>, 64 and 512 bit" in browser.find_element(By.TAG_NAME, "h1").text
    assert "full suite, seed 7" in browser.find_element(By.TAG_NAME, "header").text
    point = next(
        each
        for each in browser.find_elements(By.TAG_NAME, "details")
        if each.text.startswith("config.path_mtu")
    )
    assert "1 of 15, 14 empty" in point.text
    point.find_element(By.TAG_NAME, "summary").click()
    assert "{UC, UD}/256" in point.text
    cells = point.find_elements(By.CSS_SELECTOR, "tbody tr:first-child td")
    assert [cell.text for cell in cells] == ["1,234", "0", "0", "0", "0"]
    assert [cell.get_attribute("class") for cell in cells[:2]] == ["number", "number gap"]
    width = browser.execute_script(
        "document.querySelectorAll('details').forEach(each => each.open = true);"
        "return document.documentElement.scrollWidth"
    )
    assert width <= size[0]
    assert browser.get_log("browser") == []
