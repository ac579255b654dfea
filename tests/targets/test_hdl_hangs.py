# SPDX-License-Identifier: BSD-2-Clause
"""A device that stands still is told by its streams, and one that never ends a cycle dies soon."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from roceproof.common.paths import REPOSITORY
from roceproof.conformance.targets.hdl import allowance
from roceproof.conformance.targets.hdl.device import HdlTarget
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import CasePlace, DeviceDied, TargetError
from roceproof.dpi import Flow, PortOptions, Simulation, load_manifest
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Work

pytestmark = pytest.mark.sim

OWN = Host(bytes.fromhex("020000000001"), bytes((192, 168, 1, 1)))
PEER = Host(bytes.fromhex("020000000b02"), bytes((192, 168, 1, 2)))
MICROSECOND = 1000


@pytest.fixture
def simulation() -> Iterator[Simulation]:
    manifest = load_manifest(REPOSITORY / "dpi" / "test" / "dut.toml")
    with Simulation.start(manifest, data_width=64, ports=[PortOptions()]) as started:
        yield started


def lines(target: HdlTarget) -> dict[str, str]:
    """Of each stream, by its name."""
    return {line.split()[0]: line for line in target.streams()[1:]}


def test_a_simulation_that_is_killed_says_nothing_of_the_device(simulation: Simulation) -> None:
    target = HdlTarget(simulation, 6400, host=OWN)
    target.wait(MICROSECOND)
    os.kill(simulation.pid, signal.SIGKILL)
    with pytest.raises(TargetError, match="killed by SIGKILL from outside") as killed:
        target.wait(MICROSECOND)
    assert not isinstance(killed.value, DeviceDied)
    assert not simulation.log.exists()


def test_nor_one_that_is_killed_when_its_case_is_over() -> None:
    manifest = load_manifest(REPOSITORY / "dpi" / "test" / "dut.toml")
    factory = HdlFactory(manifest, data_width=64)
    with pytest.raises(TargetError) as killed, factory.device(CasePlace(name="a", seed=1)) as made:
        made.wait(MICROSECOND)
        os.kill(made.simulation.pid, signal.SIGTERM)
    assert not isinstance(killed.value, DeviceDied)
    assert "killed by SIGTERM from outside" in str(killed.value)


@pytest.mark.parametrize(("lines", "is_kept"), [(8, False), (9, True), (100_000, True)])
def test_of_a_device_that_dies_only_a_log_is_kept_that_says_more(
    simulation: Simulation, lines: int, is_kept: bool
) -> None:
    simulation.log.write_text("".join(f"line {number}\n" for number in range(lines)))
    os.kill(simulation.pid, signal.SIGSEGV)
    with pytest.raises(DeviceDied, match=rf"(?s)killed by SIGSEGV.*line {lines - 1}$") as death:
        HdlTarget(simulation, 6400, host=OWN).wait(MICROSECOND)
    assert simulation.log.exists() == is_kept
    assert (str(simulation.log) in str(death.value)) == is_kept
    simulation.log.unlink(missing_ok=True)


def test_what_waits_for_what_is_told_of_every_stream(simulation: Simulation) -> None:
    target = HdlTarget(simulation, 6400, host=OWN)
    before = lines(target)
    assert set(before) == {"rx", "pl", "qpc", "wr", "tx", "cpl"}
    assert all("never moved" in line for line in before.values())
    assert "tx_tvalid_o is low" in before["tx"]
    qp = target.open(QpSpec(service=Service.RC, remote=PEER, remote_qpn=1, local_qpn=1))
    for wr_id in (1, 2):
        target.post(qp, Work(wr_id=wr_id, op=Op.SEND, data=bytes(100)))
    target.disturb(tx_stall=99)
    target.wait(MICROSECOND)
    amid = lines(target)
    assert "13 beats" in amid["pl"]
    assert "1 beats, last in cycle" in amid["wr"]
    assert "WAITS for the device: wr_ready_o is low" in amid["wr"]
    assert "the device WAITS for the other end" in amid["tx"]
    target.disturb()
    target.completions(qp, count=2, timeout_ns=100 * MICROSECOND)
    after = lines(target)
    assert "26 beats, last in cycle" in after["pl"]
    assert "26 beats" in after["tx"]
    assert "2 beats" in after["cpl"]
    assert "nothing is offered to the device" in after["rx"]


@pytest.mark.parametrize("hung", [0, 6])
def test_where_waits_are_cut_short_silence_is_something_that_never_came(
    simulation: Simulation, hung: int
) -> None:
    pace = allowance.Pace()
    pace.hung = hung
    target = HdlTarget(simulation, 6400, host=OWN, pace=pace)
    target.wait(10 * MICROSECOND)
    assert not target.waited_in_vain
    target.wait(200 * MICROSECOND)
    assert target.waited_in_vain == bool(hung)
    assert (target.patience.answer_ns < 640 * MICROSECOND) == bool(hung)
    target = HdlTarget(simulation, 6400, host=OWN, pace=pace)
    for weather in ({"payload_gap": 40}, {}, {"memory_stall": 40}):
        target.disturb(**weather)  # what has piled up behind a stall comes long after it
        assert target.receive(100 * MICROSECOND) is None
        assert target.patience.answer_ns >= 640 * MICROSECOND
        assert not target.waited_in_vain


@pytest.mark.parametrize(
    ("stall", "times", "is_measured"), [(0, 1, True), (0, 2, False), (50, 1, False)]
)
def test_what_came_behind_a_timer_or_under_stalls_is_no_measure_of_answers(
    simulation: Simulation, stall: int, times: int, is_measured: bool
) -> None:
    pace = allowance.Pace()
    target = HdlTarget(simulation, 6400, host=OWN, pace=pace)
    qp = target.open(QpSpec(service=Service.UC, remote=PEER, remote_qpn=1, local_qpn=1))
    timeout_ns = times * target.patience.answer_ns
    target.disturb(tx_stall=stall)
    target.post(qp, Work(wr_id=1, op=Op.SEND, data=bytes(2000)))
    assert target.completions(qp, count=1, timeout_ns=timeout_ns)
    assert (pace.longest > 100) == is_measured


def test_frames_are_waited_for_until_one_stands_for_longer_than_any_ever_did(
    simulation: Simulation,
) -> None:
    pace = allowance.Pace()
    pace.hung = 6
    target = HdlTarget(simulation, 6400, host=OWN, pace=pace)
    assert not target.takes_on()
    for _ in range(3):
        target.send(OWN.mac + bytes(1500))
    while target.takes_on():
        target.wait(MICROSECOND)
    assert (target.untaken(), target.waited_in_vain) == (0, False)
    assert 100 < pace.longest_taken < 400
    simulation.port(0).flow(Flow(rx_gap=100))  # as if the device never took it
    target.send(OWN.mac + bytes(60))
    begin = target.now_ns
    while target.takes_on():
        target.wait(MICROSECOND)
    assert (target.untaken(), target.waited_in_vain) == (1, True)
    assert target.now_ns - begin < 100 * MICROSECOND


def test_a_frame_that_has_begun_and_does_not_end_is_told(simulation: Simulation) -> None:
    target = HdlTarget(simulation, 6400, host=OWN)
    qp = target.open(QpSpec(service=Service.RC, remote=PEER, remote_qpn=1, local_qpn=1))
    target.disturb(payload_gap=99)
    target.post(qp, Work(wr_id=1, op=Op.SEND, data=bytes(4000)))
    target.wait(MICROSECOND)
    assert "amid a frame: nothing is offered to the device" in lines(target)["pl"]


def test_a_simulation_that_never_ends_a_cycle_is_a_death_and_not_waited_for_twice(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowance, "_SLICE_SECONDS", 0.2)
    monkeypatch.setattr(
        "roceproof.dpi.session.simulation.RUN_SECONDS", 0.2
    )  # it stands outside, too
    target = HdlTarget(simulation, 6400, host=OWN)
    os.kill(simulation.pid, signal.SIGSTOP)
    with pytest.raises(DeviceDied, match=r"stands in a cycle from 200 to 357 for 0\.2 s"):
        target.wait(MICROSECOND)
    with pytest.raises(ProcessLookupError):
        os.kill(simulation.pid, 0)
    assert (target.streams(), target.standing()) == ([], {})  # as a case asks behind any death
    assert target.waited_in_vain
