# SPDX-License-Identifier: BSD-2-Clause
"""Themes in which several queue pairs, or lives of the device, stand side by side."""

from __future__ import annotations

from collections.abc import Sequence

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.stimulus.drawing.acts import DrawnActs
from roceproof.conformance.stimulus.drawing.meeting import (
    EVENTS,
    HELD,
    One,
    again,
    meet,
    meet_at_rest,
    run_out,
)
from roceproof.conformance.stimulus.drawing.waiting import (
    Side,
    drawn,
    held_up,
    histories_of,
    steps_of,
    tick_ns,
)

_CODES = (2, 4)
_FARTHEST_NS, _NEAR_NS = 200, 70
_AT_REST, _ANSWERING = 0.3, 0.3
_PING, _ANSWERED_NS = 30, 1000
_THROWING, _THROWN, _THROWN_NS = 0.3, 3000, 2000
_FAILING, _FEW, _FATAL = 0.4, 20, (0x61, 0x62, 0x63)
_STREAMING, _STREAM = 0.5, (8, 60)


class DrawnMeetings(DrawnActs):
    """The steps of one such plan."""

    def _histories(self) -> None:
        """Each of many timers has a history of its own."""
        contexts = self._draw.random.sample(
            range(self._contexts), self._draw.between(1, self._contexts)
        )
        code = self._draw.between(*_CODES)
        self._maybe_disturb(0.2)
        sides, known = [], histories_of(self._claims)
        for key, context in enumerate(contexts):
            peer, size = self._draw.among(self._peers), self._fields.mtu()
            spec = {**self._spec(key, context, peer, self._reliable, size), "ack_timeout": code}
            op = self._fields.operation()
            sides.append(Side(key, {**spec, "retry_count": 0}, op=op, places=self._claims.qps))
        histories = [
            drawn(self._draw.random, self._claims) if self._draw.maybe(0.6) else each
            for each in self._draw.random.choices(known, k=len(sides))
        ]
        self._steps += steps_of(sides, histories, tick_ns(code))
        if len(sides) > 1 and self._draw.maybe(0.4):
            one, front = self._draw.random.sample(sides, 2)
            held = self._fields.held(**{self._draw.among(["tx_stall", "payload_gap"]): 99})
            self._steps += (one.begins(), front.begins())
            self._steps += held_up(one, front, held, tick_ns(code), second=self._draw.among("pP"))

    def _meetings(self) -> None:
        """Two things happen at once, again and again."""
        self._connect(self._draw.between(2, max(2, self._contexts)), mtu=min)
        names = list(EVENTS)
        for _ in range(self._draw.between(2, 6)):
            keys = self._some(self._draw.between(2, 8))
            ones = [One(key, self._specs[key], self._fields.operation()) for key in keys]
            held = self._fields.held(**self._draw.among(HELD))
            met: list[tuple[One, str]] = []
            for both in zip(ones[::2], ones[1::2], strict=False):
                both = both if self._draw.maybe(0.8) else (both[0], both[0])
                events = self._draw.among(names), self._draw.among(names)
                apart = self._draw.pick({0: 2, self._draw.between(1, _FARTHEST_NS): 1})
                if self._draw.aside.random() < _AT_REST:
                    near = self._draw.aside.randrange(1, _NEAR_NS)
                    self._steps += meet_at_rest(*both, events, near)
                else:
                    self._steps += meet(*both, events, held, apart)
                met += zip(both, events, strict=True)
            if self._draw.maybe(0.25) and len(ones) > 1:
                code = self._draw.between(1, 2)
                armed = [
                    one._replace(spec={**one.spec, "ack_timeout": code, "retry_count": 0})
                    for one in ones[::2]
                    if one.spec["service"] == "RC"
                ]
                self._steps += again(met)
                if armed:
                    timeout_ns = ack_timeout_ns(code) or 0
                    random = self._draw.random
                    self._steps += run_out(armed, ones[1::2], held, random, timeout_ns)
            elif self._draw.maybe(0.7):
                self._steps += again(met)
            else:
                self._acts(self._draw.between(1, 4))

    def _days(self) -> None:
        """The whole device is reset amid its life, and lives again."""
        self._connect(self._draw.tail(1, 6))
        for _ in range(self._draw.between(1, 3)):
            self._maybe_disturb(0.3)
            self._acts(self._draw.between(2, 12))
            self._moment()
            if self._draw.aside.random() < _ANSWERING:
                self._step("disturb", **self._fields.held(tx_stall=90))
                self._step("ask", size=self._draw.aside.choice([None, _PING]))
                self._step("wait", ns=self._draw.aside.randrange(1, _ANSWERED_NS))
            elif self._draw.aside.random() < _THROWING:
                self._throw()
            elif self._draw.aside.random() < _FAILING:
                self._fail()
            elif self._draw.aside.random() < _STREAMING:
                self._stream()
            self._step("power_on")
            if self._draw.maybe(0.5):  # nobody knows who was there before
                self._strangers(self._some(3))
            if self._draw.maybe(0.5):  # as on the day before
                for key in self._some(len(self._keys())):
                    self._step("connect", key=key, **self._specs[key])
            else:
                for known in (self._mtus, self._specs, self._owners, self._gone):
                    known.clear()
                self._connect(self._draw.tail(1, 6))
        self._acts(self._draw.between(2, 8))

    def _throw(self) -> None:
        """Payload of work that is refused comes slowly."""
        aside = self._draw.aside
        key, op = aside.choice(self._keys()), aside.choice(self._fields.operations)
        self._step("disturb", **self._fields.held(payload_gap=95))
        self._step("reset", key=key)
        self._step("post", key=key, op=op, size=_THROWN)
        self._step("wait", ns=aside.randrange(1, _THROWN_NS))

    def _fail(self) -> None:
        """A queue pair fails while frames of it cannot leave: its flush waits for them."""
        aside = self._draw.aside
        key, op = aside.choice(self._keys()), aside.choice(self._fields.operations)
        self._step("post", key=key, op=op, size=_FEW)
        self._step("until")
        self._step("disturb", **self._fields.held(tx_stall=99))
        self._step("post", key=key, op=op, size=_THROWN)
        self._step("wait", ns=aside.randrange(_ANSWERED_NS, _THROWN_NS))
        self._step("answer", key=key, oldest=0, syndrome=aside.choice(_FATAL))
        self._step("wait", ns=aside.randrange(1, _ANSWERED_NS))

    def _stream(self) -> None:
        """Frames leave one behind the other, as fast as they may."""
        aside = self._draw.aside
        op, count = aside.choice(self._fields.operations), aside.randrange(*_STREAM)
        self._step("disturb")
        self._step("post", key=aside.choice(self._keys()), op=op, size=_FEW, count=count)
        self._step("until", frames=aside.randrange(1, _STREAM[0]))
        self._step("wait", ns=aside.randrange(1, _NEAR_NS))

    def _strangers(self, keys: Sequence[int]) -> None:
        """Work for queue pairs of a life before."""
        for key in keys:
            spec = self._specs[key]
            names = ("service", "path_mtu", "local_qpn")
            self._step("idle", key=key, **{name: spec[name] for name in names})
            self._step("post", key=key, **self._fields.work(spec["path_mtu"], 300))
        self._step("settle")

    @property
    def _reliable(self) -> str:
        return "RC" if "RC" in self._fields.services else self._fields.services[0]
