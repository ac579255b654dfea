# SPDX-License-Identifier: BSD-2-Clause
"""The suite as a gate of the endpoint that sends again what is lost, with READs and without."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import A_QUARTER_OF_PLANS, assert_passes

from roceproof.common.paths import RECOVERY_DUT

pytestmark = pytest.mark.sim

DEVICE = ("--dut", str(RECOVERY_DUT))
READS = ('"READ", "CMP_SWAP", "FETCH_ADD"', "Reads = 1", "Regions = 64")


@pytest.mark.whole
def test_it_passes_what_depends_on_repetition(tmp_path: Path) -> None:
    words = ["-k", "(requester_retransmission or requester_rnr) and not as_often"]
    assert_passes(tmp_path, *DEVICE, "--suite", "smoke", "--width", "64", *words, cases=15)


@pytest.mark.whole
def test_it_passes_what_loses_data_of_reads(tmp_path: Path) -> None:
    words = ["-k", "requester_read_again or requester_read_data"]
    assert_passes(tmp_path, *DEVICE, "--suite", "full", "--width", "64", *words, cases=40)


@pytest.mark.whole
def test_without_reads_it_passes_what_depends_on_repetition(tmp_path: Path) -> None:
    manifest = tmp_path / "recovery.toml"
    manifest.write_text(without_reads(RECOVERY_DUT.read_text()))
    words = ["-k", "(requester_retransmission or requester_rnr) and not as_often"]
    device = ("--dut", str(manifest), "--width", "64")
    assert_passes(tmp_path, *device, "--suite", "smoke", *words, cases=15)


def without_reads(manifest: str) -> str:
    """The same endpoint, built for requests that ask for no data, and with no responder."""
    text = manifest.partition("[responder]")[0]
    text = text.replace('"endpoint.f"', f'"{RECOVERY_DUT.parent / "endpoint.f"}"')
    for words in READS:
        assert words in text
        text = text.replace(f", {words}", "").replace(words, "")
    return text


@pytest.mark.whole
@pytest.mark.long
def test_it_passes_the_full_suite_but_for_the_longest_random_plans(tmp_path: Path) -> None:
    cases = f"not much_that_nobody_has_thought_of and ({A_QUARTER_OF_PLANS})"
    words = ["--width", "64", "-k", cases]
    assert_passes(tmp_path, *DEVICE, "--suite", "full", *words, cases=900)


@pytest.mark.slow
@pytest.mark.long
def test_it_passes_the_full_suite(tmp_path: Path) -> None:
    """The longest random plans wait half a minute each at 512 bits."""
    assert_passes(tmp_path, *DEVICE, "--suite", "full", cases=1900)
