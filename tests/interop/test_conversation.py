# SPDX-License-Identifier: BSD-2-Clause
"""A conversation in which the device dies is that tool's failure, and the guest can go on."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from roceproof.conformance.capture.reader import Flow, read
from roceproof.conformance.interop import conversation, stopwatch
from roceproof.conformance.interop.conversation import Client
from roceproof.conformance.interop.peers import Peer
from roceproof.conformance.interop.scenarios import SCENARIOS
from roceproof.conformance.targets.interface import Arrival, CasePlace, DeviceDied, Target
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.rxe_env.errors import PeerDied

FRAME = bytes(60)


class Guest:
    """A tool sends a frame, says two words, and ends with 1."""

    said = "ready"
    code: int | None = None
    end = 1
    held_up = 0

    def __init__(self) -> None:
        self.shell, self._inside = socket.socketpair()
        self.port, self._wire = socket.socketpair()
        self._words = 0

    def begin(self, command: str) -> None:
        self.code, self._words = None, 2
        self._wire.sendall(len(FRAME).to_bytes(4, "big") + FRAME)
        self._inside.sendall(b"..")

    def listen(self) -> None:
        self._words -= len(self.shell.recv(1))
        self.code = None if self._words else self.end

    def held_up_ns(self) -> int:
        return self.held_up

    def console_tail(self) -> str:
        return ""

    def close(self) -> None:
        for each in (self.shell, self._inside, self.port, self._wire):
            each.close()


class Dying(ModelFactory):
    """Its devices die of the first frame."""

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        def receive(timeout_ns: int) -> Arrival | None:
            raise DeviceDied("the simulation ended")

        with super().device(place) as target:
            target.receive = receive  # type: ignore[method-assign]
            yield target


class Ending(Guest):
    """The machine dies at the tool's last word."""

    def listen(self) -> None:
        super().listen()
        if self.code is not None:
            raise PeerDied("a panic")


@pytest.fixture
def guest() -> Iterator[Guest]:
    guest = Guest()
    yield guest
    guest.close()


def test_a_device_that_dies_is_told_and_the_tool_is_waited_for(guest: Any, tmp_path: Path) -> None:
    client, path = Client(guest, "6.1"), tmp_path / "died.pcapng"
    for _ in range(2):
        outcome = client.converse(SCENARIOS[0], Peer("mine", Dying(), {}), path, seed=1)
        assert (outcome.trouble, outcome.frames) == ("the simulation ended", 1)
        assert guest.code == 1
        assert [(seen.frame, seen.flow) for seen in read(path)] == [(FRAME, Flow.INBOUND)]


def test_of_a_machine_that_dies_the_capture_is_kept(tmp_path: Path) -> None:
    ending: Any = Ending()
    path = tmp_path / "died.pcapng"
    with closing(ending), pytest.raises(PeerDied, match="a panic"):
        Client(ending, "6.1").converse(SCENARIOS[0], Peer("mine", ModelFactory(), {}), path, seed=1)
    assert FRAME in [record.frame for record in read(path)]


class Slow(Guest):
    """It boots while it is asked for the third time, on a busy host."""

    times = 0

    @property
    def said(self) -> str:  # type: ignore[override]
        self.times += 1
        return "ready" if self.times > 2 else ""

    def held_up_ns(self) -> int:
        self.held_up += 1 << 40
        return self.held_up


def test_a_machine_on_a_busy_host_may_boot_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count()
    monkeypatch.setattr(conversation, "BOOT_SECONDS", 1)
    monkeypatch.setattr(stopwatch, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    monkeypatch.setattr(stopwatch, "held_up_ns", lambda: 0)
    slow: Any = Slow()
    with closing(slow):
        Client(slow, "6.1")
    idle: Any = Slow()
    idle.held_up_ns = lambda: 0
    with closing(idle), pytest.raises(PeerDied, match="no end within"):
        Client(idle, "6.1")


@pytest.mark.parametrize("seconds", [0, 50])
def test_of_a_tool_that_hangs_it_is_told_whether_the_host_was_busy(
    guest: Any, tmp_path: Path, seconds: int
) -> None:
    guest.end = 143
    client, begin = Client(guest, "6.1"), guest.begin

    def busy(command: str) -> None:
        begin(command)
        guest.held_up += seconds * 1_000_000_000

    guest.begin = busy
    peer = Peer("mine", ModelFactory(), {})
    outcome = client.converse(SCENARIOS[0], peer, tmp_path / "hung.pcapng", seed=1)
    told = "; the host was busy for 50 s of it" if seconds else ""
    assert outcome.trouble == (
        f"the tool came to no end within 60 s{told}; nobody asked for a queue pair"
    )
