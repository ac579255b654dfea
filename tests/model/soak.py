# SPDX-License-Identifier: BSD-2-Clause
"""Random work for an RC requester, and what must have become of it at the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from lossy_network import Impairment, LossyNetwork, Tap
from requester_bench import qp
from responder_bench import pattern

from roceproof.conformance.model.memory import Memory
from roceproof.conformance.model.receive_queue import Receive, ReceiveQueue
from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.responder.policy import ResponderPolicy
from roceproof.conformance.model.responder.rc import RcResponder
from roceproof.verbs.work import Op, Work

P = 256
LARGEST = 5 * P
SIZES = (0, 1, 3, 4, 5, P - 1, P, P + 1, 2 * P, 3 * P - 1, LARGEST)
_TAKE_RECEIVE = (Op.SEND, Op.SEND_IMM, Op.WRITE_IMM)
_RECEIVES_AT_START = 3
_REFILL_NS = 15_000
_COUNTER = LARGEST  # where in the readable region the counter of FETCH_ADD is


class Soak:
    """Both ends, `messages` random work requests, and the checks."""

    def __init__(
        self,
        seed: int,
        messages: int,
        impairment: Impairment,
        *,
        requester: type[RcRequester] = RcRequester,
        policy: RequesterPolicy | None = None,
        answers: ResponderPolicy | None = None,
        sent: Tap = lambda _now, _segment: None,
        heard: Tap = lambda _now, _segment: None,
    ) -> None:
        random = Random(seed)
        start = random.choice((0, 0x7FFFF0, 0x800000, 0xFFFFF0, random.randrange(1 << 24)))
        self.spec = qp(sq_psn=start, rq_psn=start, ack_timeout=4, retry_count=7, max_rd_atomic=3)
        memory = Memory()
        self._source = memory.register(LARGEST + 8)
        self._source.write(0, pattern(LARGEST, seed))
        self._target = memory.register(messages * LARGEST)
        self._inbox = memory.register(messages * LARGEST)
        self._local = Memory().register(messages * LARGEST)
        self._queue = ReceiveQueue()
        self.works = [self._work(number, random) for number in range(messages)]
        responder = RcResponder(self.spec, memory=memory, receives=self._queue, policy=answers)
        self.model = requester(self.spec, policy)
        self.network = LossyNetwork(self.model, responder, impairment, seed, sent=sent, heard=heard)
        self._responder = responder
        self._expects = [work for work in self.works if work.op in _TAKE_RECEIVE]
        for number in range(len(self._expects)):
            late = max(0, number - _RECEIVES_AT_START)
            self.network.at(late * _REFILL_NS, self._refill(number))

    def run(self, steps: int = 200_000) -> bool:
        """Post everything a little at a time, and let it happen; whether it came to an end."""
        for number, work in enumerate(self.works):
            self.network.at(number * 300, partial(self.model.post, work))
        return self.network.run(steps)

    def check(self) -> None:
        """Each work request was executed exactly once and completed exactly once."""
        done = [(outcome.wr_id, outcome.status) for outcome in self.model.outcomes]
        assert done == [(number, "success") for number in range(len(self.works))]
        received = [outcome.byte_len for outcome in self._responder.outcomes]
        assert received == [work.size for work in self._expects]
        assert self._responder.msn == len(self.works)
        self._check_memory()

    def _check_memory(self) -> None:
        added = 0
        inbox = 0
        for number, work in enumerate(self.works):
            at = number * LARGEST
            if work.op in (Op.WRITE, Op.WRITE_IMM):
                assert self._target.read(at, work.size) == work.data
            elif work.op in (Op.SEND, Op.SEND_IMM):
                assert self._inbox.read(inbox * LARGEST, work.size) == work.data
            elif work.op is Op.READ:
                assert self._local.read(at, work.size) == self._source.read(0, work.size)
            else:
                assert self._local.read(at, 8) == added.to_bytes(8, "little")
                added += work.swap_or_add
            inbox += work.op in _TAKE_RECEIVE
        assert self._source.read(_COUNTER, 8) == added.to_bytes(8, "little")

    def _refill(self, number: int) -> Callable[[], None]:
        receive = Receive(number, self._inbox, number * LARGEST, LARGEST)
        return lambda: self._queue.post(receive)

    def _work(self, number: int, random: Random) -> Work:
        op = random.choice(
            (Op.SEND, Op.SEND_IMM, Op.WRITE, Op.WRITE, Op.WRITE_IMM, Op.READ, Op.READ, Op.FETCH_ADD)
        )
        size = random.choice(SIZES)
        at = number * LARGEST
        place: dict[str, Any] = {"into": self._local, "into_offset": at}
        if op is Op.READ:
            return Work(
                wr_id=number,
                op=op,
                length=size,
                remote_addr=self._source.addr,
                rkey=self._source.rkey,
                **place,
            )
        if op is Op.FETCH_ADD:
            return Work(
                wr_id=number,
                op=op,
                remote_addr=self._source.addr + _COUNTER,
                rkey=self._source.rkey,
                swap_or_add=number + 1,
                **place,
            )
        return Work(
            wr_id=number,
            op=op,
            data=pattern(size, number),
            remote_addr=self._target.addr + at,
            rkey=self._target.rkey,
        )
