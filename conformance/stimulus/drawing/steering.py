# SPDX-License-Identifier: BSD-2-Clause
"""From bins that nothing has hit to weights: what makes them likely comes more often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from roceproof.conformance.stimulus.drawing.weights import Weights

_MAKES_LIKELY: Mapping[str, tuple[tuple[str, str], ...]] = {
    # the beginning of a coverpoint's name, then table and entry of the weights
    "contract": (("bits", "one"), ("bits", "hole"), ("act", "restart"), ("act", "post")),
    "config.bits": (("bits", "one"), ("bits", "hole"), ("act", "restart"), ("theme", "replaced")),
    "work.bits": (("bits", "one"), ("bits", "hole"), ("act", "post")),
    "completion.bits": (("bits", "one"), ("bits", "hole"), ("act", "post")),
    "completion.status": (("act", "nak"), ("theme", "failures"), ("act", "refused")),
    "config.command": (("act", "restart"), ("act", "reset")),
    "config.ack_timeout": (("timeout", "any"), ("theme", "crowd")),
    "config.sq_psn": (("psn", "wrap"), ("psn", "half"), ("act", "restart")),
    "qp": (("theme", "crowd"), ("theme", "depth")),
    "work.qpn": (("act", "idle"),),
    "received.qpn": (("act", "flawed"), ("flaw", "alias")),
    "message.mtu.length": (("size", "mtu"), ("size", "many"), ("theme", "crowd")),
    "message.service": (("size", "mtu"), ("service", "UC")),
    "message.residue": (("size", "few"), ("size", "beat"), ("size", "mtu")),
    "message.length_bits": (
        ("theme", "endless"),
        ("theme", "long"),
        ("size", "large"),
        ("size", "largest"),
    ),
    "message.packets": (("theme", "long"), ("size", "large"), ("size", "many")),
    "message.first_lane": (("act", "post"),),
    "message.last_lane": (("size", "beat"), ("size", "few")),
    "message.follows": (("theme", "burst"), ("act", "burst")),
    "sent": (("size", "beat"), ("size", "few")),
    "depth": (("theme", "burst"), ("theme", "depth"), ("act", "burst")),
    "stall": (("stall", "30"), ("stall", "60"), ("stall", "70"), ("stall", "99")),
    "moment": (("theme", "moments"), ("theme", "expiries"), ("act", "restart")),
    "answer.syndrome": (("act", "answer"), ("act", "nak"), ("theme", "receive")),
    "answer": (("theme", "burst"), ("theme", "window"), ("act", "answer")),
    "received": (("theme", "receive"), ("act", "flawed"), ("act", "foreign")),
}
_MOST = 4.0


def steered(empty_points: Iterable[str]) -> Weights:
    """Weights towards the coverpoints of empty bins, named once for each bin."""
    empty = Counter(empty_points)
    total = sum(empty.values())
    factors: dict[str, dict[str, float]] = {}
    for point, count in empty.items():
        for start, entries in _MAKES_LIKELY.items():
            if not point.startswith(start):
                continue
            for table, entry in entries:
                found = factors.setdefault(table, {})
                more = found.get(entry, 1.0) + 3.0 * count / total
                found[entry] = min(_MOST, more)
    return Weights(factors)
