# SPDX-License-Identifier: BSD-2-Clause
"""Devices with limits in hardware: asked beyond them they die, within them they pass.

Each is skipped what it cannot do and nothing else: no case is lost that the endpoint passes, but
for a reason of the twin's own.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from gates import outcomes, run
from twin_manifests import TWINS, manifest_of

from roceproof.common.paths import REFERENCE_DUT

pytestmark = [pytest.mark.sim, pytest.mark.slow]

BEYOND = {  # one limit of the small and slow one that is not said
    "lengths": ("length_multiple = 4\n", "asked for"),
    "depth": ("outstanding_messages = 4\n", "messages outstanding"),
    "headers": ("hop_limit = 64\n", "a header that is fixed"),
    "path MTU": ("path_mtus = [1024]\n", "another path MTU"),
}


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory) -> Counter[str]:
    """How often the endpoint skips cases of smoke, by the reason without the device's name."""
    out = tmp_path_factory.mktemp("endpoint")
    dut = str(REFERENCE_DUT)
    code, document, told = run(out, "--dut", dut, "--width", "64", "--suite", "smoke")
    assert code == 0, told
    return skips(document, "reference")


def skips(document: dict[str, Any], device: str) -> Counter[str]:
    found = Counter(case["reason"] for case in outcomes(document, "skipped"))
    return Counter({reason.replace(device, "", 1): count for reason, count in found.items()})


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_passes_smoke_within_its_limits(
    tmp_path: Path, name: str, endpoint: Counter[str]
) -> None:
    dut = str(manifest_of(name, tmp_path))
    code, document, told = run(tmp_path / "out", "--dut", dut, "--suite", "smoke")
    assert code == 0, told
    found, reasons = skips(document, name), TWINS[name].reasons
    own = {
        reason: [each for each in reasons if each in reason]
        for reason, count in found.items()
        if count > endpoint[reason]
    }
    assert all(own.values()), own
    assert {each for told_by in own.values() for each in told_by} == set(reasons)


@pytest.mark.parametrize("name", TWINS)
def test_the_model_passes_smoke_within_the_limits_of_a_twin(tmp_path: Path, name: str) -> None:
    words = ["--target", "model", "--dut", str(manifest_of(name, tmp_path)), "--suite", "smoke"]
    code, _, told = run(tmp_path / "out", *words)
    assert code == 0, told


@pytest.mark.parametrize("limit", BEYOND)
def test_a_limit_that_is_not_said_is_found(tmp_path: Path, limit: str) -> None:
    line, word = BEYOND[limit]
    dut = manifest_of("small-and-slow", tmp_path, without=line)
    chosen = "requester_lengths or requester_messages"
    code, document, _ = run(tmp_path / "out", "--dut", str(dut), "--suite", "smoke", "-k", chosen)
    assert code == 1
    failing = outcomes(document, "failed") + outcomes(document, "not_reached")
    assert any(word in case["head"] for case in failing)
