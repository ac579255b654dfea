# SPDX-License-Identifier: BSD-2-Clause
"""Rules on the message sequence number in the responses of one flow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from roceproof.conformance.observer.msn_counter import MsnCounter
from roceproof.conformance.observer.psn import PSN_MODULUS, ahead, distance, reversed_bytes
from roceproof.conformance.observer.reads import Read
from roceproof.conformance.observer.requests import Requests
from roceproof.conformance.rules.findings import Violation

_BACKWARDS_REACH = 64


class Counted(NamedTuple):
    """The MSN of a response, and which PSN it goes with."""

    psn: int
    msn: int
    is_nak: bool
    is_acknowledge: bool

    @property
    def done(self) -> int:
        """The last PSN that is done: a NAK names the first that is not."""
        return ahead(self.psn, -1) if self.is_nak else self.psn


class MsnRules:
    """The MSNs of one flow, held against the messages of its counterpart."""

    def __init__(self) -> None:
        self._last: Counted | None = None

    def take_alone(self, now: Counted) -> Iterator[Violation]:
        """MSN-02 as far as the responses alone can tell."""
        last, self._last = self._last, now
        if last is None:
            return
        psn_step = distance(now.psn, last.psn)
        msn_step = distance(now.msn, last.msn)
        # A NAK names a PSN whose message it has not counted yet.
        room = psn_step + last.is_nak
        if msn_step < 0:
            yield Violation("MSN-02", f"MSN of at least {last.msn}", str(now.msn))
        elif psn_step >= 0 and msn_step > room:
            yield Violation("MSN-02", f"MSN of at most {ahead(last.msn, room)}", str(now.msn))

    def take(self, now: Counted, asked: Requests, read: Read | None) -> Iterator[Violation]:
        """Judge an MSN against the requests that are answered, and the READ among them."""
        last, self._last = self._last, now
        behind = _behind_its_read(now, read)
        if behind is not None:
            yield behind
        elif asked.msn_counter is not None and asked.is_recent(now.psn):
            yield from _against_counter(now, last, asked, asked.msn_counter)
        asked.new_since_aeth = asked.copies_since_aeth = False


def _behind_its_read(now: Counted, read: Read | None) -> Violation | None:
    if read is None or read.is_atomic:
        return None
    highest = read.highest_msn
    if highest is not None and distance(now.msn, highest) < 0:
        return Violation(
            "MSN-09", f"MSN of at least {highest}, as earlier in the READ", str(now.msn)
        )
    read.highest_msn = now.msn
    return None


def _against_counter(
    now: Counted, last: Counted | None, asked: Requests, counter: MsnCounter
) -> Iterator[Violation]:
    low = counter.count(now.done)
    if low is None:
        return
    if counter.base is None:
        if now.is_acknowledge and asked.replay_until is None:
            counter.base = (now.msn - low) % PSN_MODULUS
        return
    completed = distance(now.msn, counter.base)
    high = counter.total
    least, most = (ahead(counter.base, count) for count in (low, high))
    breaks = not low <= completed <= high
    if now.is_nak and completed > low:
        yield Violation("MSN-05", f"MSN {least}, without the failed message", str(now.msn))
    elif completed > high and asked.copies_since_aeth and not asked.new_since_aeth:
        yield Violation("MSN-03", f"MSN of at most {most} after copies", str(now.msn))
    elif breaks and last is not None and _counts_backwards(now.msn, last.msn):
        yield Violation("AETH-06", "an MSN with its first byte first", f"{now.msn:#08x}")
    elif completed < low and completed == counter.count_received(now.done):
        yield Violation("MSN-04", f"MSN {least}, with WRITEs counted", str(now.msn))
    elif breaks and counter.from_start and last is None:
        yield Violation("MSN-01", f"MSN {least} to {most}", str(now.msn))
    elif breaks:
        yield Violation("MSN-02", f"MSN {least} to {most}", str(now.msn))


def _counts_backwards(msn: int, last: int) -> bool:
    mirrored = reversed_bytes(msn)
    return mirrored != msn and 1 <= distance(mirrored, reversed_bytes(last)) <= _BACKWARDS_REACH
