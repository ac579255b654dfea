# SPDX-License-Identifier: BSD-2-Clause
"""Takes the pictures of the documents from one real run: the gate over a device with three faults.

make pictures
"""

import html
import shutil
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

from selenium.webdriver import Chrome

from roceproof.common.paths import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests"))
from browser import resize, start_browser

DEVICE = "examples/uc_writer_buggy/dut.toml"
WORK = REPOSITORY / "build" / "pictures"
PICTURES = REPOSITORY / "docs" / "pictures"
CASE = "requester_psn.the_first_request_*-16777215-0-UC.pcapng"
WIDTH = 1000
MOST_BYTES = 150_000
FIELDS = ["frame.number", "_ws.col.Info", "roceproof.psn.relative", "roceproof.icrc"]
FIELDS += ["roceproof.finding"]

STYLE = "<style>body{font:13px monospace} td{padding:2px 10px; white-space:nowrap}</style>"


def roceproof(*words: str | Path, code: int) -> None:
    """Run the command, which has to end with this code."""
    done = subprocess.run(
        [Path(sys.executable).parent / "roceproof", *words],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != code:
        raise SystemExit(f"pictures: roceproof {words[0]}: exit {done.returncode}\n{done.stderr}")


def take(browser: Chrome, page: Path, name: str, height: int) -> None:
    """Keep the top of a page."""
    resize(browser, (WIDTH, height))
    browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    browser.get(page.as_uri())
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    data = b64decode(taken["data"])
    if len(data) > MOST_BYTES:
        raise SystemExit(f"pictures: {name}.png has {len(data)} bytes; at most {MOST_BYTES}")
    (PICTURES / f"{name}.png").write_bytes(data)


def dissected(capture: Path, page: Path) -> None:
    """What tshark shows with the plugin, as a page."""
    plugin = REPOSITORY / "pcap" / "wireshark" / "roceproof.lua"
    command = ["tshark", "-r", str(capture), "-X", f"lua_script:{plugin}", "-c", "8"]
    command += ["-d", "udp.port==4791,infiniband", "-T", "fields", "-E", "header=y"]
    text = subprocess.run(
        [*command, *(word for field in FIELDS for word in ("-e", field))],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [line.split("\t") for line in text.splitlines()]
    cells = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    page.write_text(f"<!doctype html><meta charset=utf-8>{STYLE}<table>{cells}</table>")


def main() -> None:
    """Run the gate, draw what it left, and take the pictures."""
    WORK.mkdir(parents=True, exist_ok=True)
    PICTURES.mkdir(exist_ok=True)
    roceproof("gate", DEVICE, "--suite", "smoke", "--no-guest", "--out", WORK, code=1)
    (found,) = WORK.glob(CASE)
    capture = WORK / "psn.pcapng"
    shutil.copy(found, capture)
    roceproof("ladder", "-o", WORK / "ladder.html", capture, code=0)
    dissected(capture, WORK / "wireshark.html")
    browser = start_browser()
    try:
        take(browser, WORK / "gate.html", "gate", 450)
        take(browser, WORK / "ladder.html", "ladder", 700)
        take(browser, WORK / "coverage.html", "coverage", 430)
        take(browser, WORK / "wireshark.html", "wireshark", 210)
    finally:
        browser.quit()


if __name__ == "__main__":
    main()
