# SPDX-License-Identifier: BSD-2-Clause
"""The example in VHDL passes the gate within its declared limits, by two waivers and no more."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from example_bench import COMMAND

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.wire.transmitter import Requester
from roceproof.dpi import (
    Operation,
    PathMtu,
    PortOptions,
    QpConfig,
    Service,
    Simulation,
    Until,
    WorkRequest,
    load_manifest,
)
from roceproof.verbs.addresses import parse_gid, parse_mac

DUT = REPOSITORY / "examples" / "telemetry" / "dut.toml"


pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(not shutil.which("ghdl"), reason="ghdl is not installed"),
]


def test_a_device_in_vhdl_sends_what_the_reference_does() -> None:
    port = PortOptions(mac="02:00:00:00:00:01", ipv4="192.168.1.1")
    qp = QpConfig(
        local_qpn=2,
        remote_qpn=0x12,
        service=Service.UC,
        sq_psn=0xFFFFFF,
        udp_sport=0xC0DE,
        path_mtu=PathMtu.MTU_1024,
    )
    write = WorkRequest(wr_id=1, qpn=2, operation=Operation.WRITE, length=3000, rkey=7)
    payload = bytes(range(250)) * 12
    with Simulation.start(load_manifest(DUT), data_width=64, ports=[port]) as simulation:
        simulation.port(0).configure(qp)
        simulation.port(0).post(write, payload=payload)
        simulation.run(cycles=10_000, until=Until.COMPLETION)
        sent = [frame.data for frame in simulation.port(0).take_frames()]
    reference = Requester(mac=parse_mac(port.mac), ipv4=parse_gid(port.ipv4)[-4:])
    reference.configure(qp)
    assert sent == list(reference.frames(write, payload))


@pytest.mark.slow  # the test before it stands for it
def test_a_device_in_vhdl_passes_the_gate_within_its_limits(tmp_path: Path) -> None:
    words = [COMMAND, "gate", "--suite", "smoke", "--plans", "2", "--no-guest"]
    run = subprocess.run(
        [*words, "--out", tmp_path, DUT], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    verdict = json.loads((tmp_path / "gate.json").read_text())
    assert verdict["failures"] == []
    assert verdict["cases"]["passed"] > 10
    assert verdict["cases"]["waived"] > 0
    assert [waiver["rule"] for waiver in verdict["waivers"]] == ["LIVE-03"]
