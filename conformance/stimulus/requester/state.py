# SPDX-License-Identifier: BSD-2-Clause
"""One state that a requester without retransmission may be in, as far as its wire tells.

Immutable, so that states can be kept side by side while more than one fits what was seen. What a
response does is known when it is sent if the device must have it in time; if not, it is kept
among those that `may` still take effect, and is used only if a completion cannot be explained
without it.
"""

from __future__ import annotations

from typing import NamedTuple

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.stimulus.requester.incarnation import FLUSHED, Life
from roceproof.conformance.wire.headers import Aeth, Bth
from roceproof.conformance.wire.psn import PSN_MODULUS, distance
from roceproof.verbs.service import Service
from roceproof.verbs.work import Outcome, Work

SUCCESS, TIMED_OUT = "success", "retry_exc_err"
BAD_RESPONSE = "bad_resp_err"
NO_SYNDROME = 0xFF
_ACKNOWLEDGE = 0x11
_ACKS, _RNR_NAKS = range(0x20), range(0x20, 0x40)
_NAKS = {0x60: TIMED_OUT, 0x61: "rem_inv_req_err", 0x62: "rem_access_err", 0x63: "rem_op_err"}


class Response(NamedTuple):
    """An answer of the far side, well-formed and addressed rightly."""

    psn: int
    syndrome: int
    sent_ns: int
    expires_ns: int
    """By then the device has dealt with it."""
    waits_ns: int = 0
    """So long the wire to the device may be busy with what was sent before."""
    is_ghost: bool = False
    """What it answers had not been seen when it was sent."""
    posted: int = 0
    """How much work there was then: the device may have sent it, though nothing has left yet."""
    data: Segment | None = None
    """The whole packet, if it is no ACK or NAK."""
    msn: int = 0

    def packet(self, qpn: int) -> Segment:
        """What the device is told, as it goes to that queue pair."""
        bth = Bth(opcode=_ACKNOWLEDGE, dest_qpn=qpn, psn=self.psn)
        return self.data or Segment(bth, (Aeth(self.syndrome, self.msn),))

    @property
    def is_ack(self) -> bool:
        """Whether it acknowledges its own PSN, too."""
        return self.syndrome in _ACKS

    @property
    def fault(self) -> str | None:
        """The status of the work that it fails, or may fail."""
        if self.is_ack:
            return None
        if self.syndrome in _RNR_NAKS:
            return "rnr_retry_exc_err"
        return _NAKS.get(self.syndrome, BAD_RESPONSE)

    @property
    def is_reserved(self) -> bool:
        """Whether a device ignores it, or ends the queue pair for it (AETH-05)."""
        return self.fault == BAD_RESPONSE

    @property
    def may_fail(self) -> bool:
        """Whether work may fail by it; data do that if they do not fit."""
        return self.fault is not None or self.data is not None


class Due(NamedTuple):
    """A completion that must come: of which work, how."""

    work: int
    status: str
    syndrome: int | None = NO_SYNDROME
    """None where a device may name any."""
    other_status: str | None = None
    """Where there are two reasons, of which the device may name either."""
    is_any_error: bool = False
    """Whether it may be told as any failure of its own."""
    is_choice: bool = False
    """Whether the device may have failed, and may not."""


class Remnant(NamedTuple):
    """Work of a former life, and how it may end."""

    work: int
    ends: frozenset[str]


class Remnants(NamedTuple):
    """Works that may have been taken in any life up to one, but left no packet."""

    work: int
    until: int  # the first that is none of them
    life: int


class Asked(NamedTuple):
    """A packet that asks for an acknowledgement, and when it left."""

    psn: int
    time_ns: int


class Awaited(NamedTuple):
    """A READ or an atomic that has left, and from which offsets it was asked for."""

    work: Work
    psn: int
    span: int
    starts: frozenset[int] = frozenset((0,))


