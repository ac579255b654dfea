# SPDX-License-Identifier: BSD-2-Clause
"""Signals at random moments of every long command: the right exit code, and nothing left behind."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.rxe,
    pytest.mark.sim,
]

MOMENTS = 12
END_S = 30.0
DONE, BY_SIGNAL = 0, 128
SUITE = ["test", "-k", "psn", "--out", "OUT", "--target"]
JOBS = {
    "demo": ["demo", "--short", "--out", "OUT"],
    "hdl": [*SUITE, "hdl", "--width", "64"],
    "rxe": [*SUITE, "rxe"],
    "model": [*SUITE, "model"],
    "sim": ["sim", "--link", "socket-listen:SCRATCH/link"],
    "env": ["env", "up"],
}


def check_files(out: Path) -> None:
    """Whatever was written is whole."""
    for document in out.glob("*.json"):
        json.loads(document.read_text())
    for junit in out.glob("*.xml"):
        ElementTree.parse(junit)
    strange = [path.name for path in out.glob("*") if path.name.startswith(".")]
    assert strange == []


def spawned(console, name: str, out: Path) -> subprocess.Popen[str]:
    places = {"OUT": str(out), "SCRATCH/link": f"{console.scratch}/link"}
    words = JOBS[name]
    for place, real in places.items():
        words = [word.replace(place, real) for word in words]
    return console.spawn(*words)


@pytest.fixture(scope="session")
def seconds(session_console, tmp_path_factory) -> dict[str, float]:
    """How long each job takes from its start to its end, filled when first asked for."""
    return {}


def lasts(name: str, known: dict[str, float], console, out: Path) -> float:
    if name not in known:
        for _ in ("builds what is missing", "is what the trials meet"):
            started = time.monotonic()
            run = spawned(console, name, out)
            if name == "sim":  # it has no end of its own
                time.sleep(4)
                os.killpg(run.pid, signal.SIGINT)
            run.communicate(timeout=600)
            known[name] = time.monotonic() - started
            console.run("env", "down", "-q")
    return known[name]


@pytest.mark.parametrize("moment", range(MOMENTS))
@pytest.mark.parametrize("name", list(JOBS))
def test_a_signal_at_any_moment_leaves_nothing_behind(
    console, seconds, tmp_path, name, moment
) -> None:
    draw = random.Random(f"{name} {moment}")
    delay = lasts(name, seconds, console, tmp_path / "whole") * draw.random()
    kind = draw.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    send = draw.choice([os.kill, os.killpg])
    out = tmp_path / "out"
    run = spawned(console, name, out)
    time.sleep(delay)
    if run.poll() is None:
        send(run.pid, kind)
    sent_at = time.monotonic()
    _, errors = run.communicate(timeout=END_S)
    took = time.monotonic() - sent_at
    print(f"{name}: {kind.name} after {delay:.1f} s: {run.returncode}, ended in {took:.1f} s")
    # Before Python has loaded the command, the signal itself ends it.
    assert run.returncode in (DONE, BY_SIGNAL + kind, -kind), errors
    assert "Traceback" not in errors
    if run.returncode == BY_SIGNAL + kind:
        assert errors.splitlines()[-1] == "roceproof: interrupted"
    elif run.returncode == DONE and name == "env":
        assert console.run("env", "down", "-q").returncode == DONE
    assert console.leftovers() == []
    check_files(out)
