# SPDX-License-Identifier: BSD-2-Clause
"""Steps of a plan in which the owner of a queue pair says what becomes of it: states, and work.

The device is at rest. What a queue pair owes when it is told to fail is judged with all else.
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace

from roceproof.conformance.stimulus.responder.checker import Asked
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.pattern import UD_SEND_ONLY
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Beyond, Refused
from roceproof.conformance.wire.framing import GRH_BYTES
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Work

_STEPS = (State.RESET, State.INIT, State.RTR, State.RTS)
_FEWEST_BYTES = 8
_MANY = 64
"""A queue of more receives is not filled."""
_LARGEST = 1 << 10
_QPN_BITS = 24


class Commanding:
    """What a player can do of it."""

    _bench: Bench
    qps: dict[int, Asked]

    def walk(self, key: int, *, working: Collection[str] = ()) -> None:
        """A queue pair without receives begins anew, state by state, and has work in these."""
        known = self.qps.get(key)
        if known is None or not self._has_states():
            return
        self.settle()
        known.qp.reconnect()
        known.begin()
        for state in _STEPS:
            self._bench.target.set_state(known.qp.qp, state)
            if state.name in working and state is not State.RTS and not self._work(known):
                self.walk(key)  # what waits would be sent now
                return

    def fail(self, key: int, *, working: bool = False) -> None:
        """A queue pair is told to fail; then it may have work."""
        known = self.qps.get(key)
        if known is None or not self._has_states():
            return
        self.settle()
        self._bench.target.set_state(known.qp.qp, State.ERR)
        known.fails()
        if working:
            self._work(known)
        self.settle()

    def tell_stranger(self, key: int, bit: int, *, fails: bool = False) -> None:
        """A number that no queue pair has is told to be reset, or to fail.

        It differs from that queue pair's in a bit above those that choose its place.
        """
        known, claims = self.qps.get(key), self._bench.claims
        if known is None or not self._has_states() or "local_qpn" in claims.limits.fixed_of_qp:
            return
        number = known.qp.qp.qpn ^ claims.qps << bit
        if number >> _QPN_BITS or any(each.qp.qp.qpn == number for each in self.qps.values()):
            return
        self.settle()
        state = State.ERR if fails else State.RESET
        self._bench.target.set_state(replace(known.qp.qp, qpn=number), state)

    def overfill(self, key: int, *, more: int = 1) -> None:
        """As many receives as a queue holds, and some that wait for room."""
        known, most = self.qps.get(key), self._bench.claims.receives
        if known is None or known.inbox is None or most > _MANY:
            return
        if not known.qp.executes(Op.SEND):
            return
        self.settle()
        if known.is_dead:
            return
        with suppress(Beyond):
            known.awaits_room = True
            for turn in range(known.waiting, most + more):
                place = turn * _FEWEST_BYTES % known.inbox.region.size
                known.post_receive(place, _FEWEST_BYTES, may_wait=turn >= most)

    def narrow(self, size: int, *, room: int = 0) -> None:
        """A datagram, and a receive of so many bytes more than it brings without its header."""
        claims = self._bench.claims
        length = max(1, size + room)
        if (
            Capability.UD not in claims.capabilities
            or not claims.does_execute(Service.UD, Op.SEND)
            or len(self._bench.connections) >= claims.qps
        ):
            return
        self.settle()
        with suppress(Beyond):
            qp = self._bench.connect(Service.UD, path_mtu=min(claims.path_mtus))
            region = self._bench.target.register(_LARGEST)
            behind = region.read(length, _LARGEST - length)
            number = qp.post_receive(region, length=length)
            qp.send(UD_SEND_ONLY(psn=0, payload=size))
            if length >= GRH_BYTES + size:
                qp.receives(number, byte_len=GRH_BYTES + size)
                return
            self._bench.settle()
            ended = self._bench.completions(qp, count=0, within_ns=0)
            is_taken = any(outcome.status == "success" for outcome in ended)
            if is_taken or region.read(length, _LARGEST - length) != behind:
                text = f"a datagram of {size} bytes was received in {length}, header included"
                raise self._bench.failed(text, rules=["UD-05"])

    # inside

    def settle(self) -> None:
        raise NotImplementedError

    def _has_states(self) -> bool:
        needed = {Capability.STATES, Capability.RESET, Capability.LOCKSTEP}
        return needed <= self._bench.claims.capabilities

    def _work(self, known: Asked) -> bool:
        """Whether it ends; however it does, the wire stays silent."""
        claims, spec = self._bench.claims, known.qp.spec
        number, data = self._bench.next_wr_id(), bytes(4 * _FEWEST_BYTES)
        work = Work(wr_id=number, op=Op.WRITE, data=data, remote_addr=0, rkey=0)
        limits = claims.limits
        if (
            Capability.WRITE not in claims.capabilities
            or known.is_datagram
            or limits.against_operation(spec.service, Op.WRITE)
            or limits.against_length(len(data))
            or limits.per_queue_pair
        ):
            return True
        with suppress(Refused):
            self._bench.target.post(known.qp.qp, work)
        self._bench.settle()
        ended = self._bench.completions(known.qp, count=0, within_ns=0)
        own = [outcome.status for outcome in ended if not outcome.is_receive]
        if known.qp.inbox or "success" in own:
            what = "was sent" if known.qp.inbox else "ended well"
            text = f"work that was posted where nothing may be sent {what}"
            raise self._bench.failed(text, rules=["QPS-02"])
        known.add_outcomes(outcome for outcome in ended if outcome.is_receive)
        return bool(own)
