# SPDX-License-Identifier: BSD-2-Clause
"""Rules on the message sequence number in the responses of one flow.

Where the first MSN is the base of the others, and the next one contradicts it, either may be
wrong: the finding waits until a third one bears one of them out.
"""

from collections.abc import Iterator
from typing import NamedTuple

from roceproof.conformance.observer.gaps import Late, Place
from roceproof.conformance.observer.msn_counter import MsnCounter
from roceproof.conformance.observer.psn import PSN_MODULUS, ahead, distance, reversed_bytes
from roceproof.conformance.observer.reads import Read
from roceproof.conformance.observer.requests import Requests
from roceproof.conformance.rules.findings import FlowKey, Violation

_BACKWARDS_REACH = 64


class Counted(NamedTuple):
    """The MSN of a response, and which PSN it goes with."""

    psn: int
    msn: int
    is_nak: bool
    is_acknowledge: bool
    place: Place

    @property
    def done(self) -> int:
        """The last PSN that is done: a NAK names the first that is not."""
        return ahead(self.psn, -1) if self.is_nak else self.psn


class _Claim(NamedTuple):
    """A response that is a base for others, or contradicts one; and how many messages it may count.

    `wrong` is what there is against it.
    """

    of: Counted
    low: int = 0
    high: int = 0
    wrong: Violation | None = None

    @property
    def base(self) -> int:
        """What the MSN was in front of all messages, if it counts no more than it has to."""
        return (self.of.msn - self.low) % PSN_MODULUS

    def against(self, base: int) -> Violation | None:
        """What is wrong with it if that was the MSN in front of all messages."""
        completed = distance(self.of.msn, base)
        if self.low <= completed <= self.high:
            return None
        rule = "MSN-05" if self.of.is_nak and completed > self.low else "MSN-02"
        least, most = ahead(base, self.low), ahead(base, self.high)
        return Violation(rule, f"MSN {least} to {most}", str(self.of.msn))


class MsnRules:
    """The MSNs of one flow, held against the messages of its counterpart."""

    def __init__(self, key: FlowKey, overdue: list[Late]) -> None:
        self._key = key
        self._overdue = overdue
        self._last: Counted | None = None
        self._first: _Claim | None = None
        """The base of the others, until another bears it out."""
        self._other: _Claim | None = None
        """The last that does not; `wrong` is empty if it does not contradict it, either."""

    def give_up(self) -> None:
        """No third one comes: the first is believed."""
        if self._other is not None:
            self._tell(self._other, self._other.wrong)
        self._first = self._other = None

    def _waits_for(self, now: Counted) -> bool:
        return self._other is not None and self._other.wrong is not None and self._other.of is now

    def _tell(self, claim: _Claim, wrong: Violation | None) -> None:
        if wrong is not None:
            self._overdue.append(Late(self._key, claim.of.place, wrong))

    # without the requests

    def take_alone(self, now: Counted) -> Iterator[Violation]:
        """MSN-02 as far as the responses alone can tell."""
        last, other, first = self._last, self._other, self._first
        wrong = None if last is None else _alone(now, last)
        if last is None:
            self._first = _Claim(now)
        elif wrong is None:
            self.give_up()
        elif other is not None and _alone(now, other.of) is None:
            if first is not None:
                self._tell(first, _before(last, other.of))
            self._first = self._other = None
        elif first is not None and other is None:
            self._other = _Claim(now, wrong=wrong)
            return
        else:
            self.give_up()
            self._other = _Claim(now)
            yield wrong
            return
        self._last = now

    # against the requests

    def take(self, now: Counted, asked: Requests, read: Read | None) -> Iterator[Violation]:
        """Judge an MSN against the requests that are answered, and the READ among them."""
        last, self._last = self._last, now
        if read is not None and read.is_atomic:
            read = None
        wrong = _behind_its_read(now, read)
        if wrong is None and asked.msn_counter is not None and asked.is_recent(now.psn):
            wrong = self._against_counter(now, last, asked, asked.msn_counter)
        if wrong is not None:
            yield wrong
        elif read is not None and not self._waits_for(now):
            read.highest_msn = now.msn
        asked.new_since_aeth = asked.copies_since_aeth = False

    def _against_counter(
        self, now: Counted, last: Counted | None, asked: Requests, counter: MsnCounter
    ) -> Violation | None:
        low = counter.count(now.done)
        if low is None:
            return None
        claim = _Claim(now, low, low if now.is_nak else counter.total)
        if counter.base is None:
            if now.is_acknowledge and asked.replay_until is None:
                self.give_up()
                self._first = claim
                counter.base, counter.base_frame = claim.base, now.place.frame
            return None
        wrong = _of(claim, counter.base, last, asked, counter)
        if self._first is None or self._first.of.place.frame != counter.base_frame:
            self.give_up()
            return wrong
        return self._bear_out(claim, wrong, self._first, counter)

    def _bear_out(
        self, claim: _Claim, wrong: Violation | None, first: _Claim, counter: MsnCounter
    ) -> Violation | None:
        """Hold it against the first, and against what contradicts that."""
        other = self._other
        disputed = other is not None and other.wrong is not None
        fits_other = other is not None and claim.against(other.base) is None
        if claim.base == counter.base or (wrong is None and disputed and not fits_other):
            self.give_up()
        elif (
            other is not None
            and (wrong is not None or (disputed and claim.base == other.base))
            and (fits_other or claim.base == other.base)
        ):
            counter.base = other.base
            self._tell(first, first.against(other.base))
            self._first = self._other = None
        elif not disputed:
            self._other = claim._replace(wrong=wrong)
        elif wrong is not None:
            self.give_up()
            return wrong
        return None


