# SPDX-License-Identifier: BSD-2-Clause
"""How far the stimulus reaches: which cases reach each measuring fault of the RTL, which notice.

A healthy run of the suite, watched, says where a fault could show at all; only those cases then
run against it, and no longer than they can still change what is known: whether smoke notices it,
whether the random part alone does, and whether more than one case does. Of a random case only the
plans run that reach the fault, and what fails is not made small.
"""

import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from roceproof.common.paths import CASES
from roceproof.conformance.matrix.workers import run_session
from roceproof.conformance.mutants.rtl import Mutant
from roceproof.conformance.mutants.rtl_factory import reached_in
from roceproof.conformance.runner.session.names import short_name
from roceproof.conformance.runner.session.options import Options, session_arguments, widths_of

ENOUGH = 2
RANDOM = "test_requester_random"
Reached = Mapping[str, Mapping[int, frozenset[int]]]
"""The mutants, by number, that each seed of each case reached."""


@dataclass(frozen=True)
class Parts:
    """The cases of the suite, and which of them are smoke and random ones."""

    cases: tuple[str, ...]
    smoke: frozenset[str]
    random: frozenset[str]
    widths: tuple[str, ...] = ()
    """Options of the sessions that run them: at which data widths."""

    def order(self, case: str) -> int:
        """Smoke first, then random ones."""
        return 0 if case in self.smoke else 1 if case in self.random else 2


@dataclass
class Found:
    """What is known of one fault."""

    mutant: Mutant
    reached: Mapping[str, frozenset[int]]
    """The cases that reach it, each with the seeds of the devices in which it does."""
    noticed: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def by(self, cases: frozenset[str]) -> bool:
        """Whether one of these cases notices it."""
        return not cases.isdisjoint(self.noticed)


class _Collector:
    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = [item for item in session.items if item.get_closest_marker("skip") is None]


class _Failures:
    def __init__(self) -> None:
        self.cases: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.cases.append(_full(report.nodeid))


class _Economy:
    """Runs the cases that reach a fault in their order, and leaves out what adds nothing."""

    def __init__(self, found: Found, parts: Parts, *, brief: bool) -> None:
        self._found = found
        self._parts = parts
        self._enough = 1 if brief else ENOUGH
        self._brief = brief

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        wanted = set(self._found.reached)
        items[:] = sorted(
            (item for item in items if _path(item) in wanted),
            key=lambda item: self._parts.order(_path(item)),
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        return None if self._adds(_path(item)) else True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        module: Any = getattr(item, "module", None)
        if item.path.name.startswith(RANDOM):
            try_seed = module.try_seed
            module.try_seed = only(try_seed, self._found.reached[_path(item)])
            try:
                return (yield)
            finally:
                module.try_seed = try_seed
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and "broken" in dict(report.user_properties):
            self._found.noticed.append(_full(report.nodeid))

    def _adds(self, case: str) -> bool:
        if not self._brief:
            for part in (self._parts.smoke, self._parts.random):
                if case in part and not self._found.by(part):
                    return True
        return len(self._found.noticed) < self._enough


def only(try_seed: Callable[..., Any], seeds: Collection[int]) -> Callable[..., Any]:
    """Try only these seeds, and make nothing small."""

    def tried(seed: int, *arguments: Any, **options: Any) -> Any:
        return try_seed(seed, *arguments, **options, seconds=0.0) if seed in seeds else None

    return tried


def _full(nodeid: str) -> str:
    return f"{CASES / Path(nodeid.partition('::')[0]).name}::{nodeid.partition('::')[2]}"


def _path(item: pytest.Item) -> str:
    return _full(item.nodeid)


def parts_of(*, widths: Sequence[int] = (), expression: str = "") -> Parts:
    """Collect the suite of a simulated device, or the cases of an expression as for pytest's -k."""
    collector = _Collector()
    options = tuple(word for width in widths for word in ("--roce-width", str(width)))
    chosen = ("-k", expression) if expression else ()
    run_session(
        [*session_arguments("hdl"), *options, *chosen, str(CASES), "--collect-only"],
        collector,
    )
    smoke_widths = {f"{width}bit" for width in widths_of(Options(target="hdl", suite="smoke"))}
    smoke, random = set(), set()
    for item in collector.items:
        width = item.nodeid.rpartition("[")[2].rstrip("]").split("-")
        if item.get_closest_marker("smoke") and not smoke_widths.isdisjoint(width):
            smoke.add(_path(item))
        if item.path.name.startswith(RANDOM):
            random.add(_path(item))
    cases = tuple(map(_path, collector.items))
    return Parts(cases, frozenset(smoke), frozenset(random), options)


def watch(
    parts: Parts, pool: ProcessPoolExecutor, *, jobs: int, folder: Path
) -> tuple[Reached, list[str]]:
    """Run the suite on the healthy device; also the cases that it fails, which reach nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    shares = [parts.cases[first::jobs] for first in range(jobs)]
    runs = [pool.submit(_watch, share, parts.widths, folder) for share in shares if share]
    failing = [case for run in runs for case in run.result()]
    reached = {
        case: {} if case in failing else reached_in(folder, short_name(case))
        for case in parts.cases
    }
    return reached, failing


def _watch(cases: Sequence[str], widths: Sequence[str], folder: Path) -> list[str]:
    failures = _Failures()
    run_session(
        [
            *session_arguments("hdl"),
            *widths,
            *("--roce-reached", str(folder), "--roce-captures", str(folder)),
            *cases,
        ],
        failures,
    )
    return failures.cases


def measure(
    mutants: Sequence[Mutant],
    reached: Reached,
    parts: Parts,
    pool: ProcessPoolExecutor,
    *,
    brief: bool,
    out: Path,
) -> list[Future[Found]]:
    """Run each mutant against the cases that reach it."""
    futures = []
    for mutant in mutants:
        cases = {
            case: seeds
            for case in parts.cases
            if (seeds := _reaching(reached[case], mutant.number))
        }
        futures.append(pool.submit(_measure, Found(mutant, cases), parts, brief, out))
    return futures


def _reaching(seeds: Mapping[int, frozenset[int]], number: int) -> frozenset[int]:
    return frozenset(seed for seed, numbers in seeds.items() if number in numbers)


def _measure(found: Found, parts: Parts, brief: bool, out: Path) -> Found:
    started = time.monotonic()
    if found.reached:
        run_session(
            [
                *session_arguments("hdl"),
                *parts.widths,
                *("--roce-mutant", found.mutant.id),
                *("--roce-captures", str(out / "runs" / found.mutant.id)),
                *dict.fromkeys(case.partition("::")[0] for case in found.reached),
            ],
            _Economy(found, parts, brief=brief),
        )
    found.seconds = time.monotonic() - started
    return found
