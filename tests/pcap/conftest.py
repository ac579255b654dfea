# SPDX-License-Identifier: BSD-2-Clause
"""Builds the C oracle once a session."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from roceproof.common.lock import locked

sys.path.insert(0, str(Path(__file__).parent))

ROOT = Path(__file__).resolve().parents[2]
BUILD_SECONDS = 300


def made(*targets: str) -> Path:
    folder = ROOT / "build" / "pcap"
    command = ["make", "-s", "-C", str(ROOT / "pcap"), f"BUILD={folder}", *targets]
    with locked(folder / ".lock", "builds the wire oracle"):
        done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def build() -> Path:
    """Where the C products lie; the sanitized ones in `checked` below."""
    return made("all")


@pytest.fixture(scope="session")
def threads_watched(build: Path) -> Path:
    """Where roce-check lies that tells of data races."""
    return made("threads") / "threads"
