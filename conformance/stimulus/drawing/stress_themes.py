# SPDX-License-Identifier: BSD-2-Clause
"""Themes that wear one part of a device: its timers, its window of PSNs, its lives, its lengths."""

from __future__ import annotations

from roceproof.conformance.stimulus.drawing.acts import DrawnActs

_TICK_NS = 4096
_LONGEST_CODE = 14
_SMALLEST_MTU = 256
_LONGEST_WAIT_NS = 1_000_000
_SEQUENCE = 0x60


class DrawnStrains(DrawnActs):
    """The steps of one such plan."""

    def _timeouts(self) -> None:
        """Nobody answers, for long; some have short timers, some long ones, some none.

        What arrives meanwhile is progress for one queue pair at most, and for the others nothing.
        """
        self._fields.timers = "armed"
        count = self._draw.pick({1: 2, self._draw.between(2, 6): 3, self._contexts: 2})
        self._connect(count, services=("RC",))
        self._maybe_disturb(0.2)
        for key in list(self._mtus):
            self._post(key, count=self._draw.tail(1, 4), largest=self._draw.pick({600: 2, 3000: 1}))
            if self._draw.maybe(0.6):
                self._moment()
        most = self._draw.pick({60_000: 7, 250_000: 4, 1_000_000: 1.2})
        for _ in range(self._draw.between(1, 7)):
            key = self._key()
            self._step("wait", ns=self._draw.between(1, 95) * min(self._time_of(key), most) // 100)
            kinds = {"answer": 3, "flawed": 1, "foreign": 1, "ask": 1, "post": 2}
            match self._draw.pick({"progress": 4, "old": 3, "other": 3}):
                case "progress":
                    self._answer(key, share=self._draw.between(0, 999))
                case "old":
                    self._step("answer", key=key, back=self._draw.tail(8, 1 << 20))
                case _:
                    self._act(self._draw.pick(kinds), self._key())
        if self._draw.maybe(0.3):  # too late or just in time
            key = self._key()
            time = min(self._time_of(key), most)
            self._step("wait", ns=time + self._draw.between(-300, 2 * _TICK_NS))
            self._answer(key, kind="share")
        longest = max(self._time_of(key) for key in self._mtus)
        self._step("wait", ns=4 * min(longest, most) + 20_000)
        self._acts(self._draw.between(0, 3))

    def _beside(self) -> None:
        """A queue pair gets no answer, for longer than its timeout; another gets all of its own."""
        self._fields.timers = "armed"
        self._connect(2, services=("RC",), mtu=min)
        waiting, *others = self._keys()
        for key in others:
            self._step("serve", key=key, every=1)
        self._post(waiting, largest=600)
        time = min(self._time_of(waiting), _LONGEST_WAIT_NS)
        total = 4 * time + _LONGEST_WAIT_NS
        tick = max(time // self._draw.between(2, 4), total // 60)
        for _ in range(total // tick):
            for key in others:
                self._burst_of(key, self._draw.tail(1, 3))
            self._step("wait", ns=tick)
        self._acts(self._draw.between(0, 3))

    def _held_up(self) -> None:
        """Work is answered while its completion waits behind others that nobody takes."""
        self._connect(self._draw.between(2, 5), services=("UC", "RC"), mtu=min)
        for _ in range(self._draw.between(2, 5)):
            self._step("disturb", **self._fields.held(cpl_stall=99))
            first, *others = self._some(3)
            self._burst_of(first, self._draw.tail(1, 12))
            for key in others:
                self._post(key, count=self._draw.tail(1, 4), largest=300)
            self._step("wait", ns=self._draw.between(200, 6000))
            for key in others:
                self._answer(key, kind="newest")
            self._wait()
            self._step("disturb", **self._fields.held(cpl_stall=self._draw.among([0, 60])))
            self._moment()

    def _expiries(self) -> None:
        """Timers of many run out one by one, amid a stream of work, stale answers and restarts."""
        self._fields.timers = "soon"
        self._connect(self._draw.between(3, max(3, self._contexts)), services=("UC", "RC"), mtu=min)
        stream, *others = self._keys()
        victims = others or [stream]
        most = 8 * self._fields.lanes  # answers of some hundred cycles
        if self._draw.maybe(0.7):
            name = self._draw.among(["cpl_stall", "tx_stall", "rx_gap"])
            held = self._fields.held(**{name: self._draw.among([30, 60, 90, 99])})
            self._step("disturb", **held)
        for key in victims:
            self._post(key, largest=64)
        self._step("wait", ns=2 * _TICK_NS + self._draw.between(0, _TICK_NS))
        self._burst_of(stream, self._draw.tail(20, 150))
        for _ in range(self._draw.between(15, 40)):
            key = self._draw.among(victims)
            match self._draw.pick({"old": 5, "post": 3, "restart": 2, "answer": 0.4, "nak": 0.4}):
                case "old":
                    many = {"back": self._draw.tail(40, 200), "count": self._draw.tail(1, most)}
                    code = self._draw.pick({self._draw.between(0, 31): 1, self._fields.nak(): 1})
                    self._step("answer", key=key, **many, syndrome=code)
                case "post":
                    self._burst_of(key, self._draw.between(1, 30))
                case other:
                    self._act(other, key)
            if self._draw.maybe(0.7):
                self._step("wait", ns=self._draw.between(1, 700))

    def _window(self) -> None:
        """Many packets are outstanding; answers to any of them, and to what is nearly one."""
        self._connect(self._draw.between(1, 3), services=("RC",), mtu=min)
        self._maybe_disturb(0.3)
        for _ in range(self._draw.between(1, 3)):
            key = self._key()
            packets = self._draw.tail(2, 40)
            work = self._fields.work(_SMALLEST_MTU, 0)
            work["size"] = packets * self._mtus[key] - self._draw.between(0, 260)
            count = min(self._draw.between(2, 20), 1 + 100_000 // work["size"])
            self._step("post", key=key, **work, count=count)
            self._step("until", frames=self._draw.between(1, count * packets))
            for _ in range(self._draw.between(3, 12)):
                places = {"share": 5, "flip": 4, "half": 1, "ahead": 1, "back": 1}
                self._answer(key, kind=self._draw.pick(places))
                if self._draw.maybe(0.6):
                    self._wait()
            if self._draw.maybe(0.2):
                self._answer(key, kind="share", syndrome=self._fields.nak())

    def _wear(self) -> None:
        """One queue pair fails so often, and starts anew each time."""
        self._connect(self._draw.between(1, 3), services=("RC",), mtu=min)
        self._maybe_disturb(0.2)
        for _ in range(self._draw.between(1, 3)):
            key = self._key()
            times = self._draw.tail(2, self._draw.pick({24: 6, 120: 1}))
            self._step("wear", key=key, times=times, syndrome=self._fields.nak())
            self._acts(self._draw.between(1, 4))

    def _life(self) -> None:
        """More of everything than counters of ten or twelve bits have numbers for."""
        count = self._draw.pick({self._draw.between(257, 300): 4, 1100: 1.5, 2100: 0.3})
        self._connect(self._draw.between(1, 2), mtu=min)
        key = self._key()
        match self._draw.pick({"messages": 3, "answers": 2, "questions": 1}):
            case "messages":
                self._step("serve", key=key, every=self._draw.tail(1, 12))
                self._burst_of(key, count)
                self._step("wait", ns=200 * count)
            case "answers":
                self._post(key, count=2, largest=60)
                self._step("until", frames=2)
                flaw = {"oldest": 0, "flaw": "icrc", "bit": 5}
                self._step("answer", key=key, **flaw, syndrome=2, count=count)
            case _:
                many = {"count": min(count, 300), "apart": 1500, "damaged": False}
                self._step("ask", **{**self._fields.question(), **many})
        self._acts(self._draw.between(2, 6))

    def _endless(self) -> None:
        """The last message is too long to be seen whole."""
        self._connect(self._draw.between(1, 3))
        self._acts(self._draw.between(0, 4))
        self._maybe_disturb(0.3)
        self._step("endless", key=self._key(), **self._fields.endless())

    def _copies(self) -> None:
        """Several queue pairs send again at once, and much happens amid it."""
        draw = self._draw
        is_short = draw.maybe(0.5)
        self._connect(draw.between(2, 5), services=("RC",), mtu=min if is_short else max)
        for _ in range(draw.between(2, 5)):
            self._maybe_disturb(0.3)
            keys = self._some(draw.between(1, 4))
            for key in keys:
                self._post(key, count=draw.tail(1, 8), largest=draw.tail(300, 6000))
            self._moment()
            for key in keys:
                self._asks_again(key)
                if draw.maybe(0.5):
                    self._step("wait", ns=draw.between(1, 300))
            self._moment()
            for _ in range(draw.between(2, 8)):
                key = draw.among(keys) if draw.maybe(0.6) else self._key()
                match draw.pick({"again": 4, "answer": 5, "post": 4, "restart": 0.7, "reset": 0.3}):
                    case "again":
                        self._asks_again(key)
                    case act:
                        self._act(act, key)
                if draw.maybe(0.75):
                    self._step("wait", ns=draw.between(1, 300))

    def _asks_again(self, key: int) -> None:
        """What was lost, or not received, is asked for."""
        syndrome = self._draw.pick({_SEQUENCE: 6, self._fields.nak(): 5})
        self._step("answer", key=key, oldest=self._draw.tail(0, 12), syndrome=syndrome)

    def _replaced(self) -> None:
        """Queue pairs make room for others of the same place, amid their traffic."""
        self._connect(self._draw.between(1, 4))
        self._maybe_disturb(0.3)
        for _ in range(self._draw.between(1, 4)):
            for key in self._some(2):
                self._post(key, count=self._draw.tail(1, 5), largest=2000)
            self._moment()
            self._act("replace", self._key())
            self._acts(self._draw.between(1, 4))

    def _time_of(self, key: int) -> int:
        """The shortest time after which the queue pair may give up; of a long one, some time."""
        code = self._specs[key]["ack_timeout"] or self._draw.between(1, 4)
        return _TICK_NS << min(code, _LONGEST_CODE)
