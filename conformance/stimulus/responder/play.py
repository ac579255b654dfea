# SPDX-License-Identifier: BSD-2-Clause
"""Plays requests on a device through the bench, and judges all that comes of them.

    play = Asking(bench)
    play.connect(key=0, service="RC", path_mtu=256)
    play.region(key=0, size=1024)
    play.request(key=0, op="WRITE", size=300)
    play.finish()

Nothing has to be expected: an oracle beside each queue pair says what a conforming responder may
answer, complete and leave in memory. It is asked whenever the device is at rest, the only time at
which receives are posted, memory is registered and a queue pair begins anew.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from roceproof.conformance.model.memory import FOREIGN_DOMAIN
from roceproof.conformance.model.segmentation import AWAIT_DATA, TAKE_RECEIVE
from roceproof.conformance.stimulus.requester.incarnation import payload
from roceproof.conformance.stimulus.responder.checker import (
    OF_THE_ORACLE,
    READ,
    Asked,
    Place,
    frames_sent,
    until_taken,
)
from roceproof.conformance.stimulus.responder.commanding import Commanding
from roceproof.conformance.stimulus.responder.device_reset import Resetting
from roceproof.conformance.stimulus.responder.in_flight_steps import Hurrying
from roceproof.conformance.stimulus.responder.key_invalidation import INVALIDATING, Revoking
from roceproof.conformance.stimulus.responder.request_errors import FLAWS
from roceproof.conformance.stimulus.responder.requests import (
    Request,
    compared,
    datagram_of,
    packets_of,
)
from roceproof.conformance.stimulus.responder.sharing import Sharing
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.intent import ANYTHING
from roceproof.conformance.suite.pattern import READ_REQUEST, opcode
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Beyond
from roceproof.conformance.wire.psn import packet_count
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

ALL_RIGHTS = sorted(FULL_ACCESS)
_INBOX_BYTES, _FENCE_BYTES = 4096, 8
_OWN_RIGHTS = frozenset({"local_write"})


class Asking(Sharing, Hurrying, Revoking, Commanding, Resetting):
    """One device, one plan."""

    def __init__(self, bench: Bench, *, inbox: int = _INBOX_BYTES) -> None:
        super().__init__()
        bench.unjudged |= OF_THE_ORACLE
        self._bench, self._inbox = bench, inbox
        self.qps: dict[int, Asked] = {}
        self._made, self._is_held = 0, False
        self._settled = 0
        """Frames that had been sent when the device was at rest."""
        self._held = Counter[int]()
        """READs and atomics of each queue pair since the device was at rest."""
        self._depths: dict[int, int] = {}
        """How many it takes, where that is fixed below what the plan wants."""
        self.beyond: Beyond | None = None
        """What the device could not be given, if anything; plans go on without it."""

    # what there is; the device is at rest

    def connect(
        self,
        key: int,
        *,
        service: str = "RC",
        ipv6: bool = False,
        straight: bool = False,
        peer: int | None = None,
        is_private: bool = False,
        **fields: Any,
    ) -> None:
        """A queue pair, with memory for its receives; one that is there begins anew.

        Its peer has an IPv6 address if asked for and claimed. Where a device can do that, it begins
        anew with no RESET in between if `straight`, and with that `peer` where one is said. No
        peer may touch the memory for receives if it `is_private`.
        """
        claims = self._bench.claims
        ipv6 &= Capability.IPV6 in claims.capabilities
        said = {
            name: value for name, value in fields.items() if name not in claims.limits.fixed_of_qp
        }
        if "access" in said:
            said["access"] = frozenset(said["access"])
        if service == Service.UD.name and Capability.LOCKSTEP not in claims.capabilities:
            said["path_mtu"] = max(claims.path_mtus)  # a port's, where it belongs to no queue pair
        wanted = fields.get(_DEPTH, 0)
        depth = claims.limits.fixed_of_qp.get(_DEPTH, wanted)
        self._depths[key] = depth if depth < wanted else _PSNS
        known = self.qps.get(key)
        self._rest()
        if known is not None:
            if Capability.RESET in claims.capabilities:
                changes = {n: v for n, v in said.items() if n not in _OF_THE_FIRST}
                straight &= Capability.RESTART in claims.capabilities
                if peer is not None and Capability.LOCKSTEP in claims.capabilities:
                    vlan = changes.get("vlan", known.qp.spec.vlan)
                    changes["remote"] = self._bench.peer(peer, ipv6=ipv6, vlan=vlan)
                known.qp.reconnect(straight=straight, **changes)
                if known.awaits_room:  # they may come into the life that has just begun
                    self._bench.settle()
                    known.qp.reconnect()
                known.begin()
        elif len(self.qps) < claims.qps and Capability[service] in claims.capabilities:
            qp = self._bench.connect(Service[service], ipv6=ipv6, **said)
            self.qps[key] = Asked(self._bench, qp)
            rights = _OWN_RIGHTS if is_private else FULL_ACCESS
            self._register(key, self._inbox, rights, is_inbox=True)

    def region(
        self, key: int, size: int = 1024, *, access: Sequence[str] = (), is_foreign: bool = False
    ) -> None:
        """Memory that requests may name, with these rights, all if none is said."""
        if key in self.qps:
            self._rest()
            self._register(key, size, frozenset(access) or FULL_ACCESS, is_foreign=is_foreign)

    def receive(self, key: int, size: int = 256, *, offset: int = 0, count: int = 1) -> None:
        """Post so many receives of that size, to a device that has anything to do with them."""
        known = self.qps.get(key)
        if known is None or known.inbox is None or not any(map(known.qp.executes, TAKE_RECEIVE)):
            return
        self._rest()
        if known.is_dead:
            return
        room = known.inbox.region.size
        for turn in range(count):
            at = (offset + turn * size) % room
            try:
                known.post_receive(at, min(size, room - at))
            except Beyond as lack:
                self.beyond = lack
                return

    # requests

    def request(self, key: int, op: str = "WRITE", size: int = 0, **fields: Any) -> None:
        """A message to where a requester would go on; `fields` are those of `Request`."""
        known = self.qps.get(key)
        if known is None or not known.places:
            return
        request = Request(op=Op[op], size=size, **{"ask": known.asks} | fields)
        if request.names_a_key and self._has_keys_of_its_own(known):
            return
        if not (request.is_plain and known.may_be_asked(request)):
            known.goes_astray()
        place = known.places[request.region % len(known.places)]
        if request.op in (Op.CMP_SWAP, Op.FETCH_ADD):
            request = replace(request, size=8, compare=compared(request, place.region))
        self._wait_for_reads(known, request, place)
        if request.op in AWAIT_DATA:
            if self._held[key] >= self._depths[key]:
                self.settle()
            self._held[key] += 1
        self._made += 1
        psn, data = known.next_psn, payload(self._made, request.size)
        if known.is_datagram:
            known.send(datagram_of(request, psn=psn, qkey=known.qp.spec.qkey, data=data))
            known.next_psn += 1 + request.skip
            return
        mtu, dead = known.qp.mtu, 0
        if request.op is Op.SEND_INV:
            self._let_reads_end(known)
            dead = known.key_to_kill(request, self._keys())
        packets = [*packets_of(request, place.region, mtu=mtu, psn=psn, data=data, dead=dead)]
        for packet in request.arranged(packets):
            known.send(packet)
        spans = packet_count(request.size, mtu)
        if request.op is not Op.READ:
            spans = 1 + request.part % len(packets) if request.stops else len(packets)
        known.next_psn += spans + request.skip

    def again(self, key: int, *, back: int = 1, count: int = 1, ask: bool | None = None) -> None:
        """Packets of this life once more, the first of them so many back."""
        known = self.qps.get(key)
        if known is None:
            return
        self.settle()
        known.goes_astray()
        at = max(0, len(known.sent) - back)
        for packet in known.sent[at : at + count]:
            known.send(packet if ask is None else packet.but(a=int(ask)))

    def reread(
        self,
        key: int,
        *,
        back: int = 1,
        skip: int = 0,
        shift: int = 0,
        length: int | None = None,
        key_mask: int = 0,
    ) -> None:
        """A READ of this life once more, from a later response on, or from elsewhere."""
        known = self.qps.get(key)
        reads = [each for each in known.sent if each.opcode == READ] if known else []
        if known is None or not reads:
            return
        self.settle()
        known.goes_astray()
        first = reads[-1 - (back - 1) % len(reads)].said
        passed = skip * known.qp.mtu
        known.send(
            READ_REQUEST(
                psn=first["psn"] + skip,
                va=(first["va"] + passed + shift) % (1 << 64),
                rkey=first["rkey"] ^ key_mask,
                dmalen=max(0, first["dmalen"] - passed) if length is None else length,
                a=1,
            ),
        )

    def late(self, key: int, *, back: int = 1, count: int = 1) -> None:
        """Frames of lives before."""
        known = self.qps.get(key)
        if known is not None:
            self._let_reads_end(known)
            known.goes_astray()
            at = max(0, len(known.former) - back)
            for frame in filter(known.knows_what_becomes_of, known.former[at : at + count]):
                known.send_frame(frame, breaks=ANYTHING)

    def flawed(
        self,
        key: int,
        flaw: str,
        *,
        op: str = "WRITE",
        number: int = 0,
        size: int = 8,
        psn: int = 0,
    ) -> None:
        """The SEND or WRITE that is due, or one so far from there, but for a flaw; one packet."""
        known = self.qps.get(key)
        if known is None or not known.places:
            return
        self._let_reads_end(known)
        known.goes_astray()
        region = known.places[0].region
        self._made += 1
        data = payload(self._made, size)
        request, start = Request(op=Op[op], size=size, ask=known.asks), known.next_psn + psn
        if known.is_datagram:
            packet = datagram_of(request, psn=start, qkey=known.qp.spec.qkey, data=data)
        else:
            (packet,) = packets_of(request, region, mtu=1 << 16, psn=start, data=data)
        if flaw == _DAMAGED:
            if Capability.DAMAGE in self._bench.claims.capabilities:
                known.send(packet, is_damaged=True)
            return
        known.send(FLAWS[flaw](packet, known.qp, number))

    def raw(self, key: int, value: int, *, size: int = 0, psn: int = 0, length: int = 0) -> None:
        """A packet of any opcode of the service, so far from where it is due."""
        known = self.qps.get(key)
        if known is None or not known.places or known.is_datagram or value in INVALIDATING:
            return
        self._let_reads_end(known)
        known.goes_astray()
        region = known.places[0].region
        self._made += 1
        known.send(
            opcode(
                value | int(known.qp.spec.service) << 5,
                psn=known.next_psn + psn,
                va=region.addr,
                rkey=region.rkey,
                dmalen=length,
                payload=payload(self._made, size),
                a=1,
            ),
        )

    # time

    def disturb(self, **percent: int) -> None:
        """Hold streams back from now on, until the device has to come to rest."""
        if Capability.DISTURBANCE in self._bench.claims.capabilities:
            self._is_held = True
            self._bench.target.disturb(**percent)

    def wait(self, ns: int) -> None:
        """Let time pass."""
        self._bench.pump(ns)

    def settle(self) -> None:
        """All that was sent is taken and answered; then it is judged."""
        if self._is_held:
            until_taken(self._bench)
            self._bench.target.disturb()
            self._is_held = False
        until_taken(self._bench)
        self._bench.settle()
        self._held.clear()
        self._settled = frames_sent(self._bench)
        for key, known in self.qps.items():
            wrong = known.judge()
            if wrong is not None:
                service = known.qp.spec.service.name
                text = f"queue pair {key} ({service}) at rest\n{wrong}"
                raise self._bench.failed(text, rules=known.accused(wrong))

    def serves(self, key: int) -> bool:
        """Whether a queue pair may go on, by what was judged last."""
        return not self.qps[key].is_dead

    def finish(self) -> None:
        """Everything ends, and each serves one message more, those that failed begun anew."""
        self.settle()
        for key, known in self.qps.items():
            if known.is_dead:
                self.connect(key)
            self.request(key, "SEND" if known.is_datagram else "WRITE", _FENCE_BYTES)
        self.settle()

    # inside

    def _rest(self) -> None:
        """As `settle`, unless nothing was sent since then: that took most of a plan's time."""
        if self._is_held or frames_sent(self._bench) != self._settled:
            self.settle()

    def _register(
        self,
        key: int,
        size: int,
        access: frozenset[str],
        *,
        is_foreign: bool = False,
        is_inbox: bool = False,
    ) -> None:
        known, target = self.qps[key], self._bench.target
        try:
            region = (
                target.register_elsewhere(size)
                if is_foreign
                else target.register(size, access=access, domain=known.qp.spec.domain)
            )
        except Beyond as lack:
            self.beyond = lack
            return
        self._made += 1
        region.write(0, payload(self._made, region.size))
        domain = FOREIGN_DOMAIN if is_foreign else known.qp.spec.domain
        known.add(Place(region, FULL_ACCESS if is_foreign else access, domain), is_inbox=is_inbox)

    def _wait_for_reads(self, known: Asked, request: Request, place: Place) -> None:
        """Nothing is written that a READ under way still reads: either order would be right."""
        if request.op in (Op.READ, Op.SEND, Op.SEND_IMM):
            return
        start = place.region.addr + request.offset
        end = start + max(request.size, 1)
        if any(start < last and first < end for first, last in known.read):
            self.settle()

    def _has_keys_of_its_own(self, known: Asked) -> bool:
        """Whether it takes such requests, and yet only its owner may make a key invalid."""
        is_taken = known.qp.executes(Op.SEND_INV)
        return is_taken and Capability.INVALIDATE not in self._bench.claims.capabilities

    def _keys(self) -> set[int]:
        return {key for known in self.qps.values() for key in known.all_keys()}

    def _let_reads_end(self, known: Asked) -> None:
        """The same for packets that may write anywhere."""
        if known.read:
            self.settle()


_DAMAGED = "damaged"
_OF_THE_FIRST = ("local_qpn", "remote_qpn")
_DEPTH, _PSNS = "max_dest_rd_atomic", 1 << 24
