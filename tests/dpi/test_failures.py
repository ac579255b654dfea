# SPDX-License-Identifier: BSD-2-Clause
"""Whatever goes wrong is said at once, in words, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from roceproof.dpi import (
    Flow,
    Operation,
    PortOptions,
    QpConfig,
    SimulationError,
    SimulationTimeout,
    WorkRequest,
)
from roceproof.dpi.session.wire import MessageType

pytestmark = pytest.mark.sim


def misbehave(simulation, how: int, *, cycles: int = 5000) -> str:
    port = simulation.port(0)
    port.configure(QpConfig(local_qpn=1))
    request = WorkRequest(wr_id=1, qpn=1, operation=Operation.WRITE, length=900, remote_addr=how)
    port.post(request, payload=bytes(900))
    with pytest.raises(SimulationError) as caught:
        simulation.run(cycles=cycles)
    return str(caught.value)


def test_device_that_finishes_is_an_error(start_echo):
    text = misbehave(start_echo(), 1)
    assert "the device ended the simulation in cycle" in text


def test_device_assertion_is_quoted(start_echo):
    text = misbehave(start_echo(), 2)
    assert "echo_dut was asked to break" in text
    assert "exit status 1" in text


def test_withdrawn_offer_breaks_the_contract(start_echo):
    text = misbehave(start_echo(PortOptions(flow=Flow(tx_stall=50))), 3)
    assert "port 0: tx_valid fell before ready rose" in text


def test_a_status_that_there_is_not_is_told_with_its_work(start_echo):
    text = misbehave(start_echo(), 5)
    assert text.startswith(
        "the device breaks its contract: work 0x1 completed with status 99, "
        "expected one of ibv_wc_status, 0..23"
    )


def test_crash_is_reported_with_its_signal_and_log(start_echo):
    simulation = start_echo()
    os.kill(simulation.pid, signal.SIGSEGV)
    with pytest.raises(SimulationError, match="killed by SIGSEGV") as caught:
        simulation.run(cycles=10)
    assert caught.value.log == simulation.log
    assert simulation.log.exists()


def test_run_that_takes_too_long_is_a_timeout(start_echo):
    simulation = start_echo()
    with pytest.raises(SimulationTimeout, match=r"waited 0\.01 s for a run"):
        simulation.run(cycles=2**62, timeout=0.01)
    simulation.close()


def test_overlong_frame_from_the_device_is_an_error(start_echo):
    simulation = start_echo()
    port = simulation.port(0)
    port.configure(QpConfig(local_qpn=1))
    request = WorkRequest(wr_id=1, qpn=1, operation=Operation.WRITE, length=9217)
    port.post(request, payload=bytes(9217))
    with pytest.raises(SimulationError, match="the DUT sent a frame longer than 9216 bytes"):
        simulation.run(cycles=5000)


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("carrier-pigeon", "link 'carrier-pigeon': expected lockstep, socket:PATH"),
        ("socket:/nonexistent/x", "No such file or directory; start the peer"),
        ("pcap:/nonexistent.pcap", "No such file"),
        ("tap:rp-missing0", "ip tuntap add dev rp-missing0 mode tap user"),
        ("tap:a-name-that-is-too-long", "expected an interface name of 1..15 bytes"),
        ("dgram:only-one", "expected dgram:LOCAL,REMOTE"),
        ("fd:999", "not an open socket"),
    ],
)
def test_link_that_cannot_be_opened_is_one_clear_line(start_echo, link, words):
    if link.startswith("tap:rp") and not Path("/dev/net/tun").exists():
        words = "this machine has no TUN/TAP"
    with pytest.raises(SimulationError) as caught:
        start_echo(PortOptions(link=link))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_capture_that_cannot_be_written_is_one_clear_line(start_echo, tmp_path):
    with pytest.raises(SimulationError, match=r"capture .*: No such file or directory"):
        start_echo(PortOptions(capture=tmp_path / "missing" / "x.pcapng"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x00\x00\x00\x00", "message of 0 bytes"),
        (b"\xff\xff\xff\xff", "message of 4294967295 bytes"),
        (b"\x01\x00\x00\x00\x77", "message type 0x77 is unknown"),
        (b"\x02\x00\x00\x00\x11\x00", "malformed QP configuration"),
        (b"\x02\x00\x00\x00\x13\x09", "port 9, this simulation has 1"),
        (b"\x03\x00\x00\x00\x13\x00\x00", "frame of 0 bytes"),
        (b"\x0b\x00\x00\x00\x10" + bytes(9) + b"\x65", "flow of 101 %"),
        (b"\x0a\x00\x00\x00\x14" + bytes(9), "malformed run"),
        (b"\x01\x00\x00\x00\x03", "malformed start"),
    ],
)
def test_malformed_message_ends_the_session_with_its_name(start_echo, data, words):
    simulation = start_echo()
    simulation.process.control.sendall(data)
    with pytest.raises(SimulationError) as caught:
        simulation.run(cycles=10)
    assert words in str(caught.value)


ORPHAN = """
import sys, os
from pathlib import Path
from roceproof.dpi import PortOptions, Simulation, load_manifest
from roceproof.dpi.session.wire import MessageType
sim = Simulation.start(load_manifest(Path(sys.argv[1])), data_width=64, ports=[PortOptions()],
                       free_running=sys.argv[2] == "free")
print(sim.pid, sim.log, flush=True)
if sys.argv[2] == "lockstep":
    sim.send(MessageType.RUN, (2**62).to_bytes(8, "little"), bytes(1))
os._exit(0)
"""


@pytest.mark.parametrize("mode", ["free", "lockstep"])
def test_simulation_ends_with_its_parent(echo_manifest, mode):
    done = subprocess.run(
        [sys.executable, "-c", ORPHAN, echo_manifest.path, mode],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    pid, log = done.stdout.split()
    Path(log).unlink()
    assert_gone(int(pid))


@pytest.mark.parametrize("free_running", [False, True])
def test_simulation_ends_when_the_control_channel_closes(start_echo, free_running):
    simulation = start_echo(free_running=free_running)
    if not free_running:
        simulation.send(MessageType.RUN, (2**62).to_bytes(8, "little"), bytes(1))
    assert simulation.process.wait() == 0


def assert_gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        os.sched_yield()
    pytest.fail(f"simulation {pid} outlived its parent by 10 s")


def test_device_goes_on_behind_its_own_assertion_and_what_it_said_is_told_once(start_echo):
    simulation = start_echo(plusargs=["roceproof_goes_on"])
    assert not simulation.complaint()
    port = simulation.port(0)
    port.configure(QpConfig(local_qpn=1))
    port.post(WorkRequest(wr_id=1, qpn=1, operation=Operation.WRITE, length=0, remote_addr=2))
    simulation.run(cycles=5000)
    assert "echo_dut was asked to break" in simulation.complaint()
    simulation.close()


def test_what_nobody_has_asked_for_is_told_at_the_end(start_echo):
    simulation = start_echo(plusargs=["roceproof_goes_on"])
    port = simulation.port(0)
    port.configure(QpConfig(local_qpn=1))
    port.post(WorkRequest(wr_id=1, qpn=1, operation=Operation.WRITE, length=0, remote_addr=2))
    simulation.run(cycles=5000)
    with pytest.raises(SimulationError, match="echo_dut was asked to break"):
        simulation.close()
