# SPDX-License-Identifier: BSD-2-Clause
"""P07: PSNs that count the beats of a bus."""

from collections.abc import Callable
from operator import attrgetter

from roceproof.conformance.diagnosis.psn.steps import Step
from roceproof.conformance.diagnosis.psn.stream import Stream
from roceproof.conformance.diagnosis.psn.timeline import Sent
from roceproof.conformance.wire.opcodes import Family

_WIDTHS = (4, 8, 16, 32, 64, 128)
_AROUND = (12, 16, 20, 24, 40, 44, 54, 58, 60, 62, 64, 74, 78, 82)
"""What a bus carries besides what stands between BTH and ICRC: with IPv4 or IPv6, tag, ICRC."""

Predict = Callable[[Stream, Step], int | None]


def beats(of: Callable[[Sent], int], width: int, *, reads: bool) -> Predict:
    """How far the PSN moves if it counts beats of so many bytes.

    A READ has no payload: `reads` says whether it takes its beats, too, or what a healthy one does.
    """

    def predict(_: Stream, step: Step) -> int | None:
        if step.before.row.family is Family.READ and not reads:
            return step.healthy
        return max(1, -(-of(step.before) // width))

    return predict


def _with_headers(more: int) -> Callable[[Sent], int]:
    return lambda sent: sent.body + more


_BODIES = (attrgetter("size"), attrgetter("body"))
_READS = (True, False)
BEATS_OF_BODY = [beats(of, w, reads=reads) for of in _BODIES for w in _WIDTHS for reads in _READS]
"""Of the payload, or of all between BTH and ICRC."""

BEATS_OF_FRAME = [
    beats(_with_headers(more), w, reads=reads)
    for more in _AROUND
    for w in _WIDTHS
    for reads in _READS
]
"""Those of all headers, too."""
