# SPDX-License-Identifier: BSD-2-Clause
"""The acts of which plans are made, each a step or a few with fields drawn for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from roceproof.conformance.stimulus.drawing.fields import SPECIAL_QPNS, DrawnFields
from roceproof.conformance.stimulus.drawing.values import Draw
from roceproof.conformance.stimulus.plan import Step
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.verbs.addresses import Host

_ALIAS_KEYS, _LATER_KEYS = 100, 1000
_SMALL = 256
_OF_WORK, _OF_ANSWERS = 0.25, 0.4
"""So much is READs and atomics, or data, in plans of other things where a device sends them."""
_PAUSES, _PAUSE_NS = 0.1, 1500
_NOTICES, _MOST_NOTICES = 0.15, 4
_PLACES = frozenset(("oldest", "share", "ahead", "back"))


class DrawnActs:
    """The steps of one plan, so far."""

    def __init__(self, draw: Draw, fields: DrawnFields, claims: Claims) -> None:
        self._draw = draw
        self._fields = fields
        self._claims = claims
        self._contexts = min(claims.qps, 16)
        self._chooses_numbers = "local_qpn" not in claims.limits.fixed
        self._steps: list[Step] = []
        self._mtus: dict[int, int] = {}
        self._gone: set[int] = set()
        """Queue pairs that others have replaced."""
        self._specs: dict[int, dict[str, Any]] = {}
        self._owners: dict[tuple[str, int], int] = {}
        self._budget = 60_000  # bytes of payload
        self._peers: list[Host] = []

    def _acts(self, count: int) -> None:
        for _ in range(count):
            self._act(self._draw.one_of("act"), self._key())

    def _act(self, name: str, key: int) -> None:
        acts: Mapping[str, Callable[[], None]] = {
            "post": lambda: self._post(key),
            "burst": lambda: self._burst_of(key, self._draw.tail(4, 60)),
            "answer": lambda: self._answer(key),
            "flawed": lambda: self._step("answer", key=key, **self._fields.flawed()),
            "salvo": lambda: self._step("salvo", key=key, **self._fields.salvo()),
            "replace": lambda: self._replace(key),
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
        services: Sequence[str] = (),
    ) -> None:
        """So many queue pairs, the first ones of these services, the others as the last."""
        contexts = self._draw.random.sample(range(self._contexts), min(count, self._contexts))
        for key, context in enumerate(contexts):
            sizes = [self._fields.mtu() for _ in range(3)]
            size = mtu(sizes) if mtu else sizes[0]
            peer = self._draw.among(self._peers)
            wanted = services[min(key, len(services) - 1)] if services else ""
            said = wanted if wanted in self._fields.services else self._fields.service()
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
        fresh = self._spec(key, 0, peer, self._service_behind(spec["service"]), size)
        kept = spec if self._draw.maybe(0.5) else fresh
        kept = {**kept, "local_qpn": spec["local_qpn"]}
        if kept["service"] != "RC":
            kept["ack_timeout"] = 0
        if not self._draw.maybe(0.15):
            kept["sq_psn"] = self._draw.psn()
        self._mtus[key], self._specs[key] = kept["path_mtu"], kept
        self._step("connect", key=key, **kept)

    def _service_behind(self, service: str) -> str:
        """Any in the next life, but that those of datagrams stay among themselves."""
        drawn = self._fields.service()
        return service if "UD" in (service, drawn) or not self._fields.is_contract else drawn

    def _replace(self, key: int) -> None:
        """Another queue pair in the place of one that is reset, whose number may be nearly its."""
        if not self._fields.is_contract or not self._chooses_numbers:
            return
        old = self._specs[key]
        peer, size = self._draw.among(self._peers), self._fields.mtu()
        later, service = _LATER_KEYS + len(self._steps), self._service_behind(old["service"])
        spec = self._spec(later, old["local_qpn"] % self._contexts, peer, service, size)
        if self._draw.maybe(0.5):
            spec["local_qpn"] = old["local_qpn"] ^ self._contexts << self._draw.between(0, 15)
        taken = {known["local_qpn"] for known in self._specs.values()}
        if spec["local_qpn"] in taken | SPECIAL_QPNS:
            return
        self._step("reset", key=key)
        self._step("connect", key=later, **spec)
        self._gone.add(key)
        self._mtus[later], self._specs[later] = size, spec
        if self._draw.maybe(0.4):
            self._step("post", key=key, **self._fields.work(_SMALL, 300))

    def _idle(self, key: int) -> None:
        """A stranger in the context of a queue pair that is there."""
        if not self._chooses_numbers:
            return
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
        if self._may_read(key) and self._draw.maybe(_OF_WORK):
            self._post_returned(key)
            return
        largest = min(largest, max(0, self._budget // count))
        work = self._fields.work(self._mtus[key], largest)
        if count == 1 and self._draw.maybe(0.25):
            count = self._draw.tail(2, 8)
        if count > 1:
            work["size"] = min(work["size"], largest // count)
            work |= {"count": count, "grow": self._draw.pick({0: 3, 1: 2, 5: 1})}
            work["shift"] = self._draw.pick({0: 2, 1: 1, self._draw.between(2, 63): 1})
        self._budget -= (work["size"] + 20) * count
        self._step("post", key=key, **work)
        self._maybe_notify(key)
        self._maybe_pause()

    def _burst_of(self, key: int, count: int) -> None:
        """Tiny messages, all at once."""
        work = self._fields.work(self._mtus[key], 12)
        work["size"] = min(work["size"], 64)
        grow = self._draw.pick({0: 4, 1: 1, 3: 0.5})
        shift = self._draw.pick({0: 2, 1: 1, self._draw.between(2, 63): 1})
        self._step("post", key=key, **work, count=count, grow=grow, shift=shift)
        self._maybe_notify(key)
        self._maybe_pause()

    def _answer(self, key: int, *, kind: str | None = None, **fields: Any) -> None:
        """At any place, at one of that kind, or where `fields` say."""
        is_said = not _PLACES.isdisjoint(fields)
        if not fields and self._may_read(key) and self._draw.maybe(_OF_ANSWERS):
            self._respond(key)
            return
        place = {} if is_said else self._fields.place(kind)
        self._step("answer", key=key, **{**place, **self._fields.answer(), **fields})

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

    def _maybe_notify(self, key: int) -> None:
        """Congestion is told of while frames leave."""
        aside = self._draw.aside
        if Capability.CNP in self._claims.capabilities and aside.random() < _NOTICES:
            self._step("wait", ns=aside.randrange(1, _PAUSE_NS))
            self._step("notify", key=key, count=aside.randint(1, _MOST_NOTICES))

    def _maybe_pause(self) -> None:
        """The link pauses while frames leave."""
        aside = self._draw.aside
        if Capability.PFC in self._claims.capabilities and aside.random() < _PAUSES:
            self._step("wait", ns=aside.randrange(1, _PAUSE_NS))
            self._step("pause", ns=aside.randrange(1, _PAUSE_NS))

    # inside

    def _may_read(self, key: int) -> bool:
        return bool(self._fields.returns) and self._specs[key]["service"] == "RC"

    def _post_returned(self, key: int) -> None:
        """Work that is answered with data."""
        raise NotImplementedError

    def _respond(self, key: int) -> None:
        """An answer with data."""
        raise NotImplementedError

    def _key(self) -> int:
        return self._draw.among(self._keys())

    def _keys(self) -> list[int]:
        return [key for key in self._mtus if key not in self._gone]

    def _some(self, count: int) -> list[int]:
        keys = self._keys()
        return self._draw.random.sample(keys, min(count, len(keys)))

    def _step(self, name: str, **fields: Any) -> None:
        self._steps.append(Step(name, fields))
