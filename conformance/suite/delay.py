# SPDX-License-Identifier: BSD-2-Clause
"""By how much a time that was measured on a busy host may be wrong."""

from collections.abc import Callable
from functools import wraps

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.targets.interface import Target

TRIES = 3


class Delay:
    """How long device and bench had no processor, from where this is made.

    Make it just before what begins a time to be measured: what held them up earlier in the case
    has delayed nothing of it.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._before_ns = target.held_up_ns()

    def within_ns(self, measured_ns: int) -> int:
        """The delay, which is no longer than the time that was measured.

        Threads that wait side by side count each for itself.
        """
        return max(0, min(self._target.held_up_ns() - self._before_ns, measured_ns))


def again_where_held_up(
    by_ns: Callable[[Bench], int],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a case again that failed while bench or device had no processor for so long.

    It has measured the host. One that fails each time fails.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def tried(bench: Bench, **rest: object) -> None:
            for _ in range(TRIES - 1):
                delay, begun = Delay(bench.target), bench.target.now_ns
                try:
                    return test(bench, **rest)
                except CaseFailed:
                    if delay.within_ns(bench.target.now_ns - begun) < by_ns(bench):
                        raise
            return test(bench, **rest)

        return tried

    return decorate
