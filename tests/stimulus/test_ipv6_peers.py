# SPDX-License-Identifier: BSD-2-Clause
"""Peers of random plans have IPv6 addresses where the device speaks IPv6, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from roceproof.conformance.stimulus.drawing.plans import draw_plan
from roceproof.conformance.stimulus.drawing.requests import draw_requests
from roceproof.conformance.stimulus.plan import Plan
from roceproof.conformance.stimulus.requester.answers import DAMAGED, FLAWS, response
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.verbs.addresses import Host, link_local

MAC, PEER_MAC = b"\2\0\0\0\0\1", b"\2\0\0\0\0\2"
OVER_IPV6 = FlowCodec(
    src=Host(PEER_MAC, link_local(PEER_MAC)),
    dst=Host(MAC, link_local(MAC)),
    dest_qpn=0x11,
    src_qpn=0x101,
    service=0,
)


@pytest.mark.parametrize("draws", [draw_plan, draw_requests])
@pytest.mark.parametrize("speaks", [True, False])
def test_only_a_device_that_speaks_ipv6_is_given_such_peers(
    draws: Callable[..., Plan], speaks: bool
) -> None:
    claims = ModelFactory().claims
    claims = replace(claims, capabilities=claims.capabilities - {Capability.IPV6})
    if speaks:
        claims = replace(claims, capabilities=claims.capabilities | {Capability.IPV6})
    steps = [step for seed in range(60) for step in draws(seed, claims).steps]
    peers = [step.fields for step in steps if step.name == "connect"]
    has_ipv6 = ["ipv6" in each or ":" in each.get("remote_ip", "") for each in peers]
    assert any(has_ipv6) is speaks and not all(has_ipv6)
    askers = [step.fields.get("ip", "") for step in steps if step.name == "ask"]
    assert draws is draw_requests or any(":" in ip for ip in askers) is speaks


@pytest.mark.parametrize("flaw", [name for name in FLAWS if name != DAMAGED])
def test_every_flaw_is_one_over_ipv6_too(flaw: str) -> None:
    right = OVER_IPV6.build(response(OVER_IPV6, psn=7, syndrome=0x1F))
    for bit in range(64):
        wrong = response(OVER_IPV6, psn=7, syndrome=0x1F, flaw=flaw, bit=bit)
        assert OVER_IPV6.build(wrong) != right
