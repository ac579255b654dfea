# SPDX-License-Identifier: BSD-2-Clause
"""Tells failing plans that show a declared deviation from those that show something new.

The model is told of a deviation that it can play, and the plan passes then; the others are known by
how they fail, and by all that a small plan still says (`seen_in_plans.toml`).
"""

import re
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import NamedTuple

from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.stimulus.run_plan import Finding
from roceproof.conformance.suite.limits.deviations import deviations_of, switches
from roceproof.conformance.suite.limits.seen_in_plans import of_rules, seen_in_plan
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import head_of, likeness

_ABOUT = re.compile(r"\((?:RC|UC|UD)\) at rest|, (?:RC|UC|UD) [A-Z ]+ at [+-]")
"""What of a head says to which packet an answer is wrong."""


_LOOKED_AT = 64
"""Of so many seeds one."""
_REQUEST = re.compile(r"(?:SEND|WRITE)(?: (?:FIRST|MIDDLE|LAST|ONLY|IMM))+")
_RECEIVE = re.compile(r"# (\w+) \S+ \w+;?")
_AGAIN = re.compile(r"\b(\w+)(?: \1\b)+")
"""Of receives that have completed only how they have, each way once in a row."""
_PANICKED = re.compile(r"RIP: 0010:([\w.]+)")


class Cause(NamedTuple):
    """What failures are put down to."""

    kind: str
    kinds: frozenset[str]
    """All of them that are alike for it."""
    declared: str | None = None


class KnownDeviations:
    """Those of one kind of device of some version."""

    def __init__(self, identity: tuple[str, str], declared: Mapping[str, str]) -> None:
        """`declared` is what was found before: by kinds of failures the deviations of these."""
        self._identity = identity
        self._known = deviations_of(identity)
        self.tolerated: list[Enum] = []
        """Values of the model's switches that are played as if they were right."""
        self.declared: dict[str, str] = {}
        """By kinds of failures that no switch explains, the deviations."""
        for kind, deviation in declared.items():
            self._found(kind, deviation)

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
        alike = _REQUEST.sub("a request", _RECEIVE.sub(r"\1", alike))
        alike = _AGAIN.sub(r"\1", alike)
        return " | ".join([alike, about, " ".join(sorted(set(failure.rules)))])

    def is_enough(self, seed: int, failure: CaseFailed) -> bool:
        """Whether to believe that it is what others were that failed so; some are looked at again.

        Two causes may be alike in how they fail.
        """
        return self.kind_of(failure) in self.declared and seed % _LOOKED_AT != 0

    def cause(self, kind: str, deviation: str | None) -> Cause:
        """The finding that a kind of failure and a deviation make."""
        if deviation is None:
            return Cause(kind, frozenset({kind}))
        own, is_played = f"{kind} | {deviation}", self._found(kind, deviation)
        return Cause(own, frozenset({own} if is_played else {own, kind}), deviation)

    def _found(self, kind: str, deviation: str) -> bool:
        """Whether the model plays it from now on, so that it hides nothing that comes behind it."""
        played = [switch for d in self._known if d.id == deviation for switch in switches(d)]
        self.tolerated += [switch for switch in played if switch not in self.tolerated]
        if not played:
            self.declared[kind] = deviation
        return bool(played)

    def shown_by(
        self, finding: Finding, passes: Callable[[Finding, Collection[Enum]], bool]
    ) -> str | None:
        """The deviation that a finding is for certain, if it is one.

        `passes` plays its plan on the device while these values of switches are tolerated. What
        passes without them, too, shows nothing for certain.
        """
        choices = {d.id: [s for s in switches(d) if s not in self.tolerated] for d in self._known}
        is_asked = finding.plan.player is Asking and "LIVE-01" not in finding.failure.rules
        is_played = is_asked and not passes(finding, ())
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
