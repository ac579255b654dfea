# SPDX-License-Identifier: BSD-2-Clause
"""What the simulation writes down: the same bytes for the same seed, and nothing to object to."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from endpoint_bench import ROOT, Bench, open_bench, qp

from roceproof.conformance.capture.reader import Flow as CaptureFlow
from roceproof.conformance.capture.reader import read
from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.rules.findings import Direction
from roceproof.dpi import Flow
from roceproof.dpi.contract.records import Operation
from roceproof.verbs.service import PathMtu, Service

TSHARK_SECONDS = 60
BUILD_SECONDS = 120
ORACLE_SECONDS = 30
LIMIT = 1_000_000


def busy_run(width: int, capture: Path, seed: int) -> Bench:
    with open_bench(width, seed=seed, capture=capture) as bench:
        bench.port.flow(Flow(tx_stall=30, payload_gap=30, wr_gap=30, cpl_stall=30, rx_gap=30))
        reliable = qp(0, sq_psn=0xFFFFF0)
        unreliable = qp(1, Service.UC, path_mtu=PathMtu.MTU_1024)
        bench.activate(reliable, unreliable)
        for index in range(60):
            config = reliable if index % 2 else unreliable
            bench.post(config, Operation(index // 2 % 4), index * 37, solicited=index % 3 == 0)
        bench.settle(limit=LIMIT)
    return bench


def test_one_seed_gives_one_capture(width: int, tmp_path: Path) -> None:
    captures = []
    for index, seed in enumerate((7, 7, 8)):
        path = tmp_path / f"{index}.pcapng"
        busy_run(width, path, seed)
        captures.append(path.read_bytes())
    assert captures[0] == captures[1]
    assert captures[0] != captures[2]


def test_the_capture_holds_every_frame_both_ways_and_breaks_no_rule(
    width: int, tmp_path: Path
) -> None:
    path = tmp_path / "capture.pcapng"
    bench = busy_run(width, path, 3)
    records = list(read(path))
    times = [record.time_ns for record in records]
    assert times == sorted(times)
    sent = [record.frame for record in records if record.flow is CaptureFlow.OUTBOUND]
    assert sorted(sent) == sorted(frame for frames in bench.sent.values() for frame in frames)
    assert any(record.flow is CaptureFlow.INBOUND for record in records)
    direction = {CaptureFlow.OUTBOUND: Direction.SENT, CaptureFlow.INBOUND: Direction.RECEIVED}
    checker = Checker()
    findings = [
        each for record in records for each in checker.feed(record.frame, direction[record.flow])
    ]
    assert [finding.message for finding in [*findings, *checker.finish()]] == []


def test_the_c_oracle_finds_every_icrc_of_the_rtl_right(width: int, tmp_path: Path) -> None:
    build = ROOT / "build" / "pcap"
    make = ["make", "-s", "-C", str(ROOT / "pcap"), f"BUILD={build}", "all"]
    subprocess.run(make, check=True, timeout=BUILD_SECONDS)
    path = tmp_path / "capture.pcapng"
    busy_run(width, path, 5)
    frames = "".join(f"{record.frame.hex()}\n" for record in read(path))
    done = subprocess.run(
        [str(build / "checked" / "roce-icrc")],
        input=frames,
        capture_output=True,
        text=True,
        timeout=ORACLE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    verdicts = done.stdout.splitlines()
    assert len(verdicts) == frames.count("\n")
    assert {verdict.split()[0] for verdict in verdicts} == {"ok"}


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_opens_the_capture_without_a_complaint(width: int, tmp_path: Path) -> None:
    path = tmp_path / "capture.pcapng"
    busy_run(width, path, 4)
    # Payload is random, so upper layers that guess at it must stay out.
    guessing = ["rpcordma", "smb_direct", "infiniband.eoib", "ipoib", "nvme-rdma", "iser"]
    command = ["tshark", "-n", "-r", str(path), "-Y", "_ws.malformed", "-T", "fields"]
    command += ["-e", "frame.number"]
    for name in guessing:
        command += ["--disable-protocol", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TSHARK_SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
