# SPDX-License-Identifier: BSD-2-Clause
"""In haste silence is believed behind some answers to questions, and not behind quiet time."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from roceproof.conformance.targets.interface import Arrival, DeviceDied, Patience
from roceproof.conformance.targets.verbs.device import VerbsDevice
from roceproof.conformance.targets.verbs.device_address import Address
from roceproof.conformance.targets.verbs.target import VerbsTarget
from roceproof.rxe_env.client.verbs import Verbs
from roceproof.verbs.addresses import Host

HOST = Host(bytes(6), bytes([10, 77, 0, 2]))
LONG, SHORT = (Patience(answer_ns=9, quiet_ns=quiet_ns) for quiet_ns in (7, 3))


class Granting(Verbs):
    def call(self, op: str, *, within: float = 5.0, **fields: Any) -> dict[str, Any]:
        return {"pd": 1}


class BusyWire:
    """Behind each of these questions a frame comes."""

    last_sent = b""

    def __init__(self, *busy: int, answers: bool = True) -> None:
        self.asked = 0
        self.waited: list[int] = []
        self._busy, self._answers = busy, answers
        self._frames: deque[Arrival] = deque()

    def play(self, host: Host) -> None:
        pass

    def ask(self, *question: Any, timeout_ns: int) -> bool:
        self.asked += 1
        if self.asked in self._busy:
            self._frames.append(Arrival(0, b"frame"))
        return self._answers

    def receive(self, timeout_ns: int) -> Arrival | None:
        self.waited.append(timeout_ns)
        return self._frames.popleft() if self._frames else None


def target(wire: Any, patience: Patience, *, verbs: Verbs | None = None) -> VerbsTarget:
    device = VerbsDevice(
        "it",
        verbs or Granting(),
        wire,
        addresses=[Address(HOST, 0)],
        tester=HOST,
        patience=LONG,
        last_words=lambda: "",
        close=lambda: None,
    )
    return VerbsTarget(device, patience=patience)


def test_a_frame_behind_any_of_the_questions_is_no_silence() -> None:
    for number in (1, 2, 3):
        hasty = target(BusyWire(number), SHORT)
        assert hasty.more() == Arrival(0, b"frame")
        assert hasty.more() is None


def test_silence_takes_no_time_in_haste_and_all_of_it_otherwise() -> None:
    wire = BusyWire()
    assert target(wire, SHORT).more() is None
    assert (wire.asked, set(wire.waited)) == (3, {0})
    wire = BusyWire()
    assert target(wire, LONG).more() is None
    assert (wire.asked, wire.waited) == (0, [LONG.quiet_ns])


def test_one_that_answers_no_question_has_died() -> None:
    with pytest.raises(DeviceDied, match="no longer answers ARP"):
        target(BusyWire(answers=False), SHORT).more()
