# SPDX-License-Identifier: BSD-2-Clause
"""Changes plans by their structure: steps go, come again, move and come from others.

A value takes the place of one that the same field of the same step has in another plan, so it is
one that somebody drew for it. What a plan must not say is refused, not repaired: then another
change is tried. Judges need no more, since every step is one that a player can make of any state.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from roceproof.conformance.stimulus.plan import Plan, Step

_MOST_CHANGES = 4
_TRIES = 20
_MOST_STEPS = 200
_LONGEST_RUN = 6
_OPENS = ("connect", "idle")
_LAST = "endless"
_ENDS = ("remote_ip", "remote_qpn")
_OWN = frozenset(("key", "local_qpn", "service", "remote_mac", *_ENDS, "flaw", "flaws"))
"""What makes a step what it is, or must fit to other steps."""
_AROUND: Mapping[str, int] = {
    **dict.fromkeys(("sq_psn", "rq_psn", "msn"), 24),
    **dict.fromkeys(("rkey", "immediate"), 32),
    **dict.fromkeys(("remote_addr", "wr_id", "swap", "compare"), 64),
}
"""Numbers of so many bits of which each may be any."""

Change = Callable[[Random, Plan, Plan], Plan | None]


def mutated(random: Random, plan: Plan, donors: Sequence[Plan]) -> Plan:
    """The plan with some changes, which come of donors of the same player; as it is if none fit."""
    done, wanted = 0, random.randint(1, _MOST_CHANGES)
    for _ in range(_TRIES):
        candidate = random.choice(_CHANGES)(random, plan, random.choice(donors))
        if candidate is None or candidate == plan or not is_sound(candidate):
            continue
        if len(candidate.steps) <= max(_MOST_STEPS, len(plan.steps)):
            plan, done = candidate, done + 1
        if done == wanted:
            break
    return plan


def is_sound(plan: Plan) -> bool:
    """Whether no far end is that of two queue pairs, and no other host is the device."""
    if any(step.name == _LAST for step in plan.steps[:-1]):
        return False
    owners: dict[Any, int] = {}
    for step in plan.steps:
        said, key = step.fields, step.fields.get("key", 0)
        if step.name == "power_on":
            owners.clear()
        if step.name not in _OPENS:
            continue
        if plan.mac is not None and plan.mac == said.get("remote_mac"):
            return False
        if plan.ip is not None and plan.ip == said.get("remote_ip"):
            return False
        ends = tuple(said.get(name) for name in _ENDS)
        if None not in ends and owners.setdefault(ends, key) != key:
            return False
    return True


# what may change


def _drops(random: Random, plan: Plan, _donor: Plan) -> Plan | None:
    """A few steps fewer."""
    count = random.randint(1, _LONGEST_RUN)
    at = random.randrange(max(1, len(plan.steps)))
    return plan.having([*plan.steps[:at], *plan.steps[at + count :]])


def _repeats(random: Random, plan: Plan, _donor: Plan) -> Plan | None:
    """A step once more, there or elsewhere."""
    acts = [step for step in plan.steps if step.name not in _OPENS]
    return _inserted(random, plan, [random.choice(acts)]) if acts else None


def _moves(random: Random, plan: Plan, _donor: Plan) -> Plan | None:
    """A step elsewhere."""
    if not plan.steps:
        return None
    steps = list(plan.steps)
    step = steps.pop(random.randrange(len(steps)))
    return _inserted(random, plan.having(steps), [step])


def _redraws(random: Random, plan: Plan, donor: Plan) -> Plan | None:
    """One value as another plan has it in such a step."""
    at = random.randrange(max(1, len(plan.steps)))
    step = plan.steps[at] if plan.steps else Step("", {})
    others = [other for other in donor.steps if _is_like(step, other)]
    if not others:
        return None
    other = random.choice(others)
    names = [name for name in step.fields if name in other.fields and name not in _OWN]
    if not names:
        return None
    name = random.choice(names)
    return _with(plan, at, step.but(name, other.fields[name]))


def _turns(random: Random, plan: Plan, _donor: Plan) -> Plan | None:
    """A number is a little more or less, a bit of it turned, or at the end of its range."""
    places = [
        (at, name)
        for at, step in enumerate(plan.steps)
        for name, value in step.fields.items()
        if name in _AROUND and type(value) is int
    ]
    if not places:
        return None
    at, name = random.choice(places)
    bits, value = _AROUND[name], plan.steps[at].fields[name]
    near = value + random.choice((-1, 1))
    turned = value ^ 1 << random.randrange(bits)
    fresh = random.choice((near, turned, 0, -1, 1 << bits - 1)) % (1 << bits)
    return _with(plan, at, plan.steps[at].but(name, fresh))


def _unsays(random: Random, plan: Plan, _donor: Plan) -> Plan | None:
    """A step says less."""
    at = random.randrange(max(1, len(plan.steps)))
    names = plan.steps[at].optional(plan.player) if plan.steps else []
    names = [name for name in names if name not in _OWN]
    return _with(plan, at, plan.steps[at].without(random.choice(names))) if names else None


def _splices(random: Random, plan: Plan, donor: Plan) -> Plan | None:
    """A run of steps of another plan, on the queue pairs of this one."""
    start = random.randrange(max(1, len(donor.steps)))
    run = donor.steps[start : start + random.randint(1, _LONGEST_RUN)]
    there, here = _services(donor), _services(plan)
    keys: dict[int, int] = {}
    taken = []
    for step in run:
        if step.name in _OPENS or step.name == _LAST:
            continue
        key = step.fields.get("key")
        if key is not None:
            fitting = [own for own, service in here.items() if service == there.get(key)]
            if not fitting:
                continue
            step = step.but("key", keys.setdefault(key, random.choice(fitting)))
        taken.append(step)
    return _inserted(random, plan, taken) if taken else None


def _adopts(random: Random, plan: Plan, donor: Plan) -> Plan | None:
    """A queue pair of another plan with all that happens to it."""
    keys = list(_services(donor))
    if not keys:
        return None
    key, own = random.choice(keys), 1 + max(_services(plan), default=-1)
    taken = [
        step.but("key", own)
        for step in donor.steps
        if step.fields.get("key") == key and step.name != _LAST
    ]
    return _inserted(random, plan, taken)


_CHANGES: Sequence[Change] = (
    *(_drops, _repeats, _moves, _redraws, _redraws, _turns, _turns, _unsays),
    *(_splices, _splices, _adopts),
)


# inside


def _services(plan: Plan) -> dict[int, str | None]:
    """By key, of the queue pairs that are connected."""
    found: dict[int, str | None] = {}
    for step in plan.steps:
        if step.name == "connect":
            found.setdefault(step.fields.get("key", 0), step.fields.get("service"))
    return found


def _is_like(step: Step, other: Step) -> bool:
    """Whether the values of one may be those of the other."""
    is_flawed = [not each.fields.keys().isdisjoint(("flaw", "flaws")) for each in (step, other)]
    services = [each.fields.get("service") for each in (step, other)]
    return step.name == other.name and is_flawed[0] == is_flawed[1] and services[0] == services[1]


def _inserted(random: Random, plan: Plan, steps: Sequence[Step]) -> Plan:
    at = random.randint(0, len(plan.steps))
    return plan.having([*plan.steps[:at], *steps, *plan.steps[at:]])


def _with(plan: Plan, at: int, step: Step) -> Plan:
    return plan.having([*plan.steps[:at], step, *plan.steps[at + 1 :]])
