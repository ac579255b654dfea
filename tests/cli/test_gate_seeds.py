# SPDX-License-Identifier: BSD-2-Clause
"""Fresh seeds of a gate: they are told, those that find something are kept, and go first then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gate_documents import case, judged, session

from roceproof.common.errors import RoceproofError
from roceproof.conformance.gate.document import told_seeds
from roceproof.conformance.gate.seeds import Kept, fresh_seed, keep, kept_seeds, place_of
from roceproof.conformance.gate.soak import Soaked, parts_of
from roceproof.conformance.gate.text import print_gate

FRESH = 1_000_000_000


def plan(seed: int, head: str) -> dict[str, Any]:
    return {"seed": seed, "width": 64, "head": head}


def test_one_seed_of_each_kind_of_failure_is_kept_beside_the_manifest(tmp_path: Path) -> None:
    manifest = tmp_path / "dut.toml"
    plans = [plan(7, "want ACK psn=+0; got nothing"), plan(8, "want ACK psn=+3; got nothing")]
    plans.append(plan(9, 'no "end"\n[[x]]'))
    assert [each.seed for each in keep(manifest, [], plans)] == [7, 9]
    kept = kept_seeds(manifest)
    assert [each.seed for each in kept] == [7, 9]
    assert place_of(manifest).name == "dut.seeds.toml"
    assert keep(manifest, kept, plans) == []
    assert [each.seed for each in kept_seeds(manifest)] == [7, 9]


def test_without_a_file_nothing_is_kept_and_one_of_another_shape_is_refused(tmp_path: Path) -> None:
    manifest = tmp_path / "dut.toml"
    assert kept_seeds(manifest) == []
    for text in ("[[seed]]\nseed = -1\nwidth = 64\nfound = 'x'", "seed = 7", "["):
        place_of(manifest).write_text(text)
        with pytest.raises(RoceproofError, match=r"dut\.seeds\.toml"):
            kept_seeds(manifest)


def test_what_is_kept_goes_first_and_fresh_seeds_come_behind_those_that_stay() -> None:
    kept = [Kept(FRESH + 9, 512, "no ACK")]
    assert parts_of([64, 512], plans=8, kept=kept, firsts=[1000, FRESH]) == [
        (512, FRESH + 9, 1),
        *((64, 1000, 6), (64, 1006, 2), (512, 1000, 6), (512, 1006, 2)),
        *((64, FRESH, 6), (64, FRESH + 6, 2), (512, FRESH, 6), (512, FRESH + 6, 2)),
    ]
    assert FRESH <= fresh_seed() < 9 * FRESH


def test_the_summary_says_how_much_was_random_and_of_which_seeds(capsys) -> None:
    told = session(case("test_random", "passed", plans=20), case("test_psn", "passed"))
    document = judged(told, soaked=Soaked(plans=50, kept=2, fresh=FRESH + 5, added=[FRESH + 7]))
    assert document["random"]["plans_of_cases"] == 20
    print_gate(document, out=Path("out"), quiet=False)
    words = " ".join(capsys.readouterr().out.split())
    assert "seed 1; 2 kept seeds first" in words
    for seed in (FRESH + 5, FRESH + 7):
        assert str(seed) in words
    assert "besides 20 in 1 cases of the suite" in words
    assert told_seeds(judged(told)) == "seed 1; besides 20 in 1 cases of the suite"
