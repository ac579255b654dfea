# SPDX-License-Identifier: BSD-2-Clause
"""What a campaign keeps is there whole or not at all, whoever else writes into its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.conformance.campaign.folder import Folder, read_entry
from roceproof.conformance.stimulus.plan import Plan, Step

PLAN = Plan(steps=(Step("connect", {"key": 0}), Step("post", {"key": 0, "size": 8})))


def test_the_same_plan_is_one_entry_that_can_be_read(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert folder.entries() == []
    path = folder.keep(PLAN)
    assert folder.keep(PLAN) == path and folder.entries() == [path]
    assert read_entry(path) == PLAN
    (path.parent / ".1234.part").write_text("half a pl")
    (path.parent / "mine.plan").write_text("play = Play(bench)\n")
    assert [each.name for each in folder.entries()] == sorted([path.name, "mine.plan"])


def test_the_finding_of_whoever_was_first_stays(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    place = folder.place_of("wrong", ("PSN-02",))
    for says in ("first", "second"):
        with folder.finding(place, {"says": says}) as part:
            (part / "story.txt").write_text(says)
    assert [each["says"] for each in folder.findings()] == ["first"]
    assert (place / "story.txt").read_text() == "first"
    assert [path.name for path in place.parent.glob("[!.]*")] == [place.name]
    assert not [*place.parent.glob(".[!n]*")]


def test_a_finding_that_is_not_whole_is_none(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    place = folder.place_of("wrong", ())
    with pytest.raises(KeyboardInterrupt), folder.finding(place, {}):
        raise KeyboardInterrupt
    assert folder.findings() == [] and not place.exists()


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with pytest.raises(OSError, match="No space"), folder.finding(folder.place_of("a", ()), {}):
        raise OSError(28, "No space left on device")


def test_kinds_of_failures_with_one_cause_are_one_finding(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    place = folder.place_of("wrong", ("PSN-02",))
    with folder.finding(place, {}):
        pass
    for kind in ("wrong", "wrong before it was made small"):
        folder.is_like(place, kind)
    assert folder.causes() == dict.fromkeys(("wrong", "wrong before it was made small"), place.name)


def test_one_kind_of_failure_is_one_finding_whatever_rules_it_breaks(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    place = folder.place_of("no ACK", ("ACK-01",))
    assert place.name.startswith("ACK-01-")
    assert folder.place_of("no ACK", ("DUP-01", "ACK-01")) == place == folder.place_of("no ACK", ())
    assert folder.place_of("no NAK", ("DUP-01",)) != place and folder.findings() == []


def test_no_two_runs_have_one_number(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with pytest.raises(RoceproofError, match="no campaign"):
        folder.require()
    runs = [folder.begin({"programs": count}) for count in range(3)]
    folder.require()
    assert [path.name for path in runs] == ["0001.json", "0002.json", "0003.json"]
    assert [(run["number"], run["programs"]) for run in folder.runs()] == [(1, 0), (2, 1), (3, 2)]


def test_what_is_no_document_is_told_with_its_place(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.begin({}).write_text("{")
    with pytest.raises(RoceproofError, match=r"0001\.json: .*: remove it"):
        folder.runs()
    place = folder.place_of("wrong", ())
    with folder.finding(place, {}):
        pass
    (place / "finding.json").write_text("")
    with pytest.raises(RoceproofError, match="remove its folder"):
        folder.findings()


@pytest.mark.parametrize("content", [None, b"\xff", b"play = Nobody(bench)"])
def test_what_is_no_entry_is_told(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.plan"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RoceproofError, match=str(path)):
        read_entry(path)
