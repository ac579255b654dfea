# SPDX-License-Identifier: BSD-2-Clause
"""Devices with limits of many kinds, played by the model: none is accused, and none asked for more.

The quick sample is what limits lengths and packets most; `slow` is every twin and every case.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import assert_passes

from roceproof.common.paths import REFERENCE_DUT

HEAD = """\
schema = 2
name = "{name}"
top = "roce_endpoint"
sources = ["{package}"]
clock_ps = 6400
data_widths = [64]
"""
ALL = '["SEND", "SEND_IMM", "WRITE", "WRITE_IMM"]'
CLAIMS = f"[capabilities]\nRC = {ALL}\nUC = {ALL}\nretransmission = true\n[limits]\nqps = 16\n"
TWINS = {
    "whole-words": CLAIMS + "length_multiple = 4\n",
    "one-path-mtu": CLAIMS + "path_mtus = [1024]\n",
    "rc-only": f"[capabilities]\nRC = {ALL}\n[limits]\nqps = 16\n",
    "uc-only": f"[capabilities]\nUC = {ALL}\n[limits]\nqps = 16\n",
    "write-only": '[capabilities]\nRC = ["WRITE"]\nUC = ["WRITE"]\n[limits]\nqps = 16\n',
    "one-queue-pair": CLAIMS.replace("16", "1"),
    "four-outstanding": CLAIMS + "outstanding_messages = 4\n",
    "fixed-headers": CLAIMS.replace("16", "1")
    + "[fixed]\ntraffic_class = 0\nhop_limit = 64\nlocal_qpn = 17\n",
    "always-solicited": CLAIMS + "[fixed]\nsolicited = true\n",
    "never-empty": CLAIMS + "length = [1, 4096]\n",
}
SAMPLE = ("whole-words", "one-path-mtu")


def manifest_of(name: str, folder: Path) -> Path:
    package = REFERENCE_DUT.parent / "roceproof_dut_pkg.sv"
    manifest = folder / "dut.toml"
    manifest.write_text(HEAD.format(name=name, package=package) + TWINS[name])
    return manifest


@pytest.mark.parametrize("name", SAMPLE)
def test_a_twin_with_limits_of_lengths_passes_what_it_can(tmp_path: Path, name: str) -> None:
    words = ["--target", "model", "--dut", str(manifest_of(name, tmp_path)), "--suite", "full"]
    assert_passes(tmp_path / "out", *words, "-k", "requester_lengths", cases=20)


@pytest.mark.slow
@pytest.mark.parametrize("name", TWINS)
def test_every_twin_passes_the_whole_suite(tmp_path: Path, name: str) -> None:
    words = ["--target", "model", "--dut", str(manifest_of(name, tmp_path)), "--suite", "full"]
    assert_passes(tmp_path / "out", *words, cases=150)
