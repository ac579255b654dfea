# SPDX-License-Identifier: BSD-2-Clause
"""What a tap point writes is a capture that others read."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess

import pytest
from scapy.utils import rdpcap

from roceproof.dpi import PortOptions, SimulationError, Until
from roceproof.dpi.session.wave_groups import write_groups

pytestmark = pytest.mark.sim


def test_capture_is_whole_after_the_simulation_was_killed(start_echo, tmp_path):
    capture = tmp_path / "killed.pcapng"
    simulation = start_echo(PortOptions(capture=capture))
    for i in range(20):
        simulation.port(0).inject(bytes([i]) * 300)
    for _ in range(10):
        assert simulation.run(cycles=10_000, until=Until.FRAME).reason == Until.FRAME
    os.kill(simulation.pid, signal.SIGKILL)
    with pytest.raises(SimulationError, match="killed by SIGKILL"):
        simulation.statistics()
    frames = [bytes(packet) for packet in rdpcap(str(capture))]
    assert len(frames) >= 20
    assert frames.count(bytes([0]) * 300) == 2


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_tshark_shows_interface_direction_and_comment(start_echo, tmp_path):
    capture = tmp_path / "one.pcapng"
    options = PortOptions(capture=capture)
    simulation = start_echo(options, options, seed=42, command="roceproof sim --seed 42")
    for index in range(2):
        simulation.port(index).inject(bytes(6) + b"\x02\0\0\0\0\x07" + bytes(60))
    simulation.port(1).inject(bytes(70), discard=True)
    simulation.run(cycles=1000)
    simulation.close()
    fields = (
        "frame.interface_name",
        "frame.packet_flags_direction",
        "frame.packet_flags_crc_error",
    )
    done = subprocess.run(
        ["tshark", "-n", "-r", capture, "-T", "fields", *(w for f in fields for w in ("-e", f))],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    rows = done.stdout.replace("False", "0").replace("True", "1")  # as newer tsharks print them
    assert sorted(rows.splitlines()) == [
        "port0\t0x00000001\t0",
        "port0\t0x00000002\t0",
        "port1\t0x00000001\t0",
        "port1\t0x00000001\t1",
        "port1\t0x00000002\t0",
    ]
    done = subprocess.run(
        ["capinfos", "-k", capture], capture_output=True, text=True, timeout=60, check=True
    )
    for words in ("dut echo, 64 bit, 2 port(s)", "seed 42", "roceproof sim --seed 42"):
        assert words in done.stdout


@pytest.mark.slow
def test_waves_are_written_on_request(start_echo, tmp_path):
    waves = tmp_path / "run.fst"
    simulation = start_echo(waves=waves)
    simulation.port(0).inject(bytes(64))
    simulation.run(cycles=100)
    simulation.close()
    assert waves.stat().st_size > 1000


def test_groups_of_waves_are_closed_and_hold_each_signal_once(tmp_path):
    groups = write_groups(tmp_path / "run.fst", ports=2, data_width=512)
    lines = groups.read_text().splitlines()
    assert lines[0] == f'[dumpfile] "{tmp_path / "run.fst"}"'
    names = [line for line in lines if line.startswith("-")]
    assert names[::2] == names[1::2]
    assert len(set(names)) == 2 * 6
    signals = [line for line in lines if line.startswith("TOP.")]
    assert len(signals) == len(set(signals))
    assert "TOP.roceproof_top.gen_port[1].u_port.tx_tkeep[63:0]" in signals


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("fst2vcd"), reason="gtkwave is not installed")
def test_what_is_grouped_is_in_the_waves_whose_time_is_picoseconds(start_echo, tmp_path):
    waves = tmp_path / "run.fst"
    with start_echo(waves=waves) as simulation:
        simulation.run(cycles=10)
    done = subprocess.run(["fst2vcd", waves], capture_output=True, text=True, check=True)
    assert "\t1ps\n" in done.stdout
    place: list[str] = []
    found = set()
    for line in done.stdout.splitlines():
        word = line.split()
        if line.startswith("$scope"):
            place.append(word[2])
        elif line.startswith("$upscope"):
            place.pop()
        elif line.startswith("$var"):
            found.add(".".join([*place, "".join(word[4:-1])]))
    lines = waves.with_suffix(".gtkw").read_text().splitlines()
    signals = {line for line in lines if line.startswith("TOP.")}
    assert signals
    assert signals <= found
