# SPDX-License-Identifier: BSD-2-Clause
"""The proofs of `make formal`: each has mutants, all of which can still be planted."""

from __future__ import annotations

import subprocess
import sys

import pytest

from roceproof.common.paths import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "rtl" / "formal"))
from prove import HERE, MUTANTS, Mutant


def test_each_proof_has_mutants_that_can_be_planted() -> None:
    proved = {path.stem.removesuffix("_properties") for path in HERE.glob("*_properties.sv")}
    assert proved == {mutant.module for mutant in MUTANTS}
    for mutant in MUTANTS:
        assert mutant.new in mutant.text()


def test_a_mutant_whose_place_has_gone_is_told() -> None:
    with pytest.raises(ValueError, match="'gone' is not there once"):
        Mutant("stream_fork", "gone", "").text()


@pytest.mark.slow
def test_all_is_proved_and_every_mutant_refuted() -> None:
    subprocess.run(["make", "formal"], cwd=REPOSITORY, check=True)
