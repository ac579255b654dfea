# SPDX-License-Identifier: BSD-2-Clause
"""Draws what the owner of a queue pair does to it, and rows that fill what holds answers."""

from __future__ import annotations

from typing import Any

from roceproof.conformance.stimulus.drawing.receivers import DrawnReceivers
from roceproof.conformance.stimulus.responder.play import ALL_RIGHTS
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

WHOLE: dict[str, Any] = {"access": ALL_RIGHTS}
_QUEUE = 16
_WORKING = ("RESET", "INIT", "RTR")
_HEADER = 40
_RIGHTS = {"READ": "remote_read", "FETCH_ADD": "remote_atomic", "CMP_SWAP": "remote_atomic"}


class DrawnEnds(DrawnReceivers):
    """A plan in the making, and some of its ends."""

    # what its owner does

    def _walked(self) -> None:
        """A life that begins state by state."""
        key = self._anew("RC", "UC", "UD")
        if key is not None:
            working = [state for state in _WORKING if self._draw.maybe(0.5)]
            self._step("walk", key=key, working=working)
            self._receives(key)
            for _ in range(3):
                self._request(key)

    def _told_to_fail(self) -> None:
        """A queue pair fails by a command, amid a message or between two."""
        key = self._anew("RC", "UC", "UD")
        if key is None:
            return
        self._receives(key)
        for _ in range(self._draw.between(0, 3)):
            self._request(key)
        if self._services[key] != "UD" and self._draw.maybe(0.7):
            op, size = self._op(key, ("SEND", "WRITE_IMM", "WRITE")), 2 * self._mtus[key]
            self._request(key, op=op, size=size, part=0, stops=True)
        self._step("fail", key=key, working=self._draw.maybe(0.5))
        self._request(key)
        self._begin_anew(key)
        self._request(key)

    def _refused_amid(self) -> None:
        """A message of several packets goes wrong, and others wait for receives."""
        key = self._anew("RC")
        if key is None:
            return
        self._step("receive", key=key, size=3 * self._mtus[key], count=self._draw.between(2, 4))
        op, size = self._op(key, ("WRITE", "WRITE_IMM", "SEND")), 2 * self._mtus[key]
        self._request(key, op=op, size=size, part=0, stops=True)
        value = self._draw.among([0x01, 0x02, 0x07, 0x08, 0x04, 0x0A])
        size = self._draw.among([0, 1, self._mtus[key] - 1, self._mtus[key]])
        self._step("raw", key=key, value=value, size=size)
        self._behind(key)

    def _overfilled(self) -> None:
        """Receives that wait for room, and a queue pair that fails and makes it."""
        key = self._anew("RC", "UC")
        if key is None:
            return
        self._step("overfill", key=key, more=self._draw.between(1, 3))
        if self._services[key] == "RC" and self._draw.maybe(0.5):
            self._request(key, op="WRITE", size=8, key_mask=1 << self._draw.between(0, 31))
        else:
            self._step("fail", key=key)
        self._step("settle")
        for each in self._services:
            self._receives(each)
        self._begin_anew(key)

    def _mistaken(self) -> None:
        """A command for a number that is not there, in the place of one that is."""
        key = self._anew("RC", "UC", "UD")
        if key is None:
            return
        self._receives(key)
        for _ in range(self._draw.between(1, 3)):
            bit, fails = self._draw.between(0, 15), self._draw.maybe(0.3)
            self._step("tell_stranger", key=key, bit=bit, fails=fails)
            for _ in range(2):
                self._request(key)

    def _powered_on(self) -> None:
        """The device is reset: a queue pair is there again, the memory of before is not."""
        key = self._anew("RC")
        if key is None or Capability.POWER_ON not in self._claims.capabilities:
            return
        regions = self._draw.between(2, 12)
        for _ in range(regions):
            self._step("region", key=key, size=64)
        self._step("power_on")
        for turn in range(self._draw.between(1, 4)):
            op, psn = self._draw.among(["WRITE", "SEND", "READ"]), self._draw.pick({0: 2, 1: 1})
            self._step("ghost", op=op, turn=turn, psn=psn)
        for turn in self._draw.random.sample(range(regions), min(3, regions)):
            self._begin_anew(key)
            self._step("region", key=key, size=self._regions[key])
            self._request(key)
            self._step("lost", key=key, op=self._op(key, ("WRITE", "READ")), turn=-1 - turn)
        self._begin_anew(key)

    # what is full

    def _jammed(self) -> None:
        """Answers, or completions, that cannot leave while more come than wait anywhere."""
        key = self._anew("RC")
        if key is None or not self._does(Op.SEND):
            return
        count = min(_QUEUE, self._claims.receives)
        self._step("receive", key=key, size=64, count=count)
        self._step("disturb", **{self._draw.among(["tx_stall", "cpl_stall"]): 99})
        for _ in range(count):
            op = self._op(key, ("SEND", "SEND_IMM", "WRITE_IMM"))
            self._step("request", key=key, op=op, size=self._draw.between(0, 40), offset=0)
        self._step("settle")

    def _over_the_top(self) -> None:
        """READs whose answers pass the last PSN, and parts of them again from before and behind."""
        packets, before = self._draw.between(4, 12), self._draw.between(1, 4)
        key = self._anew("RC", rq_psn=(1 << 24) - before, max_dest_rd_atomic=_QUEUE)
        if key is None or not self._does(Op.READ):
            return
        mtu = self._mtus[key]
        size = packets * mtu - self._draw.between(0, mtu - 1)
        self._step("region", key=key, size=size)
        self._step("request", key=key, op="READ", size=size, region=-1, offset=0)
        for _ in range(self._draw.between(2, 4)):
            skip = self._draw.between(0, packets - 1)
            self._step("reread", key=key, skip=skip)
            self._step("settle")
        self._request(key)

    def _replayed(self) -> None:
        """Atomics in a row, and some of them again: each has its own answer."""
        key = self._anew("RC", max_dest_rd_atomic=_QUEUE)
        if key is None or not (self._does(Op.FETCH_ADD) or self._does(Op.CMP_SWAP)):
            return
        count = self._draw.between(2, 8)
        for _ in range(count):
            op = self._op(key, ("FETCH_ADD", "CMP_SWAP"))
            word = 8 * self._draw.between(0, 3)
            self._request(key, op=op, offset=word)
            self._step("settle")
        for _ in range(3):
            self._step("again", key=key, back=self._draw.between(1, count))
        self._step("settle")

    def _narrowed(self) -> None:
        """Datagrams, and receives that are just not long enough, or just are."""
        for _ in range(3):
            room = self._draw.pick({_HEADER - self._draw.tail(0, 2): 2, 0: 1, -1: 1, 1: 1})
            self._step("narrow", size=self._draw.tail(0, 200), room=room)

    def _lacking(self) -> None:
        """A right that the queue pair lacks, or a region, or a region of another domain."""
        key = self._anew("RC", "UC")
        for _ in range(3 if key is not None else 0):
            assert key is not None
            wanted = self._op(key, ("WRITE", "WRITE", "READ", "FETCH_ADD", "CMP_SWAP"))
            right = _RIGHTS.get(wanted, "remote_write")
            rest = {"access": [each for each in ALL_RIGHTS if each != right]}
            said = {"key": key, "service": self._services[key], **self._fields(key)}
            lacks = self._draw.pick({"queue pair": 3, "region": 4, "domain": 2})
            self._step("connect", **said | (rest if lacks == "queue pair" else WHOLE))
            if lacks == "region":
                self._step("region", key=key, size=256, **rest)
            elif lacks == "domain":
                self._step("region", key=key, size=256, is_foreign=True)
            place = {"region": 0} if lacks == "queue pair" else {"region": -1, "offset": 0}
            self._request(key, op=wanted, size=self._draw.between(1, 60), **place)
            self._step("settle")

    # inside

    def _behind(self, key: int) -> None:
        """What follows a request that may have ended its queue pair."""
        raise NotImplementedError

    def _does(self, op: Op) -> bool:
        return self._claims.does_execute(Service.RC, op)

    def _anew(self, *services: str, key: int | None = None, **fields: int) -> int | None:
        """A queue pair of one of these services, in a life with all rights."""
        keys = [each for each, service in self._services.items() if service in services]
        if key is not None:
            keys = [each for each in keys if each == key]
        if not keys:
            return None
        chosen = self._draw.among(keys)
        said = {**self._fields(chosen), **WHOLE, **fields, **self._straight()}
        self._step("connect", key=chosen, service=self._services[chosen], **said)
        return chosen
