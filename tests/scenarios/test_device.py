# SPDX-License-Identifier: BSD-2-Clause
"""A device in HDL as the sender: what it reaches, and what it is not asked."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from roceproof.cli.scenario import scenario as command
from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REPOSITORY
from roceproof.conformance.scenarios.catalogue import SCENARIOS
from roceproof.conformance.scenarios.device import DeviceSender
from roceproof.conformance.scenarios.event_model import play
from roceproof.conformance.scenarios.network import Network
from roceproof.conformance.scenarios.scenario import Point

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(
        shutil.which("verilator") is None, reason="verilator is not installed: run `make setup`"
    ),
]

ENDPOINT = REPOSITORY / "rtl" / "dut.toml"
THROUGHPUT = SCENARIOS["light-throughput"]


def first_points(sender: DeviceSender) -> list[Network]:
    """Of path MTU 1024: short and longer messages, few of each."""
    points = sender.points(THROUGHPUT, quick=True, seed=1)
    chosen = [point.network for point in points if point.words["mtu"] == 1024][:2]
    return [
        replace(each, flows=(replace(each.flows[0], messages=40, depth=16),)) for each in chosen
    ]


def test_the_endpoint_is_as_fast_as_the_event_model_on_a_full_line() -> None:
    sender = DeviceSender(ENDPOINT, width=64)
    for network in first_points(sender):
        (flow,) = network.flows
        got, want = (each(network).goodput(0, flow) for each in (sender.play, play))
        assert got == pytest.approx(want, rel=0.01)
        assert want == pytest.approx(10e9, rel=0.3)


def test_a_device_is_asked_only_what_it_claims() -> None:
    sender = DeviceSender(REPOSITORY / "examples" / "uc_writer" / "dut.toml", width=None)
    points = sender.points(THROUGHPUT, quick=True, seed=1)
    assert {point.network.flows[0].kind for point in points} == {"uc"}
    assert len({point.words["line_gbps"] for point in points}) == 1


def test_scenarios_of_many_are_not_for_a_device() -> None:
    with pytest.raises(RoceproofError, match="take light-throughput"):
        DeviceSender(ENDPOINT, width=64).points(SCENARIOS["radio-fair"], quick=True, seed=1)


def test_a_width_without_a_device_is_said(tmp_path: Path) -> None:
    words = ["run", "daq-size", "--width", "64", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(command, words)
    assert "name it with --dut" in str(done.exception)


@pytest.mark.whole
def test_a_core_that_is_slower_than_its_line_is_told_by_how_much() -> None:
    sender = DeviceSender(REPOSITORY / "examples" / "byte_endpoint" / "dut.toml", width=None)
    rows = []
    for network in first_points(sender):
        (flow,) = network.flows
        words = {"line_gbps": sender.line / 1e9, "mtu": flow.mtu, "size": flow.size}
        rows.append(words | THROUGHPUT.measure(Point(words, network), sender.play(network)))
    plateau, _ = THROUGHPUT.checks(rows)
    assert not plateau.passed
    assert rows[-1]["gbps"] < 0.6 * sender.line / 1e9
