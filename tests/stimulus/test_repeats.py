# SPDX-License-Identifier: BSD-2-Clause
"""A packet that leaves again has to be what it was, whatever else a plan knows of the device."""

from __future__ import annotations

from dataclasses import replace

import pytest
from random_devices import opener

from roceproof.conformance.mutants.corrupting_target import CorruptingFactory
from roceproof.conformance.mutants.wire import WireFault, WireMutant
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import head_of
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.codec import build, parse

SEQUENCE_ERROR = 0x60


class OtherwiseAgain(WireFault):
    """What leaves a second time has other bytes."""

    def __init__(self) -> None:
        self._left: set[int] = set()

    def sent(self, frame: bytes, time_ns: int) -> list[bytes]:
        packet = parse(frame)
        if packet is None or packet.bth.psn not in self._left:
            self._left |= {packet.bth.psn} if packet else set()
            return [frame]
        return [build(replace(packet, payload=bytes(len(packet.payload))))]


def test_what_it_was_is_told_though_nothing_else_is_due() -> None:
    mutant = WireMutant("otherwise-again", "", (), (), make=OtherwiseAgain)
    with opener(CorruptingFactory(ModelFactory(), mutant))(1, None) as bench:
        play = Play(bench)
        play.connect(key=0)
        play.post(key=0, size=8)
        play.until()
        play.answer(key=0, syndrome=SEQUENCE_ERROR)
        with pytest.raises(CaseFailed) as failed:
            play.finish()
    assert failed.value.rules[0] == "RTX-03"
    assert "payload: want 8[" in head_of(failed.value)
    assert "it has left before, otherwise" in head_of(failed.value)
