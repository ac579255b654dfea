# SPDX-License-Identifier: BSD-2-Clause
"""Draws plans of many short programs, each on a queue pair of its own, that share one device.

To open a device, to let it come to rest and to ask whether it lives costs as much for one program
as for many. A program is a configuration drawn anew and a few acts, so a second of them sees some
times more configurations, and more first packets, than a second of other plans.
"""

from __future__ import annotations

from ipaddress import IPv4Address

from roceproof.conformance.stimulus.drawing.fields import DrawnFields, drawn_operations
from roceproof.conformance.stimulus.drawing.plans import Drawing
from roceproof.conformance.stimulus.drawing.requests import DrawnRequests
from roceproof.conformance.stimulus.drawing.values import Draw
from roceproof.conformance.stimulus.drawing.weights import Weights
from roceproof.conformance.stimulus.plan import Plan
from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims

_PEERS = 4
_MOST_ACTS = 5
_LARGEST = 3000
_ACTS = {
    "post": 10,
    "answer": 8,
    "flawed": 4,
    "nak": 2,
    "wait": 4,
    "until": 4,
    "serve": 1,
    "foreign": 1,
    "ask": 1,
    "restart": 1,
    "reset": 0.4,
    "refused": 0.5,
    "idle": 0.3,
    "disturb": 0.3,
}


def draw_brief(seed: int, claims: Claims, weights: Weights | None = None) -> Plan:
    """The plan of a seed; of requests where the device has nothing to send."""
    draw = Draw(seed, weights or Weights())
    answers = Capability.RESPONDER in claims.capabilities
    if answers and (not drawn_operations(claims) or draw.maybe(0.5)):
        return _BriefRequests(draw, claims).plan()
    return _BriefWork(draw, DrawnFields(draw, claims), claims).plan()


class _BriefWork(Drawing):
    """Programs of work that the device sends."""

    def plan(self) -> Plan:
        """One program for each place that the device has for a queue pair."""
        host = self._fields.local = self._fields.host()
        for _ in range(_PEERS):
            self._peers.append(self._peer(host))
        contexts = self._draw.random.sample(range(self._contexts), self._contexts)
        for key, context in enumerate(contexts):
            self._program(key, context)
        mac, ip = host.mac.hex(":"), str(IPv4Address(host.ip))
        return Plan(steps=tuple(self._steps), mac=mac, ip=ip)

    def _program(self, key: int, context: int) -> None:
        fields, peer = self._fields, self._draw.among(self._peers)
        size = fields.mtu()
        spec = self._spec(key, context, peer, fields.service(), size)
        self._mtus[key], self._specs[key] = size, spec
        self._step("connect", key=key, **spec)
        for _ in range(self._draw.between(1, _MOST_ACTS)):
            name = self._draw.pick(_ACTS)
            if name == "post":
                self._post(key, largest=_LARGEST)
            else:
                self._act(name, key)


class _BriefRequests(DrawnRequests):
    """Programs of requests that the device answers."""

    def plan(self) -> Plan:
        """One act for each place that the device has for a queue pair, of those of an endpoint."""
        for _ in range(min(self._claims.qps, self._draw.between(2, _PEERS))):
            self._new()
        for key in self._services:
            self.act(key)
        return Plan(steps=tuple(self._steps), player=Asking)
