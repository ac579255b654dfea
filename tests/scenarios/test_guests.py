# SPDX-License-Identifier: BSD-2-Clause
"""What a guest plays of the studies of verbs: each law of it can fail, and in a guest all hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest
from laws import judge

from roceproof.conformance.scenarios.catalogue import SCENARIOS
from roceproof.conformance.scenarios.hosts import guest
from roceproof.conformance.scenarios.scenario import AnyScenario, Scene

NAMES = ("verbs-ping", "verbs-push-pull", "verbs-blast", "daq-solicited")


def inside(name: str) -> AnyScenario:
    """Only what the guest plays of it."""
    scenario = SCENARIOS[name]

    def points(quick: bool, seed: int) -> Iterator[Scene]:
        return (each for each in scenario.points(quick, seed) if "host" in each.words)

    return replace(scenario, points=points)


class Told:
    """What a host in good order answers the loops; it is entered once and left once."""

    entered = left = 0

    def __enter__(self) -> Self:
        type(self).entered += 1
        return self

    def __exit__(self, *_: object) -> None:
        type(self).left += 1

    def reset(self) -> None:
        pass

    def call(self, op: str, *, within: float, timeout_ms: int, **fields: Any) -> dict[str, int]:
        assert within * 1000 > timeout_ms
        return self._ping(**fields) if op == "ping" else self._blast(**fields)

    def _ping(self, *, rounds: int, signaled: bool, wait: str, **_: Any) -> dict[str, int]:
        done = rounds * (2 if signaled else 1)
        events = rounds * (wait == "event")
        far = {"far_completions": done, "far_events": events}
        return {"completions": done, "events": events, **far, "right": 2 * rounds}

    def _blast(self, *, opcode: str, wait: str, messages: int, **fields: Any) -> dict[str, int]:
        heard = 0 if opcode in ("write", "read") else messages
        return {
            "posts": messages // fields["list"],
            "completions": messages // fields["signal_every"],
            "events": int(wait != "busy"),
            "far_completions": heard,
            "far_events": (wait != "busy") * heard // fields["solicit_every"],
            "right": messages,
        }


@pytest.mark.parametrize("name", NAMES)
def test_laws_of_a_guest_can_fail_and_one_guest_plays_all(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class One(Told):
        """Of this scenario."""

        @classmethod
        def start(cls, *, backend: str) -> Self:
            assert backend == "vm"
            return cls()

    monkeypatch.setattr(guest, "SoftRoce", One)
    monkeypatch.setattr(guest, "two_ends", lambda *_, memory: {"qp": 1} if memory else {})
    judge(inside(name), tmp_path, quick=False)
    assert One.entered == One.left == 1


def test_a_quick_run_needs_no_guest() -> None:
    for name in NAMES:
        assert list(inside(name).points(True, 1)) == []
        assert list(inside(name).points(False, 1))


@pytest.mark.rxe
@pytest.mark.whole
@pytest.mark.parametrize("name", NAMES)
def test_laws_hold_in_a_guest_and_can_fail(name: str, tmp_path: Path) -> None:
    judge(inside(name), tmp_path, quick=False)
