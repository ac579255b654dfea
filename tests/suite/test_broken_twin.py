# SPDX-License-Identifier: BSD-2-Clause
"""A device with limits and with faults: each fault is one finding, and no limit is."""

from __future__ import annotations

from pathlib import Path

import pytest
from broken_twin import broken_twin
from gates import outcomes, run

pytestmark = [pytest.mark.sim, pytest.mark.slow]

WAYS = ["--suite", "smoke"]


def test_what_is_wrong_beside_the_known_is_told_apart_on_one_screen(tmp_path: Path) -> None:
    dut = broken_twin(tmp_path, waives="length_multiple = 4")
    code, document, _ = run(tmp_path / "out", "--dut", str(dut), *WAYS)
    assert code == 1
    assert len(outcomes(document, "passed")) > 150
    (waiver,) = document["waivers"]
    assert waiver["limits"] == "length_multiple = 4"
    assert waiver["waived"] > 5
    assert waiver["finding"] is None
    stop, completion, length = [finding["sentence"] for finding in document["findings"]]
    assert stop.startswith("stop: a ") and " never completed" in stop
    assert " posted before it " in completion
    assert length.startswith("show: ip_length is wrong (want ")
    overtaken = document["findings"][1]["cases"]
    assert not [case for case in overtaken if case.endswith("-RC]")]


def test_what_is_not_said_to_be_known_is_the_first_finding_and_hides_no_more(
    tmp_path: Path,
) -> None:
    code, document, _ = run(tmp_path / "out", "--dut", str(broken_twin(tmp_path)), *WAYS)
    assert code == 1
    first = document["findings"][0]
    assert "of a length that is no multiple of 4" in first["sentence"]
    assert "pad is always 0" in first["sentence"]
    assert first["count"] > 150
