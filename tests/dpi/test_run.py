# SPDX-License-Identifier: BSD-2-Clause
"""A device left running on a link."""

from __future__ import annotations

import io
import signal
import socket
import subprocess
import sys

import pytest
from scapy.utils import RawPcapNgReader

from roceproof.dpi import PortOptions
from roceproof.dpi.session.run import run_on_link

pytestmark = pytest.mark.sim


def run_with_one_frame(manifest, capture, *, front="", report=None):
    """0.64 ms on a socket on which a frame waits; the last counters, and what came back."""
    peer, other = socket.socketpair()
    with peer, other:
        peer.sendall((60).to_bytes(4, "big") + bytes(60))
        last = run_on_link(
            manifest,
            data_width=64,
            port=PortOptions(link=f"{front}fd:{other.fileno()}", capture=capture),
            report=report or io.StringIO(),
            duration_ns=640_000,
            pass_fds=[other.fileno()],
        )
        peer.setblocking(False)
        try:
            return last, peer.recv(64)
        except BlockingIOError:
            return last, b""


def test_run_lasts_exactly_its_simulated_duration(echo_manifest, tmp_path):
    report = io.StringIO()
    capture = tmp_path / "run.pcapng"
    last, _ = run_with_one_frame(echo_manifest, capture, report=report)
    assert last.cycle == 100_000
    assert last.ports[0].frames_out == 1
    assert "ended: 0.640 ms simulated, port 0: 1 in, 1 out" in report.getvalue()
    assert capture.stat().st_size > 200


@pytest.mark.parametrize(("words", "came"), [("delay=100000000", 1), ("loss=1000000000", 0)])
def test_a_line_delays_and_loses_in_simulated_time(echo_manifest, tmp_path, words, came):
    capture = tmp_path / "run.pcapng"
    last, answer = run_with_one_frame(echo_manifest, capture, front=f"line:{words};")
    port = last.ports[0]
    assert (port.frames_in, port.frames_out, port.dropped_in) == (came, came, 1 - came)
    assert len(answer) == 64 * came
    times = [(meta.tshigh << 32 | meta.tslow) for _, meta in RawPcapNgReader(str(capture))]
    assert all(time > 100_000 for time in times) and len(times) == 2 * came


RUN = """
import sys
from pathlib import Path
from roceproof.dpi import PortOptions, load_manifest
from roceproof.dpi.session.run import run_on_link
run_on_link(load_manifest(Path(sys.argv[1])), data_width=64, report=sys.stdout,
            port=PortOptions(link=sys.argv[2], capture=Path(sys.argv[3])))
"""


def test_interrupt_ends_a_run_cleanly(echo_manifest, socket_directory, tmp_path):
    capture = tmp_path / "run.pcapng"
    path = socket_directory / "link"
    words = [sys.executable, "-u", "-c", RUN, echo_manifest.path, f"socket-listen:{path}", capture]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert "Ctrl-C ends" in run.stdout.readline()
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=30)
    assert run.returncode == 0, err
    assert "ended: " in out and err == ""
    assert not path.exists()
    with RawPcapNgReader(str(capture)) as reader:
        assert list(reader) == []
