# SPDX-License-Identifier: BSD-2-Clause
"""Habits drawn at random: what the specification leaves to a device and no manifest says."""

from __future__ import annotations

from random import Random
from typing import Any

from roceproof.conformance.model.components import Components
from roceproof.conformance.model.requester import policy as requester
from roceproof.conformance.model.responder import policy as responder

_DELAYS_NS = (0, 500, 3_000, 12_000)
_LATER = {responder.AskedAck.LATER, responder.RepeatedAck.LATER}


def drawn_habits(draw: Random) -> Components:
    """Of a device that conforms: half of its choices are the usual ones."""
    return Components(
        responder_policy=_responder(draw),
        requester_policy=_requester(draw),
        is_migrated=draw.random() < 0.5,
    )


def told_habits(habits: Components) -> list[str]:
    """Those that are not the usual ones."""
    pairs = (
        (habits.responder_policy, responder.ResponderPolicy()),
        (habits.requester_policy, requester.RequesterPolicy()),
    )
    told = [
        f"{name} = {value}"
        for own, usual in pairs
        for name, value in vars(own).items()
        if value != getattr(usual, name)
    ]
    return told if habits.is_migrated else [*told, "is_migrated = False"]


def _responder(draw: Random) -> responder.ResponderPolicy:
    usual = responder.ResponderPolicy()
    said: dict[str, Any] = {}
    for name in usual.switches():
        values = [each for each in type(getattr(usual, name)) if each not in responder.DEVIATIONS]
        if draw.random() < 0.5:
            said[name] = draw.choice(values)
    if said.get("asked_ack") is responder.AskedAck.LATER:
        said["ack_interval"] = draw.choice((2, 3, 4, 8, 64))
    if {said.get("asked_ack"), said.get("repeated_ack")} & _LATER:
        said["ack_delay_ns"] = draw.choice(_DELAYS_NS)
    return responder.ResponderPolicy(**said)


def _requester(draw: Random) -> requester.RequesterPolicy:
    usual = requester.RequesterPolicy()
    said: dict[str, Any] = {}
    numbers = {
        "ack_interval": (1, 2, 4, 32, 1 << 20),
        "max_outstanding": (128, 1024),
        "timeout_percent": (150, 200, 390),
        "packet_interval_ns": (50, 100, 1000),
        "max_slowdown": (1, 4, 6),
    }
    for name, value in vars(usual).items():
        if draw.random() < 0.5:
            said[name] = draw.choice(numbers.get(name) or _choices(value))
    for name in ("retransmission", "flow_control"):  # the manifest says the one, nothing the other
        said.pop(name, None)
    return requester.RequesterPolicy(**said)


def _choices(value: Any) -> tuple[Any, ...]:
    return tuple(type(value)) if not isinstance(value, int) else (value,)
