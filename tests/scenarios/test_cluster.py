# SPDX-License-Identifier: BSD-2-Clause
"""Networks played on a real Dask cluster give what processes of this machine give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from roceproof.cli.scenario import scenario as command
from roceproof.conformance.scenarios.event_model import EventModelError, play_on
from roceproof.conformance.scenarios.network import GBPS, Flow, Network, Port


def test_a_cluster_plays_what_processes_play(cluster: str, tmp_path: Path) -> None:
    told = []
    for place, where in (("here", ()), ("there", ("--cluster", cluster))):
        out = tmp_path / place
        words = ["run", "radio-fair", "daq-size", "--quick", "--no-plots", "-q", "--out", str(out)]
        assert CliRunner().invoke(command, [*words, *where]).exit_code == 0
        told.append([json.loads((out / name / "result.json").read_text()) for name in words[1:3]])
    assert told[0] == told[1]
    assert all(each["rows"] for each in told[0])


def test_what_a_worker_refuses_is_told_here(cluster: str) -> None:
    flow = Flow(path=(1,), mtu=1024, size=1)
    network = Network(ports=(Port(rate=GBPS),), flows=(flow,), until=1)
    with pytest.raises(EventModelError, match="no such port"):
        next(play_on(cluster, [network]))
