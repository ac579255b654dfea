# SPDX-License-Identifier: BSD-2-Clause
"""Deadlines of a free-running device are cycles, from its last beat on."""

from __future__ import annotations

import re

import pytest

from roceproof.dpi import Flow, Operation, PatternPayload, Port, PortOptions, QpConfig, WorkRequest
from roceproof.dpi.session import deadline
from roceproof.dpi.session.deadline import Due, Overdue, wait_until_due

pytestmark = pytest.mark.sim

NEVER = "completion that nobody posted"


def due(*, cycles: int = 100_000, frames: int = 8) -> Due:
    return Due(what=NEVER, cycles=cycles, frames=frames, why="because")


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "LOOK_SECONDS", 0.01)


def send(port: Port, *, size: int) -> None:
    port.configure(QpConfig(local_qpn=1))
    request = WorkRequest(wr_id=1, qpn=1, operation=Operation.SEND, length=size)
    port.post(request, payload=PatternPayload(seed=1, length=size))


def test_what_comes_in_time_is_taken(start_echo) -> None:
    simulation = start_echo(free_running=True)
    send(simulation.port(0), size=64)
    wait_until_due(simulation, lambda: bool(simulation.port(0).take_completions()), due())


def test_so_many_cycles_without_a_beat_are_too_late_and_no_fewer(start_echo) -> None:
    simulation = start_echo(free_running=True)
    start = simulation.statistics().cycle
    with pytest.raises(Overdue) as caught:
        wait_until_due(simulation, lambda: False, due(cycles=300_000))
    head, *streams = str(caught.value).splitlines()
    ran, behind, last, now = (
        int(each.replace(",", "")) for each in re.findall(r"\b\d[\d,]*\b", head)
    )
    assert (behind, ran) == (300_000, now - last)
    assert ran > behind and last >= start
    assert "because" in head
    assert [line.split()[0] for line in streams[1:]] == ["rx", "pl", "qpc", "wr", "tx", "cpl"]


def test_beats_put_it_off(start_echo) -> None:
    simulation = start_echo(PortOptions(flow=Flow(payload_gap=99)), free_running=True)
    send(simulation.port(0), size=9000)  # some 112,000 cycles
    done = simulation.port(0).take_completions
    wait_until_due(simulation, lambda: bool(done()), due(cycles=20_000))


def test_frames_without_end_are_too_many(start_echo) -> None:
    simulation = start_echo(free_running=True)

    def is_done_never_but_sends_more() -> bool:
        simulation.port(0).inject(bytes(60))
        return False

    with pytest.raises(Overdue, match=r"\d+ frames were sent for it, want at most 8"):
        wait_until_due(simulation, is_done_never_but_sends_more, due(cycles=10**9))


def test_a_link_that_takes_nothing_stops_the_count_but_not_for_ever(
    start_echo, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "HELD_LOOKS", 30)
    link = PortOptions(link=f"socket-listen:{tmp_path / 'peer'}")
    simulation = start_echo(link, free_running=True)
    send(simulation.port(0), size=64)
    send(simulation.port(0), size=64)
    with pytest.raises(Overdue, match="the other end of the link takes no frame"):
        wait_until_due(simulation, lambda: False, due(cycles=1000))
