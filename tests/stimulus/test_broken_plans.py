# SPDX-License-Identifier: BSD-2-Clause
"""A plan that breaks a rule by itself accuses no device, ends no night, and is no pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.regression import soak as soak_command
from roceproof.conformance.runner import plan_player
from roceproof.conformance.runner.judging.bench_law import CaseBreaks
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.runner.soak import Chunk, Found, play
from roceproof.conformance.stimulus import run_plan as trial
from roceproof.conformance.stimulus.drawing.weights import Weights
from roceproof.conformance.stimulus.run_plan import Played, try_seed
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.model.device import ModelFactory

OPTIONS = Options(target="model", dut=REFERENCE_DUT)
BROKE = "seed 7: the case itself breaks MTU-01"


def test_the_other_plans_of_a_chunk_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_plan: Any, seed: int, *_: Any, **__: Any) -> None:
        if seed == 7:
            raise CaseBreaks("the case itself breaks MTU-01")

    monkeypatch.setattr(plan_player, "try_plan", broken)
    found = play(Chunk(options=OPTIONS, width=None, first=6, count=3, weights=Weights()))
    assert (found.seeds, found.broke, found.findings) == (3, [BROKE], [])


def test_a_failing_plan_is_kept_though_a_smaller_one_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole: list[Any] = []

    def plays(plan: Any, *_: Any) -> Played:
        whole.append(whole[0] if whole else plan)
        if plan != whole[0]:
            raise RoceproofError("a step lacks")
        return Played(CaseFailed("want 1"))

    monkeypatch.setattr(trial, "played", plays)
    finding = try_seed(1, ModelFactory().claims, lambda *_: None)  # type: ignore[arg-type, return-value]
    assert finding is not None and finding.plan == whole[0] and len(whole) > 2


def test_a_night_says_so_and_is_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def one(night: Any, *_: Any) -> None:
        night.take(Found(width=None, seeds=3, broke=[BROKE]))

    monkeypatch.setattr(soak_command.Night, "run", one)
    wanted = soak_command.Soak(
        **{"target": "model", "dut": None, "widths": (), "minutes": 1, "seed": 1, "mutant": None},
        **{"out": tmp_path, "jobs": 1, "quiet": True},
    )
    assert soak_command.run_soak(wanted) == 2
    assert f"a plan broke by itself, whatever the device: {BROKE}" in capsys.readouterr().err
