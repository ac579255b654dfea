# SPDX-License-Identifier: BSD-2-Clause
"""Random requests, each seed on a fresh device; a failure comes as a small case of its own."""

from roceproof.conformance.stimulus.drawing.requests import draw_requests
from roceproof.conformance.stimulus.run_plan import try_seed
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import MASSES, RESPONDER, case, over
from roceproof.conformance.suite.reporting.failure import CaseFailed

pytestmark = [RESPONDER, MASSES]

RULES = ("FUZZ-16", "FUZZ-20", "LIVE-03")
SHARE = 25
"""Plans of one case."""


def run(bench: Bench, count: int) -> None:
    """So many plans; their seeds follow from the case's own. Where others hung none is reduced."""
    is_hung = bool(bench.target.cut_short)
    for _ in range(count):
        bench.plans += 1
        seed = bench.random.getrandbits(32)
        finding = try_seed(
            seed, bench.claims, bench.another, draws=draw_requests, is_worth=lambda _: not is_hung
        )
        if finding is not None:
            if finding.bench is not None:
                bench.shows(finding.bench)
            raise CaseFailed(finding.told(), rules=finding.rules)


@case(*RULES, smoke=True, targets=["hdl", "model"])
def test_requests_that_nobody_has_thought_of(bench: Bench) -> None:
    run(bench, 10)


@case(*RULES, targets=["hdl", "model"])
@over("part", range(24))
def test_many_requests_that_nobody_has_thought_of(bench: Bench, part: int) -> None:
    run(bench, SHARE)
