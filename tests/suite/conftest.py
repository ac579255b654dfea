# SPDX-License-Identifier: BSD-2-Clause
"""Makes folders of own cases."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the helper modules beside this file

from own_cases import Suite


@pytest.fixture
def suite(tmp_path: Path) -> Callable[[str], Suite]:
    """A folder with the cases of a text."""

    def make(text: str) -> Suite:
        made = Suite(tmp_path)
        made.write(text)
        return made

    return make
