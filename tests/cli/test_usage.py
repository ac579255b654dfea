# SPDX-License-Identifier: BSD-2-Clause
"""Bad input and missing parts: one clear line on stderr, the right exit code."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from roceproof.common.output import output_directory

ENVIRONMENT = 2
SKIPPED = 77
BROKEN_PIPE = 141


def one_line(run: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in run.stderr.splitlines() if line.startswith("roceproof: ")]
    assert "Traceback" not in run.stderr
    assert len(lines) == 1, run.stderr
    return lines[0]


@pytest.mark.sim
@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("tap:nosuchtap0", ("nosuchtap0", "ip tuntap add")),
        ("socket:/nonexistent/net.sock", ("/nonexistent/net.sock",)),
        ("pcap:/nonexistent.pcap", ("/nonexistent.pcap",)),
        ("pigeon:coop", ("pigeon", "tap:")),
    ],
)
def test_a_link_that_does_not_exist_is_named(console, link, words) -> None:
    run = console.run("sim", "--link", link, "-q")
    assert run.returncode == ENVIRONMENT
    line = one_line(run)
    assert all(word in line for word in words), line


def test_a_manifest_with_a_missing_source_is_named(console, tmp_path) -> None:
    manifest = tmp_path / "dut.toml"
    manifest.write_text('schema = 1\nname = "x"\ntop = "x"\nsources = ["gone.sv"]\n')
    run = console.run("sim", "--link", "pcap:x", "--dut", str(manifest))
    assert run.returncode == ENVIRONMENT
    assert str(manifest) in one_line(run)


def test_a_missing_tun_device_is_a_skip_that_says_so(console) -> None:
    hide = f"mount -t tmpfs tmpfs /dev/net && exec {console.command} demo-tap"
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("user namespaces do not work here")
    run = subprocess.run(
        [*unshare, "sh", "-c", hide],
        env=console.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == SKIPPED, run.stderr
    assert "/dev/net/tun is missing" in one_line(run)


@pytest.mark.skipif(os.geteuid() != 0, reason="without root the reason given is that")
def test_a_native_back_end_without_the_module_says_what_to_use(console) -> None:
    run = console.run("demo", "--backend", "native", "--out", str(console.scratch / "out"))
    assert run.returncode == ENVIRONMENT
    assert "rdma_rxe" in one_line(run)


def test_an_unknown_option_is_a_usage_error(console) -> None:
    assert console.run("demo", "--no-such-option").returncode == ENVIRONMENT


def test_doctor_speaks_json(console) -> None:
    run = console.run("doctor", "--json")
    checks = json.loads(run.stdout)["checks"]
    assert {"QEMU", "KVM", "Verilator"} <= {check["name"] for check in checks}
    assert all(check["remedy"] for check in checks if check["status"] == "fail")


def test_env_status_of_nothing_is_down(console) -> None:
    run = console.run("env", "status", "--json")
    assert run.returncode == 1
    assert json.loads(run.stdout) == {"up": False}


def test_a_reader_that_leaves_is_not_taken_for_findings(console) -> None:
    run = console.run_without_reader("doctor", "--json")
    assert (run.returncode, run.stderr) == (BROKEN_PIPE, "")


def test_an_output_directory_that_cannot_be_made_is_named(console, tmp_path) -> None:
    (tmp_path / "file").touch()
    run = console.run("demo", "--out", str(tmp_path / "file" / "out"))
    assert run.returncode == ENVIRONMENT
    assert str(tmp_path / "file" / "out") in one_line(run)


def test_a_second_run_in_one_output_directory_is_refused(console, tmp_path) -> None:
    with output_directory(tmp_path):
        run = console.run("demo", "--out", str(tmp_path))
    assert run.returncode == ENVIRONMENT
    assert "another run writes there" in one_line(run)


@pytest.mark.sim
def test_waves_that_cannot_be_written_are_named(console, tmp_path) -> None:
    (tmp_path / "file").touch()
    waves = tmp_path / "file" / "run.fst"
    run = console.run("sim", "--link", "pcap:x", "--waves", str(waves))
    assert run.returncode == ENVIRONMENT
    assert f"{waves}: Not a directory" in one_line(run)


@pytest.mark.parametrize("duration", ["0", "-1", "nan", "1e300"])
def test_a_duration_that_is_none_is_refused(console, duration) -> None:
    run = console.run("sim", "--link", "pcap:x", f"--duration={duration}")
    assert run.returncode == ENVIRONMENT
    assert "--duration" in one_line(run)


@pytest.mark.sim
def test_a_capture_may_lie_deep(console, tmp_path) -> None:
    place = tmp_path / ("d" * 200) / ("e" * 200) / ("f" * 200)
    place.mkdir(parents=True)
    link = f"socket-listen:{console.scratch}/link"
    run = console.run("sim", "--link", link, "--duration=0.01", "--capture", str(place / "c"))
    assert run.returncode == 0, run.stderr
    assert (place / "c").stat().st_size > 0
