# SPDX-License-Identifier: BSD-2-Clause
"""All that a model may do where its policy leaves a choice.

A trial runs on a copy and notes which switches were looked at; each of those is then
turned, and the trial repeated. Switches that do not matter cost nothing.
"""

import pickle
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeVar

from roceproof.conformance.model.responder.policy import DEVIATIONS, ResponderPolicy

_SWITCHES = frozenset(ResponderPolicy.switches())


class HasPolicy(Protocol):
    policy: ResponderPolicy


_M = TypeVar("_M", bound=HasPolicy)
_R = TypeVar("_R")


class Alternative(NamedTuple):
    """One way in which it can go: what came of it, and the model behind it."""

    result: Any
    model: Any
    deviations: tuple[str, ...]
    """Rules that are broken on this way."""


@dataclass(frozen=True, kw_only=True)
class _Watched(ResponderPolicy):
    """A policy that notes which of its switches are looked at, in order."""

    asked: list[str] = field(default_factory=list)

    def __getattribute__(self, name: str) -> Any:
        if name in _SWITCHES:
            asked = object.__getattribute__(self, "asked")
            if name not in asked:
                asked.append(name)
        return object.__getattribute__(self, name)


def alternatives(
    model: _M,
    act: Callable[[_M], _R],
    *,
    tolerated: Collection[Enum] = (),
    settled: frozenset[str] = frozenset(),
) -> Iterator[Alternative]:
    """What `act` can come to, over all policies that conform, and over `tolerated` deviations.

    Switches that are `settled` stay as they are.
    """
    yield from _explore(model, act, model.policy, settled, frozenset(tolerated))


def _explore(
    model: _M,
    act: Callable[[_M], _R],
    policy: ResponderPolicy,
    settled: frozenset[str],
    tolerated: frozenset[Enum],
) -> Iterator[Alternative]:
    trial: _M = pickle.loads(pickle.dumps(model))  # a copy, several times as fast as deepcopy
    watched = _Watched(**{name: getattr(policy, name) for name in _SWITCHES})
    trial.policy = watched
    result = act(trial)
    asked = tuple(watched.asked)
    trial.policy = policy
    values = {name: getattr(policy, name) for name in asked}
    broken = tuple(DEVIATIONS[value] for value in values.values() if value in DEVIATIONS)
    yield Alternative(result, trial, broken)
    for name in asked:
        if name in settled:
            continue
        settled |= {name}
        for value in type(values[name]):
            if value is not values[name] and (value not in DEVIATIONS or value in tolerated):
                yield from _explore(model, act, policy.turned(name, value), settled, tolerated)
