# SPDX-License-Identifier: BSD-2-Clause
"""A fuzz session: a fresh connection, and a model of what may come back and be in memory."""

from functools import partial

from roceproof.conformance.model.oracle import Oracle, Unexplained
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import ANYTHING
from roceproof.conformance.suite.memory import at, families_at
from roceproof.conformance.suite.notation import got
from roceproof.conformance.suite.pattern import UD_SEND_ONLY, WRITE_ONLY, Pattern
from roceproof.conformance.suite.reporting.answers_told import MORE, told, wrong_outcomes
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.frame_timeline import FRAMES_SEEN
from roceproof.conformance.suite.reporting.out_of_order import rule_out_of_order
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.psn import distance
from roceproof.verbs.service import Service
from roceproof.verbs.work import Region

PACKETS, RECEIVE_PACKETS = 4, 2  # of which memory, and a receive, has place for the longest
RECEIVE_MORE = 88
RECEIVES = 3
FENCE_BYTES = 8
SHOWN_FRAMES = 12

_CNP = 0x81
_NETWORK_HEADER = 40  # in front of a datagram, partly undefined


class FuzzSession:
    """One connection from its first PSN on; `region` is for requests, `inbox` has its receives.

    CNPs are not judged here.
    """

    def __init__(
        self, bench: Bench, qp: Connection, region: Region, inbox: Region, *, receives: int
    ) -> None:
        self.qp = qp
        self.random = qp.random
        self.region = region
        self.fence_at = region.size - FENCE_BYTES
        self.receive_bytes = inbox.size // RECEIVES
        self._bench = bench
        self._is_datagram = qp.spec.service is Service.UD
        self._inbox = inbox
        self._frames: list[bytes] = []
        self._answers: list[Packet] = []
        self._judged = 0
        self._before = qp.random.randbytes(region.size)
        region.write(0, self._before)
        self._oracle = Oracle(
            bench.target.host,
            qp.qp,
            tolerated=bench.tolerates,
            executes=bench.claims.executed_on(qp.spec.service),
        )
        self._oracle.mirror(region)
        self._oracle.mirror(inbox)
        size = self.receive_bytes
        for offset in range(0, min(receives, bench.claims.receives) * size, size):
            number = qp.post_receive(inbox, offset=offset, length=size)
            self._oracle.post_receive(wr_id=number, region=inbox, offset=offset, length=size)

    def send(self, *patterns: Pattern) -> None:
        for pattern in patterns:
            self.send_frame(self.qp.frame(pattern))

    def send_frame(self, frame: bytes) -> None:
        self._bench.send(frame, breaks=ANYTHING)
        self._frames.append(frame)

    def fence(self) -> None:
        """Send what a device that lives must serve."""
        data = self.random.randbytes(FENCE_BYTES)
        if self._is_datagram:
            self.send(UD_SEND_ONLY(psn=0, payload=data))
        for psn in self._oracle.next_psns:
            relative = distance(psn, self.qp.spec.rq_psn)
            place = at(self.region, self.fence_at)
            self.send(WRITE_ONLY(psn=relative, payload=data, a=1, **place))

    def judge(self) -> None:
        """All that came back so far is what some conforming responder says."""
        answers = [packet for packet in self.qp.inbox if packet.bth.opcode != _CNP]
        self.qp.inbox.clear()
        self._answers += answers
        segments = [Segment(p.bth, p.extensions, p.payload) for p in answers]
        unexplained = self._oracle.observe_all(self._frames[self._judged :], segments)
        if unexplained is not None:
            raise CaseFailed(self._told(unexplained))
        self._judged = len(self._frames)

    def check_completions(self) -> None:
        """Receives have ended as such a responder ends them, where all that comes has come."""
        if Capability.LOCKSTEP not in self._bench.claims.capabilities:
            return
        outcomes = self._bench.completions(self.qp, count=0, within_ns=0)
        allowed = self._oracle.observe_outcomes(outcomes)
        if allowed:
            text = wrong_outcomes(allowed, outcomes)
            raise CaseFailed(f"{text}\n{self._story()}", rules=self._out_of_order(text))

    def check_memory(self) -> None:
        """Memory holds, or soon will, what such a responder leaves there."""
        for place in self._places():
            if not self._bench.comes_true(partial(self._may_be, *place)):
                text = f"memory holds what it may not\n{self._story()}"
                raise CaseFailed(text, rules=["RETH-12"] if self._is_beside(*place) else ())

    def _is_beside(self, region: Region, offset: int, length: int) -> bool:
        """Whether bytes have changed that no request of this connection names."""
        found = region.read(offset, length)
        changed = (
            n for n, (now, was) in enumerate(zip(found, self._before, strict=False)) if now != was
        )
        return region is self.region and not all(
            any(families_at(self._frames, region.addr + n, region.rkey)) for n in changed
        )

    def _places(self) -> list[tuple[Region, int, int]]:
        memory = (self.region, 0, self.region.size)
        if not self._is_datagram:
            return [memory, (self._inbox, 0, self._inbox.size)]
        size = self.receive_bytes - _NETWORK_HEADER
        starts = range(_NETWORK_HEADER, self._inbox.size, self.receive_bytes)
        return [memory, *((self._inbox, start, size) for start in starts)]

    def _may_be(self, region: Region, offset: int, length: int) -> bool:
        return self._oracle.may_hold(region.rkey, offset, region.read(offset, length))

    # how it fails

    def _out_of_order(self, text: str) -> list[str]:
        """Why a receive that has completed must not have, where a packet was not in its place."""
        rule = rule_out_of_order(self._frames, self.qp.spec.rq_psn)
        return [rule] if rule is not None and text.startswith(MORE) else []

    def _told(self, unexplained: Unexplained) -> str:
        behind = self._judged + unexplained.place
        return f"{told(unexplained, self.qp.spec.rq_psn)} to frame {behind}\n{self._story()}"

    def _story(self) -> str:
        sent = [f"  {n:3d} > {self._shown(frame)}" for n, frame in enumerate(self._frames)]
        sent = [*sent[:SHOWN_FRAMES], *sent[SHOWN_FRAMES:][-SHOWN_FRAMES:]]
        came = [f"      < {got(packet, self.qp.from_device)}" for packet in self._answers]
        told = "sent on a fresh connection, and what came back:"
        return "\n".join([FRAMES_SEEN, told, *sent, *came])

    def _shown(self, frame: bytes) -> str:
        packet = parse(frame)
        text = (
            f"{len(frame)} bytes, no RoCEv2" if packet is None else got(packet, self.qp.to_device)
        )
        return f"{text}  {frame[14:].hex()}"
