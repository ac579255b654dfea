# SPDX-License-Identifier: BSD-2-Clause
"""Healthy devices with limits and habits drawn at random, in hardware: none is accused.

`python -m drawn_twins --draws N --seed S` with tests/suite on the path deals the cases of smoke to
N twins of each device, and is what replays a failure.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from random import Random

import pytest
from drawn_twins.base import BASES
from drawn_twins.draw import drawn_twin
from drawn_twins.habits import drawn_habits
from gates import run_room

from roceproof.common.paths import CASES

SUITE = Path(__file__).parent
QUICK = [f"{CASES}/test_requester_{name}.py" for name in ("messages", "psn", "headers", "link")]


def twins(*words: str) -> subprocess.CompletedProcess[str]:
    return run_room("drawn_twins", *words)


def test_every_habit_that_is_drawn_is_one_of_the_adapter() -> None:
    text = "".join(path.read_text() for path in SUITE.glob("twin/twin*.sv"))
    known = set(re.findall(r'habit\("(\w+)"\)', text))
    streams = re.findall(r'\.Name\("(\w+)"\)', text)
    known |= {f"{stream}_{kind}" for stream in streams for kind in ("wait", "beat")}
    draw = Random(1)
    drawn = {
        name for base in BASES.values() for _ in range(99) for name in drawn_habits(draw, base)
    }
    assert drawn <= known
    assert known - drawn <= {f"{each}_{kind}" for each in streams for kind in ("wait", "beat")} | {
        "habit_seed"
    }


def test_a_twin_is_the_same_whenever_it_is_drawn() -> None:
    for base in BASES.values():
        assert drawn_twin(base, 1, 7) == drawn_twin(base, 1, 7) != drawn_twin(base, 2, 7)


@pytest.mark.sim
def test_twins_of_a_small_device_are_not_accused() -> None:
    done = twins("--device", "uc_writer", "--draws", "12", *QUICK)
    assert done.returncode == 0, done.stdout[-8000:]


@pytest.mark.sim
def test_a_habit_that_the_manifest_does_not_know_is_accused() -> None:
    done = twins(
        *("--device", "uc_writer", "--draws", "12", "--habit", "store=1", "--habit", "tx_id=1"),
        *QUICK[:2],
    )
    assert done.returncode == 1
    assert "ident: want" in done.stdout
    assert "--draw " in done.stdout


@pytest.mark.slow  # the twins of one device are a build
@pytest.mark.sim
def test_configurations_regions_and_receives_may_be_taken_late() -> None:
    late = [word for name in ("qpc", "mr", "rcv") for word in ("--habit", f"{name}_wait=4000")]
    cases = [f"{CASES}/test_responder_{name}.py" for name in ("ack", "memory")]
    done = twins("--device", "responder", "--draws", "12", *late, *cases)
    assert done.returncode == 0, done.stdout[-8000:]


@pytest.mark.slow  # the twins of one device are a build
@pytest.mark.sim
def test_completions_may_come_one_by_one_and_a_device_may_announce_itself() -> None:
    habits = ("cpl_wait=1000", "store=1", "arp_announce=20000")
    words = [word for habit in habits for word in ("--habit", habit)]
    cases = [f"{CASES}/test_requester_{name}.py" for name in ("crosses", "storm_answers")]
    done = twins("--device", "endpoint", "--draws", "12", *words, *cases)
    assert done.returncode == 0, done.stdout[-8000:]


@pytest.mark.slow  # the twins of one device are a build
@pytest.mark.sim
def test_requests_in_front_of_the_answer_to_its_own_arp_are_taken() -> None:
    words = ("--device", "byte_endpoint", "--seed", "11", "--draw", "166")
    done = twins(*words, "-k", "each_receive_completes")
    assert done.returncode == 0, done.stdout[-8000:]


@pytest.mark.slow
@pytest.mark.sim
@pytest.mark.parametrize("device", BASES)
@pytest.mark.parametrize("seed", range(1, 4))
def test_twins_are_not_accused(device: str, seed: int) -> None:
    done = twins("--device", device, "--draws", "150", "--seed", str(seed))
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
