# SPDX-License-Identifier: BSD-2-Clause
"""Queue pairs of random plans have VLAN tags where the device sends them, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from roceproof.conformance.stimulus.drawing.plans import draw_plan
from roceproof.conformance.stimulus.drawing.requests import draw_requests
from roceproof.conformance.stimulus.plan import Plan
from roceproof.conformance.stimulus.requester.answers import response
from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.model.device import ModelFactory
from roceproof.conformance.wire.framing import payload_of_ethernet
from roceproof.verbs.addresses import Host

NEEDED = {Capability.VLAN, Capability.LOCKSTEP}
DEI = 1 << 12
BITS = sorted({*range(16)} - {12})


@pytest.mark.parametrize("draws", [draw_plan, draw_requests])
@pytest.mark.parametrize("missing", [None, *sorted(NEEDED, key=str)])
def test_only_a_device_that_sends_tags_to_the_bench_is_given_some(
    draws: Callable[..., Plan], missing: Capability | None
) -> None:
    claims = ModelFactory().claims
    claims = replace(claims, capabilities=claims.capabilities | NEEDED - {missing})
    if missing is not None:
        claims = replace(claims, capabilities=claims.capabilities - {missing})
    steps = [step for seed in range(60) for step in draws(seed, claims).steps]
    tags = [step.fields.get("vlan") for step in steps if step.name == "connect"]
    told = [tag for tag in tags if tag is not None]
    assert bool(told) is (missing is None) and None in tags
    if told:
        assert not any(tag & DEI for tag in told)
        assert all({tag >> bit & 1 for tag in told} == {0, 1} for bit in BITS)


@pytest.mark.parametrize("bit", range(16))
def test_another_ethertype_is_one_behind_a_tag_too(bit: int) -> None:
    """Not another tag, which a device may know."""
    flow = FlowCodec(
        src=Host(b"\2\0\0\0\0\2", bytes((10, 0, 0, 2))),
        dst=Host(b"\2\0\0\0\0\1", bytes((10, 0, 0, 1))),
        dest_qpn=0x11,
        src_qpn=0x101,
        service=0,
        vlan=0x2005,
    )
    wrong = flow.build(response(flow, psn=7, syndrome=0x1F, flaw="ether", bit=bit))
    found = payload_of_ethernet(wrong)
    assert wrong[12:16] == b"\x81\0\x20\5" and found is not None and found[0] != 0x0800
