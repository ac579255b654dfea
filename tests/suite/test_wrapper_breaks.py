# SPDX-License-Identifier: BSD-2-Clause
"""A wrapper with one thing broken: the first that is told of it names the stream or the field."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from own_cases import COMMAND
from wrapper_breaks import BREAKS, broken

from roceproof.conformance.runner.connectivity import check_connectivity
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.dpi import load_manifest

pytestmark = pytest.mark.sim
_FEW = ["pl_tready low", "own qpn sent"]
_MANY = [name for name in BREAKS if name not in _FEW]
_EVERY = 6
"""One of so many is in `make test-whole`."""


@pytest.mark.parametrize("name", _FEW)
def test_a_device_that_sends_nothing_right_is_told_by_its_stream_or_field(
    name: str, tmp_path: Path
) -> None:
    (check,) = check_connectivity(HdlFactory(load_manifest(broken(tmp_path, name))), seed=1)
    assert re.search(BREAKS[name].named, check.words.splitlines()[0])


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if number % _EVERY else pytest.mark.whole)
        for number, name in enumerate(_MANY)
    ],
)
def test_the_first_finding_names_what_is_broken(name: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["--suite", "smoke", "--no-guest", "--plans", "2", "-j1", "--out", out]
    subprocess.run(
        [COMMAND, "gate", broken(tmp_path, name), *words], check=False, capture_output=True
    )
    document = json.loads((out / "gate.json").read_text())
    told = [finding["sentence"] for finding in document["findings"]]
    if not told:
        failed = [each for each in document["connectivity"] if each["outcome"] == "failed"]
        told = [each["words"].partition("\n")[0] for each in failed]
    assert re.search(BREAKS[name].named, told[0]), told
