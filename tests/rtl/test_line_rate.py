# SPDX-License-Identifier: BSD-2-Clause
"""The page of line rates says what the endpoint does: some of its figures, measured again."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.dpi import Service
from roceproof.dpi.manifest.dut import STREAM, XGMII

sys.path.insert(0, str(REPOSITORY / "bench"))
from line_rate import LINES, MESSAGES, ON_PAGE, PAGE, Load, device, measure

CLAIMED = [(STREAM, 64), (STREAM, 512), (XGMII, 64)]
WANTED_FROM = 16384
"""From this length on, less than the whole wire is a fault at the widths that are claimed."""


def rows_of_page(page: Path) -> dict[tuple[str, ...], list[float]]:
    """Wire, width, speed and service, each with its figures by length of message."""
    table = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.read_text().splitlines()
        if line.startswith("| ")
    ]
    return {tuple(cells[:4]): [float(cell) for cell in cells[4:]] for cells in table[2:]}


@pytest.mark.sim
@pytest.mark.skipif(
    shutil.which("verilator") is None, reason="verilator is not installed: run `make setup`"
)
@pytest.mark.parametrize("service", [Service.UC, Service.RC], ids=lambda service: service.name)
@pytest.mark.parametrize(("wire", "width"), CLAIMED)
def test_the_page_is_true(wire: str, width: int, service: Service) -> None:
    rows = rows_of_page(PAGE)
    for message in (1, 256, 16384):
        pace = measure(device(wire, width), Load(width, service, ON_PAGE, message))
        for line in (line for line in LINES if (line.wire, line.width) == (wire, width)):
            row = pace.row(line, Load(width, service, ON_PAGE, message))
            told = rows[wire, str(width), str(line.speed_gbps), service.name]
            assert float(f"{row['ratio']:.3f}") == told[MESSAGES.index(message)]


def test_long_messages_fill_the_wire_at_the_widths_that_are_claimed() -> None:
    for (wire, width, *_), figures in rows_of_page(PAGE).items():
        if (wire, int(width)) in CLAIMED:
            assert min(figures[MESSAGES.index(WANTED_FROM) :]) >= 0.999
