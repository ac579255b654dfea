# SPDX-License-Identifier: BSD-2-Clause
"""Two commands that want the same thing at once: one makes it, the other says that it waits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from roceproof.rxe_env import cache

SCRIPT = """
import sys
from pathlib import Path
from roceproof.rxe_env import cache

def build(place: Path) -> None:
    print("building", flush=True)
    sys.stdin.readline()
    (place / "file").write_text("built")

print(cache.entry("state", "key", build) / "file", flush=True)
"""


def start() -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


def test_the_second_says_for_whom_it_waits_and_uses_what_the_first_made(empty_cache: Path) -> None:
    with start() as first, start_after(first) as second:
        assert second.stderr and second.stdout and first.stdout
        assert second.stderr.readline() == (
            "roceproof: waiting for another roceproof that prepares the machine"
            f" (pid {first.pid})\n"
        )
        first.communicate("\n", timeout=30)
        output, errors = second.communicate(timeout=30)
    assert (first.returncode, second.returncode) == (0, 0)
    assert output == f"{empty_cache}/state/key/file\n"
    assert errors == ""


def test_the_second_makes_it_when_the_first_is_killed(empty_cache: Path) -> None:
    with start() as first, start_after(first) as second:
        first.kill()
        output, errors = second.communicate("\n", timeout=30)
    assert second.returncode == 0, errors
    assert output == f"building\n{empty_cache}/state/key/file\n"
    assert [path.name for path in (empty_cache / "state").iterdir()] == ["key"]


def start_after(first: subprocess.Popen[str]) -> subprocess.Popen[str]:
    assert first.stdout
    assert first.stdout.readline() == "building\n"
    return start()


def test_a_short_wait_is_not_worth_a_word(
    empty_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with cache.locked("state"):
        pass
    with cache.locked("state"):
        pass
    assert capsys.readouterr().err == ""
