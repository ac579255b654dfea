# SPDX-License-Identifier: BSD-2-Clause
"""The register of captures that break rules; modules named `corrupted_*` fill it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.rules.findings import Finding

Frames = Callable[[], list[bytes]]


@dataclass(frozen=True)
class Scenario:
    """Frames that break exactly `rules`, judged by a checker with these options."""

    name: str
    rules: frozenset[str]
    frames: Frames
    options: dict[str, Any] = field(default_factory=dict)


SCENARIOS: list[Scenario] = []


def scenario(rules: str, frames: Frames, **options: Any) -> None:
    """Register a capture for the rules that it alone must break, separated by blanks."""
    name = f"{len(SCENARIOS):03} {rules}"
    SCENARIOS.append(Scenario(name, frozenset(rules.split()), frames, options))


def breaks(rules: str, **options: Any) -> Callable[[Frames], Frames]:
    """The same as a decorator."""

    def register(frames: Frames) -> Frames:
        name = f"{frames.__name__} {rules}"
        SCENARIOS.append(Scenario(name, frozenset(rules.split()), frames, options))
        return frames

    return register


def findings_of(frames: list[bytes], **options: Any) -> list[Finding]:
    """All that a checker says about a capture."""
    checker = Checker(**options)
    found = [finding for frame in frames for finding in checker.feed(frame)]
    return found + checker.finish()


def broken_rules(frames: list[bytes], **options: Any) -> list[str]:
    """The rules broken, one for each finding."""
    return [finding.rule.id for finding in findings_of(frames, **options)]
