# SPDX-License-Identifier: BSD-2-Clause
"""A device whose timer runs out amid a message may say so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from roceproof.conformance.model.components import Components
from roceproof.conformance.model.requester.policy import RequesterPolicy, Retransmission
from roceproof.conformance.stimulus.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import CasePlace
from roceproof.conformance.targets.model import ModelFactory

PACKETS = 250  # for 85 us, four times what the timer may take


@contextmanager
def play_of(**policy: int) -> Iterator[Play]:
    """A player of plans with a device that never tries again."""
    habits = RequesterPolicy(retransmission=Retransmission.NONE, **policy)
    source = ModelFactory(components=Components(requester_policy=habits))
    claims = replace(
        source.claims, capabilities=source.claims.capabilities - {Capability.RETRANSMISSION}
    )
    with source.device(CasePlace(name="timers", seed=1)) as target:
        yield Play(Bench(target, claims, seed=1))


@pytest.mark.parametrize("timeout_percent", [150, 390])
def test_a_timeout_amid_a_message_is_right(timeout_percent: int) -> None:
    with play_of(ack_interval=2, timeout_percent=timeout_percent) as play:
        play.connect(key=0, ack_timeout=1, path_mtu=256)
        play.post(key=0, op="WRITE", size=256 * PACKETS)
        play.finish()


def test_a_timer_may_run_while_the_first_packet_is_held_back() -> None:
    with play_of() as play:
        play.connect(key=0, path_mtu=1024, ack_timeout=2)
        play.disturb(tx_stall=99)
        play.post(key=0, size=9217)
        play.until()
        play.finish()
