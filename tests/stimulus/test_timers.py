# SPDX-License-Identifier: BSD-2-Clause
"""A device whose timer runs out amid a message may say so."""

from __future__ import annotations

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


@pytest.mark.parametrize("timeout_percent", [150, 390])
def test_a_timeout_amid_a_message_is_right(timeout_percent: int) -> None:
    policy = RequesterPolicy(
        retransmission=Retransmission.NONE, ack_interval=2, timeout_percent=timeout_percent
    )
    source = ModelFactory(components=Components(requester_policy=policy))
    claims = replace(
        source.claims, capabilities=source.claims.capabilities - {Capability.RETRANSMISSION}
    )
    with source.device(CasePlace(name="timers", seed=1)) as target:
        play = Play(Bench(target, claims, seed=1))
        play.connect(key=0, ack_timeout=1, path_mtu=256)
        play.post(key=0, op="WRITE", size=256 * PACKETS)
        play.finish()
