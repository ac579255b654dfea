# SPDX-License-Identifier: BSD-2-Clause
"""Parts of a campaign come back once each, from processes and from a real Dask cluster alike."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import LocalCluster

from roceproof.common import cluster as cluster_of_dask
from roceproof.common.errors import RoceproofError
from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.campaign import apart, crowd
from roceproof.conformance.campaign.folder import Folder
from roceproof.conformance.campaign.worker import Came, Part
from roceproof.conformance.runner.session.options import Options

FAULTY = Options(target="model", dut=REFERENCE_DUT, mutant="ip-ttl-fixed")
TWICE = replace(FAULTY, mutant="icrc-s19")
"""It has two findings."""
PATIENCE = "1h"
"""A worker that is not back behind that is given up by its LocalCluster: behind 15 s, untold."""
KILLS = 4
"""One each time that so many parts have come."""


def parts(folder: Path, options: Options = FAULTY, *, count: int, programs: int) -> list[Part]:
    seeds = range(1, 1 + count * programs, programs)
    of_all: dict[str, Any] = {"folder": folder, "options": options, "width": None}
    return [Part(**of_all, first=seed, count=programs) for seed in seeds]


def added(told: list[Came]) -> tuple[int, Counter[str], list[str]]:
    found = sum((each.found for each in told), Counter[str]())
    return sum(each.programs for each in told), found, [b for each in told for b in each.broke]


def test_a_process_that_dies_is_told_and_the_next_part_gets_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first test here: a thread of a cluster may still play what another has given it.
    monkeypatch.setattr(apart, "IDLE", [])
    (part,) = parts(tmp_path, count=1, programs=1)
    apart.play_apart(part)
    (process,) = apart.IDLE
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with pytest.raises(RoceproofError, match="killed by SIGKILL"):
        apart.play_apart(part)
    assert apart.play_apart(part).programs == 1


def test_a_cluster_plays_what_processes_play(cluster: str, tmp_path: Path) -> None:
    told = []
    for place, name in enumerate((None, cluster)):
        folder = tmp_path / str(place)
        with crowd.crowd(1, name, look=lambda: None) as players:
            assert players.size == 2 - (name is None)
            told.append(added([*players.play(parts(folder, count=3, programs=1))]))
        assert {each["folder"].name for each in Folder(folder).findings()} == {*told[-1][1]}
    assert told[0] == told[1] and told[0][0] == 3 and told[0][1]


def test_a_run_that_must_end_ends_the_wait_for_a_cluster(cluster: str, tmp_path: Path) -> None:
    def changed() -> None:
        raise RoceproofError("the sources have changed")

    with crowd.crowd(1, cluster, look=changed) as players, pytest.raises(RoceproofError):
        next(players.play(parts(tmp_path, count=1, programs=1)))


def test_what_a_part_raises_far_away_is_raised_here(cluster: str, tmp_path: Path) -> None:
    (part,) = parts(tmp_path, count=1, programs=1)
    (entry := tmp_path / "bad.plan").write_text("no plan")
    part = replace(part, entries=(entry,))
    with (
        crowd.crowd(1, cluster, look=lambda: None) as players,
        pytest.raises(RoceproofError, match=r"bad\.plan"),
    ):
        next(players.play([part]))


def test_a_scheduler_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_of_dask, "_ANSWER_SECONDS", 0.2)
    with (
        pytest.raises(RoceproofError, match="no Dask scheduler"),
        crowd.crowd(1, "tcp://127.0.0.1:1", look=lambda: None),
    ):
        pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(RoceproofError, match="pip install"),
        crowd.crowd(1, "tcp://127.0.0.1:1", look=lambda: None),
    ):
        pass


@pytest.mark.slow
def test_of_eight_workers_those_that_are_killed_lose_nothing_and_double_nothing(
    tmp_path: Path,
) -> None:
    with crowd.crowd(2, None, look=lambda: None) as players:
        undisturbed = added([*players.play(parts(tmp_path / "0", TWICE, count=40, programs=1))])
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": PATIENCE}),
        LocalCluster(n_workers=8, threads_per_worker=1, dashboard_address=None) as cluster,
        crowd.crowd(1, cluster.scheduler_address, look=lambda: None) as players,
    ):
        told = []
        for came in players.play(parts(tmp_path / "1", TWICE, count=40, programs=1)):
            told.append(came)
            if len(told) % KILLS == 0 and (pids := at_work(cluster)):
                os.kill(pids[len(told) % len(pids)], signal.SIGKILL)
    assert added(told) == undisturbed
    names = [{each["folder"].name for each in Folder(tmp_path / d).findings()} for d in "01"]
    assert names[0] == names[1] == {*undisturbed[1]} and len(names[0]) == 2


def at_work(cluster: LocalCluster) -> list[int]:
    """The processes that the scheduler knows; one that dies before is not started again."""
    known = cluster.scheduler.workers
    return [nanny.pid for nanny in cluster.workers.values() if nanny.worker_address in known]
