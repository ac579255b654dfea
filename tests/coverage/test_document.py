# SPDX-License-Identifier: BSD-2-Clause
"""coverage.json: kept, read and merged, and told in one line what is wrong with one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from roceproof.conformance.coverage.document import Coverage, CoverageFileError, merge_files
from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.targets.capability import Capability

NARROW = Scope(capabilities=frozenset({Capability.RC}), path_mtus=(256, 1024), qps=16, widths=(64,))


def coverage(scope: Scope = NARROW, *, device: str = "it", hits: int = 1) -> Coverage:
    made = Coverage("hdl", device, scope, [{"suite": "smoke", "seed": hits}])
    made.counts.add("config.command", "RC/reset", hits)
    return made


def test_files_of_one_device_merge_over_runs_and_widths(tmp_path: Path) -> None:
    coverage().write(tmp_path / "a.json")
    coverage(replace(NARROW, widths=(512,)), hits=2).write(tmp_path / "b.json")
    merged = merge_files([tmp_path / "a.json", tmp_path / "b.json"])
    assert merged.scope.widths == (64, 512)
    assert merged.counts.hits("config.command") == {"RC/reset": 3}
    assert [run["seed"] for run in merged.runs] == [1, 2]
    assert Coverage.read(tmp_path / "a.json").to_json() == coverage().to_json()


@pytest.mark.parametrize(
    "other", [coverage(device="another"), coverage(replace(NARROW, qps=8))], ids=["name", "claims"]
)
def test_other_devices_do_not_merge(other: Coverage) -> None:
    with pytest.raises(CoverageFileError, match="do not add up: merge runs over one device"):
        coverage().merged(other)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": 1}', '{"schema": 2}', '{"schema": 1, "claims": []}']
)
def test_what_is_no_coverage_is_told_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(CoverageFileError) as raised:
        Coverage.read(path)
    assert str(raised.value).startswith(f"{path} holds no coverage")
    assert "\n" not in str(raised.value)