class State(NamedTuple):
    """What is known of a queue pair's send queue in one of its lives."""

    life: int
    work: int  # whose packet leaves next
    psn: int  # of the packet that leaves next
    identity: int
    oldest: int  # first PSN not acknowledged
    packet: int = 0  # of the work
    pending: tuple[tuple[int, int], ...] = ()  # works on the wire and their last PSNs
    due: tuple[Due, ...] = ()  # in order
    free: tuple[Due, ...] = ()  # in any order
    old: tuple[Remnant | Remnants, ...] = ()  # of former lives, in order
    open_until: int | None = None  # the life begins with any work from `work` to this one
    fault: Due | None = None  # of the oldest pending work, which has failed
    is_told: bool = False  # the failure has been completed: nothing may be sent any more
    late: tuple[int, int] | None = None  # then, the work and the packet that may be under way
    may: tuple[Response, ...] = ()
    asked: tuple[Asked, ...] = ()
    progress_ns: int = 0
    waits_ns: int = 0  # when the first packet began to leave since when something is outstanding
    early: tuple[Outcome, ...] = ()  # completions that came and that nothing explains yet

    def is_outstanding(self, psn: int) -> bool:
        """Whether the packet has left and is not acknowledged."""
        return 0 <= distance(psn, self.oldest) < distance(self.psn, self.oldest)

    def heeds(self, response: Response) -> State:
        if response.is_reserved:
            fault = Due(-1, BAD_RESPONSE, response.syndrome, is_choice=True)
            return self._replace(fault=fault)
        nak = None if response.is_ack else Due(-1, str(response.fault), response.syndrome)
        return self.acknowledges(response)._replace(fault=nak)

    def acknowledges(self, response: Response) -> State:
        """What stands before the response, or what it names, is done."""
        end = (response.psn + response.is_ack) % PSN_MODULUS
        return self.reaches(end, response.syndrome, response.sent_ns)

    def reaches(self, end: int, syndrome: int | None, sent_ns: int) -> State:
        """All before that PSN is done, by a response that was sent then."""
        reach = distance(end, self.oldest)
        done = [
            Due(work, SUCCESS, syndrome)
            for work, last in self.pending
            if distance(last, self.oldest) < reach
        ]
        pending = self.pending[len(done) :]
        asked = tuple(a for a in self.asked if distance(a.psn, self.oldest) >= reach)
        return self._replace(
            oldest=end,
            pending=pending,
            due=self.due + tuple(done),
            asked=asked,
            progress_ns=sent_ns,
        )

    @property
    def may_be_alive(self) -> bool:
        """Whether nothing but its own choice has failed it, and it has not said that it did."""
        return self.fault is not None and self.fault.is_choice and not self.is_told

    def times_out_from(self, life: Life) -> int | None:
        """The earliest time at which the oldest unanswered request may be given up.

        A timer may run from a message's first packet on, and ask for an ACK in its midst.
        """
        timeout = ack_timeout_ns(life.spec.ack_timeout)
        waits = life.spec.service is Service.RC and self.is_outstanding(self.oldest)
        if timeout is None or not waits or self.fault is not None:
            return None
        return max(self.waits_ns, self.progress_ns) + timeout

    def times_out_until(self, life: Life) -> int | None:
        """The latest: it has to run from the end of a message on."""
        timeout = ack_timeout_ns(life.spec.ack_timeout)
        if timeout is None or not self.asked or self.fault is not None:
            return None
        return max(self.asked[0].time_ns, self.progress_ns) + 4 * timeout

    def told(self) -> State:
        """The failed work has completed; what was begun behind it is flushed with the rest."""
        begun = self.packet > 0
        return self._replace(
            pending=self.pending[1:],
            is_told=True,
            late=(self.work, self.packet),
            packet=0,
            work=self.work + begun,
            asked=(),
        )

    def ends(self, is_reliable: bool) -> State:
        """What is left of a life when the next one begins."""
        may_succeed = {
            work
            for work, last in self.pending
            for response in self.may
            if distance(last, response.psn) <= 0
        }
        left = [Remnant(due.work, frozenset((due.status, FLUSHED))) for due in self.due]
        for place, (work, _) in enumerate(self.pending):
            ends = {FLUSHED} | ({SUCCESS} if work in may_succeed else set())
            ends |= {r.fault for r in self.may if r.fault is not None}
            if any(r.data for r in self.may):
                ends |= {BAD_RESPONSE, TIMED_OUT}
            if self.fault is not None and place == 0 and not self.is_told:
                ends.add(self.fault.status)
            left.append(Remnant(work, frozenset(ends)))
        if self.packet > 0 and not is_reliable:
            left.append(Remnant(self.work, frozenset((FLUSHED,))))
        return self._replace(
            life=self.life + 1,
            work=self.work + (self.packet > 0),
            packet=0,
            pending=(),
            due=(),
            old=self.old + tuple(left),
            fault=None,
            is_told=False,
            late=None,
            asked=(),
        )
