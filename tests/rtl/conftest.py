# SPDX-License-Identifier: BSD-2-Clause
"""The module benches at the narrow and at the wide data path, compiled once each."""

from __future__ import annotations

import functools
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from module_bench import Bench, build

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
