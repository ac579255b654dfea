# SPDX-License-Identifier: BSD-2-Clause
"""A queue pair that a plan asks: what was sent to it in this life, and what may have come of it.

An oracle keeps every state in which a conforming responder can be. Answers, completions of
receives and memory have to fit one of them, whenever the device has come to rest.
"""

from collections.abc import Collection, Iterable, Sequence

from roceproof.conformance.model.oracle import Oracle, Unexplained
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.stimulus.responder.requests import Request
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import NOTHING, WRONG_REQUESTS, Rules, meant_by
from roceproof.conformance.suite.memory import families_at
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.suite.reporting.answers_told import MORE, all_shown, told, wrong_outcomes
from roceproof.conformance.suite.reporting.out_of_order import rule_out_of_order
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.framing import GRH_BYTES, locate
from roceproof.conformance.wire.ip import CE
from roceproof.conformance.wire.opcodes import Family, is_cnp, name_of
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Region

READ = 0x0C
OF_THE_ORACLE = {
    *("ACK-06", "ACK-12", "DUP-03", "NAK-01", "NAK-02", "NAK-07", "READ-02", "READ-03", "READ-12"),
    *("MSN-01", "MSN-02", "MSN-03", "MSN-04", "MSN-05", "MSN-09", "RNR-01", "PSN-20"),
}
"""What answers say, and in which order: an oracle follows what an observer has to guess, such as
reserved opcodes, packets cut short, requests of lives before, and another request at the PSN of one
that was refused."""
_UNTOLD = "no notification came of a request that was marked"
_OF_THE_DEAD = "a notification of congestion came of a queue pair that had failed"
_OF_NOTIFICATIONS = {_UNTOLD: "CNP-04", _OF_THE_DEAD: "NAK-08"}
_UNRELIABLE = (Op.SEND, Op.SEND_IMM, Op.WRITE, Op.WRITE_IMM)
_DSCP, _HOPS, _TAG, _UNTAGGED = 0xFC, 0xFF, 0x1FFFF, 0x10000
"""Bits of traffic class and hop limit that a queue pair gives its answers; ECN is theirs."""
_UNSAID = {4: 20, 16: 0}
"""Bytes in front of the IP header of a datagram that is received, by those of an address."""


class Place:
    """Memory of the device that a plan names, with the rights that it was given."""

    def __init__(self, region: Region, access: frozenset[str], domain: int) -> None:
        self.region = region
        self.access = access
        self.domain = domain


