# SPDX-License-Identifier: BSD-2-Clause
"""What the seeds of a campaign play: plans that are drawn, and entries that are changed."""

from collections.abc import Sequence
from random import Random

from roceproof.conformance.stimulus.drawing.fields import drawn_operations
from roceproof.conformance.stimulus.mutation import mutated
from roceproof.conformance.stimulus.plan import Plan
from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.stimulus.run_plan import draws_of
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims

_CHANGED = 0.5
"""How many programs come of an entry, if there is one."""


def program_of(seed: int, claims: Claims, entries: Sequence[Plan]) -> Plan:
    """The plan of a seed; with the same claims and entries always the same.

    On the wall's clock requests are played in half the time of work, and twice as often.
    """
    random, draws = Random(f"program {seed}"), draws_of(claims)
    if Capability.LOCKSTEP not in claims.capabilities:
        draws += draws[1:]
    plan = random.choice(draws)(seed, claims, None)
    fitting = [entry for entry in entries if entry.player is plan.player]
    if not fitting or random.random() >= _CHANGED:
        return plan
    return mutated(random, random.choice(fitting), [plan, *fitting])


def is_for(plan: Plan, claims: Claims) -> bool:
    """Whether a plan of anybody's is one for such a device; another may have been drawn for."""
    if plan.player is Asking:
        can_play = Capability.RESPONDER in claims.capabilities
    else:
        can_play = bool(drawn_operations(claims))
    opened = [step.fields for step in plan.steps if step.name == "connect"]
    return can_play and all(
        said.get("path_mtu", claims.path_mtus[0]) in claims.path_mtus
        and Capability[said.get("service", "RC")] in claims.capabilities
        for said in opened
    )
