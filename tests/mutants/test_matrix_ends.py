# SPDX-License-Identifier: BSD-2-Clause
"""The matrix ends with all that it has begun, and says how many mutants found an expected rule."""

from __future__ import annotations

import os
import signal
from multiprocessing import active_children

import pytest

from roceproof.conformance.matrix.__main__ import _report
from roceproof.conformance.matrix.workers import workers


def _begin(fd: int) -> None:
    os.write(fd, b"!")
    signal.pause()


def test_what_workers_are_at_ends_with_whoever_has_begun_it() -> None:
    told, tell = os.pipe()
    with pytest.raises(KeyboardInterrupt), workers(1) as pool:
        pool.submit(_begin, tell)
        assert os.read(told, 1) == b"!"
        raise KeyboardInterrupt
    assert active_children() == []


def test_what_finds_no_expected_rule_is_listed_behind_the_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = {"kind": "rtl", "should_be_explained_as": [], "explained_as": [], "expected": ["IP-01"]}
    rows = [{**row, "killed_by": ["IP-01"]}, {**row, "killed_by": ["LIVE-01"]}]
    _report(rows, ["rtl:one lives: expected ['IP-01'], found by LIVE-01"], seconds=2)
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("1 of 2 mutants (2 rtl, ")
    assert told[1:] == [
        "1 to look at:",
        "  rtl:one lives: expected ['IP-01'], found by LIVE-01",
    ]
