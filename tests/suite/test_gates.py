# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate: healthy devices pass it, faulty ones are found and explained."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from judged_kernel import needs_judged_kernel
from own_cases import COMMAND

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
MUTANTS = (
    "rtl:icrc-ttl-unmasked",
    "rtl:psn-per-message",
    "wire:tver-not-read",
    "model:rc-immediate-swapped",
)


def run(out: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
    done = subprocess.run(
        [COMMAND, "test", "--out", out, "--json", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


def outcomes(document: dict[str, Any], outcome: str) -> list[dict[str, Any]]:
    return [case for case in document["cases"] if case["outcome"] == outcome]


@pytest.mark.sim
def test_the_reference_endpoint_passes_the_smoke_suite(tmp_path: Path) -> None:
    code, document, told = run(tmp_path, "--target", "hdl", "--suite", "smoke")
    assert code == 0, told
    assert len(outcomes(document, "passed")) > 50


def test_the_reference_model_passes_the_smoke_suite(tmp_path: Path) -> None:
    code, document, told = run(tmp_path, "--target", "model", "--suite", "smoke")
    assert code == 0, told
    assert len(outcomes(document, "passed")) > 100


@pytest.mark.slow
@pytest.mark.sim
@pytest.mark.parametrize("target", ["model", "hdl", "rxe"])
def test_the_full_suite_finds_nothing_new(target: str, tmp_path: Path) -> None:
    if target == "rxe":
        needs_judged_kernel()
    code, document, told = run(tmp_path, "--target", target, "--suite", "full")
    assert code == 0, told
    assert len(outcomes(document, "passed")) > 400


@pytest.mark.slow
@pytest.mark.sim
@pytest.mark.parametrize("seed", range(2, 22))
def test_another_seed_finds_nothing_either(seed: int, tmp_path: Path) -> None:
    code, _, told = run(tmp_path, "--suite", "smoke", "--seed", str(seed))
    assert code == 0, told


@pytest.mark.rxe
@pytest.mark.xdist_group("rxe")
def test_soft_roce_passes_the_smoke_suite_but_for_its_declared_deviations(tmp_path: Path) -> None:
    needs_judged_kernel()
    code, document, told = run(tmp_path, "--target", "rxe", "--suite", "smoke", "-j1")
    assert code == 0, told
    assert len(outcomes(document, "passed")) > 20


@pytest.mark.sim
def test_a_device_of_another_style_passes_everything_that_it_claims(tmp_path: Path) -> None:
    dut = EXAMPLES / "uc_writer" / "dut.toml"
    code, document, told = run(tmp_path, "--dut", str(dut), "--suite", "full")
    assert code == 0, told
    assert len(outcomes(document, "passed")) > 50


@pytest.mark.sim
def test_the_three_faults_of_its_copy_are_found_and_explained(tmp_path: Path) -> None:
    dut = EXAMPLES / "uc_writer_buggy" / "dut.toml"
    code, document, _ = run(tmp_path, "--dut", str(dut), "--suite", "smoke")
    assert code == 1
    failed = outcomes(document, "failed")
    broken = {rule for case in failed for rule in case["broken"]}
    explained = {name for case in failed for name in case.get("explained", [])}
    assert {"ICRC-02", "PAD-01", "PSN-03"} <= broken
    assert {"S01", "P04"} <= explained


def test_no_must_rule_lacks_a_case() -> None:
    done = subprocess.run(
        [COMMAND, "rules", "--coverage", "--json"], capture_output=True, text=True, check=False
    )
    document = json.loads(done.stdout)
    assert document["missing"] == []
    assert done.returncode == 0


@pytest.mark.sim
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_killed_by_a_rule_that_is_expected_to(mutant: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "roceproof.conformance.matrix"),
            *("-q", "-j1", "--out", tmp_path, mutant),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 of 1 mutants" in done.stdout
