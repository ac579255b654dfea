# SPDX-License-Identifier: BSD-2-Clause
"""What a target is known to do otherwise, the oracle lets it do; and no other target."""

from __future__ import annotations

from pathlib import Path

import pytest

from roceproof.conformance.model.responder.policy import DEVIATIONS, AfterRnr, PlainSize
from roceproof.conformance.suite.limits.deviations import DeviationError, load_deviations, tolerated

ENTRY = """
[deviation.some-device]
target = "rxe"
rules = ["RNR-06"]
cases = ["nothing"]
says = "it does otherwise"
kernels = "6.1"
"""


def test_a_target_may_do_what_it_is_known_for_and_the_model_nothing_else() -> None:
    here = ("rxe", "6.1.0-56-amd64")
    assert AfterRnr.SEQUENCE_NAK in tolerated(here)
    assert set(tolerated(here)) <= set(DEVIATIONS)
    assert tolerated(("model", "")) == []


def test_what_a_kernel_has_mended_is_tolerated_on_those_before_only() -> None:
    assert PlainSize.UNCHECKED in tolerated(("rxe", "6.1.0-56-amd64"))
    assert PlainSize.UNCHECKED not in tolerated(("rxe", "6.12.117+deb12-amd64"))


@pytest.mark.parametrize("value", ["AfterRnr.SILENT", "AfterRnr.NEVER", "rnr"])
def test_what_the_model_cannot_play_is_refused(tmp_path: Path, value: str) -> None:
    table = tmp_path / "deviations.toml"
    table.write_text(f'{ENTRY}plays = ["{value}"]\n', encoding="utf-8")
    with pytest.raises(DeviationError, match=f"some-device: {value} is none"):
        load_deviations(table)
