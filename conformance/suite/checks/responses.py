# SPDX-License-Identifier: BSD-2-Clause
"""What a responder must put on the wire for a READ, as patterns: to expect it, or to send it."""

from typing import Any

from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.pattern import (
    READ_RESP_FIRST,
    READ_RESP_LAST,
    READ_RESP_MIDDLE,
    READ_RESP_ONLY,
    Pattern,
)


def read_responses(qp: Connection, psn: int, data: bytes, **aeth: Any) -> list[Pattern]:
    """The responses to a READ of these bytes; `aeth` is said of those that have an AETH."""
    starts = range(0, max(1, len(data)), qp.mtu)
    parts = [data[start : start + qp.mtu] for start in starts]
    if len(parts) == 1:
        return [READ_RESP_ONLY(psn=psn, payload=data, **aeth)]
    middles = [
        READ_RESP_MIDDLE(psn=psn + place, payload=part)
        for place, part in enumerate(parts[1:-1], start=1)
    ]
    return [
        READ_RESP_FIRST(psn=psn, payload=parts[0], **aeth),
        *middles,
        READ_RESP_LAST(psn=psn + len(parts) - 1, payload=parts[-1], **aeth),
    ]
