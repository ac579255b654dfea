# SPDX-License-Identifier: BSD-2-Clause
"""Draws plans of requests: what an RTL responder could get wrong decides what comes how often.

A plan is a few queue pairs with memory and receives, and acts: messages in order, gaps, copies,
refused accesses, packets out of their place, ghosts, pauses. Behind what ends a queue pair a few
packets follow that must not be served, and then it begins anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from roceproof.conformance.stimulus.drawing.extremes import DrawnExtremes
from roceproof.conformance.stimulus.drawing.values import Draw
from roceproof.conformance.stimulus.drawing.weights import Weights
from roceproof.conformance.stimulus.plan import Plan
from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.stimulus.responder.request_errors import FLAWS
from roceproof.conformance.targets.interface import Claims
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

_ACTS: Mapping[str, float] = {
    "messages": 16,
    "gap": 5,
    "again": 5,
    "reread": 5,
    "read": 4,
    "refused": 15,
    "misplaced": 6,
    "uneven": 12,
    "starved": 6,
    "fed": 3,
    "flawed": 12,
    "raw": 3,
    "far": 3,
    "crowded": 3,
    "reborn": 3,
    "held": 3,
    "rest": 4,
    "killed": 4,
}
_OF_DATAGRAMS: Mapping[str, float] = {
    "datagrams": 8,
    "flawed": 6,
    "fed": 2,
    "reborn": 1,
    "held": 1,
    "rest": 1,
}
_MARKED_BEHIND, _CE = 0.2, 0x0C
_OFTEN = {"stranger": 3, "short": 3, "cut": 2}
"""Flaws that few packets show: the others come once in the draw."""
_FRAMES = ("tx_stall", "rx_gap")
_SLOW = ("cpl_stall", "memory_stall", "memory_gap", "memory_lag")
_FAR = (1 << 22, 1 << 23, (1 << 22) + 3, (1 << 16), 1 << 20)


def draw_requests(seed: int, claims: Claims, weights: Weights | None = None) -> Plan:
    """The plan of a seed; with the same claims always the same."""
    return _Drawing(Draw(seed, weights or Weights()), claims).plan()


class _Drawing(DrawnExtremes):
    """One plan in the making."""

    def plan(self) -> Plan:
        """A few queue pairs, acts, and what is rare at the end."""
        for _ in range(min(self._draw.tail(1, 4), self._claims.qps)):
            self._new()
        for _ in range(self._draw.between(5, 16) if self._services else 0):
            key = self._draw.among(list(self._services))
            acts = _OF_DATAGRAMS if self._services[key] == "UD" else _ACTS
            act: Callable[[int], None] = getattr(self, f"_{self._draw.pick(acts)}")
            act(key)
        self.extremes()
        return Plan(steps=tuple(self._steps), player=Asking)

    # what is served

    def _messages(self, key: int) -> None:
        for _ in range(self._draw.tail(1, 8)):
            other = self._draw.among(list(self._services))
            self._request(key if self._draw.maybe(0.6) else other)

    def _datagrams(self, key: int) -> None:
        """Some to this queue pair, with a Q_Key that is another now and then."""
        for _ in range(self._draw.tail(1, 8)):
            wrong = self._draw.pick({0: 5, 1 << self._draw.between(0, 31): 1, 1 << 31: 0.5})
            self._request(key, key_mask=wrong, skip=self._draw.pick({0: 3, self._draw.bits(24): 1}))
        if self._draw.maybe(0.5):
            self._messages(key)

    def _killed(self, key: int) -> None:
        """Memory whose key a SEND makes invalid, and what comes to it before and after."""
        executed = self._claims.executed_on(Service.RC)
        if self._services[key] != "RC" or (executed is not None and Op.SEND_INV not in executed):
            self._messages(key)
            return
        self._step("region", key=key, size=256)
        self._receives(key)
        here = {"region": -1, "offset": 0}
        self._request(key, op="WRITE", size=self._draw.tail(0, 200), **here)
        self._request(key, op="SEND_INV", kills=self._draw.pick({-1: 4, 0: 1}))
        op = self._op(key, ("WRITE", "READ"))
        self._request(key, op=op, size=self._draw.tail(0, 200), **here)
        self._behind(key)

    def _read(self, key: int) -> None:
        for _ in range(self._draw.tail(1, 5)):
            self._request(key, op="READ")

    def _again(self, key: int) -> None:
        self._messages(key)
        back = self._draw.tail(1, 8)
        ask = self._draw.pick({None: 2, True: 2, False: 1})
        self._step("again", key=key, back=back, count=self._draw.between(1, back), ask=ask)
        self._messages(key)

    def _reread(self, key: int) -> None:
        for _ in range(self._draw.between(1, 4)):
            self._request(key, op="READ")
        for _ in range(self._draw.between(1, 4)):
            fields: dict[str, Any] = {"back": self._draw.between(1, 4)}
            match self._draw.pick({"whole": 3, "later": 3, "other": 4}):
                case "later":
                    fields["skip"] = self._draw.tail(1, 4)
                case "other":
                    fields |= self._draw.among(
                        [
                            {"shift": -self._draw.tail(1, 300)},
                            {"shift": self._draw.tail(1, 300)},
                            {"length": self._draw.tail(0, 900)},
                            {"key_mask": 1 << self._draw.between(0, 31)},
                        ]
                    )
            self._step("reread", key=key, **fields)
        self._request(key)

    def _held(self, key: int) -> None:
        streams = {name: self._draw.pick({0: 1, 60: 1, 90: 1}) for name in _FRAMES}
        streams |= {name: self._draw.pick({0: 2, 90: 1}) for name in _SLOW}
        self._step("disturb", **streams)
        for _ in range(self._draw.between(1, 3)):
            self._messages(key)

    def _rest(self, _key: int) -> None:
        if self._draw.maybe(0.5):
            self._step("wait", ns=self._draw.tail(20, 4000))
        else:
            self._step("settle")

    def _crowded(self, key: int) -> None:
        """More READs at once than may be."""
        for _ in range(self._draw.between(2, 20)):
            self._request(key, op="READ", size=self._draw.tail(1, 300))
        self._behind(key)

    # gaps and order

    def _gap(self, key: int) -> None:
        match self._draw.pick({"skip": 3, "lost": 4, "early": 2, "twice": 2}):
            case "skip":
                self._request(key, skip=self._draw.pick({self._draw.tail(1, 9): 3, 65536: 1}))
            case kind:
                size = self._draw.between(1, 4) * self._mtus[key] + self._draw.between(0, 9)
                fields: dict[str, Any] = {"part": self._draw.between(0, 4), kind: True}
                self._request(key, size=size, **fields)
        for _ in range(self._draw.tail(0, 3)):
            self._request(key, skip=self._draw.pick({0: 4, 1: 1}))
        self._step("settle")
        self._messages(key)

    def _far(self, key: int) -> None:
        self._messages(key)
        for _ in range(self._draw.between(1, 3)):
            away = self._draw.among(_FAR) + self._draw.between(-1, 1)
            psn = self._draw.pick({away: 1, -away: 1})
            self._step("flawed", key=key, flaw="marked", psn=psn, size=8)
            self._step("settle")
        self._messages(key)

    # refusals

    def _refused(self, key: int) -> None:
        op = self._op(key, self._touching)
        size = self._draw.pick({0: 1, self._draw.tail(1, 200): 3, self._mtus[key] + 1: 2})
        room = self._size_of(key) - size
        match self._draw.pick({"region": 4, "key": 3, "end": 2, "away": 2, "length": 3}):
            case "region":
                fields = {"region": self._draw.between(1, 7), "offset": 0}
                size = min(size, 200)
            case "key":
                fields = {"key_mask": 1 << self._draw.between(0, 31)}
            case "end":
                fields = {"offset": room + self._draw.pick({0: 1, 1: 2, 2: 1})}
            case "away":
                far = self._draw.among([1 << 32, 1 << 48, 1 << 63, self._draw.tail(1, 600)])
                fields = {"shift": self._draw.among([far, -far])}
            case _:
                op = self._op(key, ("READ", "READ", "WRITE"))
                size = self._mtus[key] + 1
                fields = {"more": (1 << 31) - size + self._draw.among([0, 1, 1, 1 << 30])}
        self._request(key, op=op, size=size, **fields)
        self._behind(key)

    def _misplaced(self, key: int) -> None:
        """A packet that has no place behind the one before."""
        mtu = self._mtus[key]
        first = self._op(key, ("SEND", "WRITE", "SEND_IMM", "WRITE_IMM"))
        size = self._draw.between(2, 3) * mtu + self._draw.between(1, 9)
        self._request(key, op=first, size=size, stops=True, part=self._draw.between(0, 1))
        if self._draw.maybe(0.4):
            self._request(key, op=self._op(key, self._all), size=self._draw.tail(0, 2 * mtu))
        else:
            value = self._draw.among([0x01, 0x02, 0x02, 0x03, 0x07, 0x08, 0x08, 0x09])
            size = mtu if value in (1, 7) else self._draw.tail(1, mtu)
            self._step("raw", key=key, value=value, size=size)
        self._behind(key)

    def _uneven(self, key: int) -> None:
        """A packet whose size, or family, is not that of its place; or a RETH of another length."""
        mtu = self._mtus[key]
        op = self._op(key, ("WRITE", "WRITE_IMM", "SEND", "SEND", "SEND_IMM"))
        if op in self._taking:
            self._receives(key)
        size = self._draw.between(0, 3) * mtu + self._draw.pick({0: 1, self._draw.between(1, 9): 2})
        fields: dict[str, Any] = {"part": self._draw.pick({-1: 3, -2: 1, 0: 1, 1: 1})}
        match self._draw.pick({"bytes": 4, "more": 3, "turned": 2}):
            case "bytes":
                fields["bytes"] = self._draw.among([0, 0, 4, mtu - 4, mtu + 4, mtu + 4, mtu + 1])
            case "more":
                fields["more"] = self._draw.among([-mtu, -4, -1, 1, 4, mtu])
            case _:
                fields["turned"] = self._op(key, ("SEND", "WRITE"))
        self._request(key, op=op, size=size, **fields)
        self._behind(key)

    def _raw(self, key: int) -> None:
        size = self._draw.pick({0: 1, 8: 1, self._mtus[key]: 1})
        self._step(
            "raw",
            key=key,
            value=self._draw.between(0, 31),
            size=size,
            length=size,
            psn=self._draw.pick({0: 3, -1: 1, 1: 1}),
        )
        self._behind(key)

    def _flawed(self, key: int) -> None:
        flaws = {name: _OFTEN.get(name, 1) for name in (*FLAWS, "damaged")}
        for _ in range(self._draw.tail(1, 4)):
            name = self._draw.pick(flaws)
            number = self._draw.between(0, 0xFFFF)
            size = self._draw.tail(0, min(self._mtus[key], 300))
            op = self._op(key, ("WRITE", "SEND"))
            self._step("flawed", key=key, flaw=name, op=op, number=number, size=size)
        self._step("settle")
        self._messages(key)

    # receives

    def _starved(self, key: int) -> None:
        """Messages until no receive is left, what is behind them, and receives again."""
        for _ in range(self._draw.between(2, 8)):
            self._request(key, op=self._op(key, self._taking))
        for _ in range(self._draw.tail(0, 3)):
            self._request(key, skip=self._draw.pick({0: 3, 1: 1}))
        if self._draw.maybe(0.3):
            self._request(key, op="WRITE", size=self._draw.tail(0, 600))
        self._receives(key)
        self._messages(key)

    def _fed(self, key: int) -> None:
        self._receives(key)

    def _reborn(self, key: int) -> None:
        """A queue pair begins anew, and hears of its life before."""
        self._messages(key)
        if self._services[key] != "UD" and self._draw.maybe(0.4):
            self._request(key, op="READ")
        self._begin_anew(key)
        for _ in range(self._draw.tail(0, 3)):
            self._request(key)
        for _ in range(self._draw.tail(1, 3)):
            back = self._draw.tail(1, 10)
            self._step("late", key=key, back=back, count=self._draw.between(1, back))
            self._step("settle")
        self._messages(key)

    def _behind(self, key: int) -> None:
        """What follows a request that may have ended its queue pair."""
        for _ in range(self._draw.tail(0, 2)):
            self._request(key)
        self._step("settle")
        if self._draw.maybe(0.3):
            self._request(key)
        if self._draw.aside.random() < _MARKED_BEHIND:
            self._step(
                "flawed", key=key, flaw="marked", number=_CE | self._draw.aside.getrandbits(16)
            )
        self._begin_anew(key)
        self._messages(key)
