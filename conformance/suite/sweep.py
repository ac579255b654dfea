# SPDX-License-Identifier: BSD-2-Clause
"""Many variants of one request: what all must be dropped, and what each must be accepted.

Those to be dropped share one fence. Only when that fails does each get a queue pair and a
fence of its own, so that the text names the one that was not dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.failure import CaseFailed
from roceproof.conformance.suite.pattern import ACK, CNP, Pattern


def drops_each(bench: Bench, variants: Mapping[str, Pattern]) -> None:
    """A new queue pair drops each of these, which would be expected but for what is wrong."""
    try:
        bench.connect().drops(*variants.values(), fence=0)
    except CaseFailed:
        for name, variant in variants.items():
            _drops_alone(bench, name, variant)
        raise


def _drops_alone(bench: Bench, name: str, variant: Pattern) -> None:
    try:
        bench.connect().drops(variant, fence=0)
    except CaseFailed as failure:
        raise CaseFailed(f"not dropped: {name}\n{failure}", rules=failure.rules) from None


def accepts_each(qp: Connection, variants: Iterable[Pattern], *, start: int = 0) -> int:
    """Each of these is acknowledged, one behind the other from PSN `start`; the next PSN.

    Marks of congestion among them may be notified.
    """
    psn = start
    for psn, variant in enumerate(variants, start):
        qp.send(variant.but(psn=psn, a=1))
        qp.expect(ACK(psn=psn), allowing=[CNP()])
    return psn + 1
