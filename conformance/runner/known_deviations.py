# SPDX-License-Identifier: BSD-2-Clause
"""Tells failing plans that show a declared deviation from those that show something new.

The model is told of a deviation that it can play, and the plan passes then; the others are known by
how they fail, and by all that a small plan still says (`seen_in_plans.toml`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from enum import Enum

from roceproof.conformance.stimulus.run_plan import Finding
from roceproof.conformance.suite.limits.deviations import deviations_of, switches
from roceproof.conformance.suite.limits.seen_in_plans import of_rules, seen_in_plan
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import head_of, likeness

_ABOUT = re.compile(r"\((?:RC|UC|UD)\) at rest|, (?:RC|UC|UD) [A-Z ]+ at [+-]")
"""What of a head says to which packet an answer is wrong."""


_REQUEST = re.compile(r"(?:SEND|WRITE)(?: (?:FIRST|MIDDLE|LAST|ONLY|IMM))+")
_FLUSHED = re.compile(r"; # wr_flush_err None None")
_PANICKED = re.compile(r"RIP: 0010:([\w.]+)")


class KnownDeviations:
    """Those of one kind of device of some version."""

    def __init__(self, identity: tuple[str, str]) -> None:
        self._identity = identity
        self._known = deviations_of(identity)
        self.tolerated: list[Enum] = []
        """Values of the model's switches that are played as if they were right."""

    def __bool__(self) -> bool:
        """Whether there are any: then many plans fail, and not for one reason."""
        return bool(self._known)

    def kind_of(self, failure: CaseFailed) -> str:
        """What is alike in failures; on a device that deviates, they break the same rules, too."""
        head = head_of(failure)
        alike = likeness(head)
        if not self._known:
            return alike
        if where := _PANICKED.search(str(failure)):
            return f"a panic in {where[1]}"
        about = " ".join(each.strip(" ,+-") for each in _ABOUT.findall(head))
        alike = _FLUSHED.sub("", _REQUEST.sub("a request", alike))
        return " | ".join([alike, about, " ".join(sorted(set(failure.rules)))])

    def tolerate(self, deviation: str) -> None:
        """It has been found: from now on it hides nothing that comes behind it."""
        for each in self._known:
            if each.id == deviation:
                self.tolerated += [s for s in switches(each) if s not in self.tolerated]

    def shown_by(
        self, finding: Finding, passes: Callable[[Finding, Collection[Enum]], bool]
    ) -> str | None:
        """The deviation that a finding is for certain, if it is one.

        `passes` plays its plan on the device while these values of switches are tolerated. What
        passes without them, too, shows nothing for certain.
        """
        choices = {d.id: [s for s in switches(d) if s not in self.tolerated] for d in self._known}
        is_played = "LIVE-01" not in finding.failure.rules and not passes(finding, ())
        for name, more in choices.items():
            if is_played and more and passes(finding, more):
                return name
        if not finding.is_least:
            return None
        return seen_in_plan(
            self._identity,
            player=finding.plan.player.__name__,
            steps=[str(step) for step in finding.plan.steps],
            head=head_of(finding.failure),
        )

    def may_be(self, rules: Collection[str]) -> tuple[str, ...]:
        """Those that break one of the rules."""
        return tuple(of_rules(self._identity, rules))
