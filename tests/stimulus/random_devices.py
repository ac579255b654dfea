# SPDX-License-Identifier: BSD-2-Clause
"""Opens devices for random stimulus, healthy ones or behind a fault of a test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from roceproof.conformance.runner.judging.scoreboard import judge
from roceproof.conformance.stimulus.run_plan import Open
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.targets.interface import CasePlace, DeviceFactory, Target
from roceproof.verbs.addresses import Host


def opener(
    factory: DeviceFactory, wrap: Callable[[Target], Target] = lambda target: target
) -> Open:
    """Fresh devices of a factory, each judged as a case's when it is closed."""

    @contextmanager
    def open_bench(seed: int, host: Host | None) -> Iterator[Bench]:
        with factory.device(CasePlace(name="random", seed=seed, host=host)) as target:
            bench = Bench(wrap(target), factory.claims, seed=seed)
            yield bench
            for failure in judge(bench):
                raise failure

    return open_bench
