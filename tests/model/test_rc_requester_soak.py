# SPDX-License-Identifier: BSD-2-Clause
"""Whatever the network does, each request is executed once and its memory is right."""

from __future__ import annotations

import pytest
from lossy_network import Impairment
from soak import Soak

from roceproof.conformance.model.requester.policy import (
    FlowControl,
    RequesterPolicy,
    Reread,
    ResponseGap,
)
from roceproof.conformance.model.responder.policy import ResponderPolicy

MESSAGES = 120
NETWORKS = {
    "healthy": Impairment(),
    "lossy": Impairment(loss=0.01),
    "bad": Impairment(loss=0.1),
    "repeating": Impairment(duplication=0.1),
    "reordering": Impairment(lateness=0.1),
    "everything": Impairment(loss=0.05, duplication=0.05, lateness=0.1),
}
POLICIES = {
    "usual": RequesterPolicy(),
    "whole READs": RequesterPolicy(reread=Reread.WHOLE),
    "waits for timeouts": RequesterPolicy(response_gap=ResponseGap.WAIT),
    "credits": RequesterPolicy(flow_control=FlowControl.CREDITS),
    "small window": RequesterPolicy(max_outstanding=4, ack_interval=2),
}


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("impairment", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("seed", range(4))
def test_each_message_is_executed_once_whatever_the_network_does(
    impairment: Impairment, seed: int
) -> None:
    soak = Soak(seed, MESSAGES, impairment)
    assert soak.run()
    soak.check()


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("seed", range(10, 13))
def test_each_choice_of_a_requester_recovers(policy: RequesterPolicy, seed: int) -> None:
    soak = Soak(seed, MESSAGES, NETWORKS["everything"], policy=policy)
    assert soak.run()
    soak.check()


ANSWERS = [
    ResponderPolicy().turned(switch, value)
    for switch in ResponderPolicy.switches()
    for value in type(getattr(ResponderPolicy(), switch))
    if value is not getattr(ResponderPolicy(), switch)
]


def name_of(answers: ResponderPolicy) -> str:
    usual = ResponderPolicy()
    turned = (name for name in usual.switches() if getattr(answers, name) != getattr(usual, name))
    return next(f"{name} {getattr(answers, name).name}" for name in turned)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("answers", ANSWERS, ids=name_of)
def test_what_responders_may_choose_and_known_devices_do_is_borne(
    answers: ResponderPolicy,
) -> None:
    soak = Soak(20, MESSAGES, NETWORKS["everything"], answers=answers)
    assert soak.run()
    soak.check()
