# SPDX-License-Identifier: BSD-2-Clause
"""The faults that measure the stimulus are faults, and their triggers tell when they matter."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import proofs_of_crowds
import proofs_of_requests
import proofs_of_responses
import proofs_of_station
import pytest
from mutant_device import differs, seen
from proofs import PROOFS, Proof

from roceproof.conformance.mutants.rtl import Mutant, load_mutants, reference_mutants
from roceproof.conformance.mutants.triggers import PLUSARG
from roceproof.dpi import Manifest

FILLED_BY = (proofs_of_crowds, proofs_of_requests, proofs_of_responses, proofs_of_station)
QUICK = ("many_refusals", "aliases")


@cache
def faults() -> dict[str, Mutant]:
    return {mutant.id: mutant for mutant in load_mutants().mutants if mutant.kind}


@cache
def manifest() -> Manifest:
    return reference_mutants()


def test_there_are_many_of_each_kind_and_each_is_proved() -> None:
    kinds = Counter(mutant.kind for mutant in faults().values())
    assert sum(kinds.values()) >= 120
    assert min(kinds.values()) >= 10
    assert PROOFS.keys() == faults().keys()


def shown_by(stimulus: str, width: int) -> list[str]:
    return [
        name
        for name, proof in PROOFS.items()
        if (proof.stimulus.__name__, proof.width) == (stimulus, width)
    ]


def check(proof: Proof, tmp_path: Path) -> None:
    """All faults of a stimulus: their triggers hold in the healthy device, and they differ."""
    watched = tmp_path / "reached.txt"
    healthy = seen(manifest(), proof.width, proof.stimulus, plusargs=[f"{PLUSARG}={watched}"])
    reached = {int(line.split()[0]) for line in watched.read_text().splitlines()}
    shown = shown_by(proof.stimulus.__name__, proof.width)
    assert [name for name in shown if faults()[name].number not in reached] == []
    assert [
        name
        for name in shown
        if not differs(
            manifest(),
            proof.width,
            proof.stimulus,
            plusarg=faults()[name].plusarg,
            healthy=healthy,
        )
    ] == []


PLACES = sorted({(proof.stimulus.__name__, proof.width) for proof in PROOFS.values()})
BY_PLACE = {(proof.stimulus.__name__, proof.width): proof for proof in PROOFS.values()}


@pytest.mark.sim
@pytest.mark.parametrize("stimulus", QUICK)
def test_some_faults_differ_where_their_trigger_holds(stimulus: str, tmp_path: Path) -> None:
    check(BY_PLACE[stimulus, 64], tmp_path)


@pytest.mark.sim
@pytest.mark.slow  # the two quickest run in every test
@pytest.mark.parametrize(("stimulus", "width"), PLACES)
def test_every_fault_differs_where_its_trigger_holds(
    stimulus: str, width: int, tmp_path: Path
) -> None:
    check(BY_PLACE[stimulus, width], tmp_path)


@pytest.mark.sim
@pytest.mark.slow
@pytest.mark.parametrize("stimulus", ["lengths", "taking_turns", "rings", "aliases"])
def test_a_fault_whose_trigger_never_holds_does_not_differ(stimulus: str, tmp_path: Path) -> None:
    proof = BY_PLACE[stimulus, 64]
    watched = tmp_path / "reached.txt"
    healthy = seen(manifest(), 64, proof.stimulus, plusargs=[f"{PLUSARG}={watched}"])
    reached = {int(line.split()[0]) for line in watched.read_text().splitlines()}
    assert [
        mutant.id
        for mutant in faults().values()
        if mutant.number not in reached
        and differs(manifest(), 64, proof.stimulus, plusarg=mutant.plusarg, healthy=healthy)
    ] == []
