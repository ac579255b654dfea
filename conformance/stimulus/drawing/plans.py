# SPDX-License-Identifier: BSD-2-Clause
"""Draws plans: what an RTL requester could get wrong decides how often each value comes.

A plan is of one theme, which says how many queue pairs there are, what happens how often and how
much of it. All else is drawn value by value (`values`) with the weights of `weights`.
"""

from __future__ import annotations

from ipaddress import IPv4Address

from roceproof.conformance.stimulus.drawing.fields import DrawnFields
from roceproof.conformance.stimulus.drawing.meeting_themes import DrawnMeetings
from roceproof.conformance.stimulus.drawing.reading import DrawnReads
from roceproof.conformance.stimulus.drawing.stress_themes import DrawnStrains
from roceproof.conformance.stimulus.drawing.values import Draw
from roceproof.conformance.stimulus.drawing.weights import Weights
from roceproof.conformance.stimulus.plan import Plan
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.verbs.addresses import Host

_USUAL_HOST = 0.25
_OF_DATA = 0.5
"""So many plans are made of READs and atomics, where a device sends them."""
_OF_COPIES = 0.2
"""So many are made of repetitions, where a device sends again."""
_THEMES_OF_DATA = {"reads": 5, "deep": 2, "losses": 2}


def draw_plan(seed: int, claims: Claims, weights: Weights | None = None) -> Plan:
    """The plan of a seed; with the same claims and weights always the same."""
    draw = Draw(seed, weights or Weights())
    return Drawing(draw, DrawnFields(draw, claims), claims).plan()


