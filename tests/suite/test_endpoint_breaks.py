# SPDX-License-Identifier: BSD-2-Clause
"""A wrapper of a responder with one thing broken: the first told names the port or the field."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import run
from hanging_device import BREAKS, LATER_BREAKS, hanging_device

from roceproof.conformance.runner.connectivity import check_connectivity
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.dpi import load_manifest

pytestmark = [pytest.mark.sim, pytest.mark.slow]
WHAT_TELLS = "(responder or requester_headers) and not storm and not random"


@pytest.mark.parametrize("name", BREAKS)
def test_the_first_question_names_it(name: str, tmp_path: Path) -> None:
    manifest = load_manifest(hanging_device(tmp_path, BREAKS[name]))
    checks = check_connectivity(HdlFactory(manifest), seed=1)
    told = next(check.words for check in checks if check.outcome == "failed")
    assert BREAKS[name].told in told.splitlines()[0]


@pytest.mark.parametrize("name", LATER_BREAKS)
def test_the_first_finding_names_it(name: str, tmp_path: Path) -> None:
    manifest = hanging_device(tmp_path, LATER_BREAKS[name])
    words = ["--target", "hdl", "--dut", str(manifest), "--suite", "smoke", "-k", WHAT_TELLS]
    code, document, _ = run(tmp_path / "out", *words)
    assert code == 1
    assert LATER_BREAKS[name].told in document["findings"][0]["sentence"]
