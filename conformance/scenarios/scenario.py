# SPDX-License-Identifier: BSD-2-Clause
"""What a scenario is: points to be played, what is read off each, and laws that all must keep."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roceproof.conformance.scenarios.network import Network, Played

Row = dict[str, Any]
"""The parameters of a point, and what was measured there."""


@dataclass(frozen=True)
class Point:
    """One network of a sweep."""

    words: Row
    network: Network


@dataclass(frozen=True)
class Check:
    """A law, and whether it held."""

    name: str
    want: str
    got: str
    passed: bool


@dataclass(frozen=True)
class Plot:
    """The source's axes: keys of the rows, their titles, and what tells one curve from another."""

    x: str
    y: str
    curves: tuple[str, ...]
    x_title: str
    y_title: str
    log_x: bool = True
    log_y: bool = False


@dataclass(frozen=True)
class Scene:
    """A point that plays itself."""

    words: Row
    play: Callable[[Path], Row]
    """What is measured; captures are left in the folder."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What all scenarios have."""

    id: str
    title: str
    published: str
    """What its source measured; it is printed beside ours, and judges nothing."""
    checks: Callable[[Sequence[Row]], Iterable[Check]]
    plot: Plot


@dataclass(frozen=True, kw_only=True)
class Scenario(Experiment):
    """One that the event model plays."""

    points: Callable[[bool, int], Iterable[Point]]
    """Those of a quick run, or of a full one; of a seed."""
    measure: Callable[[Point, Played], Row]


@dataclass(frozen=True, kw_only=True)
class SceneScenario(Experiment):
    """One that devices play with frames, or declared hosts."""

    points: Callable[[bool, int], Iterable[Scene]]
    """Those of a quick run, or of a full one; of a seed."""


AnyScenario = Scenario | SceneScenario


def significant(value: float) -> float:
    """To six digits, which is what the models are good for."""
    return float(f"{value:.6g}")


def jain(rates: Sequence[float]) -> float:
    """Jain's index of fairness: 1 where all have the same."""
    return sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates))


def within(name: str, want: float, got: float, *, of: float, unit: str = "") -> Check:
    """A law that names a value, and by which share of it the measured one may differ."""
    passed = abs(got - want) <= of * abs(want)
    return Check(name, f"{want:.4g}{unit} within {of:.1%}", f"{got:.4g}{unit}", passed)


def at_least(name: str, want: float, got: float, *, unit: str = "") -> Check:
    """A law that names a least value."""
    return Check(name, f"at least {want:.4g}{unit}", f"{got:.4g}{unit}", got >= want)


def at_most(name: str, want: float, got: float, *, unit: str = "") -> Check:
    """A law that names a greatest value."""
    return Check(name, f"at most {want:.4g}{unit}", f"{got:.4g}{unit}", got <= want)


def exactly(name: str, want: object, got: object) -> Check:
    """A law that leaves no room."""
    return Check(name, str(want), str(got), want == got)
