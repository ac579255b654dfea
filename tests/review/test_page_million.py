# SPDX-License-Identifier: BSD-2-Clause
"""A capture of a million frames opens and scrolls; the figures are printed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from struct import pack

import pytest
from browser import start_browser
from pages import Opened
from pcap_writer import write_pcap
from selenium.webdriver.common.keys import Keys

from roceproof.conformance.review.ladder_page import page
from roceproof.conformance.review.page_source import load_page
from roceproof.conformance.review.story_source import Part
from roceproof.conformance.wire import icrc

FRAMES = 1_000_000
MESSAGE = 64
_IP = b"\x45\0\1\x3c\0\0\x40\0\x40\x11\x25\xaf\x0a\0\0\1\x0a\0\0\2"
_HEAD = bytes(range(2, 8)) + bytes(range(12, 18)) + b"\x08\0" + _IP + b"\xc0\0\x12\xb7\1\x28\0\0"


def transfer(count: int) -> Iterator[tuple[int, bytes]]:
    """WRITEs of 64 packets over four QPs, taken in turn."""
    order = Random(1)
    body = order.randbytes(256)
    for number in range(count):
        qp, psn = number // 40 % 4, number // 160 * 40 + number % 40
        place = psn % MESSAGE
        opcode = 6 if place == 0 else 8 if place == MESSAGE - 1 else 7
        reth = pack(">QII", psn * 256, 7, 256 * MESSAGE) if place == 0 else b""
        bth = pack(">BBHII", opcode, 0x40, 0xFFFF, 0x100 + qp, psn)
        lengths = len(bth + reth + body) + 4
        frame = bytearray(_HEAD + bth + reth + body + bytes(4))
        frame[16:18], frame[38:40] = (
            (lengths + 28).to_bytes(2, "big"),
            (lengths + 8).to_bytes(2, "big"),
        )
        frame[-4:] = icrc.compute(bytes(frame)) if number % 10_000 else bytes(4)
        yield number * 500, bytes(frame)


def built(folder: Path, count: int) -> tuple[Path, float]:
    capture, file = folder / "capture.pcap", folder / "page.html"
    write_pcap(capture, transfer(count))
    begin = time.monotonic()
    story = load_page(capture, qps=None, part=Part(), advance=lambda *_: None)
    with file.open("w", encoding="utf-8") as target:
        target.writelines(page(story.columns, story.marks, story.counterparts, title="large"))
    return file, time.monotonic() - begin


@pytest.mark.parametrize("count", [20_000, pytest.param(FRAMES, marks=pytest.mark.slow)])
def test_a_long_capture_opens_and_scrolls(
    tmp_path: Path, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    file, seconds = built(tmp_path, count)
    browser = start_browser()
    try:
        opened = Opened(browser, file)
        opening = opened.run("return performance.getEntriesByName('opened')[0].startTime")
        opened.one("#folding").click()
        assert f"{count:,} packets" in opened.one("#shown").text
        scrolls = opened.run(_SCROLL)
        opened.one("#list").send_keys(Keys.END)
        opened.comes_to(count)
        assert opened.run("return document.querySelectorAll('.row').length") < 100
        with capsys.disabled():
            print(
                f"\n{count:,} frames: built in {seconds:.1f} s, {file.stat().st_size / 1e6:.1f} MB,"
                f" opened in {opening / 1e3:.2f} s, {scrolls['frames']} windows drawn"
                f" in {scrolls['ms'] / 1e3:.2f} s of scrolling, longest {scrolls['worst']:.0f} ms"
            )
    finally:
        browser.quit()
    assert opening < 10_000
    assert scrolls["frames"] >= 60


# A window for each of so many movements, small and large, each waited for.
_SCROLL = """
const list = document.querySelector('#list');
const begin = performance.now();
let frames = 0, worst = 0;
for (let i = 0; i < 120; i++) {
  const before = performance.now();
  list.scrollTop += i % 4 ? 90 : list.scrollHeight / 40;
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  if (document.querySelector('.row')) frames++;
  worst = Math.max(worst, performance.now() - before);
}
return { frames, worst, ms: performance.now() - begin };
"""
