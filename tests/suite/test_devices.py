# SPDX-License-Identifier: BSD-2-Clause
"""A device that cannot be read or does not build is said so once, before any case runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from own_cases import COMMAND

from roceproof.common.paths import REFERENCE_DUT

UNUSABLE, DOES_NOT_BUILD = 2, 3

MANIFEST = """\
schema = 1
name = "broken"
top = "broken"
sources = ["{package}", "broken.sv"]
clock_ps = 6400
data_widths = [64]
[capabilities]
services = ["RC"]
operations = ["SEND"]
path_mtus = [1024]
qps = 1
"""
SYNTAX = "module broken;\n  this is not SystemVerilog\nendmodule\n"


@pytest.fixture
def device(tmp_path: Path) -> Path:
    package = REFERENCE_DUT.parent / "roceproof_dut_pkg.sv"
    (tmp_path / "broken.sv").write_text(SYNTAX)
    manifest = tmp_path / "dut.toml"
    manifest.write_text(MANIFEST.format(package=package))
    return manifest


def run(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *words],
        env={**os.environ, "NO_COLOR": "1", **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def command(name: str, manifest: Path) -> list[str | Path]:
    rest = {
        "test": ["--out", manifest.parent / "out"],
        "demo": ["--out", manifest.parent / "out"],
        "sim": ["--link", "pcap:x"],
    }
    return [name, "--dut", manifest, "-q", *rest[name]]


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("test", "directory"),
        ("test", "name"),
        ("test", "absent"),
        ("demo", "name"),
        ("sim", "name"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_one_line(device: Path, name: str, fault: str) -> None:
    if fault == "name":
        device.write_text(device.read_text().replace('"broken"', '"../../x"', 1))
        words = "name: '../../x' will not do"
    elif fault == "directory":
        device = device.parent
        words = "not a regular file"
    else:
        device = device.with_name("none.toml")
        words = "No such file"
    done = run(*command(name, device))
    assert done.returncode == UNUSABLE
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"roceproof: {device}: {words}")


@pytest.mark.parametrize("width", ["63", "512"])
def test_a_width_that_the_device_lacks_is_one_line(device: Path, width: str) -> None:
    done = run(*command("test", device), "--width", width)
    assert done.returncode == UNUSABLE
    (line,) = done.stderr.splitlines()
    assert line.startswith("roceproof: ")
    assert f"has no width {width}" in line


def test_a_machine_without_the_simulator_is_one_line(device: Path, tmp_path: Path) -> None:
    done = run(*command("test", device), PATH=str(tmp_path))
    assert done.returncode == UNUSABLE
    (line,) = done.stderr.splitlines()
    assert line.startswith("roceproof: verilator")


def test_plain_pytest_says_the_same_line(device: Path, tmp_path: Path) -> None:
    device.write_text("schema =")
    (tmp_path / "test_it.py").write_text("def test_it(bench): ...\n")
    done = subprocess.run(
        [
            *(COMMAND.with_name("python"), "-m", "pytest", "-p", "no:cacheprovider"),
            *(tmp_path / "test_it.py", "--roce-target", "hdl", "--roce-dut", device),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: {device}: not TOML" in done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr


@pytest.mark.sim
@pytest.mark.parametrize("name", ["test", "demo", "sim"])
def test_a_device_that_does_not_compile_is_told_once(device: Path, name: str) -> None:
    done = run(*(word for word in command(name, device) if word != "-q"))
    assert done.returncode == DOES_NOT_BUILD
    lines = done.stderr.splitlines()
    assert any("building" in line for line in lines[:2])
    (at,) = [n for n, line in enumerate(lines) if line.startswith("roceproof: ")]
    assert lines[at].startswith(f"roceproof: {device}: broken, 64 bit does not build: verilator")
    log = Path(lines[at].rpartition("see ")[2])
    assert "verilator --cc" in log.read_text()
    assert f"%Error: {device.parent / 'broken.sv'}:2:" in lines[at + 1]
    assert len(lines[at:]) <= 21
    assert done.stdout == ""


@pytest.mark.sim
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("module other; endmodule\n", "Cannot find file containing module: 'broken'"),
        ("module broken; endmodule\n", "top: broken has no port clk_i, rst_ni, port_mac_i, "),
    ],
)
def test_the_compilers_own_words_are_shown(device: Path, source: str, words: str) -> None:
    (device.parent / "broken.sv").write_text(source)
    done = run(*command("test", device))
    assert done.returncode == DOES_NOT_BUILD
    assert words in done.stderr
    assert len(done.stderr.splitlines()) <= 22


@pytest.mark.sim
def test_a_port_of_another_width_is_named(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    subprocess.run([COMMAND, "new", mine], check=True, capture_output=True)
    wrapper = mine / "roceproof_wrapper.sv"
    port = "[DataWidth/8-1:0] rx_tkeep_i"
    wrapper.write_text(wrapper.read_text().replace(port, "[DataWidth/16-1:0] rx_tkeep_i"))
    done = run(*command("test", mine / "dut.toml"))
    assert done.returncode == DOES_NOT_BUILD
    assert "top: roceproof_wrapper: rx_tkeep_i has 4 bits and not 8; see " in done.stderr


@pytest.mark.sim
def test_a_tool_that_crashes_is_a_device_that_does_not_build(device: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    fake = tools / "verilator"
    fake.write_text(
        "#!/bin/sh\n[ $1 = --version ] && exec echo crashing 1\necho hm >&2\nkill -SEGV $$\n"
    )
    fake.chmod(0o755)
    done = run(*command("test", device), PATH=f"{tools}:{os.environ['PATH']}")
    assert done.returncode == DOES_NOT_BUILD
    first, *rest = done.stderr.splitlines()
    assert "verilator ended by SIGSEGV" in first
    assert "hm" in rest
