# SPDX-License-Identifier: BSD-2-Clause
"""What stands above the 24 bits of a PSN: P05 and P24."""

from itertools import pairwise

from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.diagnosis.psn.timeline import Sent, behind
from roceproof.conformance.wire.psn import distance

_LEAST = 3
"""Fewer may have been changed on the way."""


def carry(stream: Stream) -> list[tuple[tuple[str, ...], list[Sent]]]:
    """P05 and P24: what the seven bits beside AckReq tell."""
    marked = stream.side.marked
    if not marked:
        return []
    if stream.first.reserved7:
        return [(("P24", "PSN-19"), marked)] if len(marked) >= _LEAST else []
    before = stream.side.requests[: behind(stream.side.requests, marked[0].number - 1)]
    wrapped = any(distance(b.psn, a.psn) > 0 and b.psn < a.psn for a, b in pairwise(before))
    at_wrap = before and before[-1].psn > marked[0].psn
    if not (at_wrap or wrapped):
        return []
    asks_always = all(sent.ack_req for sent in before)
    return [(("P05", "P24") if asks_always else ("P05",), marked)]
