# SPDX-License-Identifier: BSD-2-Clause
"""Random stimulus, each seed on a fresh device; a failure comes as a small case of its own."""

from roceproof.conformance.stimulus.drawing.plans import draw_plan
from roceproof.conformance.stimulus.run_plan import RULES, draws_of, try_seed
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import MASSES, REQUESTER, case, over
from roceproof.conformance.suite.limits.within_limits import skip_for_services
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.verbs.service import Service

pytestmark = [REQUESTER, MASSES]

SHARE = 60
"""Plans of one case."""


def run(bench: Bench, count: int) -> None:
    """So many plans; their seeds follow from the case's own. Where others hung none is reduced."""
    if draw_plan not in draws_of(bench.claims):
        skip_for_services(bench.claims, (Service.RC, Service.UC))
    is_hung = bool(bench.target.cut_short)
    for _ in range(count):
        bench.plans += 1
        seed = bench.random.getrandbits(32)
        finding = try_seed(seed, bench.claims, bench.another, is_worth=lambda _: not is_hung)
        if finding is not None:
            if finding.bench is not None:
                bench.shows(finding.bench)
            raise CaseFailed(finding.told(), rules=finding.rules)


@case(*RULES, smoke=True, targets=["hdl", "model"])
@over("part", range(2))
def test_what_nobody_has_thought_of(bench: Bench, part: int) -> None:
    run(bench, 12)


@case(*RULES, targets=["hdl", "model"])
@over("part", range(16))
def test_much_that_nobody_has_thought_of(bench: Bench, part: int) -> None:
    run(bench, SHARE)
