# SPDX-License-Identifier: BSD-2-Clause
"""The suite on a responder whose memory is behind an AXI4 bus, with axi4_memory between."""

from __future__ import annotations

from pathlib import Path

import pytest
from faulty_device import suite

pytestmark = [pytest.mark.sim, pytest.mark.slow]

DUT = Path(__file__).parent / "axi4_dut" / "dut.toml"


@pytest.mark.parametrize(
    ("fault", "cases", "code", "words"),
    [
        ("", "responder_memory or responder_read or responder_rc", 0, 'failures="0"'),
        ("early", "into_slow_memory", 1, "region.read"),
    ],
)
def test_what_is_acknowledged_before_the_bus_has_answered_is_found(
    fault: str, cases: str, code: int, words: str, tmp_path: Path
) -> None:
    assert suite(DUT, f"axi_fault={fault}", cases, tmp_path) == code
    assert words in (tmp_path / "junit.xml").read_text()
