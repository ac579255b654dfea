# SPDX-License-Identifier: BSD-2-Clause
"""The reference endpoint in lockstep, at the narrow and at the wide data path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from endpoint_bench import Bench, open_bench

WIDTHS = [pytest.param(width, marks=pytest.mark.sim) for width in (64, 512)]


@pytest.fixture(params=WIDTHS, ids=lambda width: f"{width}b")
def width(request: pytest.FixtureRequest) -> int:
    """Bits of every stream."""
    return int(request.param)


@pytest.fixture
def bench(width: int) -> Iterator[Bench]:
    """A freshly started endpoint."""
    with open_bench(width) as opened:
        yield opened
