# SPDX-License-Identifier: BSD-2-Clause
"""Whether a gap in a UC stream tore a message: a lossy network, or a sender that skips.

Nobody repeats what UC loses. But a lost packet is missing from its message,
while a sender that merely skips a PSN still sends every byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from roceproof.conformance.diagnosis.psn.timeline import Sent, distance
from roceproof.conformance.wire.opcodes import Position


class Gap(Enum):
    """What stands around PSNs that were left out."""

    TORN = auto()
    """Part of a message is missing: packets were lost."""
    WHOLE = auto()
    """No byte is missing: the sender skipped."""
    BETWEEN = auto()
    """Between messages, or in one whose length is not known: either."""


def judge_gap(requests: Sequence[Sent], before: Sent, after: Sent) -> Gap:
    """Judge the gap between two neighbours among the requests of a stream."""
    ends = bool(before.row.position & Position.LAST)
    begins = bool(after.row.position & Position.FIRST)
    if ends != begins:
        return Gap.TORN
    if ends:
        return Gap.BETWEEN
    message = _message_around(requests, after)
    head = message[0] if message else None
    if head is None or head.reth is None or not message[-1].row.position & Position.LAST:
        return Gap.BETWEEN
    missing = head.reth.length - sum(sent.size for sent in message)
    return Gap.WHOLE if missing == 0 else Gap.TORN


def _message_around(requests: Sequence[Sent], inside: Sent) -> list[Sent]:
    """The packets from the FIRST before to the LAST behind a packet, or to where they end."""
    at = requests.index(inside)
    first = at
    while first and not requests[first].row.position & Position.FIRST:
        first -= 1
    last = at
    while last + 1 < len(requests) and not requests[last].row.position & Position.LAST:
        last += 1
    found = list(requests[first : last + 1])
    return found if distance(found[-1].psn, found[0].psn) >= 0 else []
