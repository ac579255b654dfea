# SPDX-License-Identifier: BSD-2-Clause
"""Loaded beside the suite's plug-in: the cases of a session are dealt to twins."""

from __future__ import annotations

import heapq
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from told_draw import with_draw
from unwarned import unwarned

from drawn_twins.base import Base, text_of
from drawn_twins.draw import Draw, drawn_twin
from drawn_twins.habits import Habits
from roceproof.common.paths import CASES
from roceproof.conformance.runner.session import factories
from roceproof.conformance.runner.session.names import short_name
from roceproof.conformance.suite.limits.skips import reason_to_skip
from roceproof.conformance.targets.hdl.factory import HdlFactory
from roceproof.conformance.targets.interface import CasePlace, DeviceFactory, Target
from roceproof.dpi import load_manifest

CONTROL = "control"
"""How the runner calls the device of a control experiment."""
_FRUITLESS = 8
"""So many twins are looked at for one that claims what a case needs."""


class Twins(DeviceFactory):
    """Those of one device: each case has that which it was dealt to."""

    def __init__(self, base: Base, seed: int, also: Habits) -> None:
        self._base, self._seed, self._also = base, seed, also
        self.numbers: dict[str, int] = {}
        self._now = self.factory(0)
        self.claims = HdlFactory(base.manifest).claims

    def draw(self, number: int) -> Draw:
        """A twin by its number."""
        draw = drawn_twin(self._base, self._seed, number)
        return replace(draw, habits=draw.habits | self._also)

    @cache  # noqa: B019
    def factory(self, number: int) -> HdlFactory:
        """Its simulations."""
        draw = self.draw(number)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "dut.toml"
            path.write_text(text_of(draw.manifest))
            return HdlFactory(load_manifest(path), plusargs=draw.plusargs)

    def prepare(self, progress: Callable[[str], None], *, waves: bool = False) -> None:
        """One build is that of all."""
        self._now.prepare(progress, waves=waves)

    @contextmanager
    def device(self, place: CasePlace) -> Iterator[Target]:
        """That of the case; a control experiment has the device of the case before it."""
        if place.name != CONTROL:
            self._now = self.factory(self.numbers[place.name])
        self.claims = self._now.claims
        with self._now.device(place) as target:
            yield target

    def close(self) -> None:
        """Nothing is held."""


class Dealer:
    """Deals the cases of a session to twins of one device, and counts what came of it."""

    def __init__(
        self, base: Base, *, seed: int, draws: int, only: int | None = None, also: Habits
    ) -> None:
        """Of all twins `only` one, where that is said; `also` are habits that no manifest knows."""
        self._base, self._seed, self._draws, self._only = base, seed, draws, only
        self._twins = Twins(base, seed, also)
        self.cases: Counter[str] = Counter()
        self.judged: set[int] = set()

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Twins instead of the device."""
        config.stash[factories.FACTORIES] = {self._base.width: self._twins}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Each to the twin with the fewest cases that claims what it needs."""
        order = sorted(items, key=lambda item: item.nodeid)
        Random(self._seed).shuffle(order)
        numbers = range(self._draws) if self._only is None else [self._only]
        room = [(0, number) for number in numbers]
        for item in order:
            passed_over: list[tuple[int, int]] = []
            reason = None
            while room and len(passed_over) < _FRUITLESS:
                passed_over.append(heapq.heappop(room))
                number = passed_over[-1][1]
                reason = reason_to_skip(item, self._twins.factory(number).claims)
                if reason is None:
                    passed_over[-1] = (passed_over[-1][0] + 1, number)
                    break
            for each in passed_over:
                heapq.heappush(room, each)
            self._twins.numbers[short_name(item.nodeid)] = number
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Behind a failure stands what was drawn, and the command that draws it again."""
        report = unwarned((yield))
        number = self._twins.numbers[short_name(item.nodeid)]
        if report.when == "call" or report.failed:
            self.cases[report.outcome] += 1
            self.judged |= set() if report.skipped else {number}
        if report.failed:
            draw = self._twins.draw(number)
            case = f"{os.path.relpath(CASES)}/{item.nodeid}"
            replay = (
                f"PYTHONPATH=tests/suite .venv/bin/python -m drawn_twins --seed {self._seed} "
                f"--device {self._base.name} --draw {number} '{case}'"
            )
            shown = {name: part for name, part in draw.manifest.items() if name != "sources"}
            return with_draw(report, text_of(shown), " ".join(draw.plusargs), replay=replay)
        return report

    @property
    def habits(self) -> Counter[str]:
        """Of the twins that were judged."""
        return Counter(name for number in self.judged for name in self._twins.draw(number).habits)
