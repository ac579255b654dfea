# SPDX-License-Identifier: BSD-2-Clause
"""Steps of a plan in which the whole device is reset, and what names the memory of before comes."""

from collections import Counter

from roceproof.conformance.stimulus.requester.incarnation import payload
from roceproof.conformance.stimulus.responder.checker import Asked
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.pattern import READ_REQUEST, WRITE_ONLY
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Op, Region

_BYTES = 8


class Resetting:
    """What a player can do of it."""

    _bench: Bench
    qps: dict[int, Asked]
    _held: Counter[int]
    _made: int

    def __init__(self) -> None:
        self._lost: list[Region] = []
        """Memory that the device knew before it was reset."""

    def power_on(self) -> None:
        """The device is reset at rest: its queue pairs are gone, and keys that it was told."""
        if Capability.POWER_ON not in self._bench.claims.capabilities:
            return
        self.settle()
        if Capability.TOLD_KEYS in self._bench.claims.capabilities:
            for known in self.qps.values():
                self._lost += [place.region for place in known.places]
        self._bench.power_on()
        self.qps.clear()
        self._held.clear()

    def lost(self, key: int, op: str = "WRITE", *, turn: int = 0) -> None:
        """A request that names memory of before, in its turn."""
        known = self.qps.get(key)
        if known is None or not self._lost or known.is_datagram or not known.qp.executes(Op[op]):
            return
        self.settle()
        known.goes_astray()
        region = self._lost[turn % len(self._lost)]
        where = {"psn": known.next_psn, "va": region.addr, "rkey": region.rkey, "dmalen": _BYTES}
        self._made += 1
        if Op[op] is Op.READ:
            known.send(READ_REQUEST(**where, a=1))
        else:
            asks = int(known.asks == "last")
            known.send(WRITE_ONLY(**where, payload=payload(self._made, _BYTES), a=asks))
        known.next_psn += 1
        self.settle()

    def settle(self) -> None:
        raise NotImplementedError
