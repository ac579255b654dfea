# SPDX-License-Identifier: BSD-2-Clause
"""The small endpoint: memory of its own, connections of its own, and what the suite says of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "suite"))

from byte_endpoint_faults import FAULTS, HEALTHY, MORE_FAULTS, device_with, planted
from gates import assert_passes, outcomes, run

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.model.oracle import Oracle
from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.cm.active_peer import Caller
from roceproof.conformance.suite.pattern import ACK, WRITE_ONLY
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import Beyond, CasePlace
from roceproof.dpi import load_manifest
from roceproof.dpi.contract.connection_records import ConnectionEvent
from roceproof.dpi.session.port import Port

pytestmark = pytest.mark.sim

FACTORY = HdlFactory(load_manifest(HEALTHY / "dut.toml"))
CREEPING, IN_FRONT, REFUSED = 90, 5, 0x62
CREEPS_NS = 60 * 8 * 10  # a frame of 60 bytes, each after ten cycles on the average
DEVICE = ("--dut", str(HEALTHY / "dut.toml"))


@pytest.fixture
def bench() -> Iterator[Bench]:
    with FACTORY.device(CasePlace(name="small", seed=1)) as target:
        yield Bench(target, FACTORY.claims, seed=1)


def test_built_in_memory_is_seen_through_the_backdoor(bench: Bench) -> None:
    region, other = bench.target.register(4096), bench.target.register(4096)
    region.write(8, b"before")
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=0, payload=b"hello", va=100, rkey=region.rkey, a=1))
    qp.expect(ACK(psn=0))
    assert region.read(0, 200) == bytes(8) + b"before" + bytes(86) + b"hello" + bytes(95)
    assert other.read(0, 4096) == bytes(4096)
    assert (region.addr, other.addr) == (0, 0)


def test_peers_reach_all_of_a_built_in_region_and_the_oracle_knows(bench: Bench) -> None:
    region = bench.target.register(256)
    assert (region.size, region.extent) == (256, 1024)
    oracle = Oracle(bench.target.host, bench.connect().qp)
    oracle.mirror(region)
    assert oracle.observe_memory({region.rkey: region.read(0, 1024)}) is None


def test_what_built_in_memory_cannot_be_is_said(bench: Bench) -> None:
    with pytest.raises(Beyond, match="no other region of 20000 bytes"):
        bench.target.register(20000)
    with pytest.raises(Beyond, match="one protection domain"):
        bench.target.register_elsewhere(64)
    with pytest.raises(Beyond, match="keys are built in"):
        bench.target.register(64).deregister()
    assert bench.target.register(64).size == 64  # another one, which is longer


def test_an_answer_may_end_work_that_leaves_while_it_creeps_in(bench: Bench) -> None:
    play = Play(bench)
    play.connect(0)
    play.post(0)
    play.until()
    play.answer(0)
    play.settle()
    play.restart(0)
    play.disturb(rx_gap=CREEPING)
    play.foreign("multicast", 46, count=IN_FRONT)
    play.answer(0, syndrome=REFUSED)
    play.wait(IN_FRONT * CREEPS_NS)
    play.post(0)
    play.settle()
    assert play.scene.qps[0].judge.is_dead
    play.finish()


def test_what_it_tells_of_a_connection_must_be_what_it_said(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = Port.take_connections

    def falsified(port: Port) -> list[ConnectionEvent]:
        return [replace(event, rq_psn=event.rq_psn ^ 1) for event in take(port)]

    monkeypatch.setattr(Port, "take_connections", falsified)
    with pytest.raises(AssertionError, match="cme_o tells otherwise of queue pair"):
        Caller(bench).connect()


def test_a_connection_that_it_does_not_tell_of_is_missed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Port, "take_connections", lambda port: [])
    with pytest.raises(AssertionError, match="cme_o never told of queue pair"):
        Caller(bench).connect()


def test_an_event_that_comes_twice_is_held_against_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = Port.take_connections
    monkeypatch.setattr(
        Port,
        "take_connections",
        lambda port: [each for event in take(port) for each in (event, event)],
    )
    Caller(bench).connect()
    bench.settle()
    told = [str(failure) for failure in judge(bench)]
    assert any("says established of queue pair" in each for each in told), told


MANY = "storm or random or sweep or fuzz"
FEW = "not storm and not random and not sweep and not fuzz"


@pytest.mark.parametrize(
    ("part", "cases", "count"),
    [
        pytest.param("full", FEW, 500, id="full", marks=pytest.mark.whole),
        pytest.param("smoke", MANY, 25, id="many", marks=pytest.mark.whole),
    ],
)
def test_it_passes_what_it_claims(part: str, cases: str, count: int, tmp_path: Path) -> None:
    assert_passes(tmp_path, *DEVICE, "--suite", part, "-k", cases, cases=count)


def broken_by(manifest: Path, out: Path, *, cases: str, suite: str = "full") -> set[str]:
    """The rules that cases find broken."""
    code, document, _ = run(out, "--dut", str(manifest), "--suite", suite, "-k", cases)
    assert code == 1
    return {rule for case in outcomes(document, "failed") for rule in case["broken"]}


@pytest.fixture
def exercise(tmp_path: Path) -> Path:
    """The folder that `make exercise` makes."""
    command = ["make", "-s", "exercise", f"BUILD={tmp_path}"]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    return tmp_path / "byte_endpoint_buggy"


def test_the_exercise_has_all_faults_and_no_other(exercise: Path) -> None:
    for path in (HEALTHY / "core").iterdir():
        assert (exercise / "core" / path.name).read_text() == planted(path.name, FAULTS.values())
    assert load_manifest(exercise / "dut.toml").name == "byte_endpoint_buggy"


@pytest.mark.whole
def test_the_faults_of_the_exercise_are_found_by_their_names(
    exercise: Path, tmp_path: Path
) -> None:
    cases = "responder and not fuzz or receives_icrc or requester_cm"
    broken = broken_by(exercise / "dut.toml", tmp_path, cases=cases, suite="smoke")
    assert {fault.rules[0] for fault in FAULTS.values()} <= broken


@pytest.mark.slow  # a build for each; together, they are found with the whole suites
@pytest.mark.parametrize("name", FAULTS | MORE_FAULTS)
def test_each_fault_breaks_its_rules_and_no_other(name: str, tmp_path: Path) -> None:
    fault = (FAULTS | MORE_FAULTS)[name]
    broken = broken_by(device_with(name, tmp_path / name), tmp_path / "out", cases=fault.cases)
    assert fault.rules[0] in broken
    assert broken <= {*fault.rules}
