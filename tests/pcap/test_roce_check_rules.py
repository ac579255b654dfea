# SPDX-License-Identifier: BSD-2-Clause
"""Every rule that roce-check can report: a capture that breaks it alone, and healthy ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from observed_scenarios import DECIDED, SCENARIOS, Scenario, facts_for
from roce_check import RoceCheck
from scenarios import findings_of

from roceproof.conformance.capture.reader import read
from roceproof.conformance.faults.conversation.traffic import Conversation
from roceproof.conformance.observer.facts import Facts

STORED = sorted((Path(__file__).resolve().parents[1] / "captures" / "rxe").glob("*.gz"))
TROUBLES: list[dict[str, Any]] = [
    {},
    {"loss": 0.05, "unseen_loss": 0.05, "rnr_rate": 0.1, "reconnects": 1},
    {"loss": 0.1, "rereads_whole": True},
]


@pytest.fixture(scope="module")
def check(build: Path, tmp_path_factory: pytest.TempPathFactory) -> RoceCheck:
    return RoceCheck(build / "checked" / "roce-check", tmp_path_factory.mktemp("check"))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_corrupted_capture_breaks_exactly_its_rules_where_the_reference_says(
    check: RoceCheck, scenario: Scenario
) -> None:
    frames = scenario.frames()
    facts = facts_for(scenario, frames)
    places = check.frames(frames, facts=facts).places
    assert {rule for _, rule, _ in places} == scenario.rules
    found = findings_of(frames, facts=Facts.from_json(facts) if facts else None)
    assert places == sorted((one.frame, one.rule.id, one.severity.value) for one in found)


def test_every_rule_that_an_observer_can_see_is_among_them() -> None:
    shown = {rule for scenario in SCENARIOS for rule in scenario.rules}
    assert shown == DECIDED


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: "-".join(trouble) or "none")
def test_a_healthy_conversation_breaks_no_rule(
    check: RoceCheck, seed: int, trouble: dict[str, Any]
) -> None:
    frames, facts = Conversation(seed=seed, **trouble).capture()
    for known in (None, facts):
        checked = check.frames([timed.frame for timed in frames], facts=known)
        assert [place for place in checked.places if place[2] != "info"] == []
        assert checked.code == 0
        assert checked.summary["icrc"] == {"ok": len(frames), "bad": 0, "unchecked": 0}


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name.split(".")[0])
def test_a_capture_of_soft_roce_shows_what_soft_roce_is_known_for_and_no_more(
    check: RoceCheck, path: Path
) -> None:
    places = check.file(path).places
    known = {"UD-06": "should"} | ({"PSN-18": "must"} if "uc_write_gap" in path.name else {})
    assert [place for place in places if place[2] not in ("info", known.get(place[1]))] == []
    assert check.file(path).summary["frames"] == sum(1 for _ in read(path))
