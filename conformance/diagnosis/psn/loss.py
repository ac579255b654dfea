# SPDX-License-Identifier: BSD-2-Clause
"""Whether a gap in a UC stream tore a message: a lossy network, or a sender that skips.

Nobody repeats what UC loses. But a lost packet is missing from its message,
while a sender that merely skips a PSN still sends every byte.
"""

from collections.abc import Sequence
from enum import Enum, auto
from itertools import accumulate

from roceproof.conformance.diagnosis.psn.timeline import Sent
from roceproof.conformance.wire.opcodes import Position
from roceproof.conformance.wire.psn import distance


class Gap(Enum):
    """What stands around PSNs that were left out."""

    TORN = auto()
    """Part of a message is missing: packets were lost."""
    WHOLE = auto()
    """No byte is missing: the sender skipped."""
    BETWEEN = auto()
    """Between messages, in one whose length is not known, or where none ever ends: either."""


class Messages:
    """Where the messages among the requests of a stream begin and end."""

    def __init__(self, requests: Sequence[Sent]) -> None:
        self._requests = requests
        self._places = {id(sent): place for place, sent in enumerate(requests)}
        self._first = list(range(len(requests)))
        self._last = list(range(len(requests)))
        self._end = any(sent.row.position & Position.LAST for sent in requests)
        self._sizes = [0, *accumulate(sent.size for sent in requests)]
        for place in range(1, len(requests)):
            if not requests[place].row.position & Position.FIRST:
                self._first[place] = self._first[place - 1]
        for place in range(len(requests) - 2, -1, -1):
            ends = requests[place].row.position & Position.LAST
            if not ends and not requests[place + 1].row.position & Position.FIRST:
                self._last[place] = self._last[place + 1]

    def judge_gap(self, before: Sent, after: Sent) -> Gap:
        """Judge the gap between two neighbours."""
        ends = bool(before.row.position & Position.LAST)
        begins = bool(after.row.position & Position.FIRST)
        if ends != begins:
            return Gap.TORN if self._end else Gap.BETWEEN
        if ends:
            return Gap.BETWEEN
        place = self._places[id(after)]
        first, last = self._first[place], self._last[place]
        head, tail = self._requests[first], self._requests[last]
        if distance(tail.psn, head.psn) < 0 or head.reth is None:
            return Gap.BETWEEN
        if not tail.row.position & Position.LAST:
            return Gap.BETWEEN
        missing = head.reth.length - (self._sizes[last + 1] - self._sizes[first])
        return Gap.TORN if missing > 0 else Gap.WHOLE if missing == 0 else Gap.BETWEEN
