# SPDX-License-Identifier: BSD-2-Clause
"""Turns of a plan on queue pairs that share a receive queue: each takes the receive in front.

Receives go in the order in which messages begin, whoever sends them. A message under way holds
its own, whose end is that of the message, of its queue pair, or of that queue pair's life.
"""

from collections import deque
from contextlib import suppress

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.intent import OUT_OF_ORDER, OUT_OF_SEQUENCE
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    INVALID_REQUEST,
    NAK,
    RNR,
    SEND_FIRST,
    SEND_LAST,
    SEND_ONLY,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.suite.reporting.answers_told import outcomes_told
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Beyond
from roceproof.verbs.queue_pair import State

_PACKETS, _SHORT = 2, 4
"""A receive has room for as many packets, or for so few bytes."""
_PLACES = 16
TURNS = ("send", "begin", "fail", "anew", "told")


class SharedQueue:
    """A few queue pairs and the receives that they share."""

    def __init__(self, bench: Bench, count: int) -> None:
        mtu = min(bench.claims.path_mtus)
        self._bench = bench
        self._qps = [bench.connect(shared_receive=True, path_mtu=mtu) for _ in range(count)]
        self._psns = [0] * count
        self._room = _PACKETS * mtu
        self._region = self._qps[0].region(_PLACES * self._room)
        self._waiting: deque[tuple[int, int, bool]] = deque()
        """Number and place of each, and whether it is short."""
        self._held: list[tuple[int, int] | None] = [None] * count
        self._posted = 0

    @property
    def waiting(self) -> int:
        """How many receives no message has taken yet."""
        return len(self._waiting)

    def post(self, qp: int, count: int, *, is_short: bool = False) -> None:
        """So many receives more, posted by way of that queue pair."""
        length = _SHORT if is_short else self._room
        for _ in range(count):
            offset = self._posted % _PLACES * self._room
            poster = self._qps[qp % len(self._qps)]
            number = poster.post_receive(self._region, offset=offset, length=length)
            self._waiting.append((number, offset, is_short))
            self._posted += 1

    def turn(self, index: int, kind: str, size: int) -> None:
        """One packet to that queue pair, or a new life of it."""
        index %= len(self._qps)
        qp = self._qps[index]
        if kind == "anew":
            self._begin_anew(index)
        elif kind in ("fail", "told"):
            self._fail(index, is_told=kind == "told")
        elif self._held[index] is not None:
            self._end(index, qp.mtu, SEND_LAST(psn=self._psns[index], payload=max(size, 1), a=1))
        elif not self._waiting:
            qp.send(SEND_ONLY(psn=self._psns[index], payload=size, a=1), breaks=OUT_OF_SEQUENCE)
            qp.expect(RNR(psn=self._psns[index]))
        else:
            number, offset, is_short = self._waiting.popleft()
            self._held[index] = number, offset
            first = SEND_FIRST(psn=self._psns[index], payload=qp.mtu, a=1)
            only = SEND_ONLY(psn=self._psns[index], payload=size, a=1)
            if is_short and (kind == "begin" or size > _SHORT):
                self._overrun(index, first if kind == "begin" else only)
            elif kind == "begin":
                qp.send(first, breaks=OUT_OF_SEQUENCE)
                qp.expect(ACK(psn=self._psns[index]))
                self._psns[index] += 1
            else:
                self._end(index, 0, only)

    def _end(self, index: int, before: int, packet: Pattern) -> None:
        qp, held = self._qps[index], self._held[index]
        assert held is not None
        number, offset = held
        filled = qp.filled(packet)
        data = filled.said["payload"]
        qp.send(filled, breaks=OUT_OF_SEQUENCE)
        qp.expect(ACK(psn=self._psns[index]))
        qp.receives(number, byte_len=before + len(data))
        if self._region.read(offset + before, len(data)) != data:
            raise self._bench.failed(f"the bytes of a SEND are not in receive {number:#x}")
        self._psns[index] += 1
        self._held[index] = None

    def _overrun(self, index: int, packet: Pattern) -> None:
        """It is longer than its receive, which ends with its queue pair."""
        qp, held = self._qps[index], self._held[index]
        assert held is not None
        qp.send(packet, breaks=OUT_OF_SEQUENCE)
        qp.expect(NAK(INVALID_REQUEST, psn=self._psns[index]))
        qp.receives(held[0], status="loc_len_err")
        self._begin_anew(index)

    def _fail(self, index: int, *, is_told: bool) -> None:
        """A request that is refused, or a command, ends the receive in use, and none that waits."""
        qp, held = self._qps[index], self._held[index]
        if is_told and Capability.STATES in self._bench.claims.capabilities:
            self._bench.settle()
            self._bench.target.set_state(qp.qp, State.ERR)
        else:
            self._refuse(index)
        if held:
            ended = self._bench.completions(qp, count=1)
            if [(each.wr_id, each.status == "success") for each in ended] != [(held[0], False)]:
                text = f"want  receive {held[0]:#x} ended in error\ngot   {outcomes_told(ended)}"
                is_another = any(each.wr_id != held[0] for each in ended)
                raise self._bench.failed(text, rules=["RQ-01" if is_another else "QPS-03"])
        self._bench.settle()
        if more := self._bench.completions(qp, count=0, within_ns=0):
            text = "a queue pair that failed ended receives that wait for others, too"
            raise self._bench.failed(f"{text}: {outcomes_told(more)}", rules=["QPS-06"])
        self._begin_anew(index)

    def _refuse(self, index: int) -> None:
        qp, held = self._qps[index], self._held[index]
        where = at(self._region) | ({} if held else {"rkey": self._region.wrong_key(1 << 20)})
        write = WRITE_ONLY(psn=self._psns[index], payload=8, a=1, **where)
        qp.send(write, breaks=OUT_OF_SEQUENCE | OUT_OF_ORDER)
        code = INVALID_REQUEST if held else ACCESS_ERROR
        qp.expect(NAK(code, psn=self._psns[index]))

    def _begin_anew(self, index: int) -> None:
        self._bench.settle()
        self._qps[index].reconnect()
        self._psns[index], self._held[index] = 0, None


class Sharing:
    """What a player can do of it."""

    _bench: Bench
    _shared: SharedQueue | None = None

    def share(self, count: int = 2) -> None:
        """So many queue pairs more, which share a receive queue of their own."""
        claims, there = self._bench.claims, len(self._bench.connections)
        needed = {Capability.SHARED_RECEIVE, Capability.RESET, Capability.RC}
        if self._shared is None and needed <= claims.capabilities and there + count <= claims.qps:
            with suppress(Beyond):
                self._shared = SharedQueue(self._bench, count)

    def stock(self, qp: int = 0, *, count: int = 1, is_short: bool = False) -> None:
        """So many receives for all of them, with room for two packets, or for a few bytes."""
        if self._shared is not None:
            self._shared.post(qp, count, is_short=is_short)

    def turn(self, qp: int, kind: str = "send", *, size: int = 8) -> None:
        """The next packet of a queue pair that shares, or a new life of it."""
        if self._shared is not None:
            self._shared.turn(qp, kind, size)
