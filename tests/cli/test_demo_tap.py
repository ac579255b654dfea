# SPDX-License-Identifier: BSD-2-Clause
"""The TAP path, with the system's ping, in a private namespace."""

from __future__ import annotations

import subprocess

import pytest

pytestmark = pytest.mark.sim
SKIPPED = 77


def test_ping_of_every_size_comes_back(console) -> None:
    run = console.run("demo-tap")
    if run.returncode == SKIPPED:
        pytest.skip(run.stderr.strip())
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("3/3") == 12
    assert console.leftovers() == []
    interfaces = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True)
    assert "roceproof0" not in interfaces.stdout
