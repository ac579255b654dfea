# SPDX-License-Identifier: BSD-2-Clause
"""Short plans, for devices on the wall's clock: a part of one that was drawn.

Silence takes real time there, and a plan is over with its first failure: what stands behind a
deviation that everybody knows would never be played.
"""

from __future__ import annotations

from random import Random

from roceproof.conformance.stimulus.plan import Plan, Step

_MOST_ACTS = 24
_SETS_UP = frozenset(("connect", "region", "receive", "share", "stock", "serve"))
"""Steps that say what there is, and send nothing."""
_PLAIN = frozenset(("request", "post", "wait", "until", "settle"))
_ODD_FIELDS = frozenset(
    (
        *("skip", "key_mask", "kill_mask", "shift", "more", "bytes", "turned"),
        *("lost", "twice", "early", "stops"),
    )
)
"""What makes a request odd."""
_ODD = 8
"""So much rather an excerpt has an odd step than a plain one."""


def excerpt(plan: Plan, seed: int) -> Plan:
    """A few steps in a row, behind those that set up what they need; always the same of a seed."""
    random = Random(f"excerpt {seed}")
    acts = [at for at, step in enumerate(plan.steps) if step.name not in _SETS_UP]
    if len(acts) <= _MOST_ACTS:
        return plan
    weights = [1 if _is_plain(plan.steps[at]) else _ODD for at in acts]
    (chief,) = random.choices(range(len(acts)), weights)
    count = random.randint(1, _MOST_ACTS)
    first = max(0, chief - random.randrange(count))
    chosen = acts[first : first + count]
    start, end = chosen[0], chosen[-1] + 1
    keys = {step.fields["key"] for step in plan.steps[start:end] if "key" in step.fields}
    needed = _set_up([step for step in plan.steps[:start] if step.name in _SETS_UP])
    steps = [*needed, *plan.steps[start:end]]
    return plan.having([step for step in steps if step.fields.get("key") in {None, *keys}])


def _is_plain(step: Step) -> bool:
    """Whether it is one that most plans have many of."""
    is_odd = any(
        value is not None and value is not False and (value or name == "bytes")
        for name, value in step.fields.items()
        if name in _ODD_FIELDS
    )
    return step.name in _PLAIN and not is_odd


def _set_up(steps: list[Step]) -> list[Step]:
    """Without the lives that are over, and their receives."""
    last = {step.fields["key"]: at for at, step in enumerate(steps) if step.name == "connect"}
    kept = []
    for at, step in enumerate(steps):
        is_over = at < last.get(step.fields.get("key"), 0)
        if step.name == "region" or not is_over:
            kept.append(step)
    return sorted(kept, key=lambda step: step.name != "connect")
