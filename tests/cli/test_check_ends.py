# SPDX-License-Identifier: BSD-2-Clause
"""The check command on a terminal, interrupted, without a reader and without a compiler."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from corrupted_captures import HEALTHY, corrupt, middles, other_version
from pseudo_terminal import shown_on_terminal

from roceproof.conformance.check.build import ToolError, build_tool

FINDINGS, INTERRUPTED, BROKEN_PIPE = 1, 130, 141
RED = "\x1b[31m"
END_S = 60


def on_a_terminal(console, *arguments: str, **environment: str) -> str:
    """Stdout and stderr of a run on a terminal."""
    surroundings = {**console.environment, **environment}
    if not surroundings["NO_COLOR"]:
        del surroundings["NO_COLOR"]
    command = [console.command, "check", *arguments]
    return shown_on_terminal(command, env=surroundings, streams=["stdout", "stderr"])


@pytest.fixture(scope="module")
def broken(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("broken") / "broken.pcapng"
    return str(corrupt(HEALTHY, path, {middles(HEALTHY)[0]: other_version}))


def test_a_terminal_gets_colours_unless_told_otherwise(console, broken) -> None:
    assert RED in on_a_terminal(console, "-q", broken, NO_COLOR="")
    assert RED not in on_a_terminal(console, "-q", broken, NO_COLOR="1")
    assert "\x1b" not in console.run("check", broken, NO_COLOR="").stdout


READING = """
from roceproof.conformance.check import progress as check_progress
check_progress.BLINK_SECONDS = {blink}
with check_progress.reading("a [bold] capture", quiet={quiet}) as advance:
    advance(1, 2)
    advance(2, 2)
"""


def said_while_reading(*, blink: int, quiet: bool) -> str:
    command = [sys.executable, "-c", READING.format(blink=blink, quiet=quiet)]
    return shown_on_terminal(command, env=os.environ, streams=["stderr"])


def test_a_bar_is_drawn_on_a_terminal_only(console, broken) -> None:
    said = said_while_reading(blink=-1, quiet=False)
    assert "a [bold] capture" in said
    assert "2/2 bytes" in said
    assert said_while_reading(blink=-1, quiet=True) == ""
    assert console.run("check", broken).stderr == ""


def test_what_is_read_in_a_blink_draws_no_bar() -> None:
    assert said_while_reading(blink=600, quiet=False) == ""


def test_ctrl_c_leaves_nothing_behind(console) -> None:
    reader, writer = os.pipe()
    run = subprocess.Popen(
        [console.command, "check", "-"],
        env=console.environment,
        stdin=reader,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + END_S
    while not any("roce-check" in command for command in console.processes().values()):
        assert time.monotonic() < deadline, "the oracle was not started"
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=END_S)
    os.close(writer)
    os.close(reader)
    assert (run.returncode, errors) == (INTERRUPTED, "roceproof: interrupted\n")
    assert console.leftovers() == []


def test_a_reader_that_leaves_is_not_taken_for_findings(console, broken) -> None:
    run = console.run_without_reader("check", broken)
    assert (run.returncode, run.stderr) == (BROKEN_PIPE, "")


def test_a_place_that_cannot_be_written_is_named(console, tmp_path, broken) -> None:
    for option in ("--annotate", "--junit"):
        target = tmp_path / "gone" / "out"
        run = console.run("check", option, str(target), broken)
        assert run.returncode == 2
        assert f"roceproof: {target}: No such file" in run.stderr


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        (["awk", "cc"], "make is not installed: apt-get install make"),
        (["make", "awk"], "cc is not installed: apt-get install gcc"),
    ],
    ids=["no make", "no compiler"],
)
def test_a_missing_compiler_is_named_with_the_mend(tmp_path, monkeypatch, tools, reason) -> None:
    (tmp_path / "bin").mkdir()
    for tool in tools:
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool) or "")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(ToolError, match=f"roce-check cannot be built: {reason}"):
        build_tool(Path(tmp_path / "build"))
