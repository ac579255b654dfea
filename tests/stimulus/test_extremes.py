# SPDX-License-Identifier: BSD-2-Clause
"""What random requests end with: each step passes on a healthy responder and finds its fault."""

from __future__ import annotations

from typing import Any

import pytest
from random_devices import opener

from roceproof.common.paths import RESPONDER_DUT, XGMII_DUT
from roceproof.conformance.mutants.rtl_factory import rtl_factory
from roceproof.conformance.stimulus.plan import Plan, Step
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.stimulus.run_plan import played
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import DeviceFactory
from roceproof.dpi.manifest.dut import load_manifest

Steps = list[tuple[str, dict[str, Any]]]
_TWO: Steps = [("share", {}), ("stock", {"count": 2})]
_ONE: Steps = [("connect", {"key": 0}), ("region", {"key": 0})]
_MORE: Steps = [("region", {"key": 0, "size": 300})]
_SLOW = {"tx_stall": 90}
_SEED = 38
"""Puts the inbox across the address 2^32 of memory."""


def turns(*kinds: tuple[int, str]) -> Steps:
    return [("turn", {"qp": qp, "kind": kind}) for qp, kind in kinds]


KILL: Steps = [
    ("receive", {"key": 0}),
    ("request", {"key": 0, "op": "SEND_INV", "kills": -1}),
    ("reinvalidate", {"key": 0, "kills": -2}),
    ("request", {"key": 0, "op": "WRITE", "size": 8, "region": -2}),
]
FORGET: Steps = [
    ("request", {"key": 0, "size": 264, "region": -1, "stops": True}),
    ("forget", {"key": 0}),
    ("raw", {"key": 0, "value": 8, "size": 8}),
]
FOUND: dict[str, Steps] = {
    "shared-never": [*_TWO, *turns((0, "send"), (1, "send"))],
    "shared-not-held": [*_TWO, *turns((0, "begin"), (1, "send"), (1, "send"))],
    "shared-held-for-ever": [*_TWO, *turns((0, "begin"), (0, "send"), (0, "send"))],
    "shared-ends-with-one": [*_TWO, *turns((0, "begin"), (0, "fail"), (1, "send"))],
    "shared-held-through-restart": [*_TWO, *turns((0, "begin"), (0, "anew"), (0, "send"))],
    "command-forget-before-answers": [("read_until", {"by": "key", "slow": _SLOW})],
    "command-reset-before-answers": [("read_until", {"by": "reset", "slow": _SLOW})],
    "invalidate-before-answers": [("read_until", {"by": "send", "slow": _SLOW})],
    "command-forget-before-writes": [("write_until", {"by": "key"})],
    "command-reset-before-writes": [("write_until", {"by": "reset"})],
    "writes-counted-modulo-64": [("flood", {"count": 210, "every": 70})],
    "shared-count-never-wraps": [("flood", {"count": 270, "lag": 0})],
    "invalidate-again": [*_ONE, *_MORE, *_MORE, *KILL],
    "place-checked-at-the-first-packet": [*_ONE, *_MORE, *FORGET],
    "command-to-any-number": [
        *_ONE,
        ("tell_stranger", {"key": 0, "bit": 0}),
        ("request", {"key": 0, "size": 8}),
    ],
    "read-again-as-plain-numbers": [
        ("connect", {"key": 0, "rq_psn": (1 << 24) - 2}),
        ("region", {"key": 0}),
        ("request", {"key": 0, "op": "READ", "size": 1024}),
        ("reread", {"key": 0, "skip": 3}),
    ],
    "answer-hops-of-its-own": [*_ONE, ("request", {"key": 0, "size": 8})],
    "answer-class-shifted": [*_ONE, ("request", {"key": 0, "size": 8})],
    "power-on-keeps-regions": [
        *_ONE,
        ("power_on", {}),
        *_ONE,
        *[("lost", {"key": 0, "op": op}) for op in ("WRITE", "READ")],
    ],
    "power-on-keeps-queue-pairs": [*_ONE, ("power_on", {}), ("ghost", {})],
    "notice-of-the-dead": [
        *_ONE,
        ("request", {"key": 0, "size": 8, "key_mask": 1 << 20}),
        ("settle", {}),
        ("flawed", {"key": 0, "flaw": "marked", "number": 0x0C}),
    ],
    "shared-too-short-to-end": [
        ("share", {}),
        ("stock", {"is_short": True}),
        ("turn", {"qp": 0, "size": 8}),
    ],
    "read-fetch-without-carry": [*_ONE, ("read_inbox", {"key": 0, "size": 1000, "offset": 1500})],
}


def is_told(
    factory: DeviceFactory, steps: Steps, player: type[Asking] | type[Play] = Asking
) -> bool:
    plan = Plan(steps=tuple(Step(name, fields) for name, fields in steps), player=player)
    return played(plan, _SEED, opener(factory)).failure is not None


@pytest.mark.sim
def test_a_healthy_responder_passes_them_all() -> None:
    healthy = HdlFactory(load_manifest(RESPONDER_DUT), data_width=64)
    assert [name for name, steps in FOUND.items() if is_told(healthy, steps)] == []


@pytest.mark.sim
@pytest.mark.slow
@pytest.mark.parametrize("mutant", FOUND)
def test_a_fault_is_found(mutant: str) -> None:
    assert is_told(rtl_factory(mutant, data_width=64), FOUND[mutant])


@pytest.mark.sim
@pytest.mark.slow
@pytest.mark.parametrize(("mutant", "told"), [("mac-pause-ignored", True), (None, False)])
def test_frames_that_leave_in_a_pause_are_found(mutant: str | None, told: bool) -> None:
    post = {"key": 0, "op": "WRITE", "size": 60_000}
    steps = [
        ("connect", {"key": 0}),
        ("post", post),
        ("wait", {"ns": 1000}),
        ("pause", {"ns": 1000}),
    ]
    healthy = HdlFactory(load_manifest(XGMII_DUT), data_width=64)
    factory = rtl_factory(mutant, data_width=64) if mutant else healthy
    assert is_told(factory, steps, Play) is told
