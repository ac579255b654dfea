# SPDX-License-Identifier: BSD-2-Clause
"""Captures from stdin and from pipes: every command takes them, and says what it waits for."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from corrupted_captures import HEALTHY

CLEAN, USAGE = 0, 2
COMMANDS = (("check",), ("explain",), ("ladder",), ("diff", str(HEALTHY)))


def piped(console, data: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [console.command, *words],
        env=console.environment,
        input=data,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_stdin_is_a_capture_like_any_other(console, words) -> None:
    run = piped(console, HEALTHY.read_bytes(), *words, "-")
    assert run.returncode == CLEAN, run.stderr
    from_file = console.run(*words, str(HEALTHY)).stdout.replace(str(HEALTHY), "-")
    assert run.stdout.decode().replace(str(HEALTHY), "-") == from_file
    assert console.leftovers() == []


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_what_is_no_capture_is_named_as_what_was_asked_for(console, words) -> None:
    run = piped(console, b"no capture", *words, "-")
    assert run.returncode == USAGE
    assert run.stderr.decode().splitlines()[-1].startswith("roceproof: -")
    assert b"/tmp" not in run.stderr and console.leftovers() == []


def test_stdin_cannot_be_both_sides_of_a_comparison(console) -> None:
    run = piped(console, HEALTHY.read_bytes(), "diff", "-", "-")
    assert run.returncode == USAGE
    assert b"only one of the two" in run.stderr


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_pipe_without_a_writer_is_waited_for_aloud(console, tmp_path: Path, words) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    run = console.spawn(*words, str(pipe))
    assert run.stderr is not None
    line = run.stderr.readline()
    assert line == f"roceproof: {pipe} is a pipe; waiting for what is written to it\n"
    pipe.write_bytes(HEALTHY.read_bytes())
    out, errors = run.communicate(timeout=60)
    assert run.returncode == CLEAN, errors
    assert out and console.leftovers() == []


@pytest.mark.parametrize("frames", ["-5", "0", "20-10", "0-3", "1--2", "\x1b"])
def test_frame_numbers_that_there_are_none_of_are_refused(console, frames: str) -> None:
    run = console.run("ladder", f"--frames={frames}", str(HEALTHY))
    assert (run.returncode, run.stdout) == (USAGE, "")
    assert "not a range of frame numbers" in run.stderr and "\x1b" not in run.stderr


def test_a_number_of_frames_below_zero_is_refused(console) -> None:
    assert console.run("explain", "--frames=-5", str(HEALTHY)).returncode == USAGE


def test_what_was_not_read_or_drawn_is_in_the_document(console) -> None:
    document = json.loads(console.run("ladder", "--json", "--max=3", str(HEALTHY)).stdout)
    assert len(document["packets"]) == 3
    assert "more packets are not drawn" in document["notes"][0]
    assert json.loads(console.run("explain", "--json", str(HEALTHY)).stdout)["notes"] == []
    compared = json.loads(console.run("diff", "--json", str(HEALTHY), str(HEALTHY)).stdout)
    assert compared["notes"] == {"a": [], "b": []}
