# SPDX-License-Identifier: BSD-2-Clause
"""Steps of a plan amid slow traffic: commands, and writes that take long to end.

Each works on a queue pair of its own, and judges by itself: an oracle that looks at a device at
rest does not see what came too early, or too late.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from typing import Any, ParamSpec

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.pattern import ACK, SEND_ONLY_INV
from roceproof.conformance.suite.traffic import amid
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Beyond, Claims
from roceproof.verbs.work import Region

_P = ParamSpec("_P")
_COMPLETED = 0xFFFF00
_SHOWING = "hdl"
"""Where a command shows that was taken amid a message."""
_NEEDED = {Capability.DISTURBANCE, Capability.RESET, Capability.RC}


def is_hurried(claims: Claims) -> bool:
    """Whether such steps show anything of a device."""
    return claims.target == _SHOWING and claims.capabilities >= _NEEDED


def _where_it_can(step: Callable[_P, None]) -> Callable[_P, None]:
    """The same step, which ends where the device has no more memory, or keys that stay."""

    @wraps(step)
    def tried(*args: _P.args, **fields: _P.kwargs) -> None:
        with suppress(Beyond):
            step(*args, **fields)

    return tried


class Hurrying:
    """What a player can do of it."""

    _bench: Bench

    @_where_it_can
    def read_until(self, by: str, *, packets: int = 12, slow: Mapping[str, int]) -> None:
        """A READ, in whose answer its key is taken back, or its queue pair reset."""
        qp = self._lonely()
        if qp is None:
            return
        bench, region = self._bench, qp.region(packets * qp.mtu, filled=True)
        inbox = qp.region() if by == "send" else None
        number = None if inbox is None else qp.post_receive(inbox)
        bench.target.disturb(**slow)
        responses = amid.begin_read(qp, region)
        if number is not None:
            qp.send(SEND_ONLY_INV(psn=packets, payload=0, inv=region.rkey, a=1))
            qp.receives(number, byte_len=0, invalidated=region.rkey)
            region.write(0, bytes(region.size))
            qp.expect(*responses, ACK(psn=packets))
        elif by == "key":
            self._take_back(region)
            region.write(0, bytes(region.size))
            amid.expect_rest_or_refusal(bench, qp, responses)
        elif amid.reset_is_taken(bench, qp):
            amid.expect_no_more_answers(bench, qp)
        bench.target.disturb()

    @_where_it_can
    def write_until(self, by: str, *, packets: int = 12, stall: int = 95) -> None:
        """A WRITE, in whose midst its key is taken back, or its queue pair reset."""
        qp = self._lonely()
        if qp is None:
            return
        bench, region = self._bench, qp.region(packets * qp.mtu)
        bench.target.disturb(memory_stall=stall)
        amid.begin_write(bench, qp, region)
        if self._is_taken_back(qp, region, by):
            rule = amid.BY_KEY if by == "key" else amid.BY_RESET
            amid.expect_no_more_writes(bench, region, rule)
        bench.target.disturb()

    @_where_it_can
    def flood(self, count: int, *, lag: int = 99, every: int = 1) -> None:
        """Small WRITEs in a row, none of which may be acknowledged before it has ended."""
        counts = Capability.MSN_PRESET in self._bench.claims.capabilities
        qp = self._lonely(**({"completed_messages": _COMPLETED} if counts else {}))
        if qp is None:
            return
        amid.flood(self._bench, qp, count=count, lag=lag, every=every)
        self._bench.target.disturb()
        first = _COMPLETED if counts else 0
        qp.fence(count, msn=(first + count + 1) % (1 << 24))

    # inside

    def settle(self) -> None:
        raise NotImplementedError

    def _lonely(self, **fields: Any) -> Connection | None:
        claims = self._bench.claims
        if not is_hurried(claims) or len(self._bench.connections) >= claims.qps:
            return None
        self.settle()
        return self._bench.connect(path_mtu=min(claims.path_mtus), **fields)

    def _is_taken_back(self, qp: Connection, region: Region, by: str) -> bool:
        if by != "key":
            return amid.reset_is_taken(self._bench, qp)
        self._take_back(region)
        return True

    def _take_back(self, region: Region) -> None:
        """A device whose keys stay lets its streams flow again."""
        try:
            region.deregister()
        except Beyond:
            self._bench.target.disturb()
            self._bench.settle()
            raise