def _alone(now: Counted, last: Counted) -> Violation | None:
    """What is wrong with an MSN behind another one."""
    psn_step = distance(now.psn, last.psn)
    msn_step = distance(now.msn, last.msn)
    # A NAK names a PSN whose message it has not counted yet.
    room = psn_step + last.is_nak
    if msn_step < 0:
        return Violation("MSN-02", f"MSN of at least {last.msn}", str(now.msn))
    if psn_step >= 0 and msn_step > room:
        return Violation("MSN-02", f"MSN of at most {ahead(last.msn, room)}", str(now.msn))
    return None


def _before(now: Counted, after: Counted) -> Violation:
    """What is wrong with an MSN in front of another one."""
    if distance(after.msn, now.msn) < 0:
        return Violation("MSN-02", f"MSN of at most {after.msn}", str(now.msn))
    room = distance(after.psn, now.psn) + now.is_nak
    return Violation("MSN-02", f"MSN of at least {ahead(after.msn, -room)}", str(now.msn))


def _behind_its_read(now: Counted, read: Read | None) -> Violation | None:
    highest = None if read is None else read.highest_msn
    if highest is None or distance(now.msn, highest) >= 0:
        return None
    return Violation("MSN-09", f"MSN of at least {highest}, as earlier in the READ", str(now.msn))


def _of(
    claim: _Claim, base: int, last: Counted | None, asked: Requests, counter: MsnCounter
) -> Violation | None:
    """What is wrong with an MSN, by the rule that says it best."""
    wrong = claim.against(base)
    if wrong is None or wrong.rule == "MSN-05":
        return wrong
    now, low, high = claim.of, claim.low, claim.high
    completed = distance(now.msn, base)
    is_raised = last is None or now.msn != last.msn
    only_copies = asked.copies_since_aeth and not asked.new_since_aeth
    if completed > high and only_copies and is_raised:
        return Violation("MSN-03", f"MSN of at most {ahead(base, high)} after copies", str(now.msn))
    if last is not None and _counts_backwards(now.msn, last.msn):
        return Violation("AETH-06", "an MSN with its first byte first", f"{now.msn:#08x}")
    if completed < low and completed == counter.count_received(now.done):
        return Violation("MSN-04", f"MSN {ahead(base, low)}, with WRITEs counted", str(now.msn))
    if counter.from_start and last is None and high > 0:
        return wrong._replace(rule="MSN-01")
    return wrong


def _counts_backwards(msn: int, last: int) -> bool:
    mirrored = reversed_bytes(msn)
    return mirrored != msn and 1 <= distance(mirrored, reversed_bytes(last)) <= _BACKWARDS_REACH
