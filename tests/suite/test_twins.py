# SPDX-License-Identifier: BSD-2-Clause
"""Devices with limits of many kinds, played by the model: none is accused, and none asked for more.

The sample is what each limit bends most, its storms in `make test-whole`; `slow` is every twin and
every case.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import assert_passes
from twin_manifests import TWINS, UNBUILT, manifest_of

from roceproof.conformance.stimulus.drawing.plans import draw_plan
from roceproof.conformance.stimulus.drawing.weights import Weights
from roceproof.conformance.targets.manifest_claims import claims_of
from roceproof.dpi import load_manifest

LENGTHS, STORMS = "requester_lengths", "line_rate"
MEMORY = "requester_soak and carries_everything_once"
SAMPLE = (
    ("whole-words", LENGTHS, 20),
    ("one-path-mtu", LENGTHS, 20),
    ("one-path-mtu", MEMORY, 0),
    ("four-that-repeats", "requester_soak", 3),
    ("one-timeout", "requester_rnr or test_silence_is_noticed", 12),
    ("light", "requester_errors or requester_unanswered", 5),
    ("four-outstanding", STORMS, 11),
    ("four-in-all", STORMS, 11),
    ("never-empty", STORMS, 11),
    ("two-in-all", "busy_queue_pairs_leave", 1),
    ("fixed-headers", STORMS, 11),
    ("always-solicited", STORMS, 11),
)
"""Twin, cases, and how many of them at least pass."""


@pytest.mark.parametrize(
    ("name", "chosen", "cases"),
    [
        pytest.param(*row, id="-".join(row[:2]), marks=pytest.mark.whole if STORMS in row else ())
        for row in SAMPLE
    ],
)
def test_a_twin_passes_what_it_can(tmp_path: Path, name: str, chosen: str, cases: int) -> None:
    words = ["--target", "model", "--dut", str(manifest_of(name, tmp_path)), "--suite", "full"]
    assert_passes(tmp_path / "out", *words, "-k", chosen, cases=cases)


@pytest.mark.parametrize("seed", range(3))
def test_plans_are_drawn_for_a_device_with_one_queue_pair(tmp_path: Path, seed: int) -> None:
    claims = claims_of(load_manifest(manifest_of("one-queue-pair", tmp_path)))
    for part in range(60):
        plan = draw_plan(100 * seed + part, claims, Weights())
        keys = {step.fields["key"] for step in plan.steps if step.name == "connect"}
        assert {key for key in keys if key < 16} <= {0}  # others take the place of one


def test_no_plan_tells_queue_pairs_apart_that_have_the_same_number(tmp_path: Path) -> None:
    claims = claims_of(load_manifest(manifest_of("fixed-headers", tmp_path)))
    for seed in range(15):
        steps = draw_plan(seed, claims, Weights()).steps
        assert {step.fields["key"] for step in steps if "key" in step.fields} <= {0}


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS | UNBUILT)
def test_every_twin_passes_the_whole_suite(tmp_path: Path, name: str) -> None:
    words = ["--target", "model", "--dut", str(manifest_of(name, tmp_path)), "--suite", "full"]
    assert_passes(tmp_path / "out", *words, cases=150)