class Drawing(DrawnMeetings, DrawnStrains, DrawnReads):
    """One plan in the making."""

    def plan(self) -> Plan:
        host = self._fields.local = self._fields.host()
        is_usual = self._draw.maybe(_USUAL_HOST)
        for _ in range(self._draw.between(1, 4)):
            self._peers.append(self._peer(host))
        theme = self._draw.one_of("theme")
        if self._fields.returns and self._draw.maybe(_OF_DATA):
            theme = self._draw.pick(_THEMES_OF_DATA)
        is_repeating = Capability.RETRANSMISSION in self._claims.capabilities
        if is_repeating and self._draw.aside.random() < _OF_COPIES:
            theme = "copies"
        getattr(self, f"_{theme}")()
        return Plan(
            steps=tuple(self._steps),
            mac=None if is_usual else host.mac.hex(":"),
            ip=None if is_usual else str(IPv4Address(host.ip)),
        )

    # themes

    def _mix(self) -> None:
        self._connect(self._draw.tail(1, 5))
        self._maybe_disturb(0.5)
        self._acts(self._draw.between(6, 30))

    def _crowd(self) -> None:
        self._connect(self._draw.pick({self._contexts: 3, -(-self._contexts // 2): 1}))
        self._maybe_disturb(0.4)
        keys = list(self._mtus)
        for _ in range(self._draw.between(1, 3)):
            self._draw.random.shuffle(keys)
            for key in keys:
                self._post(key)
            self._acts(self._draw.between(2, 8))
            self._draw.random.shuffle(keys)
            for key in keys:
                if self._draw.maybe(0.7):
                    self._answer(key)
        self._acts(self._draw.between(4, 12))

    def _burst(self) -> None:
        self._connect(self._draw.between(1, 2), mtu=min)
        self._maybe_disturb(0.7)
        for _ in range(self._draw.between(1, 4)):
            key = self._key()
            self._burst_of(key, self._draw.tail(15, 300))
            for _ in range(self._draw.between(1, 6)):
                self._wait()
                self._answer(key, oldest=self._draw.tail(0, 20))
            if self._draw.maybe(0.5):
                self._act_serve()
            if self._draw.maybe(0.4):
                self._maybe_disturb(1)
            self._acts(self._draw.between(0, 4))

    def _depth(self) -> None:
        """Everything inside is filled to its brim: many queue pairs, small messages, held back."""
        self._connect(self._draw.between(2, max(2, self._contexts)), mtu=min)
        stream = self._draw.among(["cpl_stall", "tx_stall", "payload_gap", "rx_gap"])
        self._step("disturb", **self._fields.held(**{stream: self._draw.among([90, 99])}))
        for key in self._some(self._draw.between(2, 8)):
            self._burst_of(key, self._draw.pick({self._draw.tail(15, 40): 4, 150: 1}))
        self._wait()
        for key in self._some(self._draw.between(2, 12)):
            self._answer(key, count=self._draw.pick({1: 1, self._draw.tail(1, 20): 1}))
        if self._draw.maybe(0.5):
            self._nak(self._key())
        self._acts(self._draw.between(1, 8))
        self._maybe_disturb(1)
        self._acts(self._draw.between(1, 8))

    def _long(self) -> None:
        """Messages of more packets than a counter of eight bits has."""
        self._budget *= 5
        self._connect(self._draw.between(1, 3))
        self._maybe_disturb(0.3)
        for _ in range(self._draw.between(1, 3)):
            key = self._key()
            if self._draw.maybe(0.5):
                size = self._draw.between(1 << 14, self._draw.pick({1 << 16: 3, 1 << 18: 1}))
                self._step("post", key=key, **{**self._fields.work(256, 0), "size": size})
                self._budget -= size
            else:
                self._post(key, largest=1 << 16)
            self._acts(self._draw.between(0, 5))

    def _failures(self) -> None:
        self._connect(self._draw.tail(1, 6))
        self._maybe_disturb(0.5)
        for _ in range(self._draw.between(1, 4)):
            for key in self._some(self._draw.between(1, 3)):
                self._post(key, count=self._draw.tail(1, 20))
            self._moment()
            for key in self._some(self._draw.between(1, 3)):
                self._nak(key)
                if self._draw.maybe(0.5):
                    self._moment()
            self._acts(self._draw.between(0, 6))

    def _moments(self) -> None:
        """Two things within cycles of each other, amid traffic."""
        self._connect(self._draw.between(2, 5))
        self._maybe_disturb(0.25)
        for _ in range(self._draw.between(3, 8)):
            for key in self._some(2):
                self._post(key, count=self._draw.tail(1, 5), largest=self._draw.tail(300, 3000))
            if self._draw.maybe(0.2):
                self._abort()
            self._moment()
            key = self._key()
            for _ in range(self._draw.between(2, 5)):
                kinds = {"restart": 4, "nak": 3, "answer": 5, "post": 2, "reset": 1, "flawed": 1}
                self._act(self._draw.pick(kinds), key if self._draw.maybe(0.6) else self._key())
                if self._draw.maybe(0.75):
                    self._step("wait", ns=self._draw.between(1, 70))

    def _abort(self) -> None:
        """A long message is leaving when its queue pair ends, or begins anew."""
        key = self._key()
        self._step("post", key=key, **{**self._fields.work(256, 0), "size": 20_000})
        self._step("until", frames=self._draw.tail(1, 8))
        self._act(self._draw.pick({"reset": 2, "restart": 1}), key)
        if self._draw.maybe(0.5):
            self._restart(key)

    def _receive(self) -> None:
        """The receive path at its limits: good and flawed responses and foreign frames at once."""
        self._connect(self._draw.tail(1, 8))
        self._maybe_disturb(0.5)
        for _ in range(self._draw.between(2, 6)):
            key = self._key()
            self._post(key, count=self._draw.tail(1, 8))
            self._step("until", frames=self._draw.tail(1, 8))
            for _ in range(self._draw.between(2, 10)):
                kinds = {"answer": 5, "flawed": 4, "salvo": 3, "foreign": 4, "ask": 1}
                self._act(self._draw.pick(kinds), key if self._draw.maybe(0.7) else self._key())
            self._wait()

    def _restarts(self) -> None:
        """One queue pair lives so often that whatever counts its lives turns over."""
        self._connect(self._draw.between(1, 3), mtu=min)
        key = self._key()
        lives = self._draw.pick({self._draw.tail(3, 250): 2, self._draw.between(257, 300): 1})
        for _ in range(self._draw.between(1, 3)):
            self._post(key, largest=600)
            self._wait()
            self._step("restart", key=key, times=lives)
            self._acts(self._draw.between(1, 5))

    def _neighbours(self) -> None:
        self._connect(self._draw.between(1, 2))
        self._maybe_disturb(0.5)
        for _ in range(self._draw.between(3, 10)):
            self._act(
                self._draw.pick({"ask": 6, "foreign": 3, "post": 2, "answer": 2}), self._key()
            )
            self._wait()

    # inside

    def _peer(self, device: Host) -> Host:
        """Somebody else, often with an address that is nearly the device's."""
        while True:
            peer = self._fields.other()
            same = [each for each in self._peers if len(each.ip) == len(peer.ip)]
            if len(peer.ip) == len(device.ip) and self._draw.maybe(0.3):
                near = int.from_bytes(device.ip, "big") ^ 1 << self._draw.between(0, 22)
                peer = peer._replace(ip=near.to_bytes(4, "big"))
            elif same and self._draw.maybe(0.3):
                half = len(peer.ip) // 2
                peer = peer._replace(ip=peer.ip[:half] + self._draw.among(same).ip[half:])
            if device.ip != peer.ip and device.mac != peer.mac:
                return peer
