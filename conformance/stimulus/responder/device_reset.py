# SPDX-License-Identifier: BSD-2-Clause
"""Steps of a plan in which the whole device is reset, and what belongs to the life before comes."""

from collections import Counter

from roceproof.conformance.stimulus.requester.incarnation import payload
from roceproof.conformance.stimulus.responder.checker import Asked
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import WRONG_REQUESTS
from roceproof.conformance.suite.pattern import READ_REQUEST, SEND_ONLY, UD_SEND_ONLY, WRITE_ONLY
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.opcodes import name_of
from roceproof.verbs.service import Service
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
        self._left: list[Connection] = []
        """Queue pairs that it had then."""

    def power_on(self) -> None:
        """The device is reset at rest: its queue pairs are gone, and keys that it was told."""
        if Capability.POWER_ON not in self._bench.claims.capabilities:
            return
        self.settle()
        if Capability.TOLD_KEYS in self._bench.claims.capabilities:
            for known in self.qps.values():
                self._lost += [place.region for place in known.places]
        self._left = [known.qp for known in self.qps.values()]
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

    def ghost(self, op: str = "WRITE", *, turn: int = 0, psn: int = 0) -> None:
        """A request to a queue pair of before, which nobody has begun anew, in its turn."""
        present = {known.qp.qp.qpn for known in self.qps.values()}
        gone = [qp for qp in self._left if qp.qp.qpn not in present and qp.executes(Op[op])]
        if not gone:
            return
        self.settle()
        qp, heard = gone[turn % len(gone)], len(self._bench.frames_sent())
        if qp.spec.service is Service.UD:
            packet = UD_SEND_ONLY(psn=psn, payload=_BYTES)
        elif Op[op] is Op.READ:
            packet = READ_REQUEST(psn=psn, dmalen=_BYTES)
        else:
            packet = (SEND_ONLY if Op[op] is Op.SEND else WRITE_ONLY)(psn=psn, payload=_BYTES, a=1)
        self._bench.send(qp.frame(packet), flow=qp.to_device, breaks=WRONG_REQUESTS | {"BTH-10"})
        self.settle()
        for answer in filter(None, map(parse, self._bench.frames_sent()[heard:])):
            text = f"{name_of(answer.bth.opcode)} from a queue pair that was gone with a reset"
            raise self._bench.failed(text, rules=["BTH-11"])

    def settle(self) -> None:
        raise NotImplementedError
