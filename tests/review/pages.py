# SPDX-License-Identifier: BSD-2-Clause
"""Pages in a real browser: made from stories, opened, and asked what they show."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from browser import DESKTOP, resize
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from roceproof.conformance.review.columns import gather
from roceproof.conformance.review.ladder_page import page
from roceproof.conformance.review.page_document import GroupRow, Marks, told
from roceproof.conformance.review.story import Flow, Frame

BUILD = Path(__file__).parents[2] / "build" / "screenshots"
TALL = (1280, 6000)


def page_of(
    frames: Iterable[Frame],
    findings: Iterable[dict[str, Any]] = (),
    counterparts: Mapping[Flow, Flow] | None = None,
    *,
    title: str = "capture.pcapng",
    note: str = "",
) -> str:
    columns = gather(frames, counterparts or {})
    marks = Marks()
    groups: dict[str, GroupRow] = {}
    for finding in findings:
        rule, frame = finding["rule"], finding["frame"]
        group = groups.get(rule)
        if group is None:
            cause = 0 if groups else None
            group = GroupRow(rule, finding["severity"], "", told(finding), 0, frame, frame, cause)
        groups[rule] = replace(group, count=group.count + 1, last=frame, why="a reason")
        row = columns.row_of(frame)
        assert row is not None
        marks.add(columns, row, finding, list(groups).index(rule))
    marks.groups = list(groups.values())
    return "".join(page(columns, marks, counterparts or {}, title=title, note=note))


class Opened:
    """A page in a browser window of a given size."""

    def __init__(
        self,
        browser: webdriver.Chrome,
        file: Path,
        size: tuple[int, int] = DESKTOP,
        *,
        dark: bool = False,
    ) -> None:
        self.browser = browser
        resize(browser, size, dark=dark)
        browser.get("about:blank")
        browser.get(file.as_uri())
        self.wait(
            "return document.documentElement.dataset.opened && document.querySelector('.row')"
        )

    def run(self, script: str) -> Any:
        return self.browser.execute_script(script)

    def wait(self, script: str) -> Any:
        return WebDriverWait(self.browser, 60, 0.02).until(lambda _: self.run(script))

    def one(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        """All at once, in the order in which they are seen from top to bottom."""
        script = f"""return [...document.querySelectorAll({selector!r})]
            .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
            .map(each => each.textContent)"""
        return list(self.run(script))

    def rows(self, count: int) -> list[str]:
        """The captions, once there are so many."""
        self.wait(f"return document.querySelectorAll('.row').length === {count}")
        return self.texts(".row .caption")

    def press(self, *keys: str) -> None:
        self.browser.switch_to.active_element.send_keys(*keys)

    def filter(self, text: str) -> None:
        box = self.one("#filter")
        box.send_keys(Keys.ESCAPE)
        self.one("#filter").send_keys(text)

    @property
    def chosen(self) -> int:
        """The number of the frame that is chosen."""
        return int(self.wait("return document.querySelector('.row.chosen .frame')?.textContent"))

    def comes_to(self, *frames: int) -> None:
        """Wait until one of these is chosen, which shows when the list has been drawn again."""
        number = "Number(document.querySelector('.row.chosen .frame')?.textContent)"
        self.wait(f"return {[*frames]}.includes({number})")

    def detail(self, frame: int) -> str:
        """The opened packet's text, once it is that frame's."""
        heading = f"document.querySelector('#detail h3')?.textContent.startsWith('frame {frame}:')"
        self.wait(f"return {heading}")
        return str(self.one("#detail").text)

    def photograph(self, name: str) -> Path:
        """A screenshot for people, in build/screenshots."""
        BUILD.mkdir(parents=True, exist_ok=True)
        shot = self.browser.execute_cdp_cmd("Page.captureScreenshot", {})
        path = BUILD / f"{name}.png"
        path.write_bytes(base64.b64decode(shot["data"]))
        return path
