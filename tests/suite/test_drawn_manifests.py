# SPDX-License-Identifier: BSD-2-Clause
"""Whatever a device cannot do or choose, and whatever habit it has: a right one passes the rest.

Every case draws a manifest and habits of its own for the model. `python -m drawn --seed N` with
tests/suite on the path is the same for one seed, and what replays a failure.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from gates import run_room
from told_draw import with_draw

from roceproof.common.paths import CASES

QUICK = ("ack", "duplicates", "sequence", "read", "cm")


def passes(seed: int, *cases: str) -> str:
    """What the session says at its end."""
    done = run_room("drawn", "--seed", str(seed), *cases)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    return done.stdout


def test_cases_of_responders_pass_under_what_each_draws() -> None:
    assert " passed" in passes(1, *(f"{CASES}/test_responder_{name}.py" for name in QUICK))


@pytest.mark.parametrize("seed", [5, 15, 16])
def test_cases_of_datagrams_pass_under_what_each_draws(seed: int) -> None:
    assert " passed" in passes(seed, f"{CASES}/test_requester_datagrams.py")


def test_a_failure_has_one_command_and_that_draws_the_same_again() -> None:
    report: Any = SimpleNamespace(longrepr="want SEND\ncapture: a\nreplay: roceproof test -k a")
    again = "python -m drawn --seed 1 a"
    told = str(with_draw(report, "qps = 1", replay=again).longrepr)
    assert told == f"want SEND\ncapture: a\nqps = 1\nreplay: {again}"


@pytest.mark.whole
@pytest.mark.parametrize("seed", range(2, 4))
def test_every_case_passes_under_what_it_draws(seed: int) -> None:
    passes(seed)


@pytest.mark.slow  # each seed is some 900 pairs of a case and a manifest
@pytest.mark.parametrize("seed", range(4, 30))
def test_cases_pass_under_many_more(seed: int) -> None:
    passes(seed)
