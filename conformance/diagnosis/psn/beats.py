# SPDX-License-Identifier: BSD-2-Clause
"""P07: PSNs that count the beats of a bus."""

from __future__ import annotations

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


def beats(of: Callable[[Sent], int], width: int) -> Predict:
    """How far the PSN moves if it counts beats of so many bytes.

    A READ has no payload, and takes what a healthy one does or a beat.
    """

    def predict(_: Stream, step: Step) -> int | None:
        beats = max(1, -(-of(step.before) // width))
        if step.before.row.family is Family.READ and step.taken != beats:
            return step.healthy
        return beats

    return predict


def _with_headers(more: int) -> Callable[[Sent], int]:
    return lambda sent: sent.body + more


_BODIES = (attrgetter("size"), attrgetter("body"))
BEATS_OF_BODY = [beats(of, width) for of in _BODIES for width in _WIDTHS]
"""Of the payload, or of all between BTH and ICRC."""

BEATS_OF_FRAME = [beats(_with_headers(more), width) for more in _AROUND for width in _WIDTHS]
"""Those of all headers, too."""
