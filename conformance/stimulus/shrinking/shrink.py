# SPDX-License-Identifier: BSD-2-Clause
"""Makes a failing plan small: fewer steps, less said in each, smaller numbers.

Delta debugging on the plan as data. `fails` plays a plan on a fresh device; it is deterministic,
so every answer is kept and none is asked for twice. When the time is over, the least plan so far
is the result.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from roceproof.conformance.stimulus.plan import Plan, Step

_SMALL: dict[str, tuple[int, ...]] = {
    "size": (0, 1, 8, 64, 256),
    "count": (2, 4, 16, 17, 64),
    "ns": (1, 50, 1000, 10000),
    "frames": (1, 2),
    "times": (2, 16),
}
"""Numbers that say little where they do as well."""


class Reduction:
    """One failing plan, and what is left of it."""

    def __init__(self, plan: Plan, fails: Callable[[Plan], bool], *, seconds: float) -> None:
        self.plan = plan
        self.tries = 0
        self._fails = fails
        self._end = time.monotonic() + seconds
        self._known: dict[str, bool] = {}
        self.is_least = False
        """Whether everything has been tried: not if time was over before."""

    def run(self) -> Plan:
        """The least plan that still fails."""
        before = None
        while before != self.plan and not self._is_over:
            before = self.plan
            self._drop_steps()
            self._try_all(self._plainer_hosts())
            for index in range(len(self.plan.steps)):
                self._try_all(self._shorter(index))
                self._try_all(self._smaller(index))
        self.is_least = before == self.plan and not self._is_over
        return self.plan

    @property
    def _is_over(self) -> bool:
        return time.monotonic() > self._end

    def _keep_if_failing(self, plan: Plan) -> bool:
        key = repr(plan)
        if key not in self._known:
            if self._is_over:
                return False
            self.tries += 1
            self._known[key] = self._fails(plan)
        if self._known[key]:
            self.plan = plan
        return self._known[key]

    def _drop_steps(self) -> None:
        """Pieces of half the plan, then of a quarter, down to single steps."""
        size = max(1, len(self.plan.steps) // 2)
        while size:
            at = len(self.plan.steps) - size
            while at > -size:
                start = max(0, at)
                steps = [*self.plan.steps[:start], *self.plan.steps[at + size :]]
                self._keep_if_failing(self.plan.having(steps))
                at -= size
            size //= 2

    def _try_all(self, candidates: Iterator[Callable[[Plan], Plan]]) -> None:
        for change in candidates:
            plan = change(self.plan)
            if plan != self.plan:
                self._keep_if_failing(plan)

    def _plainer_hosts(self) -> Iterator[Callable[[Plan], Plan]]:
        yield lambda plan: replace(plan, mac=None, ip=None)

    def _shorter(self, index: int) -> Iterator[Callable[[Plan], Plan]]:
        """Less said in a step; all at once first."""
        optional = self.plan.steps[index].optional(self.plan.player)
        if len(optional) > 2:
            yield partial(_changed, index=index, names=optional)
        for name in optional:
            yield partial(_changed, index=index, names=[name])

    def _smaller(self, index: int) -> Iterator[Callable[[Plan], Plan]]:
        for name, value in self.plan.steps[index].fields.items():
            for part in _parts(value):
                yield partial(_said, index=index, name=name, value=part)
            for number in _SMALL.get(name, ()):
                if isinstance(value, int) and number < value:
                    yield partial(_said, index=index, name=name, value=number)


def _changed(plan: Plan, *, index: int, names: Sequence[str]) -> Plan:
    step = plan.steps[index]
    for name in names:
        step = step.without(name)
    return _with(plan, index, step)


def _parts(value: Any) -> Iterator[list[Any]]:
    """A list in pieces, down to single entries."""
    if isinstance(value, list) and len(value) > 1:
        size = len(value)
        while size := size // 2:
            yield from (value[at : at + size] for at in range(0, len(value), size))


def _said(plan: Plan, *, index: int, name: str, value: Any) -> Plan:
    """With that said instead, if it is less."""
    step = plan.steps[index]
    known = step.fields.get(name)
    match known, value:
        case (int(), int()) if value < known:
            return _with(plan, index, step.but(name, value))
        case (list(), list()) if len(value) < len(known) and all(e in known for e in value):
            return _with(plan, index, step.but(name, value))
    return plan


def _with(plan: Plan, index: int, step: Step) -> Plan:
    return plan.having([*plan.steps[:index], step, *plan.steps[index + 1 :]])
