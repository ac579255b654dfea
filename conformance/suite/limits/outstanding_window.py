# SPDX-License-Identifier: BSD-2-Clause
"""Room for a message on a device that may have only so much outstanding.

What ends by itself is waited for; where nothing does, the case cannot go on and is skipped. What
should have ended and has not is a failure of the device.
"""

from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.limits.within_limits import allowed_depth
from roceproof.conformance.targets.interface import Claims, Target
from roceproof.verbs.queue_pair import QpSpec

_LATEST = 4
"""How many times its value a timer may take."""


class Waiter(Protocol):
    """Whoever has the device, and can wait for it."""

    @property
    def target(self) -> Target:
        """The device."""

    def frames_sent(self) -> list[bytes]:
        """What the device has put on the wire so far."""

    def comes_true(self, condition: Callable[[], bool]) -> bool:
        """Whether something that the device does on its own happens in time."""


class Poster(Protocol):
    """A queue pair that work is posted on."""

    @property
    def spec(self) -> QpSpec:
        """Of its present life."""

    @property
    def ends_by_itself(self) -> bool:
        """Whether its messages complete without the case."""

    def under_way(self) -> list[Posted]:
        """What is posted and not known to be complete."""

    def has_more_outcomes(self) -> bool:
        """Take in completions; whether there were any."""

    def lack(self, message: Posted) -> NoReturn:
        """Fail: this message is not completed."""


_Waiting = list[tuple[Poster, Posted]]


class Room:
    """What the queue pairs of a case have outstanding, each for itself or all together."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self._posters: list[Poster] = []

    def add(self, poster: Poster) -> None:
        self._posters.append(poster)

    def holds(self, poster: Poster, packets: int) -> bool:
        """Whether a message of so many packets may be posted at once."""
        depth = _depth(self._waiting(poster), packets)
        return self._claims.limits.against_depth(*depth) is None

    def make(self, poster: Poster, message: Posted, waiter: Waiter) -> None:
        """Wait until `message` may be posted; skip the case where that cannot come."""
        own = message.end_psn - message.psn
        while waiting := self._waiting(poster):
            depth = _depth(waiting, own)
            if self._claims.limits.against_depth(*depth) is None:
                return
            ending = {id(each): each for each, _ in waiting if each.ends_by_itself}
            if not ending:
                allowed_depth(self._claims, *depth)
            if not _ends_in_time(list(ending.values()), waiter):
                late, found = next(each for each in waiting if id(each[0]) in ending)
                late.lack(found)
        allowed_depth(self._claims, 1, own)

    def _waiting(self, poster: Poster) -> _Waiting:
        counted = self._posters if self._claims.limits.outstanding_shared else [poster]
        return [(each, found) for each in counted for found in each.under_way()]


def _depth(waiting: _Waiting, packets: int) -> tuple[int, int]:
    """Messages and packets that are outstanding, with one more message of so many packets."""
    return len(waiting) + 1, sum(each.end_psn - each.psn for _, each in waiting) + packets


def _ends_in_time(posters: Sequence[Poster], waiter: Waiter) -> bool:
    """Whether anything ends, if need be after all its timeouts, or while frames still come."""

    def has_ended() -> bool:
        return any([each.has_more_outcomes() for each in posters])

    end = waiter.target.now_ns + max(_longest_ns(each.spec) for each in posters)
    came = len(waiter.frames_sent())
    while not waiter.comes_true(has_ended):
        before, came = came, len(waiter.frames_sent())
        if waiter.target.now_ns >= end and came == before:
            return False
    return True


def _longest_ns(spec: QpSpec) -> int:
    timeout = ack_timeout_ns(spec.ack_timeout)
    return timeout * _LATEST * (1 + spec.retry_count) if timeout else 1
