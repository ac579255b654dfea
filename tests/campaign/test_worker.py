# SPDX-License-Identifier: BSD-2-Clause
"""A worker writes down what it finds: the plan at once, and behind that all that there is of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from roceproof.common.paths import REFERENCE_DUT
from roceproof.conformance.campaign import worker
from roceproof.conformance.campaign.folder import CAPTURE, CASE, ENTRY, Folder, read_entry
from roceproof.conformance.campaign.programs import is_for, program_of
from roceproof.conformance.campaign.worker import Part, play
from roceproof.conformance.runner import plan_player
from roceproof.conformance.runner.judging.bench_law import CaseBreaks
from roceproof.conformance.runner.session.options import Options
from roceproof.conformance.stimulus.plan import Plan, Step
from roceproof.conformance.stimulus.plan_text import text_of
from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.targets.manifest_claims import claims_of
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.dpi.manifest.dut import load_manifest

FAULTY = Options(target="model", dut=REFERENCE_DUT, mutant="ip-ttl-fixed")
HEALTHY = Options(target="model", dut=REFERENCE_DUT)
PLAN = Plan(steps=(Step("connect", {"key": 0, "hop_limit": 7}), Step("wait", {"ns": 9})))


def part_of(folder: Path, options: Options, *, count: int = 0, plans: int = 0) -> Part:
    entries = tuple(Folder(folder).keep(PLAN) for _ in range(plans))
    return Part(folder=folder, options=options, width=None, first=5, count=count, entries=entries)


def test_a_finding_has_all_that_there_is_of_it(tmp_path: Path) -> None:
    came = play(part_of(tmp_path, FAULTY, plans=2))
    (finding,) = Folder(tmp_path).findings()
    assert came.programs == 2 and came.found == {finding["folder"].name: 2}
    assert finding["rules"] == ["IP-06"] and finding["seed"] == 5
    assert str(finding["folder"] / CASE).endswith("test_found.py")
    assert finding["replay"].endswith("--target model --mutant ip-ttl-fixed")
    assert read_entry(finding["folder"] / ENTRY).steps == PLAN.steps[:1]
    assert (finding["folder"] / CAPTURE).stat().st_size
    again = play(part_of(tmp_path, FAULTY, plans=1))
    assert again.found == {finding["folder"].name: 1}


def test_what_was_found_is_not_lost_while_it_is_made_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("roceproof.conformance.stimulus.run_plan.Reduction.run", killed)
        patch.setattr(worker, "program_of", lambda *_: PLAN)
        with pytest.raises(KeyboardInterrupt):
            play(part_of(tmp_path, FAULTY, count=1))
    assert Folder(tmp_path).findings() == []
    (entry,) = Folder(tmp_path).entries()
    assert read_entry(entry) == PLAN


def test_a_healthy_device_leaves_nothing(tmp_path: Path) -> None:
    came = play(part_of(tmp_path, HEALTHY, count=3))
    assert (came.programs, came.found, came.broke) == (3, {}, [])
    assert came.counts and Folder(tmp_path).entries() == []


def test_a_program_that_breaks_by_itself_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise CaseBreaks("the case itself breaks MTU-01")

    monkeypatch.setattr(plan_player, "try_plan", broken)
    came = play(part_of(tmp_path, HEALTHY, count=2))
    assert came.broke == [f"seed {seed}: the case itself breaks MTU-01" for seed in (5, 6)]


def test_an_entry_is_played_on_the_devices_that_it_is_for() -> None:
    model, sender = ModelFactory().claims, claims_of(load_manifest(REFERENCE_DUT), 64)
    asking = Plan(steps=(Step("connect", {"key": 0, "service": "RC"}),), player=Asking)
    assert [is_for(asking, claims) for claims in (model, sender)] == [True, False]
    datagrams = Plan(steps=(Step("connect", {"key": 0, "service": "UD"}),))
    assert [is_for(datagrams, claims) for claims in (model, sender)] == [True, False]
    odd = Plan(steps=(Step("connect", {"key": 0, "path_mtu": 300}),))
    assert [is_for(plan, sender) for plan in (PLAN, odd)] == [True, False]


def test_a_seed_is_always_the_same_program_and_some_come_of_entries() -> None:
    claims = ModelFactory().claims
    entry = Plan(steps=(Step("connect", {"key": 77}),))
    programs = [program_of(seed, claims, [entry]) for seed in range(60)]
    assert programs[:5] == [program_of(seed, claims, [entry]) for seed in range(5)]
    assert any("key=77" in text_of(program) for program in programs)
    assert len({program.player for program in programs}) == 2
