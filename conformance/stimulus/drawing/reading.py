# SPDX-License-Identifier: BSD-2-Clause
"""Draws READs and atomics that a device sends, and what answers them with data or fails to."""

from __future__ import annotations

from typing import Any

from roceproof.conformance.stimulus.drawing.acts import DrawnActs
from roceproof.conformance.stimulus.requester.data_responses import TWISTS

_TICK_NS = 4096
_LARGEST_READ = 6000


class DrawnReads(DrawnActs):
    """The steps of one plan of which READs and atomics are the better part."""

    def _reads(self) -> None:
        """READs and atomics among other work, on one queue pair or several, and all answers."""
        if self._draw.maybe(0.4):
            self._fields.timers = "armed"
        self._connect(self._draw.tail(1, 5), services=("RC",), mtu=min)
        self._maybe_disturb(0.35)
        for _ in range(self._draw.between(2, 6)):
            key = self._key()
            for _ in range(self._draw.between(1, 4)):
                self._asks(key if self._draw.maybe(0.75) else self._key())
            self._draw.pick({self._moment: 3, self._wait: 1})()
            for _ in range(self._draw.between(1, 7)):
                self._hears(key if self._draw.maybe(0.75) else self._key())
                if self._draw.maybe(0.4):
                    self._wait()
            if self._draw.maybe(0.3):
                self._misfits(key)
        if self._draw.maybe(0.5):
            self._step("settle")
        self._acts(self._draw.between(0, 5))

    def _losses(self) -> None:
        """Responses are lost amid READs, and timers run."""
        self._fields.timers = "soon"
        self._connect(self._draw.between(1, 3), services=("RC",), mtu=min)
        for _ in range(self._draw.between(1, 4)):
            key = self._key()
            packets = self._draw.between(2, 12)
            size = packets * self._mtus[key] - self._draw.between(0, 300)
            self._step("post", key=key, **{**self._fields.returned(256, 0), "size": size})
            self._budget -= size
            if self._draw.maybe(0.5):
                self._asks(key)
            self._moment()
            for _ in range(self._draw.between(1, 4)):
                self._draw.pick({self._respond: 2, self._lose: 3})(key)
                code = self._specs[key]["ack_timeout"] or 1
                self._step("wait", ns=(_TICK_NS << code) * self._draw.between(1, 14) // 4)
            self._step("respond", key=key)
        self._acts(self._draw.between(0, 3))

    def _deep(self) -> None:
        """More READs and atomics than may be outstanding, answered bit by bit."""
        self._connect(self._draw.between(1, 2), services=("RC",), mtu=min)
        self._maybe_disturb(0.4)
        for _ in range(self._draw.between(1, 3)):
            key = self._key()
            for _ in range(self._draw.between(1, 4)):
                many = self._draw.between(1, 6) + self._specs[key].get("max_rd_atomic", 1)
                self._asks(key, count=min(many, 24))
                if self._draw.maybe(0.4):
                    self._post(key, largest=300)
            self._moment()
            for _ in range(self._draw.between(2, 12)):
                self._step("respond", key=key, packets=self._draw.tail(1, 6))
                self._draw.pick({self._moment: 2, self._wait: 1})()
            if self._draw.maybe(0.3):
                self._hears(key)
        self._acts(self._draw.between(0, 3))

    # inside

    def _asks(self, key: int, *, count: int = 1) -> None:
        """Work that is answered with data, or now and then other work."""
        is_other = count == 1 and self._draw.maybe(0.25)
        if is_other or self._specs[key]["service"] != "RC":
            self._post(key, largest=1500)
        else:
            self._post_returned(key, count=count)

    def _post_returned(self, key: int, *, count: int = 1) -> None:
        """A READ or an atomic, or several at once."""
        if self._budget <= 0:
            return
        largest = min(_LARGEST_READ, self._budget // count)
        work = self._fields.returned(self._mtus[key], largest)
        if count == 1 and self._draw.maybe(0.3):
            count = self._draw.tail(2, 6)
        if count > 1:
            size = min(work.get("size", 0), largest // count)
            work |= {"count": count, "grow": self._draw.pick({0: 3, 1: 2, 5: 1})}
            work |= {"size": size} if "size" in work else {}
            work["shift"] = self._draw.pick({0: 2, 1: 1, self._draw.between(2, 63): 1})
        self._budget -= (work.get("size", 8) + 20) * count
        self._step("post", key=key, **work)

    def _hears(self, key: int) -> None:
        """Something that answers, or seems to."""
        kinds = {"data": 12, "again": 2, "ack": 2, "late": 1.5, "flawed": 1, "nak": 0.6}
        match self._draw.pick(kinds):
            case "data":
                self._respond(key)
            case "again":
                back = self._draw.tail(1, 8)
                fields: dict[str, Any] = {"back": back, "count": self._draw.between(1, back)}
                stale = {"stale": True} if self._draw.maybe(0.5) else {}
                self._step("respond_again", key=key, **fields, **stale)
            case "ack":
                self._answer(key)
            case "late":
                self._step("respond", key=key, packets=self._draw.tail(1, 3))
                code = self._draw.pick({self._draw.between(0, 31): 3, self._fields.nak(): 1})
                self._step("answer", key=key, oldest=-self._draw.tail(1, 6), syndrome=code)
                self._step("respond", key=key, packets=self._draw.tail(1, 6))
            case "flawed":
                self._step("answer", key=key, **self._fields.flawed())
            case _:
                self._nak(key)

    def _lose(self, key: int) -> None:
        """Some data come, and then none, or others behind some that are lost."""
        self._step("respond", key=key, packets=self._draw.tail(1, 6))
        if self._draw.maybe(0.6):
            lost, more = self._draw.tail(1, 4), self._draw.tail(1, 3)
            self._step("respond", key=key, packets=more, skip=lost)

    def _misfits(self, key: int) -> None:
        """All is well until the end of an answer, which does not fit; it begins anew before."""
        self._restart(key)
        self._post_returned(key)
        self._step("until", frames=self._draw.tail(1, 8))
        few = {"packets": self._draw.tail(1, 6)} if self._draw.maybe(0.5) else {}
        self._step("respond", key=key, **few, **self._odd())
        if self._draw.maybe(0.5):
            self._step("settle")
            self._restart(key)

    def _odd(self) -> dict[str, Any]:
        """What does not fit about a response."""
        return {"twist": self._draw.among(TWISTS), "bit": self._draw.between(0, 15)}

    def _respond(self, key: int) -> None:
        """All data, or a part, of which some are lost, flawed, or do not fit their place."""
        fields = self._fields.beside_data()
        if self._draw.maybe(0.7):
            fields["packets"] = self._draw.tail(1, 8)
        match self._draw.pick({"good": 12, "lost": 2.5, "flawed": 4, "odd": 1.2}):
            case "lost":
                fields["skip"] = self._draw.tail(1, 4)
            case "flawed":
                fields = self._fields.flaw_of_data()  # a mark for congestion may be heeded
                fields["packets"] = self._draw.tail(1, 4)
            case "odd":
                fields |= self._odd()
        self._step("respond", key=key, **fields)
