# SPDX-License-Identifier: BSD-2-Clause
"""What the patches for Wireshark are about, shown on their own captures by the tshark at hand."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.capture.reader import read
from roceproof.conformance.wire import icrc

PATCHES = sorted((REPOSITORY / "docs/upstream/other/wireshark").glob("*.patch"))
TSHARK_SECONDS = 60


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    """The captures that the patches bring."""
    command = ["git", "apply", "--include=test/captures/*", *PATCHES]
    subprocess.run(command, cwd=tmp_path, check=True)
    return tmp_path / "test" / "captures"


def shown(capture: Path, *fields: str) -> list[list[str]]:
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields"]
    command += [word for field in fields for word in ("-e", field)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TSHARK_SECONDS, check=True
    )
    return [line.split("\t") for line in done.stdout.splitlines()]


def judged(capture: Path) -> list[str]:
    return [icrc.check(record.frame).judgement.value for record in read(capture)]


def test_the_captures_are_what_the_tests_take_them_for(captures: Path) -> None:
    assert judged(captures / "rocev2_icrc.pcap") == ["ok"] * 7 + ["bad"] * 2 + ["malformed"]
    assert judged(captures / "rocev2_short_send.pcap") == ["ok"] * 4


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_the_tshark_at_hand_deviates(captures: Path) -> None:
    told = subprocess.run(["tshark", "--version"], capture_output=True, text=True, check=True)
    if "(Wireshark) 4.0." not in told.stdout:
        pytest.skip("tshark is not 4.0, which is what the ledger speaks of")
    cnp = shown(captures / "rocev2_icrc.pcap", "infiniband.invariant.crc", "_ws.col.Info")[6]
    assert cnp[0] == "" and cnp[1].startswith("Unknown OpCode")
    sends = shown(captures / "rocev2_short_send.pcap", "infiniband.invariant.crc", "_ws.col.Info")
    assert all(crc == "" and "Malformed" in info for crc, info in sends)
    known = subprocess.run(
        ["tshark", "-G", "fields"], capture_output=True, text=True, timeout=60, check=True
    )
    assert "\tinfiniband.invariant.crc\t" in known.stdout
    assert "infiniband.invariant.crc.status" not in known.stdout
