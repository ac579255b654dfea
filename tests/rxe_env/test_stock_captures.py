# SPDX-License-Identifier: BSD-2-Clause
"""The stored captures of stock tools are complete and whole, and can be made anew at any time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.capture.reader import Record, read
from roceproof.conformance.check.run import check_file
from roceproof.conformance.interop.stock.cable import EVERY, LOST_BEHIND
from roceproof.conformance.interop.stock.captures import SUFFIX, capture_set
from roceproof.conformance.interop.stock.collection import SCENARIOS, SEND_FIRST
from roceproof.conformance.interop.stock.scenarios import SERVER, Scenario, lost, pingpong
from roceproof.conformance.interop.stock.traffic import Bench, Outcome, ToolFailed
from roceproof.conformance.rules.table import Severity
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.icrc import Judgement

STORED = REPOSITORY / "tests/captures/rxe"
NAMES = [scenario.name for scenario in SCENARIOS]
LARGEST, LARGEST_SET = 100_000, 1_000_000
# What the set must hold, by opcode: RC but SEND with invalidate, UC SEND and WRITE, UD.
SEEN = {*range(0x03), 0x04, *range(0x06, 0x09), *range(0x0A, 0x15), *range(0x20, 0x23)}
SEEN |= {0x26, 0x27, 0x28, 0x64, 0x65}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """A set made now, by scenario."""
    directory = tmp_path_factory.mktemp("stock")
    return {outcome.scenario.name: outcome for outcome in capture_set(directory)}


def judgements(records: Iterable[Record]) -> set[Judgement]:
    return {icrc.check(record.frame).judgement for record in records}


def packets(*paths: Path) -> Iterator[Packet]:
    parsed = (parse(record.frame) for path in paths for record in read(path))
    return (packet for packet in parsed if packet)


def opcodes(paths: Iterable[Path]) -> set[int]:
    return {packet.bth.opcode for packet in packets(*paths)}


def wraps(path: Path) -> bool:
    return {0xFFFFFF, 0} <= {packet.bth.psn for packet in packets(path)}


def lost_behind(path: Path) -> int:
    return sum(record.comment == LOST_BEHIND for record in read(path))


def planned_behind(scenario: Scenario) -> int:
    return sum(loss.recorded for loss in scenario.losses)


def loses_every(scenario: Scenario) -> bool:
    return EVERY in {loss.nth for loss in scenario.losses}


def test_every_scenario_is_stored_and_listed_and_nothing_else_is() -> None:
    assert {path.name for path in STORED.glob(f"*{SUFFIX}")} == {n + SUFFIX for n in NAMES}
    rows = [line for line in (STORED / "README.md").read_text().splitlines() if SUFFIX in line]
    assert len(rows) == len(SCENARIOS)
    for row, scenario in zip(rows, SCENARIOS, strict=True):
        assert f"| {scenario.name}{SUFFIX} | `{scenario.client}` |" in row
        assert row.endswith(f"| {scenario.shows} |")


def test_the_stored_set_is_small_and_holds_every_kind_of_packet() -> None:
    sizes = [path.stat().st_size for path in STORED.glob(f"*{SUFFIX}")]
    assert max(sizes) < LARGEST
    assert sum(sizes) < LARGEST_SET
    assert opcodes(STORED.glob(f"*{SUFFIX}")) == SEEN
    assert wraps(STORED / f"rc_wrap{SUFFIX}")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_every_packet_of_a_stored_capture_has_a_right_icrc(scenario: Scenario) -> None:
    path = STORED / f"{scenario.name}{SUFFIX}"
    records = list(read(path))
    assert Judgement.OK in judgements(records)
    assert judgements(records) <= {Judgement.OK, Judgement.NOT_ROCE}
    times = [record.time_ns for record in records]
    assert times == sorted(times)
    assert lost_behind(path) == planned_behind(scenario) or loses_every(scenario)


@pytest.mark.rxe
@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_the_tools_end_as_planned_over_a_cable_that_loses_frames(
    fresh: dict[str, Outcome], scenario: Scenario
) -> None:
    outcome = fresh[scenario.name]
    assert outcome.lost == len(scenario.losses) or loses_every(scenario)
    assert outcome.frames == len(list(read(outcome.path)))
    assert judgements(read(outcome.path)) <= {Judgement.OK, Judgement.NOT_ROCE}
    assert lost_behind(outcome.path) == planned_behind(scenario) or loses_every(scenario)


@pytest.mark.rxe
@pytest.mark.slow
def test_a_fresh_set_holds_every_kind_of_packet(fresh: dict[str, Outcome]) -> None:
    assert opcodes(outcome.path for outcome in fresh.values()) == SEEN
    assert wraps(fresh["rc_wrap"].path)


def broken(path: Path) -> set[str]:
    """The rules of severity must that the wire oracle finds broken."""
    findings = check_file(path)["findings"]
    return {row["rule"] for row in findings if row["severity"] == Severity.MUST}


def accused(scenario: Scenario) -> set[str]:
    """UC packets that were lost in front of the recording point look like PSNs left out."""
    return {"PSN-18"} if scenario.name == "uc_write_gap" else set()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_no_healthy_stored_capture_breaks_a_must(scenario: Scenario) -> None:
    assert broken(STORED / f"{scenario.name}{SUFFIX}") == accused(scenario)


@pytest.mark.rxe
@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=NAMES)
def test_no_healthy_fresh_capture_breaks_a_must(
    fresh: dict[str, Outcome], scenario: Scenario
) -> None:
    assert broken(fresh[scenario.name].path) == accused(scenario)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench.start() as started:
        yield started


@pytest.mark.rxe
@pytest.mark.slow
def test_a_tool_that_fails_is_named_with_what_it_said(bench: Bench, tmp_path: Path) -> None:
    wrong = pingpong("wrong", "ibv_rc_pingpong -m 17", "a path MTU that there is none")
    with pytest.raises(ToolFailed, match=r"(?s)wrong: .*Usage") as caught:
        bench.capture(wrong, tmp_path / "wrong.pcapng")
    assert list(tmp_path.iterdir()) == []
    assert "server" in str(caught.value)


@pytest.mark.rxe
@pytest.mark.slow
def test_a_loss_that_never_came_is_no_success(bench: Bench, tmp_path: Path) -> None:
    loss = lost(SERVER, SEND_FIRST, nth=1000)
    short = pingpong("short", "ibv_rc_pingpong -m 256 -s 300 -n 2", "too few frames", loss)
    with pytest.raises(ToolFailed, match="short: 1 of 1 losses never came along"):
        bench.capture(short, tmp_path / "short.pcapng")
