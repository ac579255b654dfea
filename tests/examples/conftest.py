# SPDX-License-Identifier: BSD-2-Clause
"""The example transmitters in lockstep, on the bench of the reference endpoint."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "hdl"))
sys.path.insert(0, str(Path(__file__).parent))

from example_bench import Example, check, example_manifest, explain, open_example


@pytest.fixture
def example(tmp_path: Path) -> Iterator[Example]:
    """The healthy device; whatever it does, its capture must be without findings."""
    with open_example(example_manifest("uc_writer"), tmp_path / "capture.pcapng") as opened:
        yield opened
    assert check(opened)["findings"] == []
    assert explain(opened) == []
