# SPDX-License-Identifier: BSD-2-Clause
"""The ladder page as a reader sees it: in a real browser, without anything from outside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import DESKTOP, PHONE, start_browser
from pages import TALL, Opened, page_of
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from stories import RC_ONLY, counterparts_of, frames_of, story

from roceproof.conformance.capture import reader
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.review.caption import caption
from roceproof.conformance.review.story import Frame, Kind, tell
from roceproof.conformance.wire.opcodes import Position

CAPTURES = Path(__file__).parents[1] / "captures" / "rxe"
RICH = Conversation(seed=5, connections=2)
LONG = Conversation(seed=5, connections=1, path_mtus=(256,), lengths=(4000,))
TITLE = "<b>odd & name</b>.pcapng"


def finding(frame: int, rule: str, severity: str, expected: str, got: str) -> dict[str, Any]:
    return {
        "frame": frame,
        "rule": rule,
        "severity": severity,
        "flow": None,
        "expected": expected,
        "got": got,
    }


FINDINGS = [
    finding(3, "PSN-02", "must", "PSN 1", "</script><b>7</b> & more"),
    finding(9, "ETH-04", "should", "0000", "0100"),
    finding(9, "BTH-03", "info", "1", "changes"),
    finding(14, "PSN-02", "must", "PSN 2", "8"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    driver = start_browser()
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "ladder.html"
    frames = frames_of(RC_ONLY.frames())
    text = page_of(frames, FINDINGS, counterparts_of(RC_ONLY), title=TITLE, note="cut")
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: webdriver.Chrome, file: Path) -> Opened:
    return Opened(browser, file)


def stored(name: str) -> list[Frame]:
    return [
        Frame(each.number, each.time_ns, each.frame, each.full_size)
        for each in reader.read(CAPTURES / name)
    ]


@pytest.mark.parametrize("name", ["conversation", "send_rnr", "write_lost"])
def test_captions_are_those_of_the_terminal(
    browser: webdriver.Chrome, tmp_path: Path, name: str
) -> None:
    if name == "conversation":
        frames, pairs = frames_of(RICH.frames())[:200], counterparts_of(RICH)
    else:
        frames, pairs = stored(f"{name}.pcapng.gz")[:200], {}
    path = tmp_path / "page.html"
    path.write_text(page_of(frames, counterparts=pairs), encoding="utf-8")
    page = Opened(browser, path, TALL)
    page.one("#folding").click()
    told = [caption(step) for step in tell(frames, pairs)]
    drawn = page.rows(len(told))
    assert [text.split("  ")[-1] for text in drawn] == told
    assert page.browser.get_log("browser") == []


def test_the_overview_counts_and_names(opened: Opened) -> None:
    steps = story(RC_ONLY)
    summary = opened.one("#summary").text
    assert summary.startswith(f"{len(steps)} RoCE packets")
    assert summary.endswith("findings: 2 must, 1 should, 1 info · cut")
    assert opened.one("h1").text == TITLE
    assert len(opened.texts("#groups > li")) == 3
    assert "follows from PSN-02: a reason" in opened.texts("#groups > .beneath")[0]
    flows = {str(step.flow) for step in steps}
    assert {text.split(": ")[1] for text in opened.texts("#flows td button")} == flows
    assert opened.browser.get_log("browser") == []


def test_a_group_leads_to_its_packets_and_a_packet_to_its_group(opened: Opened) -> None:
    group = opened.one("#groups summary")
    assert "</script><b>7</b> & more" in group.text
    group.click()
    opened.wait("return document.querySelector('#groups .frames button')")
    links = opened.browser.find_elements(By.CSS_SELECTOR, "#groups .frames button")
    assert [link.text for link in links] == ["frame 3", "frame 14"]
    links[1].click()
    opened.comes_to(14)
    assert "PSN-02: expected PSN 2, got 8" in opened.detail(14)
    group.click()
    opened.one("#detail .found button").click()
    assert opened.run("return document.activeElement.closest('li')?.id") == "group-0"
    assert opened.run("return document.querySelector('#group-0 details').open")
    assert opened.texts(".row.chosen .marks") == ["PSN-02"]


def test_the_keyboard_is_enough(opened: Opened) -> None:
    first = opened.chosen
    opened.press("j", "j", Keys.ARROW_DOWN, "k")
    steps = story(RC_ONLY)
    opened.press(Keys.ENTER)
    opened.detail(opened.chosen)
    assert opened.chosen > first
    assert opened.run("return document.activeElement.id") == "list"
    opened.press("n")
    opened.comes_to(3, 9)
    opened.press(Keys.END)
    opened.comes_to(steps[-1].number)
    opened.detail(steps[-1].number)
    opened.press(Keys.ESCAPE)
    assert not opened.one("#detail").is_displayed()
    opened.press("/", "again", Keys.ENTER)
    assert opened.run("return document.activeElement.id") == "list"
    opened.press(Keys.ESCAPE)
    assert opened.one("#filter").get_attribute("value") == ""
    opened.press("?")
    assert opened.run("return document.querySelector('#help').open")
    opened.press(Keys.ESCAPE)


@pytest.mark.parametrize(
    ("words", "holds"),
    [
        ("flow:0", lambda s, first: s.flow == first),
        ("-flow:0", lambda s, first: s.flow != first),
        ("ack", lambda s, _: "ACK" in caption(s)),
        ("frame:5-12", lambda s, _: 5 <= s.number <= 12),
        ("psn:0-2", lambda s, _: s.psn is not None and 0 <= s.psn <= 2),
        ("finding", lambda s, _: s.number in (3, 9, 14)),
        ("PSN-02", lambda s, _: s.number in (3, 14)),
        ("again", lambda s, _: s.copy > 0),
        ("middle frame:1-40", lambda s, _: "MIDDLE" in caption(s) and s.number <= 40),
    ],
)
def test_a_filter_shows_what_it_says(opened: Opened, words: str, holds: Any) -> None:
    steps = story(RC_ONLY)
    wanted = [step for step in steps if holds(step, steps[0].flow)]
    opened.filter(words)
    told = f"{len(wanted)} of {len(steps)} packet"
    assert opened.one("#shown").text.startswith(told)


def test_runs_of_middles_are_folded_and_unfolded(browser: webdriver.Chrome, tmp_path: Path) -> None:
    frames = frames_of(LONG.frames())
    steps = tell(frames)
    plain = [s.row is not None and s.row.position is Position.MIDDLE for s in steps]
    path = tmp_path / "page.html"
    path.write_text(page_of(frames), encoding="utf-8")
    page = Opened(browser, path, TALL)
    assert any(plain)
    folded = page.texts(".row.fold .caption")
    assert folded and all("\u00d7" in text for text in folded)
    inside = sum(int(text.split(" ")[0].replace(",", "")) for text in folded)
    shown = len(page.texts(".row"))
    assert shown + inside - len(folded) == len(steps)
    page.one(".row.fold").click()
    page.wait(f"return document.querySelectorAll('.row.fold').length === {len(folded) - 1}")


def test_a_packet_is_opened_field_by_field(browser: webdriver.Chrome, tmp_path: Path) -> None:
    frames = [f for f in frames_of(RICH.frames()) if len(f.data) > 60][:40]
    path = tmp_path / "page.html"
    path.write_text(page_of(frames), encoding="utf-8")
    page = Opened(browser, path)
    page.one("#folding").click()
    page.one("#list").send_keys(Keys.HOME, Keys.ENTER)
    for step in tell(frames):
        page.detail(step.number)
        fields = dict(
            page.run(
                """return [...document.querySelectorAll('#detail details li')].map(line =>
                   [line.closest('details').querySelector('summary').textContent.split(' ')[0] + '.'
                    + line.firstChild.textContent, line.lastChild.textContent])"""
            )
        )
        bth = step.packet.bth
        assert fields["BTH.PSN"] == f"{bth.psn} ({bth.psn:#08x})"
        assert fields["BTH.Destination QP"] == f"{bth.dest_qpn:#08x}"
        assert fields["BTH.AckReq"] == str(int(bth.ack_req))
        assert fields["UDP.Source port"] == str(step.packet.udp_sport)
        assert step.flow.source in (fields.get("IPv4.Source"), fields.get("IPv6.Source"))
        assert fields["ICRC.4 bytes"] == step.packet.icrc.hex()
        if step.packet.reth:
            assert fields["RETH.Virtual address"] == f"{step.packet.reth.address:#018x}"
            assert fields["RETH.DMA length"] == str(step.packet.reth.length)
        if step.packet.aeth:
            assert fields["AETH.MSN"] == str(step.packet.aeth.msn)
        page.press("j")


def test_psns_are_plotted_and_can_be_zoomed(opened: Opened) -> None:
    requests = [step for step in story(RC_ONLY) if step.kind in (Kind.REQUEST, Kind.RESPONSE)]
    label = "return document.querySelector('#plot').getAttribute('aria-label')"
    assert f"{len(requests)} packets" in opened.wait(label)
    opened.one("#zoom-in").click()
    opened.wait(f"{label.replace('return', 'return !')}.includes(' {len(requests)} packets')")
    opened.one("#plot").send_keys("0")
    opened.wait(f"{label}.includes(' {len(requests)} packets')")
    opened.one("#plotted option[value='0']").click()
    opened.wait(f"{label}.includes(' > ')")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_fits_and_is_painted(
    browser: webdriver.Chrome, file: Path, size: tuple[int, int], dark: bool
) -> None:
    page = Opened(browser, file, size, dark=dark)
    name = f"page-{size[0]}-{'dark' if dark else 'light'}"
    page.photograph(name)
    wide = "return document.documentElement.scrollWidth <= innerWidth"
    assert page.run(wide)
    tops = page.run(
        "return ['#findings', '#flows', '#psns', '#packets'].map(id =>"
        " document.querySelector(id).getBoundingClientRect().top)"
    )
    assert tops == sorted(tops)
    painted = """const canvas = document.querySelector('#plot');
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        return new Set(new Uint32Array(data.buffer)).size"""
    assert page.run(painted) > 4
    page.one(".row").click()
    page.wait("return document.querySelector('#detail h3')")
    page.photograph(f"{name}-open")
    assert page.run(wide)
    chosen = """const row = document.querySelector('.row.chosen').getBoundingClientRect();
        return document.elementFromPoint(row.left + 20, row.top + 10)?.closest('.row') !== null"""
    assert page.wait(chosen)


def test_the_page_asks_for_nothing_outside_and_lets_nothing_else_run() -> None:
    text = page_of(frames_of(RC_ONLY.frames()), FINDINGS, title="<script>alert(1)</script>")
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", text)
    assert "http:" not in text and "https:" not in text
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    assert "<script>alert" not in text and "</script><b>" not in text
