# SPDX-License-Identifier: BSD-2-Clause
"""Habits of the adapter: what a device may do though nothing asks for it, and what that costs.

A habit is a number on the simulation's command line; `tests/suite/twin` has them.
"""

from __future__ import annotations

from random import Random

from drawn_twins.base import Base

Habits = dict[str, int]

_WAITS: dict[str, tuple[int, ...]] = {
    "qpc_wait": (100, 3000),
    "wr_wait": (20, 400),
    "pl_wait": (200,),
    "cpl_wait": (30, 1000),
    "rx_wait": (20, 200),
    "tx_wait": (20, 200),
    "rcv_wait": (50, 4000),
    "rcp_wait": (30, 1000),
    "mr_wait": (50, 4000),
    "mwc_wait": (10, 100),
    "mrc_wait": (10, 100),
}
"""Offers of these streams wait for so many cycles at most."""
_BEATS = ("pl_beat", "rx_beat", "tx_beat", "mwd_beat", "mrd_beat")
_OPEN: dict[str, tuple[int, ...]] = {
    "rx_ask": (30, 100),
    "rx_late": (100, 2000),
    "timer_up": (1,),
    "no_flush": (1,),
}
_STORED: dict[str, tuple[int, ...]] = {
    "tx_late": (100, 1000, 4000),
    "answer_late": (100, 1000, 4000),
    "answer_late_too": (100, 1000, 4000),
    "aside_late": (100, 4000),
    "tx_gap": (12, 300),
    "tx_ask": (30, 100),
    "tx_id": (1, 2),
    "answer_sport": (1024, 0xC001, 0xFFFF),
    "answer_ecn": (4, 5, 6),
    "tx_sum": (1,),
    "arp_ask": (1,),
    "arp_announce": (20_000, 60_000),
    "pause": (1,),
}
"""Those of a device that stores a frame before it sends it."""
_HOLDS, _MERGES = (100, 1800, 6000), (2, 3, 8, 64)
_SHARE = 0.25
_UNANSWERED = 22_000  # the adapter gives up sooner to ask for an address


def drawn_habits(draw: Random, base: Base) -> Habits:
    """Of one twin; whose stream it does not have, a habit has no effect."""
    chosen = {name: values for name, values in _WAITS.items() if _has(base, name)} | _OPEN
    if draw.random() < 0.7:
        chosen |= {"store": (1,), **_STORED}
    habits = {
        name: draw.choice(values)
        for name, values in chosen.items()
        if name == "store" or draw.random() < _SHARE
    }
    for name in _BEATS:
        if _has(base, name) and draw.random() < _SHARE / 2:
            habits[name] = 1 if base.width == 8 else draw.choice((1, 3))
    if "store" in habits and draw.random() < 0.5:
        habits |= {"ack_hold": draw.choice(_HOLDS), "ack_merge": draw.choice(_MERGES)}
    if base.manifest.cm is not None and habits.get("tx_id") == 2:
        habits["tx_id"] = 1  # of whom the device calls, the adapter is not told the first
    if base.is_late:
        habits.pop("timer_up", None)
    if not base.manifest.capabilities.operations or base.manifest.cm is not None:
        habits.pop("no_flush", None)
    return habits


def _has(base: Base, habit: str) -> bool:
    responder, stream = base.manifest.responder, habit.partition("_")[0]
    if stream in ("rcv", "rcp"):
        return responder is not None
    if stream == "mr":
        return responder is not None and not responder.static_regions
    if stream in ("mwc", "mwd", "mrc", "mrd"):
        return responder is not None and not responder.backdoor
    return True


def stretch(habits: Habits) -> int:
    """By how much all takes longer."""
    return 1 + max((habits.get(name, 0) for name in _BEATS), default=0)


def slowest(habits: Habits) -> int:
    """How many cycles an answer takes longer besides."""
    late = sum(habits.get(name, 0) for name in (*_WAITS, "rx_late", "tx_late", "aside_late"))
    late += habits.get("answer_late", 0) + habits.get("answer_late_too", 0)
    late += 6 * habits.get("tx_gap", 0) + 3 * habits.get("ack_hold", 0)
    return 2 * late + _UNANSWERED * habits.get("arp_ask", 0)
