# SPDX-License-Identifier: BSD-2-Clause
"""The ladder page as a reader sees it: in a real browser, without anything from outside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from stories import RC_ONLY, counterparts_of, story

from roceproof.conformance.review.ladder import Ladder, Mark, draw
from roceproof.conformance.review.ladder_page import page

MARKS = {
    3: [Mark("PSN-02", "must", "expected PSN 1, got <7> & more")],
    9: [Mark("ETH-04", "should", "expected 0000, got 0100"), Mark("BTH-03", "info", "changes")],
}


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = which("chromium") or ""
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def ladder() -> Ladder:
    return draw(story(RC_ONLY), MARKS, counterparts_of(RC_ONLY))


@pytest.fixture
def opened(browser: webdriver.Chrome, ladder: Ladder, tmp_path: Path) -> webdriver.Chrome:
    file = tmp_path / "ladder.html"
    file.write_text(page(ladder, title="<b>odd & name</b>.pcapng", note="cut"), encoding="utf-8")
    browser.get(file.as_uri())
    return browser


def shown(browser: webdriver.Chrome) -> int:
    rows = browser.find_elements(By.CSS_SELECTOR, "#ladder .row")
    return sum(row.is_displayed() for row in rows)


def test_every_packet_is_drawn_and_the_console_is_silent(
    opened: webdriver.Chrome, ladder: Ladder
) -> None:
    assert shown(opened) == len(ladder.rows)
    assert opened.get_log("browser") == []


def test_the_title_is_text_and_not_markup(opened: webdriver.Chrome) -> None:
    assert opened.find_element(By.TAG_NAME, "h1").text == "<b>odd & name</b>.pcapng"


def test_findings_lead_to_their_packets(opened: webdriver.Chrome) -> None:
    links = opened.find_elements(By.CSS_SELECTOR, "#findings a")
    assert [link.text for link in links] == ["frame 3", "frame 9", "frame 9"]
    links[0].click()
    assert opened.current_url.endswith("#frame-3")
    assert "<7> & more" in opened.find_element(By.ID, "findings").text


def test_a_flow_can_be_hidden_and_the_rest_moves_up(
    opened: webdriver.Chrome, ladder: Ladder
) -> None:
    opened.find_element(By.CSS_SELECTOR, ".flow[value='0']").click()
    assert shown(opened) == sum(row.flow != 0 for row in ladder.rows)
    height = opened.execute_script("return document.getElementById('ladder').height.baseVal.value")
    assert height == 40 + 24 * shown(opened)


def test_only_packets_with_findings_can_be_shown(opened: webdriver.Chrome) -> None:
    opened.find_element(By.ID, "marked-only").click()
    assert shown(opened) == len(MARKS)
    opened.find_element(By.ID, "marked-only").click()
    assert shown(opened) == len(story(RC_ONLY))


def test_psns_are_plotted_for_every_flow_with_requests(
    opened: webdriver.Chrome, ladder: Ladder
) -> None:
    plots = opened.find_elements(By.CSS_SELECTOR, "svg.psn")
    assert len(plots) == len({row.flow for row in ladder.rows if row.kind == "request"})
    first = plots[0].find_element(By.CSS_SELECTOR, ".dots.request")
    dots = sum(row.flow == 0 and row.kind == "request" for row in ladder.rows)
    assert (first.get_attribute("d") or "").count("h0") == dots
    assert opened.find_elements(By.CSS_SELECTOR, "svg.psn .ring")


def test_the_page_asks_for_nothing_outside(ladder: Ladder) -> None:
    text = page(ladder, title="x", note="")
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", text)
    assert "http:" not in text.replace("http://www.w3.org", "")
    assert "https:" not in text
