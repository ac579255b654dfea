# SPDX-License-Identifier: BSD-2-Clause
"""What the responder's count of messages tells about packets that were not seen.

Every acknowledgement says how many messages have been completed. If that is as
many as were seen, none was lost on the way to the capture.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import itemgetter

from roceproof.conformance.diagnosis.psn.timeline import Reply, Sent
from roceproof.conformance.wire.opcodes import Position
from roceproof.conformance.wire.psn import distance

_MSN_MODULUS = 1 << 24
_ASKED = 4
_FIRST = itemgetter(0)


class Completed:
    """The messages of one stream, as seen and as counted by its responder."""

    def __init__(self, requests: Iterable[Sent], answers: Iterable[Reply]) -> None:
        requests = list(requests)
        self._origin = requests[0].psn
        ends = {sent.psn for sent in requests if sent.row.position & Position.LAST}
        self._ends = sorted(self._place(psn) for psn in ends)
        told: dict[int, int] = {}
        for reply in answers:
            if reply.is_positive and reply.msn is not None and reply.number > requests[0].number:
                told.setdefault(self._place(reply.psn), reply.msn)
        self._told = sorted(told.items())

    def all_seen(self, before: int, after: int) -> bool:
        """Whether no message was completed between two PSNs but those that were seen."""
        low = bisect_right(self._told, self._place(before), key=_FIRST) - 1
        high = bisect_left(self._told, self._place(after), key=_FIRST)
        if low < 0 or high == len(self._told):
            return False
        (begin, count), (end, later) = self._told[low], self._told[high]
        return (later - count) % _MSN_MODULUS == self._between(begin, end)

    @property
    def uncounted(self) -> int | None:
        """How many messages fewer than were seen the responder counts from the beginning on.

        None if it does not say so twice, or not the same.
        """
        lags = {(self._up_to(place) - msn) % _MSN_MODULUS for place, msn in self._told[:_ASKED]}
        return lags.pop() if len(lags) == 1 and len(self._told) > 1 else None

    @property
    def counts_nothing(self) -> bool:
        """Whether the responder still tells of none when it acknowledges a second message."""
        return any(msn == 0 and self._up_to(place) > 1 for place, msn in self._told)

    def executed(self, psn: int, count: int | None) -> bool:
        """Whether such a count, told behind the message that ends with a PSN, takes it in."""
        place = self._place(psn)
        low = bisect_left(self._told, place, key=_FIRST) - 1
        begin, before = self._told[low] if low >= 0 else (-1, 0)
        return count is not None and (count - before) % _MSN_MODULUS == self._between(begin, place)

    def _up_to(self, place: int) -> int:
        return bisect_right(self._ends, place)

    def _between(self, begin: int, end: int) -> int:
        return self._up_to(end) - self._up_to(begin)

    def _place(self, psn: int) -> int:
        return distance(psn, self._origin)
