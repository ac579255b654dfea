# SPDX-License-Identifier: BSD-2-Clause
"""Loss between two stock hosts: every combination is tried, and one silently spoils data."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from roceproof.conformance.interop.stock.losses import Pair, Trial, trials
from roceproof.conformance.interop.stock.scenarios import CLIENT, SERVER


def test_every_combination_of_losses_is_tried_once() -> None:
    found = list(trials(works=2, lost=2))
    assert len(set(found)) == len(found) == 389
    longest = [trial for trial in found if trial.works == ("long read", "write")]
    assert len(longest) == 1 + 6 + 15  # of two requests and four responses none, one, two


@pytest.mark.parametrize(
    ("tool", "words", "told"),
    [
        ("losses", ["--kernel", "nonsense"], "nonsense is neither"),
        ("captures", [], "name a directory"),
        ("captures", ["d", "nonsense"], "'nonsense' is no scenario"),
    ],
)
def test_what_cannot_be_tried_here_is_no_finding(tool: str, words: list[str], told: str) -> None:
    place = f"roceproof.conformance.interop.stock.{tool}"
    run = subprocess.run([sys.executable, "-m", place, *words], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (2, "")
    (line,) = run.stderr.splitlines()
    assert line.startswith("roceproof: ")
    assert told in line


def test_a_loss_names_any_frame_of_its_direction() -> None:
    trial = Trial(("write", "read"), ((SERVER, 2), (CLIENT, 1)))
    assert [(loss.towards, loss.nth) for loss in trial.losses] == [(SERVER, 2), (CLIENT, 1)]
    assert str(trial) == "write, read; lost: frame 2 to the server, frame 1 to the client"


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with closing(Pair.start()) as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("atomic", ["fetch_add", "cmp_swap"])
def test_an_atomic_whose_answer_is_lost_with_the_ack_before_it(pair: Pair, atomic: str) -> None:
    (wrong,) = pair.run(Trial(("write", atomic), ((CLIENT, 1), (CLIENT, 2))))
    assert wrong == (
        f"work 2, {atomic}, succeeded and left eeeeeeeeeeeeeeee where 0202020202020202 is due"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "trial",
    [
        Trial(("write", "fetch_add"), ((CLIENT, 2),)),
        Trial(("write", "long read"), ((CLIENT, 1), (CLIENT, 2))),
        Trial(("fetch_add", "write"), ((SERVER, 1), (CLIENT, 1))),
    ],
    ids=str,
)
def test_other_losses_are_mended(pair: Pair, trial: Trial) -> None:
    assert pair.run(trial) == []
