# SPDX-License-Identifier: BSD-2-Clause
"""Draws what a plan of requests ends with: what is rare, and takes a row of steps to reach.

Limits that are used up, rights that lack, keys taken back, queues that are shared, commands and
writes amid slow traffic. Each plan ends with two of them, whatever came before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from roceproof.conformance.stimulus.drawing.ends import DrawnEnds
from roceproof.conformance.stimulus.responder.in_flight_steps import is_hurried
from roceproof.conformance.stimulus.responder.sharing import TURNS
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Op

_EXTREMES: Mapping[str, float] = {
    "shared": 5,
    "hurried": 6,
    "flooded": 2,
    "lacking": 4,
    "all_reads": 2,
    "long": 1,
    "killed_twice": 2,
    "other_key": 2,
    "odd_sizes": 3,
    "across": 2,
    "forgotten": 2,
    "walked": 3,
    "told_to_fail": 3,
    "refused_amid": 3,
    "overfilled": 2,
    "jammed": 2,
    "replayed": 2,
    "narrowed": 2,
    "mistaken": 3,
    "powered_on": 3,
    "over_the_top": 3,
}
_ENDS, _TOO_SHORT = 2, 0.4
_SLOW = ("tx_stall", "memory_gap")


class DrawnExtremes(DrawnEnds):
    """A plan in the making, and its end."""

    def extremes(self) -> None:
        """Some, each on a queue pair that begins anew, if the device serves what it needs."""
        for _ in range(_ENDS if self._services else 0):
            act: Callable[[], None] = getattr(self, f"_{self._draw.pick(_EXTREMES)}")
            act()

    # queue pairs that only the end has

    def _shared(self) -> None:
        if Capability.SHARED_RECEIVE not in self._claims.capabilities or not self._does(Op.SEND):
            return
        draw, count = self._draw, self._draw.between(2, 3)
        self._step("share", count=count)
        self._step("stock", qp=0, count=draw.between(2, 5))
        for _ in range(draw.between(8, 16)):
            qp = draw.between(0, count - 1)
            if draw.maybe(0.2):
                is_short = draw.aside.random() < _TOO_SHORT
                self._step("stock", qp=qp, count=draw.between(1, 2), is_short=is_short)
            kind = draw.pick(dict(zip(TURNS, (6, 6, 1, 2, 2), strict=True)))
            self._step("turn", qp=qp, kind=kind, size=draw.between(0, 200))

    def _hurried(self) -> None:
        if not is_hurried(self._claims):
            return
        draw, packets = self._draw, self._draw.between(8, 14)
        if draw.maybe(0.4) and self._does(Op.WRITE):
            by = draw.among(["key", "reset"])
            self._step("write_until", by=by, packets=packets, stall=draw.between(90, 97))
        elif self._does(Op.READ):
            ways = ["key", "reset"]
            if self._does(Op.SEND_INV) and Capability.INVALIDATE in self._claims.capabilities:
                ways.append("send")
            slow = {draw.among(_SLOW): 90}
            self._step("read_until", by=draw.among(ways), packets=packets, slow=slow)

    def _flooded(self) -> None:
        if self._does(Op.WRITE) and is_hurried(self._claims):
            every = self._draw.among([1, 70])
            self._step("flood", count=self._draw.between(200, 300), lag=99, every=every)

    # queue pairs that the plan has

    def _all_reads(self) -> None:
        """As many READs as were agreed on, and each of them again."""
        key = self._anew("RC", max_dest_rd_atomic=16)
        if key is None or not self._does(Op.READ):
            return
        for _ in range(16):
            self._request(key, op="READ", size=self._draw.between(1, 40))
        for back in (16, *self._draw.random.sample(range(2, 17), 3)):
            self._step("reread", key=key, back=back)
        self._step("settle")

    def _long(self) -> None:
        """Messages whose length needs more than sixteen bits, and a READ its packets eight."""
        key = self._anew("RC", path_mtu=min(self._claims.path_mtus))
        if key is None or min(self._claims.path_mtus) != 256:
            return
        size = (1 << 16) + self._draw.between(1, 600)
        self._step("region", key=key, size=size)
        self._step("receive", key=key, size=64)
        for op in ("WRITE_IMM", "READ"):
            if self._does(Op[op]):
                self._step("request", key=key, op=op, size=size, region=-1, offset=0)
                self._step("settle")

    def _killed_twice(self) -> None:
        """A SEND with invalidate that comes again, naming another key."""
        key = self._anew("RC")
        if key is None or not self._does(Op.SEND_INV):
            return
        for _ in range(2):
            self._step("region", key=key, size=256)
        self._step("receive", key=key, size=64)
        self._step("request", key=key, op="SEND_INV", size=8, kills=-1)
        self._step("reinvalidate", key=key, kills=-2)
        op = self._op(key, ("WRITE", "READ"))
        self._step("request", key=key, op=op, size=8, region=-2, offset=0)

    def _other_key(self) -> None:
        """Datagrams whose Q_Key is another in one bit."""
        key = self._anew("UD")
        if key is not None:
            self._step("receive", key=key, size=400, count=4)
            for bit in (31, self._draw.between(0, 31)):
                self._request(key, op="SEND", size=self._draw.between(1, 60), key_mask=1 << bit)
            self._step("settle")

    def _odd_sizes(self) -> None:
        """An empty LAST, or a packet in front of it that is not whole."""
        for _ in range(3):
            key = self._anew("RC", "UC")
            if key is None:
                return
            mtu, op = self._mtus[key], self._op(key, ("SEND", "WRITE"))
            if op == "SEND":
                self._step("receive", key=key, size=3 * mtu)
            part, size = self._draw.among([(-1, 0), (-1, 0), (0, mtu - 4), (0, mtu // 2)])
            total = mtu if part else size + self._draw.between(1, 9)
            more = self._draw.between(1, 9) if part else mtu - size
            fields = {"bytes": size, "part": part, "more": -more}
            self._request(key, op=op, size=total + more, **fields)
            self._step("settle")

    def _across(self) -> None:
        """READs of the memory that a device was told of first."""
        key = self._anew("RC", key=0)
        for _ in range(2 if key is not None and self._does(Op.READ) else 0):
            self._step(
                "read_inbox",
                key=key,
                size=self._draw.between(1200, 2048),
                offset=self._draw.between(1000, 1500),
            )

    def _forgotten(self) -> None:
        """A message in whose midst its key is taken back."""
        key = self._anew("RC", "UC")
        if key is None or self._op(key, ("WRITE",)) != "WRITE":
            return
        size = self._draw.between(1, 60)
        whole = self._mtus[key] + size
        self._step("region", key=key, size=whole)
        here = {"region": -1, "offset": 0, "part": 0, "stops": True}
        self._step("request", key=key, op="WRITE", size=whole, **here)
        self._step("forget", key=key)
        self._step("raw", key=key, value=0x08, size=size)
        self._step("settle")
