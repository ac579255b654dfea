# SPDX-License-Identifier: BSD-2-Clause
"""A device left running on a link."""

from __future__ import annotations

import io
import socket

import pytest
from roceproof.dpi import PortOptions
from roceproof.dpi.run import run_on_link

pytestmark = pytest.mark.sim


def test_run_lasts_exactly_its_simulated_duration(echo_manifest, tmp_path):
    peer, other = socket.socketpair()
    report = io.StringIO()
    capture = tmp_path / "run.pcapng"
    with peer, other:
        peer.sendall((60).to_bytes(4, "big") + bytes(60))
        last = run_on_link(
            echo_manifest,
            data_width=64,
            port=PortOptions(link=f"fd:{other.fileno()}", capture=capture),
            report=report,
            duration_ns=640_000,
            pass_fds=[other.fileno()],
        )
    assert last.cycle == 100_000
    assert last.ports[0].frames_out == 1
    assert "ended: 0.640 ms simulated, port 0: 1 in, 1 out" in report.getvalue()
    assert capture.stat().st_size > 200
