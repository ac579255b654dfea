# SPDX-License-Identifier: BSD-2-Clause
"""Steps of a plan amid slow traffic: commands, and writes that take long to end.

Each works on a queue pair of its own, and judges by itself: an oracle that looks at a device at
rest does not see what came too early, or too late.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any, ParamSpec

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    NAK,
    READ_REQUEST,
    SEND_ONLY_INV,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.suite.responses import read_responses
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Beyond, Claims
from roceproof.verbs.queue_pair import State
from roceproof.verbs.work import Region

_P = ParamSpec("_P")
_ACKNOWLEDGE = 0x11
_LEAVING = 1
"""Frames that may be on the wire already when a command is taken."""
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
        responses = read_responses(qp, 0, region.read(0, region.size))
        inbox = qp.region() if by == "send" else None
        number = None if inbox is None else qp.post_receive(inbox)
        bench.target.disturb(**slow)
        qp.send(READ_REQUEST(psn=0, dmalen=region.size, **at(region)))
        qp.expect(responses[0])
        if number is not None:
            qp.send(SEND_ONLY_INV(psn=packets, payload=0, inv=region.rkey, a=1))
            qp.receives(number, byte_len=0, invalidated=region.rkey)
            region.write(0, bytes(region.size))
            qp.expect(*responses[1:], ACK(psn=packets))
        elif by == "key":
            self._take_back(region)
            region.write(0, bytes(region.size))
            self._whole_or_refused(qp, responses[1:])
        elif self._is_reset(qp):
            came = len(qp.inbox)
            bench.settle()
            if len(qp.inbox) - came > _LEAVING:
                raise bench.failed("responses of a READ left behind the reset of its queue pair")
        bench.target.disturb()

    @_where_it_can
    def write_until(self, by: str, *, packets: int = 12, stall: int = 95) -> None:
        """A WRITE, in whose midst its key is taken back, or its queue pair reset."""
        qp = self._lonely()
        if qp is None:
            return
        bench, region, last = self._bench, qp.region(packets * qp.mtu), packets - 1
        bench.target.disturb(memory_stall=stall)
        qp.send(qp.filled(WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=region.size, **at(region))))
        qp.send(*(qp.filled(WRITE_MIDDLE(psn=n, payload=qp.mtu)) for n in range(1, last)))
        qp.send(qp.filled(WRITE_LAST(psn=last, payload=qp.mtu, a=1)))
        if not bench.comes_true(lambda: any(region.read(0, qp.mtu))):
            raise bench.failed("nothing was written")
        if self._is_taken_back(qp, region, by):
            held = region.read(0, region.size)
            bench.settle()
            if region.read(0, region.size) != held:
                raise bench.failed("memory has changed behind a command that was taken")
        bench.target.disturb()

    @_where_it_can
    def flood(self, count: int, *, lag: int = 99, every: int = 1) -> None:
        """Small WRITEs in a row, none of which may be acknowledged before it has ended."""
        counts = Capability.MSN_PRESET in self._bench.claims.capabilities
        qp = self._lonely(**({"completed_messages": _COMPLETED} if counts else {}))
        if qp is None:
            return
        bench, region = self._bench, qp.region(count * 8)
        writes = [
            qp.filled(WRITE_ONLY(psn=n, payload=8, a=int(n % every == 0), **at(region, 8 * n)))
            for n in range(count)
        ]
        bench.target.disturb(memory_lag=lag)
        qp.send(*writes)
        first = _COMPLETED if counts else 0
        for psn in range(0, count, every):
            qp.expect(ACK(psn=range(psn, psn + every)))
            if region.read(8 * psn, 8) != writes[psn].said["payload"]:
                raise bench.failed(f"WRITE {psn} is acknowledged, and memory has not changed")
        bench.target.disturb()
        qp.fence(count, msn=(first + count + 1) % (1 << 24))

    # inside

    def settle(self) -> None:
        """The player's own."""
        raise NotImplementedError

    def _lonely(self, **fields: Any) -> Connection | None:
        claims = self._bench.claims
        if not is_hurried(claims) or len(self._bench.connections) >= claims.qps:
            return None
        self.settle()
        return self._bench.connect(path_mtu=min(claims.path_mtus), **fields)

    def _whole_or_refused(self, qp: Connection, responses: Sequence[Pattern]) -> None:
        for psn, response in enumerate(responses, start=1):
            packet = qp.next()
            if packet is None:
                raise self._bench.failed(f"no response {psn} and no NAK")
            qp.inbox.appendleft(packet)
            if packet.bth.opcode == _ACKNOWLEDGE:
                qp.expect(NAK(ACCESS_ERROR, psn=psn))
                break
            qp.expect(response)
        qp.expect_silence()

    def _is_taken_back(self, qp: Connection, region: Region, by: str) -> bool:
        if by != "key":
            return self._is_reset(qp)
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

    def _is_reset(self, qp: Connection) -> bool:
        """Whether the device takes the command at all, amid a message."""
        target = self._bench.target
        target.set_state(qp.qp, State.RESET)
        return self._bench.comes_true(lambda: not target.commands_waiting)
