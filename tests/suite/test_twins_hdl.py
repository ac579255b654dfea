# SPDX-License-Identifier: BSD-2-Clause
"""Devices with limits in hardware: asked beyond them they die, within them they pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from gates import assert_passes, outcomes, run

from roceproof.common.paths import REFERENCE_DUT
from roceproof.dpi import load_manifest

pytestmark = [pytest.mark.sim, pytest.mark.slow]

HEAD = """\
schema = 2
name = "{name}"
top = "limited_endpoint"
sources = {sources}
clock_ps = 6400
data_widths = [64]
warnings = ["COMBDLY", "LATCH", "MULTIDRIVEN", "UNOPTFLAT"]
"""
TWINS = {
    "small-and-slow": """\
[parameters]
LengthMultiple = 4
Outstanding = 4
FixedHeaders = "1'b1"
Slow = 20
[capabilities]
RC = ["SEND", "SEND_IMM", "WRITE", "WRITE_IMM"]
UC = ["SEND", "SEND_IMM", "WRITE", "WRITE_IMM"]
[limits]
qps = 1
path_mtus = [1024]
length_multiple = 4
outstanding_messages = 4
answer_cycles = 400000
quiet_cycles = 40000
[fixed]
traffic_class = 0
hop_limit = 64
local_qpn = 17
""",
    "resolving-writer": """\
[parameters]
Resolves = "1'b1"
[capabilities]
RC = ["WRITE"]
UC = ["WRITE"]
[limits]
qps = 16
[environment]
resolves_addresses = true
""",
}
BEYOND = {  # one limit of the first that is not said
    "lengths": ("length_multiple = 4\n", "asked for"),
    "depth": ("outstanding_messages = 4\n", "messages outstanding"),
    "headers": ("hop_limit = 64\n", "a header that is fixed"),
}


def manifest_of(name: str, folder: Path, *, without: str = "") -> Path:
    shim = Path(__file__).parent / "twin" / "limited_endpoint.sv"
    sources = [str(path) for path in (*load_manifest(REFERENCE_DUT).sources, shim)]
    manifest = folder / "dut.toml"
    body = TWINS[name].replace(without, "") if without else TWINS[name]
    manifest.write_text(HEAD.format(name=name, sources=sources) + body)
    return manifest


SHARE = "requester_lengths or requester_messages or requester_retransmission or line_rate"
"""Of the slow one."""


@pytest.mark.parametrize(("name", "chosen"), [("small-and-slow", SHARE), ("resolving-writer", "")])
def test_a_twin_passes_smoke_within_its_limits(tmp_path: Path, name: str, chosen: str) -> None:
    words = ["--dut", str(manifest_of(name, tmp_path)), "--suite", "smoke"]
    assert_passes(tmp_path / "out", *words, *(["-k", chosen] if chosen else []), cases=12)


@pytest.mark.parametrize("limit", BEYOND)
def test_a_limit_that_is_not_said_is_found(tmp_path: Path, limit: str) -> None:
    line, word = BEYOND[limit]
    dut = manifest_of("small-and-slow", tmp_path, without=line)
    chosen = "requester_lengths or requester_messages"
    code, document, _ = run(tmp_path / "out", "--dut", str(dut), "--suite", "smoke", "-k", chosen)
    assert code == 1
    failing = outcomes(document, "failed") + outcomes(document, "not_reached")
    assert any(word in case["head"] for case in failing)
