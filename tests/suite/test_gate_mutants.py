# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate: it finds faults of every class, by a rule that is expected to.

`make test` finds two mutants of the model, and measures by three faults what a few cases reach;
`make test-whole` finds the first mutant of each theme of rtl/mutants that proves checks;
`make mutants`, in `make test-full`, does all.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from roceproof.conformance.mutants.rtl import MUTANTS, load_mutants

ROOT = Path(__file__).resolve().parents[2]
MEASURED_BY = ["--width", "64", "-k", "requester_lengths and 4096"]
ON_THE_MODEL = ["wire:tver-not-read", "model:rc-immediate-swapped"]

pytestmark = [pytest.mark.sim, pytest.mark.long]


def first_of_each_theme() -> list[str]:
    mutants = load_mutants().mutants
    firsts = {mutant.theme: mutant.id for mutant in reversed(mutants) if not mutant.kind}
    measuring = {mutant.theme for mutant in mutants if mutant.kind}
    assert firsts.keys() | measuring == {path.stem for path in MUTANTS.glob("*.toml")}
    return sorted(f"rtl:{name}" for name in firsts.values())


@pytest.mark.parametrize("kind", [pytest.param("rtl", marks=pytest.mark.whole), "model"])
def test_a_mutant_of_every_class_is_killed_by_a_rule_that_is_expected_to(
    kind: str, tmp_path: Path
) -> None:
    mutants = first_of_each_theme() if kind == "rtl" else ON_THE_MODEL
    command = [sys.executable, "-m", "roceproof.conformance.matrix", "-q", "-j1"]
    done = subprocess.run(
        [*command, "--brief", "--out", tmp_path, *mutants],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "part.json").read_text())["mutants"]
    assert sorted(row["id"] for row in rows) == sorted(mutants)
    assert all(set(row["expected"]) & set(row["killed_by"]) for row in rows)


@pytest.mark.whole
def test_a_measurement_tells_what_is_never_reached_missed_and_noticed(tmp_path: Path) -> None:
    """Cases of the PSN reach a carry and notice it; they reach no ping and no upper context."""
    faults = ["cross-multiple-of-4096", "value-ping-ttl-above-64", "value-address-of-56-bits"]
    command = [sys.executable, "-m", "roceproof.conformance.matrix.measure", "-q", "-j1"]
    done = subprocess.run(
        [*command, "--out", tmp_path, *MEASURED_BY, *faults],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((tmp_path / "reach.json").read_text())
    rows = {row["id"]: row for row in document["faults"]}
    noticed, unreached, address = (rows[name] for name in faults)
    assert noticed["reached"] and noticed["full"] and noticed["noticed"]
    assert not unreached["reached"] and not unreached["noticed"]
    assert address["reached"] and address["full"]
    assert document["rates"]["all"]["faults"] == len(faults)
    assert "never reached:\n  value-ping-ttl-above-64\n" in done.stdout
