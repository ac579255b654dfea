# SPDX-License-Identifier: BSD-2-Clause
"""Whatever ends the demonstration early: one clear line, and nothing left behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from roceproof.conformance.capture.reader import read

pytestmark = [pytest.mark.rxe, pytest.mark.sim]

END_S = 30.0


def wait_for_text(run: subprocess.Popen[str], text: str, deadline_s: float = 120.0) -> str:
    """Read stderr until `text` appears."""
    assert run.stderr
    seen = ""
    deadline = time.monotonic() + deadline_s
    while text not in seen:
        left = deadline - time.monotonic()
        assert left > 0, f"no {text!r} within {deadline_s} s in: {seen}"
        if select.select([run.stderr], [], [], left)[0]:
            chunk = os.read(run.stderr.fileno(), 4096).decode()
            assert chunk, f"ended before {text!r}: {seen}"
            seen += chunk
    return seen


def child(console, word: str) -> int:
    """The pid of the run's own process whose command line starts with a path ending in `word`."""
    pids = [pid for pid, line in console.processes().items() if line.split()[0].endswith(word)]
    assert len(pids) == 1, console.processes()
    return pids[0]


def ended(run: subprocess.Popen[str]) -> tuple[int, str]:
    _, errors = run.communicate(timeout=END_S)
    return run.returncode, errors


@pytest.mark.sampled(every=4)  # each signal and each moment once
@pytest.mark.parametrize("moment", ["building", "starting", "sending"])
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_behind(console, tmp_path, moment, kind) -> None:
    run = console.spawn("demo", "--out", str(tmp_path))
    wait_for_text(run, moment)
    os.kill(run.pid, kind)
    code, errors = ended(run)
    assert code == 128 + kind
    assert "Traceback" not in errors
    assert console.leftovers() == []


@pytest.mark.parametrize("link", ["socket-listen", "dgram"])
def test_a_closed_terminal_ends_a_simulation_and_removes_its_socket(console, link) -> None:
    place = console.scratch / "link"
    run = console.spawn("sim", "--link", f"{link}:{place}" + f",{place}.peer" * (link == "dgram"))
    wait_for_text(run, "Ctrl-C ends")
    os.killpg(run.pid, signal.SIGHUP)
    code, errors = ended(run)
    assert code == 0, errors
    assert console.leftovers() == []


def test_ctrl_c_during_a_ping_is_no_traceback(console) -> None:
    if not Path("/dev/net/tun").exists():
        pytest.skip("no /dev/net/tun")
    run = console.spawn("demo-tap")
    wait_for_text(run, "pinging")
    os.killpg(run.pid, signal.SIGINT)
    code, errors = ended(run)
    assert code == 130, errors
    assert errors.count("\n") == 1 and "roceproof: interrupted" in errors
    assert console.leftovers() == []


@pytest.mark.slow
@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("delay_ms", range(150, 2150, 200))
def test_an_impatient_ctrl_c_at_any_moment_leaves_nothing_behind(
    console, tmp_path, delay_ms
) -> None:
    run = console.spawn("demo", "--out", str(tmp_path))
    wait_for_text(run, "building")
    time.sleep(delay_ms / 1000)
    for _ in range(3):
        os.killpg(run.pid, signal.SIGINT)
    code, errors = ended(run)
    assert code == 130
    assert "Traceback" not in errors
    assert console.leftovers() == []


def test_the_capture_of_an_interrupted_run_is_readable(console, tmp_path) -> None:
    run = console.spawn("demo", "--out", str(tmp_path))
    wait_for_text(run, "sending")
    capture = tmp_path / "capture.pcapng"
    deadline = time.monotonic() + END_S
    while not (capture.exists() and capture.stat().st_size > 100_000):
        assert time.monotonic() < deadline, "nothing was captured"
    os.killpg(run.pid, signal.SIGINT)
    ended(run)
    assert len(list(read(capture))) > 10
    tshark = subprocess.run(
        ["tshark", "-r", str(capture), "-c", "5"], capture_output=True, check=False
    )
    assert tshark.returncode == 0
    assert console.leftovers() == []


def test_sigkill_of_the_command_leaves_no_process(console, tmp_path) -> None:
    run = console.spawn("demo", "--out", str(tmp_path))
    wait_for_text(run, "sending")
    os.kill(run.pid, signal.SIGKILL)
    run.communicate(timeout=END_S)
    deadline = time.monotonic() + END_S
    while console.processes():
        assert time.monotonic() < deadline, console.processes()


def test_a_guest_that_dies_is_named(console, tmp_path) -> None:
    run = console.spawn("demo", "--out", str(tmp_path))
    wait_for_text(run, "sending")
    os.kill(child(console, "qemu-system-x86_64"), signal.SIGKILL)
    code, errors = ended(run)
    assert code == 2
    assert "Traceback" not in errors
    assert "roceproof: the peer went away" in errors
    assert console.leftovers() == []


def test_a_simulation_that_crashes_is_named(console, tmp_path) -> None:
    run = console.spawn("demo", "--out", str(tmp_path))
    wait_for_text(run, "sending")
    os.kill(child(console, "simulation"), signal.SIGSEGV)
    code, errors = ended(run)
    assert code == 2
    assert "Traceback" not in errors
    assert "SIGSEGV" in errors
    assert console.leftovers() == []
