# SPDX-License-Identifier: BSD-2-Clause
"""What a twin is drawn to be: which limits its manifest says, and which habits it has."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from drawn.manifest import _FIXED, _FIXED_OF_ONE, _ONCE

from drawn_twins.base import Base, Tables
from drawn_twins.habits import Habits, drawn_habits, slowest, stretch

_SHARE = 0.12
"""Of the values that may be fixed."""


@dataclass(frozen=True)
class Draw:
    """One twin."""

    manifest: Tables
    habits: Habits

    @property
    def plusargs(self) -> list[str]:
        """What makes the adapter have its habits."""
        return [f"{name}={value}" for name, value in self.habits.items()]


def drawn_twin(base: Base, seed: int, number: int) -> Draw:
    """The twin of that number."""
    draw = Random(f"{seed} {base.name} {number}")
    tables = base.tables()
    habits = drawn_habits(draw, base)
    _narrow(draw, base, tables)
    limits = tables["limits"]
    if "store" in habits and base.manifest.cm is None:
        tables["fixed"]["ack_timeout"] = 0
    if habits.get("tx_id"):
        limits["identification"] = ("any", "constant")[habits["tx_id"] - 1]
    if habits.get("no_flush"):
        limits["flushes"] = False
    if habits.get("arp_ask"):
        tables["environment"]["resolves_addresses"] = True
    if habits.get("pause"):
        tables["capabilities"]["features"] = ["pfc"]
    largest = max(limits["path_mtus"]) * 8 // base.width
    quiet = stretch(habits) * (base.quiet_cycles + 3 * largest) + slowest(habits)
    limits["quiet_cycles"] = quiet
    limits["answer_cycles"] = stretch(habits) * base.answer_cycles + 20 * quiet
    return Draw(tables, {**habits, "habit_seed": draw.randrange(1 << 31)})


def _narrow(draw: Random, base: Base, tables: Tables) -> None:
    """A device may say that it can do less than it can."""
    limits, has_cm = tables["limits"], "cm" in tables
    for service, names in tables["capabilities"].items():
        kept = draw.choice((names, names, draw.sample(names, draw.randint(1, len(names)))))
        tables["capabilities"][service] = sorted(kept)
    if not has_cm and len(tables["capabilities"]) > 1 and draw.random() < 0.3:
        del tables["capabilities"][draw.choice(sorted(tables["capabilities"]))]
    if draw.random() < 0.4:
        mtus = limits["path_mtus"]
        limits["path_mtus"] = sorted(draw.sample(mtus, draw.choice((1, 1, min(2, len(mtus))))))
    limits["qps"] = draw.choice([n for n in (1, 2, 4, 16, 16, 16) if n <= limits["qps"]])
    _lengths(draw, limits)
    _depths(draw, limits)
    if draw.random() < 0.2:
        limits["per_queue_pair"] = sorted(draw.sample(_ONCE, draw.choice((1, 1, 2, 3))))
    if not has_cm:
        choices = {**_FIXED, **(_FIXED_OF_ONE if limits["qps"] == 1 else {})}
        choices["payload_offset"] = tuple(n for n in (0, 3) if n < base.width // 8)
        choices["solicited"] = (True, False)
        for name, values in choices.items():
            if draw.random() < _SHARE:
                tables["fixed"][name] = draw.choice(values)
    if responder := tables.get("responder"):
        responder = tables["responder"] = dict(responder)
        responder["receives"] = draw.choice((1, 2, 4, 16, 16))
        for name in ("states", "shared_receives", "message_count"):
            if name in responder:
                responder[name] = draw.random() < 0.7


def _lengths(draw: Random, limits: Tables) -> None:
    multiple, (least, most) = draw.choice((1, 1, 1, 4, 8, 64)), limits["length"]
    if multiple > 1:
        limits["length_multiple"] = multiple
    if draw.random() < 0.3:
        least = max(least, draw.choice((1, 4, 8, 64)))
        most = min(most, draw.choice((256, 1500, 4096, 65536)))
    limits["length"] = [-(-least // multiple) * multiple, most]


def _depths(draw: Random, limits: Tables) -> None:
    for name, values in (
        ("outstanding_messages", (1, 2, 3, 4, 8)),
        ("outstanding_packets", (4, 8, 16, 64)),
    ):
        if draw.random() < 0.3:
            limits[name] = min(limits.get(name, 64), draw.choice(values))
            if draw.random() < 0.3:
                limits["outstanding_shared"] = True
