# SPDX-License-Identifier: BSD-2-Clause
"""One queue pair in a storm: the frames and completions that must still come of it, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.length_fields import (
    udp_length_of,
    wrong_frame_pad,
    wrong_lengths,
)
from roceproof.conformance.suite.expect.prediction import Posted, elsewhere
from roceproof.conformance.suite.expect.wrong_bytes import wrong_bytes
from roceproof.conformance.suite.limits.within_limits import allowed_depth
from roceproof.conformance.suite.notation import Mismatch, got, mismatches, wanted
from roceproof.conformance.suite.packet_flow import FLUSHED, SUCCESS
from roceproof.conformance.suite.pattern import ACK, NAK, Pattern
from roceproof.conformance.suite.reporting.ends import ended, posted_before, rules_of_end
from roceproof.conformance.suite.reporting.failure import OF_EVERY_PACKET, is_aside, rule_of
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.suite.traffic.storm_frames import FrameMaker
from roceproof.conformance.targets.interface import Claims
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.frame_edits import without_udp_checksum
from roceproof.conformance.wire.ip import Ipv4
from roceproof.verbs.addresses import Host
from roceproof.verbs.limit_table import ANY
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome


class Due(NamedTuple):
    """A frame that must come."""

    message: Posted
    place: int  # of the packet in its message
    frame: bytes

    @property
    def pattern(self) -> Pattern:
        """The packet, with the fields that are decided."""
        return self.message.packet(self.place)

    def __str__(self) -> str:
        work = self.message.work
        return (
            f"message {self.message.ordinal} ({work.op.name} of {work.size} bytes), "
            f"packet {self.place}"
        )


class Wrong(Exception):
    """What came otherwise, with the rules that it breaks and the frame that should have come."""

    def __init__(
        self,
        text: str,
        *,
        rules: tuple[str, ...] = (),
        wanted: bytes | None = None,
        fields: Sequence[Mismatch] = (),
    ):
        super().__init__(text)
        self.rules = rules
        self.wanted = wanted
        self.fields = fields


class Stream:
    """What a storm expects of one connection, from the start of its life."""

    def __init__(
        self, qp: Connection, device: Host, *, claims: Claims, others: Sequence[Stream] = ()
    ) -> None:
        self.qp = qp
        self._sharing = others if claims.limits.outstanding_shared else (self,)
        self.claims = claims
        self._by_contract = claims.target == "hdl"
        step = claims.limits.identification_step
        self._maker = FrameMaker(qp.spec, device, local_qpn=qp.qp.qpn, identification_step=step)
        self._held: deque[Posted] = deque()  # until the device has room
        self._to_leave: deque[Posted] = deque()
        self._coming = self._frames()
        self._next: Due | None = None
        self._left: deque[Posted] = deque()  # and are not acknowledged
        self.to_complete: deque[Posted] = deque()
        self._failure: tuple[int, str] | None = None  # PSN that a NAK named, and the status
        self._is_dead = False
        self._had_begun = False
        self.sent_psn = 0  # of the next frame
        self.acked_psn = 0  # everything before it is acknowledged

    def post(self, op: Op, payload: int | bytes = 0, **fields: Any) -> Posted:
        """Post a message, whose frames and completion are due from now on.

        It has the nearest length that the device has, and waits here while the device may not
        have so much outstanding.
        """
        if isinstance(payload, int):
            payload = self.claims.limits.bend(payload)
        message = self.qp.plan(op, payload, **fields)
        allowed_depth(self.claims, 1, _packets([message]))
        self._held.append(message)
        self._to_leave.append(message)
        self.to_complete.append(message)
        self.hand_over()
        self._forget_rest()
        return message

    def _forget_rest(self) -> None:
        """Of a queue pair in error, on a device that does not flush, nothing more is due."""
        if self._is_dead and not self.claims.limits.flushes:
            self.qp.ended |= {each.work.wr_id for each in self.to_complete}
            for waiting in (self._held, self.to_complete):
                waiting.clear()

    def hand_over(self) -> None:
        while self._held:
            given = [m for s in self._sharing for m in islice(s.to_complete, s.in_flight)]
            posted = [*given, self._held[0]]
            if self.claims.limits.against_depth(len(posted), _packets(posted)) is not None:
                return
            self.qp.hand_over(self._held.popleft())

    # what comes

    def take(self, frame: bytes, own: Collection[str] = ()) -> Wrong | None:
        """A frame of the device; raises Wrong if another one was due.

        What is wrong only in fields that are the same in all packets, of which no rule is the
        case's `own`, is the right one otherwise, and returned.
        """
        aside = None
        due = self._peek()
        if self._is_dead and (self._by_contract or self._had_begun):
            raise Wrong(f"want  nothing of a queue pair in error\ngot   {self._shown(frame)}")
        if due is None:
            raise Wrong(f"want  nothing more\ngot   {self._shown(frame)}")
        self._had_begun = self._is_dead  # one frame, where nobody says what leaving means
        if frame != due.frame and (wrong := self._compare(due, frame)) is not None:
            if not wrong.fields or not all(is_aside(each, own) for each in wrong.fields):
                raise wrong
            if icrc.check(frame).judgement is not icrc.Judgement.OK:
                raise wrong
            aside = wrong
        self._next = None
        self.sent_psn = due.message.psn + due.place + 1
        if self.sent_psn == due.message.end_psn:
            self._left.append(due.message)
            is_answered = self.qp.spec.service is Service.RC
            self.qp.came[due.message.work.wr_id] = len(self._left) if is_answered else 1
        return aside

    def complete(self, outcome: Outcome) -> None:
        """A completion of the device; raises Wrong if another one was due."""
        spec = self.qp.spec
        told = f"work {outcome.wr_id:#x} completed with {ended(outcome, spec)}"
        if not self.to_complete:
            raise Wrong(f"want  no completion\ngot   {told}")
        message = self.to_complete.popleft()
        self.qp.ended.add(outcome.wr_id)
        status = self._status(message)
        if (outcome.wr_id, outcome.status) != (message.work.wr_id, status):
            numbers = [each.work.wr_id for each in self.to_complete]
            which = ""
            if outcome.wr_id in numbers:
                between = numbers.index(outcome.wr_id)
                which = (
                    f", which is message {self.to_complete[between].ordinal}"
                    f"{posted_before(between + 1)}, the first is message {message.ordinal}"
                )
            raise Wrong(
                f"want  work {message.work.wr_id:#x} (message {message.ordinal}) "
                f"completed with {status}\ngot   {told}{which}",
                rules=("UC-01",) if spec.service is Service.UC else rules_of_end(outcome, spec),
            )
        self.qp.has_flushed |= status == FLUSHED
        if status == SUCCESS:
            self.qp.succeeded.add(outcome.wr_id)
        for stream in self._sharing:
            stream.hand_over()
        if status != SUCCESS:
            self._is_dead = True
            self._forget_rest()
        elif self.qp.spec.service is Service.RC:
            if message.end_psn > self.acked_psn:
                raise Wrong(f"{told}, which is message {message.ordinal}, without an answer")
        elif message.end_psn > self.sent_psn and self._by_contract:
            raise Wrong(f"{told}, which is message {message.ordinal}, before it has left")

    # what is said of it

    @property
    def in_flight(self) -> int:
        """Messages posted and not completed."""
        return len(self.to_complete) - len(self._held)

    @property
    def waits_for_room(self) -> bool:
        """Whether the device may not have what is posted, and nothing else can come."""
        return bool(self._held) and self.rests

    @property
    def rests(self) -> bool:
        """Whether nothing can come: what the device has of this queue pair is unanswered."""
        if not self.to_complete:
            return False
        if not self.in_flight:
            return True  # what is posted has no room yet, be the queue pair dead or not
        if self._is_dead:
            return False
        due = self._peek()
        is_behind = due is None or due.message in self._held
        is_unanswered = self.to_complete[0].end_psn > self.acked_psn
        return is_behind and is_unanswered and self.qp.spec.service is Service.RC

    @property
    def is_done(self) -> bool:
        """Whether nothing is due any more."""
        return not self.to_complete and (self._is_dead or self._peek() is None)

    def unanswered(self) -> list[Posted]:
        """Messages that have left whole and are not acknowledged."""
        return list(self._left)

    def owed(self) -> str:
        """What has not come, for a failure."""
        due = None if self._is_dead else self._peek()
        words = [] if due is None or due.message in self._held else [f"{due} has not come"]
        if self.to_complete:
            message = self.to_complete[0]
            words.append(f"message {message.ordinal} of {message.work.size} bytes is not completed")
        return "; ".join(words)

    def stop(self) -> Stop | None:
        """Where it stands still: the first frame that is due, or else the first completion.

        A completion whose answer has come is due before the frames that come of messages behind it.
        """
        due = None if self._is_dead else self._peek()
        if due is not None and due.message not in self._held and not self._owes_completion:
            return Stop(Kind.NO_PACKET, self.qp, due.message, due.place, is_first=True)
        if self.to_complete:
            return Stop(Kind.NO_COMPLETION, self.qp, self.to_complete[0], is_first=True)
        return None

    @property
    def _owes_completion(self) -> bool:
        """Whether the oldest message is answered, and has not completed for all that."""
        answered = bool(self.to_complete) and self.to_complete[0].end_psn <= self.acked_psn
        return answered and self.qp.spec.service is Service.RC

    # what the other end says

    def ack(self, psn: int) -> Pattern:
        """An ACK of everything up to a PSN, which counts from now on."""
        self._answered(psn + 1)
        return ACK(psn=psn, credits=self.qp.random.randrange(32))

    def nak(self, code: int, psn: int, *, status: str) -> Pattern:
        """A NAK that ends the queue pair: what lies before it succeeds, then comes this status."""
        self._answered(psn)
        self._failure = psn, status
        return NAK(code, psn=psn)

    def _answered(self, psn: int) -> None:
        self.acked_psn = max(self.acked_psn, psn)
        while self._left and self._left[0].end_psn <= self.acked_psn:
            self._left.popleft()

    # how it is judged

    def _status(self, message: Posted) -> str:
        if self._failure is None or message.end_psn <= self._failure[0]:
            return SUCCESS
        return FLUSHED if message.psn > self._failure[0] else self._failure[1]

    def _frames(self) -> Iterator[Due]:
        while self._to_leave:
            message = self._to_leave.popleft()
            for index, frame in enumerate(self._maker.frames(message)):
                yield Due(message, index, frame)

    def _peek(self) -> Due | None:
        if self._next is None:
            self._next = next(self._coming, None)
        if self._next is None and self._to_leave:
            self._coming = self._frames()
            self._next = next(self._coming)
        return self._next

    def _compare(self, due: Due, frame: bytes) -> Wrong | None:
        """Only what the contract or the specification decides may not differ."""
        frame = without_udp_checksum(frame)
        packet = parse(frame)
        if packet is None:
            return Wrong(f"want  {due}\ngot   {frame.hex()}", wanted=due.frame)
        found = mismatches(due.pattern, packet, self.qp.from_device)
        if all(each.field in OF_EVERY_PACKET for each in found):
            found += wrong_lengths(packet, udp_length_of(due.pattern))
            found += wrong_frame_pad(frame, packet) if self._by_contract and not found else []
            found += self._against_contract(due, frame) if self._by_contract else []
        if not found and build(packet) == frame:
            return None
        shown = self._shown(frame)
        wrong_psn = [each for each in found if each.field == "psn"]
        posted, flow = self.qp.lives[-1].posted, self.qp.from_device
        if wrong_psn and (place := elsewhere(posted, packet, flow)) is not None:
            found = wrong_psn
            shown += f", which is packet {place[1]} of message {place[0].ordinal}"
        found = found or [wrong_bytes(build(packet), frame)]
        rules = [rule for each in found if (rule := rule_of(each)) is not None]
        differences = [f"{each.field}: want {each.want}, got {each.got}" for each in found]
        return Wrong(
            "\n      ".join([f"want  {due}: {wanted(due.pattern)}\ngot   {shown}", *differences]),
            rules=tuple(rules),
            wanted=due.frame,
            fields=found,
        )

    def _against_contract(self, due: Due, frame: bytes) -> list[Mismatch]:
        right, found = parse(due.frame), parse(frame)
        if right is None or found is None:
            return []
        if not isinstance(right.ip, Ipv4) or not isinstance(found.ip, Ipv4):
            return []
        numbers = [("sport", right.udp_sport, found.udp_sport)]
        if self.claims.limits.identification != ANY:
            numbers.append(("ident", right.ip.ident, found.ip.ident))
        return [Mismatch(name, f"{a:#06x}", f"{b:#06x}") for name, a, b in numbers if a != b]

    def _shown(self, frame: bytes) -> str:
        packet = parse(frame)
        return frame.hex() if packet is None else got(packet, self.qp.from_device)


def _packets(messages: Iterable[Posted]) -> int:
    return sum(each.end_psn - each.psn for each in messages)
