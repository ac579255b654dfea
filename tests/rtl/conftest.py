# SPDX-License-Identifier: BSD-2-Clause
"""The benches of modules and of the responder, narrow and wide, compiled once each."""

from __future__ import annotations

import functools
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from module_bench import Bench, build
from responder_device import build_bench
from responder_trial import Trial

WIDTHS = [
    pytest.param(64, marks=[pytest.mark.sim, pytest.mark.slow]),
    pytest.param(512, marks=pytest.mark.sim),
]

build_once = functools.cache(build)


@pytest.fixture(params=WIDTHS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    if shutil.which("verilator") is None:
        pytest.skip("verilator is not installed: run `make setup`")
    return Bench(build_once(request.param), request.param, tmp_path)


@pytest.fixture(scope="module", params=[pytest.param(64, marks=pytest.mark.slow), 512])
def responder_bench(request: pytest.FixtureRequest) -> tuple[Path, int]:
    return build_bench(request.param), request.param


@pytest.fixture
def trial(responder_bench: tuple[Path, int], tmp_path: Path) -> Trial:
    return Trial(responder_bench, tmp_path)
