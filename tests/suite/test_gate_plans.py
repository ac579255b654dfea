# SPDX-License-Identifier: BSD-2-Clause
"""All random plans of the full suites, of which `make test-whole` plays a quarter."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import ROOT, assert_passes

from roceproof.common.paths import XGMII_DUT

pytestmark = [pytest.mark.sim, pytest.mark.slow, pytest.mark.long]

RESPONDER = str(ROOT / "rtl" / "responder.toml")


@pytest.mark.parametrize(
    ("device", "cases", "least"),
    [
        pytest.param((), "requester", 30, id="endpoint"),
        pytest.param(("--dut", RESPONDER), "responder", 48, id="responder"),
        pytest.param(("--dut", str(XGMII_DUT)), "requester", 15, id="MAC"),
        pytest.param(("--target", "model"), "random", 40, id="model"),
    ],
)
def test_every_random_plan_passes(
    device: tuple[str, ...], cases: str, least: int, tmp_path: Path
) -> None:
    words = ["-k", f"{cases} and nobody_has_thought_of", "--suite", "full"]
    assert_passes(tmp_path, *device, *words, cases=least)
