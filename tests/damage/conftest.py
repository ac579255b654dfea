# SPDX-License-Identifier: BSD-2-Clause
"""A cache of the test's own, and what happens to one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache"
    monkeypatch.setenv("ROCEPROOF_CACHE", str(place))
    return place
