# SPDX-License-Identifier: BSD-2-Clause
"""Draws plans: what an RTL requester could get wrong decides how often each value comes.

A plan is of one theme, which says how many queue pairs there are, what happens how often and how
much of it. All else is drawn value by value (`values`) with the weights of `weights`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import IPv4Address
from typing import Any

from roceproof.conformance.stimulus.drawn_fields import DrawnFields
from roceproof.conformance.stimulus.plan import Plan, Step
from roceproof.conformance.stimulus.values import Draw
from roceproof.conformance.stimulus.weights import Weights
from roceproof.conformance.targets.interface import Claims
from roceproof.verbs.addresses import Host

_USUAL_HOST = 0.25
_ALIAS_KEYS = 100


def draw_plan(seed: int, claims: Claims, weights: Weights | None = None) -> Plan:
    """The plan of a seed; with the same claims and weights always the same."""
    draw = Draw(seed, weights or Weights())
    return Drawing(draw, DrawnFields(draw, claims), claims).plan()


class Drawing:
    """One plan in the making."""

    def __init__(self, draw: Draw, fields: DrawnFields, claims: Claims) -> None:
        self._draw = draw
        self._fields = fields
        self._contexts = min(claims.qps, 16)
        self._steps: list[Step] = []
        self._mtus: dict[int, int] = {}
        self._specs: dict[int, dict[str, Any]] = {}
        self._owners: dict[tuple[str, int], int] = {}
        self._budget = 60_000  # bytes of payload
        self._peers: list[Host] = []

    def plan(self) -> Plan:
        """Its theme decides."""
        host = self._fields.host()
        is_usual = self._draw.maybe(_USUAL_HOST)
        self._peers = [self._peer(host) for _ in range(self._draw.between(1, 4))]
        getattr(self, f"_{self._draw.one_of('theme')}")()
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
        self._connect(self._draw.pick({self._contexts: 3, self._contexts // 2: 1}))
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
                self._answer(key, **{"oldest": self._draw.tail(0, 20)})
            if self._draw.maybe(0.5):
                self._act_serve()
            if self._draw.maybe(0.4):
                self._maybe_disturb(1)
            self._acts(self._draw.between(0, 4))

    def _depth(self) -> None:
        """Everything inside is filled to its brim: many queue pairs, small messages, held back."""
        self._connect(self._draw.between(2, self._contexts), mtu=min)
        stream = self._draw.among(["cpl_stall", "tx_stall", "payload_gap", "rx_gap"])
        self._step("disturb", **{stream: self._draw.among([90, 99])})
        for key in self._some(self._draw.between(2, 8)):
            self._burst_of(key, self._draw.pick({self._draw.tail(15, 40): 4, 150: 1}))
        self._wait()
        for key in self._some(self._draw.between(2, 12)):
            self._answer(
                key, **({"count": self._draw.tail(1, 20)} if self._draw.maybe(0.5) else {})
            )
        if self._draw.maybe(0.5):
            self._nak(self._key())
        self._acts(self._draw.between(1, 8))
        self._maybe_disturb(1)
        self._acts(self._draw.between(1, 8))

    def _long(self) -> None:
        self._budget *= 3
        self._connect(self._draw.between(1, 3))
        self._maybe_disturb(0.3)
        for _ in range(self._draw.between(1, 3)):
            key = self._key()
            if self._draw.maybe(0.4):
                size = self._draw.between(1 << 14, 1 << 16)
                self._step("post", key=key, **{**self._fields.work(256, 0), "size": size})
            else:
                self._post(key, largest=1 << 16)
            self._acts(self._draw.between(0, 5))

    def _timeouts(self) -> None:
        """Nobody answers, for long; some have short timers, some long ones, some none."""
        self._connect(self._draw.between(1, 6), service="RC")
        self._maybe_disturb(0.2)
        for key in list(self._mtus):
            self._post(key, count=self._draw.tail(1, 4), largest=3000)
            self._moment()
        for _ in range(self._draw.between(1, 3)):
            longest = self._draw.pick({80_000: 6, 300_000: 3, 1_200_000: 1})
            self._step("wait", ns=self._draw.between(8_000, longest))
            for key in self._some(self._draw.between(0, 3)):
                self._answer(key)
            for key in self._some(self._draw.between(0, 2)):
                self._post(key, largest=600)
        self._acts(self._draw.between(0, 4))

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
            self._moment()
            key = self._key()
            for _ in range(self._draw.between(2, 5)):
                kinds = {"restart": 4, "nak": 3, "answer": 5, "post": 2, "reset": 1, "flawed": 1}
                self._act(self._draw.pick(kinds), key if self._draw.maybe(0.6) else self._key())
                if self._draw.maybe(0.75):
                    self._step("wait", ns=self._draw.between(1, 70))

    def _receive(self) -> None:
        """The receive path at its limits: good and flawed responses and foreign frames at once."""
        self._connect(self._draw.tail(1, 8))
        self._maybe_disturb(0.5)
        for _ in range(self._draw.between(2, 6)):
            key = self._key()
            self._post(key, count=self._draw.tail(1, 8))
            self._step("until", frames=self._draw.tail(1, 8))
            for _ in range(self._draw.between(2, 10)):
                kinds = {"answer": 5, "flawed": 6, "foreign": 4, "ask": 1}
                self._act(self._draw.pick(kinds), key if self._draw.maybe(0.7) else self._key())
            self._wait()

    def _restarts(self) -> None:
        """One queue pair lives so often that whatever counts its lives turns over."""
        self._connect(self._draw.between(1, 3), mtu=min)
        key, lives = self._key(), self._draw.tail(3, 300)
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

    # acts

    def _acts(self, count: int) -> None:
        for _ in range(count):
            self._act(self._draw.one_of("act"), self._key())

    def _act(self, name: str, key: int) -> None:
        acts: Mapping[str, Callable[[], None]] = {
            "post": lambda: self._post(key),
            "burst": lambda: self._burst_of(key, self._draw.tail(4, 60)),
            "answer": lambda: self._answer(key),
            "flawed": lambda: self._step("answer", key=key, **self._fields.flawed()),
            "nak": lambda: self._nak(key),
            "serve": self._act_serve,
            "wait": self._wait,
            "until": self._moment,
            "disturb": lambda: self._maybe_disturb(1),
            "foreign": lambda: self._step("foreign", **self._fields.foreign()),
            "ask": lambda: self._step("ask", **self._fields.question()),
            "restart": lambda: self._restart(key),
            "reset": lambda: self._step("reset", key=key),
            "idle": lambda: self._idle(key),
            "refused": lambda: self._step("post", key=key, **self._fields.refused(256)),
            "settle": lambda: self._step("settle"),
        }
        acts[name]()

    def _connect(
        self,
        count: int,
        *,
        mtu: Callable[[list[int]], int] | None = None,
        service: str | None = None,
    ) -> None:
        contexts = self._draw.random.sample(range(self._contexts), min(count, self._contexts))
        for key, context in enumerate(contexts):
            sizes = [self._fields.mtu() for _ in range(3)]
            size = mtu(sizes) if mtu else sizes[0]
            peer = self._draw.among(self._peers)
            said = service if service in self._fields.services else self._fields.service()
            spec = self._spec(key, context, peer, said, size)
            self._mtus[key], self._specs[key] = size, spec
            self._step("connect", key=key, **spec)

    def _spec(self, key: int, context: int, peer: Host, service: str, size: int) -> dict[str, Any]:
        """The far side has each of its numbers once."""
        while True:
            spec = self._fields.queue_pair(context, peer, service, size)
            ends = spec["remote_ip"], spec["remote_qpn"]
            if self._owners.setdefault(ends, key) == key:
                return spec

    def _restart(self, key: int) -> None:
        """The same number, and all else as before or drawn anew."""
        spec = self._specs[key]
        peer, size = self._draw.among(self._peers), self._fields.mtu()
        fresh = self._spec(key, 0, peer, self._fields.service(), size)
        kept = spec if self._draw.maybe(0.5) else fresh
        kept = {**kept, "local_qpn": spec["local_qpn"], "service": spec["service"]}
        if kept["service"] != "RC":
            kept["ack_timeout"] = 0
        if not self._draw.maybe(0.15):
            kept["sq_psn"] = self._draw.psn()
        self._mtus[key], self._specs[key] = kept["path_mtu"], kept
        self._step("connect", key=key, **kept)

    def _idle(self, key: int) -> None:
        """A stranger in the context of a queue pair that is there."""
        context = self._contexts << self._draw.between(0, 15)
        number = self._specs[key]["local_qpn"] ^ (context | self._draw.pick({0: 3, 1: 1, 5: 1}))
        if any(spec["local_qpn"] == number for spec in self._specs.values()):
            return
        self._step("idle", key=_ALIAS_KEYS + key, local_qpn=number % (1 << 24))
        self._step("post", key=_ALIAS_KEYS + key, **self._fields.work(256, 500))
        if self._draw.maybe(0.3):
            self._step("reset", key=_ALIAS_KEYS + key)

    def _post(self, key: int, *, count: int = 1, largest: int = 20_000) -> None:
        if self._budget <= 0:
            return
        largest = min(largest, max(0, self._budget // count))
        work = self._fields.work(self._mtus[key], largest)
        if count == 1 and self._draw.maybe(0.25):
            count = self._draw.tail(2, 8)
        if count > 1:
            work["size"] = min(work["size"], largest // count)
            work |= {"count": count, "grow": self._draw.pick({0: 3, 1: 2, 5: 1})}
        self._budget -= (work["size"] + 20) * count
        self._step("post", key=key, **work)

    def _burst_of(self, key: int, count: int) -> None:
        """Tiny messages, all at once."""
        work = self._fields.work(self._mtus[key], 12)
        work["size"] = min(work["size"], 64)
        self._step("post", key=key, **work, count=count, grow=self._draw.pick({0: 4, 1: 1}))

    def _answer(self, key: int, **fields: Any) -> None:
        self._step("answer", key=key, **{**self._fields.answer(), **fields})

    def _nak(self, key: int) -> None:
        place = {"oldest": self._draw.tail(0, 12)} if self._draw.maybe(0.8) else {}
        self._step("answer", key=key, **place, syndrome=self._fields.nak())

    def _act_serve(self) -> None:
        self._step("serve", key=self._key(), every=self._draw.tail(0, 18))

    def _wait(self) -> None:
        self._step("wait", ns=self._fields.time())

    def _moment(self) -> None:
        """Right behind a frame, or some cycles later."""
        self._step("until", frames=self._draw.tail(1, 12))
        if self._draw.maybe(0.5):
            self._step("wait", ns=self._draw.between(1, 400))

    def _maybe_disturb(self, chance: float) -> None:
        if self._draw.maybe(chance):
            self._step("disturb", **self._fields.stalls())

    # inside

    def _peer(self, device: Host) -> Host:
        """Somebody else, often with an address that is nearly the device's."""
        while True:
            peer = self._fields.host()
            if self._draw.maybe(0.3):
                near = int.from_bytes(device.ip, "big") ^ 1 << self._draw.between(0, 22)
                peer = peer._replace(ip=near.to_bytes(4, "big"))
            if device.ip != peer.ip and device.mac != peer.mac:
                return peer

    def _key(self) -> int:
        return self._draw.among(list(self._mtus))

    def _some(self, count: int) -> list[int]:
        keys = list(self._mtus)
        return self._draw.random.sample(keys, min(count, len(keys)))

    def _step(self, name: str, **fields: Any) -> None:
        self._steps.append(Step(name, fields))
