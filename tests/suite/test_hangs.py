# SPDX-License-Identifier: BSD-2-Clause
"""A device that hangs anywhere is told by its place, and its gate ends as soon as another's.

What each costs is printed beside what the healthy device costs (`-s`); the bounds themselves are
proved in tests/targets/test_allowance.py.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from hanging_device import HANGS, Hang, hanging_device
from own_cases import COMMAND

pytestmark = [pytest.mark.sim, pytest.mark.slow]
WORDS = ["--suite", "smoke", "--no-guest", "-j1"]


def gate(folder: Path, hang: Hang | None) -> tuple[int, str, float]:
    """Exit code, what is told, and the processor seconds of it all."""
    before = os.times()
    done = subprocess.run(
        [COMMAND, "gate", hanging_device(folder, hang), "--out", folder / "out", *WORDS],
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    after = os.times()
    taken = after.children_user + after.children_system
    return done.returncode, done.stdout, taken - before.children_user - before.children_system


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> float:
    folder = tmp_path_factory.mktemp("healthy")
    gate(folder, None)  # builds it
    code, told, seconds = gate(folder, None)
    assert code == 0, told
    return seconds


@pytest.mark.parametrize("hang", HANGS)
def test_a_device_that_hangs_fails_with_its_place(
    hang: str, tmp_path: Path, healthy: float
) -> None:
    code, told, seconds = gate(tmp_path, HANGS[hang])
    print(f"{hang}: {seconds:.1f} processor seconds, {seconds / healthy:.1f} of the healthy one's")
    assert code == 1
    document = json.loads((tmp_path / "out" / "gate.json").read_text())
    first = [finding["sentence"] for finding in document["findings"]][:1]
    print(*first)
    first += [check["words"] for check in document["connectivity"]]
    assert HANGS[hang].told in "\n".join(first), told
    assert document["verdict"] == "fail" and document["lacks"] == []


@pytest.mark.parametrize(
    ("hang", "case", "what", "port"),
    [
        (
            *(
                "configurations-after-four",
                "begins_anew_in_every and 64bit-1",
            ),
            *("a command for a queue pair", "qpc_ready_o"),
        ),
        ("no-receive", "a_repeated_send_is_acknowledged", "a receive", "rcv_ready_o"),
    ],
)
def test_what_comes_of_something_that_was_never_taken_is_not_told_in_its_place(
    hang: str, case: str, what: str, port: str, tmp_path: Path
) -> None:
    device = hanging_device(tmp_path, HANGS[hang])
    done = subprocess.run(
        [COMMAND, "test", "--dut", device, "--out", tmp_path, "-j1", "-k", case],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    said = f"  {what} was on offer for 100,000 cycles and not taken: {port} is low"
    assert said in done.stdout and "  want  " not in done.stdout
    assert f"WAITS for the device: {port} is low" in done.stdout
    assert "rules: LIVE-01\n" in done.stdout
