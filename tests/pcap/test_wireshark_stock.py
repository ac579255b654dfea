# SPDX-License-Identifier: BSD-2-Clause
"""The Wireshark plugin on captures of stock RDMA tools, beside the Python ICRC, frame by frame."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.capture.reader import read
from roceproof.conformance.wire import icrc

from .wireshark_traffic import fields, tshark

STOCK = sorted((REPOSITORY / "tests" / "captures" / "rxe").glob("*.pcapng.gz"))
LOST_ON_UC = "uc_write_gap.pcapng.gz"

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All captures behind each other, each on interfaces of its own."""
    path = tmp_path_factory.mktemp("stock") / "all.pcapng"
    healthy = [str(capture) for capture in STOCK if capture.name != LOST_ON_UC]
    subprocess.run(["mergecap", "-a", "-I", "none", "-w", str(path), *healthy], check=True)
    return path


def test_every_frame_has_the_verdict_of_the_python_check(merged: Path) -> None:
    rows = fields(merged, "icrc", home=merged.parent)
    frames = [record.frame for record in read(merged)]
    assert len(rows) == len(frames) > 2000
    for frame, (verdict,) in zip(frames, rows, strict=True):
        judged = icrc.check(frame).judgement
        expected = "" if judged is icrc.Judgement.NOT_ROCE else judged.value
        assert verdict == expected, frame.hex()


def test_healthy_traffic_retransmissions_included_has_no_finding(merged: Path) -> None:
    assert tshark("-2", "-r", str(merged), "-Y", "roceproof.finding", home=merged.parent) == ""
    assert tshark("-r", str(merged), "-Y", "_ws.lua.error", home=merged.parent) == ""


def test_datagrams_lost_in_front_of_a_uc_capture_are_found(tmp_path: Path) -> None:
    (lossy,) = (capture for capture in STOCK if capture.name == LOST_ON_UC)
    rows = fields(lossy, "finding", home=tmp_path)
    assert {row[0] for row in rows} == {"", "PSN-18"}