class Asked:
    """One queue pair of the device, alive or not."""

    def __init__(self, bench: Bench, qp: Connection) -> None:
        self.qp = qp
        self.is_datagram = qp.spec.service is Service.UD
        self.asks = "last" if qp.spec.service is Service.RC else "none"
        """Which packets ask for an ACK, if a plan says nothing."""
        self.places: list[Place] = []
        self.inbox: Place | None = None
        self.next_psn = 0
        """Where a requester goes on that has heard nothing of late."""
        self.sent: list[Pattern] = []
        self.read: list[tuple[int, int]] = []
        """Spans of memory that were asked for since the device was at rest."""
        self.former: list[bytes] = []
        """Frames of lives before."""
        self._bench = bench
        self.frames: list[bytes] = []
        self._judged = 0
        self._is_notified = self._was_marked = False
        self._breaks = NOTHING
        self._outcomes: list[Outcome] = []
        self.oracle = self._new_oracle()
        self.receives: list[range] = []
        """Where they lie in the inbox."""
        self.awaits_room = False
        """Whether receives may wait in front of the device, for which its queue has no room."""
        self.begin()

    def begin(self) -> None:
        """A life begins; memory is what it was, but for what was made invalid."""
        self.places = [place for place in self.places if self.oracle.holds(place.region.rkey)]
        self.former += self.frames
        self.frames, self._outcomes, self.receives = [], [], []
        self.sent, self.read = [], []
        self._judged = self.next_psn = 0
        self._is_notified = self._was_marked = False
        self.awaits_room = False
        self._breaks = NOTHING
        self.oracle = self._new_oracle()
        for place in self._all_places():
            self._mirror(place)

    def _new_oracle(self) -> Oracle:
        return Oracle(
            self._bench.target.host_for(self.qp.spec),
            self.qp.qp,
            tolerated=self._bench.tolerates,
            executes=self._bench.claims.executed_on(self.qp.spec.service),
        )

    def add(self, place: Place, *, is_inbox: bool = False) -> None:
        """Memory more; the device is at rest."""
        if is_inbox:
            self.inbox = place
        else:
            self.places.append(place)
        self._mirror(place)

    @property
    def waiting(self) -> int:
        """How many receives of this life have not completed."""
        return len(self.receives) - len(self._outcomes)

    def fails(self) -> None:
        """Its owner tells it to; the device is at rest."""
        self.oracle.fail()

    def add_outcomes(self, outcomes: Iterable[Outcome]) -> None:
        """Completions of receives that somebody else has taken in."""
        self._outcomes += outcomes

    def post_receive(self, offset: int, length: int, *, may_wait: bool = False) -> None:
        """One receive more; the device is at rest."""
        assert self.inbox is not None
        region = self.inbox.region
        number = self.qp.post_receive(region, offset=offset, length=length, may_wait=may_wait)
        self.oracle.post_receive(wr_id=number, region=region, offset=offset, length=length)
        self.receives.append(range(offset, offset + length))

    def may_be_asked(self, request: Request) -> bool:
        """Whether its service has the operation, a message of that length, and such ACKs."""
        if self.is_datagram:
            return request.size <= self.qp.mtu
        is_plain = request.op in _UNRELIABLE and request.ask == "none"
        return is_plain or self.qp.spec.service is Service.RC

    def forget(self, place: Place) -> None:
        """Its key is taken back; the device is at rest."""
        place.region.deregister()
        self.places.remove(place)
        self.oracle.forget(place.region.rkey)

    def key_to_kill(self, request: Request, keys: Collection[int]) -> int:
        """The key that a SEND with invalidate names: of no first region, and none by accident."""
        others = self.places[1:]
        key = others[request.kills % len(others)].region.rkey if others else 0
        wrong = key ^ request.kill_mask
        return key if wrong in keys else wrong

    def all_keys(self) -> list[int]:
        return [place.region.rkey for place in self._all_places()]

    def send(self, pattern: Pattern, *, is_damaged: bool = False) -> None:
        """Send a packet of this life; one that the MAC marks as damaged is as if it never came."""
        if pattern.opcode == READ:
            start = pattern.said["va"]
            self.read.append((start, start + pattern.said["dmalen"]))
        frame = self.qp.frame(pattern)
        if is_damaged:
            self._bench.send_damaged(frame, flow=self.qp.to_device)
            return
        self.send_frame(frame, is_void=bool(pattern.edits), breaks=meant_by(pattern))
        if not pattern.edits:
            self.sent.append(pattern)

    def send_frame(self, frame: bytes, *, is_void: bool = False, breaks: Rules = NOTHING) -> None:
        """Send any frame; the observer does not see one that is void."""
        breaks |= self._breaks
        self._bench.send(frame, flow=self.qp.to_device, is_void=is_void, breaks=breaks)
        self.frames.append(frame)

    def knows_what_becomes_of(self, frame: bytes) -> bool:
        """Not of what reaches a datagram queue pair over the version of IP that it has no more."""
        layout = locate(frame)
        if layout is None or not self.is_datagram:
            return True
        return (layout.version == 6) == self.qp.spec.remote.is_ipv6

    def goes_astray(self) -> None:
        """From now on the plan is no healthy requester, until the next life."""
        self._breaks = WRONG_REQUESTS

    @property
    def is_dead(self) -> bool:
        """Whether the device cannot be serving any more."""
        return not self.oracle.may_live

    def judge(self) -> str | None:
        """What does not fit, now that the device is at rest."""
        self.read.clear()
        fresh = self.frames[self._judged :]
        wrong = (
            self._undead()
            or self._wrong_answer()
            or self._wrong_completion()
            or self._wrong_memory(fresh)
        )
        wrong = wrong or self._untold()
        expected = {distance(psn, self.qp.spec.rq_psn) for psn in self.oracle.next_psns}
        if len(expected) == 1:
            (due,) = expected
            if due != self.next_psn:
                self.goes_astray()  # what was refused is not repeated
            self.next_psn = due
        return wrong

    def accused(self, wrong: str) -> list[str]:
        """Why a receive that has completed must not have, where a packet was not in its place.

        Or what a notification breaks that came, or did not.
        """
        if (rule := _OF_NOTIFICATIONS.get(wrong)) is not None:
            return [rule]
        rule = rule_out_of_order(self.frames, self.qp.spec.rq_psn)
        return [rule] if rule is not None and wrong.startswith(MORE) else []

    def _all_places(self) -> list[Place]:
        return [*self.places, *([self.inbox] if self.inbox else [])]

    def _mirror(self, place: Place) -> None:
        self.oracle.mirror(place.region, access=place.access, domain=place.domain)

    # what may be wrong

    def _wrong_answer(self) -> str | None:
        answers = [p for p in self.qp.inbox if not is_cnp(p.bth.opcode)]
        self._is_notified |= len(answers) < len(self.qp.inbox)
        self.qp.inbox.clear()
        if wrong_header := next(filter(None, map(self._wrong_header, answers)), None):
            return wrong_header
        segments = [Segment(p.bth, p.extensions, p.payload) for p in answers]
        frames = self.frames[self._judged :]
        first, self._judged = self._judged, len(self.frames)
        wrong = self.oracle.observe_all(frames, segments)
        if wrong is None:
            return None
        start = self.qp.spec.rq_psn
        return (
            f"{told(wrong, start)}\n"
            f"      to {self._asked_by(wrong, frames)}; {first} had come in this life before these;"
            f" in all came {all_shown(segments, start)}"
        )

    def _wrong_header(self, answer: Packet) -> str | None:
        """What an answer's DSCP, hops or tag are, if not those of the queue pair."""
        if Capability.LOCKSTEP not in self._bench.claims.capabilities:
            return None
        fields, spec = self.qp.from_device.fields_of(answer), self.qp.spec
        for name, want, bound in (
            ("tos", spec.traffic_class, _DSCP),
            ("ttl", spec.hop_limit, _HOPS),
            ("vlan", _UNTAGGED if spec.vlan is None else spec.vlan, _TAG),
        ):
            got = fields.get(name, _UNTAGGED)
            if (got ^ want) & bound:
                what = name_of(answer.bth.opcode)
                return f"{what} came otherwise\n      {name}: want {want}, got {got}"
        return None

    def _undead(self) -> str | None:
        """No mark draws a notification from a queue pair that had failed when it came.

        One that came before may be told of late, as notifications keep a distance.
        """
        notices = any(is_cnp(each.bth.opcode) for each in self.qp.inbox)
        is_late, self._was_marked = self._was_marked, self._is_marked()
        return _OF_THE_DEAD if notices and self.is_dead and not is_late else None

    def _untold(self) -> str | None:
        """The first mark of a life is told of, but of datagrams, unless the queue pair failed."""
        is_owed = Capability.MARKS in self._bench.claims.capabilities and not self.is_datagram
        if not is_owed or self._is_notified or not self.oracle.must_live:
            return None
        return _UNTOLD if self._is_marked() else None

    def _is_marked(self) -> bool:
        return any(each.said.get("tos", 0) & CE == CE for each in self.sent)

    def _asked_by(self, wrong: Unexplained, frames: Sequence[bytes]) -> str:
        if wrong.place == len(frames):
            return f"{wrong.place} frames since the last rest"
        packet = parse(frames[wrong.place])
        what = "no RoCE" if packet is None else name_of(packet.bth.opcode)
        psn = 0 if packet is None else distance(packet.bth.psn, self.qp.spec.rq_psn)
        which = f"frame {wrong.place + 1} of {len(frames)} since the last rest"
        return f"{which}, {what} at {psn:+d}"

    def _wrong_completion(self) -> str | None:
        self._outcomes += self._bench.completions(self.qp, count=0, within_ns=0)
        is_strict = Capability.LOCKSTEP in self._bench.claims.capabilities
        allowed = self.oracle.observe_outcomes(self._outcomes, is_strict=is_strict)
        if allowed:
            return wrong_outcomes(allowed, self._outcomes)
        sender = self.qp.spec.remote_qpn
        for outcome in self._outcomes if self.is_datagram else ():
            if outcome.src_qpn not in (None, sender):
                return (
                    f"a receive completed otherwise; src_qpn: want {sender}, got {outcome.src_qpn}"
                )
        return None

    def _wrong_memory(self, fresh: Sequence[bytes]) -> str | None:
        found = {p.region.rkey: p.region.read(0, p.region.size) for p in self._all_places()}
        starts = [each.start for each in self.receives if self.is_datagram]
        unsaid = [range(at, at + _UNSAID[len(self.qp.spec.remote.ip)]) for at in starts]
        inbox = 0 if self.inbox is None else self.inbox.region.rkey
        differing = self.oracle.observe_memory(found, unsaid={inbox: unsaid})
        if differing is None:
            return None
        rkey, offset = differing
        place = next(p for p in self._all_places() if p.region.rkey == rkey)
        told = self._to_be_written(place, offset, fresh)
        if place is self.inbox and self.is_datagram and self._is_in_front(offset):
            told = ", in front of a datagram"
        return f"want  other bytes from {offset} on in the region of key {rkey:#x}{told}"

    def _is_in_front(self, offset: int) -> bool:
        return any(offset in range(each.start, each.start + GRH_BYTES) for each in self.receives)

    def _to_be_written(self, place: Place, offset: int, fresh: Sequence[bytes]) -> str:
        """By requests since the last rest, or else of this life; by what comes into a receive."""
        address, key = place.region.addr + offset, place.region.rkey
        families = {*families_at(fresh, address, key)} or {*families_at(self.frames, address, key)}
        if place is self.inbox:
            families = {Family.SEND for each in self.receives if offset in each}
        if Family.ATOMIC in families and Family.WRITE not in families:
            return ", where an atomic was to store"
        return ", where a request was to write" if families else ""


def until_taken(bench: Bench) -> None:
    """Let time pass until the device has taken all that was sent."""
    target = bench.target
    end = target.now_ns + target.patience.answer_ns
    while target.untaken() and target.now_ns < end:
        bench.pump(target.patience.quiet_ns)


def frames_sent(bench: Bench) -> int:
    """How many the device was given."""
    return sum(not entry.is_sent for entry in bench.transcript.entries())
