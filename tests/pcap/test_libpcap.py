# SPDX-License-Identifier: BSD-2-Clause
"""The oracle needs libpcap to capture live, and for nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

UNREADABLE = 2


@pytest.fixture
def without_libpcap(tmp_path: Path) -> dict[str, str]:
    """An environment in which no library of that name loads."""
    for name in ("libpcap.so.0.8", "libpcap.so.1"):
        (tmp_path / name).touch()
    return {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}


def test_a_live_capture_without_libpcap_names_its_package(build: Path, without_libpcap) -> None:
    run = subprocess.run(
        [build / "roce-check", "-i", "lo"],
        env=without_libpcap,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == UNREADABLE
    assert run.stderr == "lo: libpcap is not installed: apt-get install libpcap0.8\n"


def test_a_file_is_judged_without_libpcap(build: Path, without_libpcap) -> None:
    capture = Path(__file__).parents[1] / "captures" / "rxe" / "rping.pcapng.gz"
    run = subprocess.run(
        [build / "roce-check", capture],
        env=without_libpcap,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert run.returncode != UNREADABLE, run.stderr
