# SPDX-License-Identifier: BSD-2-Clause
"""Scenarios with frames: their laws, and that the command line says of captures what rows say."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from laws import HDL, LIVE, judge

from roceproof.cli.check import check
from roceproof.cli.explain import explain
from roceproof.cli.scenario import scenario as command
from roceproof.common.paths import RECOVERY_DUT
from roceproof.conformance.capture.reader import read
from roceproof.conformance.model.components import REQUESTERS, Components
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.mutants.families.recovery_copies import LosesPayload, OtherImmediate
from roceproof.conformance.mutants.families.recovery_place import CompletesTwice
from roceproof.conformance.mutants.rtl import load_mutants
from roceproof.conformance.scenarios.catalogue import SCENARIOS
from roceproof.conformance.scenarios.frames import exchange, fpga, many, multicast, once
from roceproof.conformance.scenarios.frames.trial import HISTORY, Trial, meet
from roceproof.conformance.scenarios.run import run
from roceproof.conformance.scenarios.scenario import Row
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import CasePlace, DeviceFactory
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.dpi.manifest.dut import load_manifest
from roceproof.verbs.service import Service

builds = pytest.mark.skipif(
    shutil.which("verilator") is None, reason="verilator is not installed: run `make setup`"
)


@pytest.mark.sim
@pytest.mark.whole
@builds
@pytest.mark.parametrize("name", HDL)
def test_laws_hold_and_can_fail_and_captures_say_the_same(name: str, tmp_path: Path) -> None:
    judge(SCENARIOS[name], tmp_path)
    if name in ("daq-many-frames", "light-gaps", "wan-loss-frames"):
        return  # captures of headers, and those that the suite has judged
    for row in run(SCENARIOS[name], quick=True, folder=tmp_path).rows:
        files = [f"{row['regime']}.qps.json", f"{row['regime']}.pcapng"]
        words = ["--json", "-q", "--qps", *(str(tmp_path / file) for file in files)]
        checked, explained = (
            json.loads(CliRunner().invoke(each, words).stdout) for each in (check, explain)
        )
        musts = {group["rule"] for group in checked["groups"] if group["severity"] == "must"}
        assert " ".join(sorted(musts)) == row["rules"]
        assert " ".join(sorted({each["id"] for each in explained["diagnoses"]})) == row["names"]


@pytest.mark.rxe
@pytest.mark.sim
@pytest.mark.whole
@builds
@pytest.mark.parametrize("name", [*LIVE, "fpga-psn", "fpga-icrc"])
def test_laws_hold_and_can_fail_with_a_guest(name: str, tmp_path: Path) -> None:
    judge(SCENARIOS[name], tmp_path, quick=False)


@pytest.mark.rxe
@pytest.mark.sim
@pytest.mark.whole
@builds
def test_four_endpoints_write_into_one_guest(tmp_path: Path) -> None:
    words = {"mode": "guest", "qps": 40, "size": 8192, "messages": 80}
    row = many.play(words, 1, tmp_path)
    assert (row["landed"], row["flagged"], row["wrong"]) == (80, 0, 0)


@pytest.mark.rxe
@pytest.mark.sim
@pytest.mark.whole
@builds
def test_what_an_endpoint_repeats_comes_once_into_a_guest(tmp_path: Path) -> None:
    row = once_over("guest", HdlFactory(load_manifest(RECOVERY_DUT)), tmp_path)
    assert broken(row) == []


def once_over(far: str, sender: DeviceFactory, folder: Path) -> Row:
    words = {"far": far, "share": 0.05, "packets": 200}
    return words | once.play(words, sender, 1, folder)


def broken(row: Row) -> list[str]:
    return [check.name for check in once.ONCE.checks([row]) if not check.passed]


def test_what_is_repeated_comes_once_and_in_turn(tmp_path: Path) -> None:
    row = once_over("model", ModelFactory(), tmp_path)
    assert broken(row) == [] and row["sent"] > 200
    comments = Counter(record.comment for record in read(tmp_path / "model-5%.pcapng"))
    assert comments["to the switch: lost on the line"] == row["lost"] > 5


@pytest.mark.parametrize(
    ("sender", "law"),
    [
        (LosesPayload, "messages right"),
        (OtherImmediate, "executed out of turn"),
        (CompletesTwice, "messages completed"),
    ],
)
def test_a_sender_that_repeats_otherwise_is_seen(
    sender: type[RcRequester], law: str, tmp_path: Path
) -> None:
    components = Components(requesters={**REQUESTERS, Service.RC: sender})
    names = broken(once_over("model", ModelFactory(components=components), tmp_path))
    assert any(name.endswith(law) for name in names), names


def test_what_only_a_full_run_plays_is_said_and_leaves_no_result(tmp_path: Path) -> None:
    words = ["run", "light-live", "daq-size", "--quick", "--no-plots", "-q", "--out", str(tmp_path)]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0
    assert "light-live: not played: only a full run does" in done.stderr
    assert "1 of 1 scenarios passed" in done.stdout
    assert not (tmp_path / "light-live" / "result.json").exists()


def play(trial: Trial, folder: Path) -> dict[str, object]:
    """With the reference model at both ends."""
    place = CasePlace(name="sender", seed=1)
    with (
        ModelFactory().device(place) as near,
        ModelFactory().device(CasePlace(name="receiver", seed=2)) as far,
    ):
        return meet(trial, 1, folder, near, far)


def test_what_the_wire_carries_lands_and_is_captured(tmp_path: Path) -> None:
    row = play(Trial(name="all", messages=3), tmp_path)
    assert (row["landed"], row["acknowledged"], row["rules"]) == (3, 3, "")
    records = list(read(tmp_path / "all.pcapng"))
    assert [record.time_ns for record in records] == sorted(record.time_ns for record in records)
    assert {record.comment for record in records} == {""}


def test_what_the_wire_drops_is_captured_with_the_reason(tmp_path: Path) -> None:
    row = play(Trial(name="none", messages=3, size=2048, mtu=2048, ip_mtu=1500), tmp_path)
    comments = [record.comment for record in read(tmp_path / "none.pcapng")]
    assert row["dropped"] == len(comments) > 3
    assert set(comments) == {"dropped: longer than the network's MTU of 1500"}
    assert (row["landed"], row["rules"], row["ended_as"]) == (
        0,
        "MTU-09",
        "retry_exc_err wr_flush_err",
    )


def test_a_swapped_start_psn_is_named(tmp_path: Path) -> None:
    row = play(Trial(name="swapped", messages=3, swaps_psns=True), tmp_path)
    assert (row["landed"], row["rules"], row["names"]) == (0, "PSN-01", "P01")


def test_numbers_are_exchanged_over_a_channel_that_loses(tmp_path: Path) -> None:
    words = {"channel": "lost", "waits": False, "qps": 3, "messages": 24}
    row = exchange.play(words, 1, tmp_path)
    assert row["wrong"] == 0 and row["requests"] > 3
    assert 0 < row["flagged"] == 24 - row["landed"] <= row["early"]
    facts = json.loads((tmp_path / "lost-early.qps.json").read_text())
    assert len(facts["qps"]) == 3


def test_a_group_gets_what_the_switch_does_not_lose(tmp_path: Path) -> None:
    words = {"receivers": 2, "loss": 0.2, "messages": 20}
    row = multicast.play(words, 1, tmp_path)
    assert 0 < row["flagged"] == row["injected"] < 20
    assert (row["flagged_elsewhere"], row["wrong"], row["rules"]) == (0, 0, "")


def test_every_historical_fault_is_played() -> None:
    source = Path(fpga.__file__).read_text()
    assert all(f'"{mutant.id}"' in source for mutant in load_mutants(HISTORY).mutants)


def test_no_device_stands_in(tmp_path: Path) -> None:
    words = ["run", "fpga-psn", "--dut", "rtl/dut.toml", "--out", str(tmp_path)]
    assert "take light-throughput" in str(CliRunner().invoke(command, words).exception)
