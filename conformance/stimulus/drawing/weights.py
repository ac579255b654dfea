# SPDX-License-Identifier: BSD-2-Clause
"""How often a plan does what. Steering towards what was not reached changes these and no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_TABLES: Mapping[str, Mapping[str, float]] = {
    # which kind of plan
    "theme": {
        "mix": 20,
        "crowd": 10,
        "burst": 12,
        "long": 6,
        "failures": 12,
        "receive": 13,
        "moments": 16,
        "restarts": 3,
        "neighbours": 4,
        "depth": 9,
        "timeouts": 6,
        "beside": 2,
        "held_up": 4,
        "expiries": 6,
        "window": 8,
        "wear": 3,
        "endless": 4,
        "life": 1.5,
        "replaced": 3,
        "histories": 5,
        "meetings": 8,
        "days": 5,
    },
    "service": {"RC": 7, "UC": 3, "UD": 1},
    "op": {"SEND": 3, "SEND_IMM": 3, "WRITE": 3, "WRITE_IMM": 3},
    "size": {
        "none": 2,
        "few": 4,
        "beat": 3,
        "mtu": 6,
        "many": 3,
        "any": 3,
        "large": 0.6,
        "largest": 0.15,
    },
    "bits": {
        "any": 10,
        "again": 2,
        "neighbour": 2,
        "zeros": 1,
        "ones": 1,
        "one": 2,
        "hole": 2,
        "low": 1,
        "high": 1,
        "small": 1,
    },
    "psn": {"any": 4, "wrap": 3, "half": 2, "carry": 2},
    "timeout": {"never": 6, "short": 2, "middle": 2, "any": 4},
    "soon": {"soonest": 4, "short": 1},
    "armed": {"never": 1, "short": 6, "middle": 3, "any": 2},
    "stall": {"0": 8, "30": 2, "60": 2, "70": 1, "90": 3, "99": 1},
    "act": {
        "post": 14,
        "burst": 2,
        "answer": 10,
        "flawed": 4,
        "salvo": 1.5,
        "serve": 2,
        "nak": 1.5,
        "wait": 10,
        "until": 6,
        "disturb": 3,
        "foreign": 3,
        "ask": 2,
        "restart": 1.5,
        "reset": 0.6,
        "idle": 0.6,
        "refused": 1.2,
        "replace": 0.6,
        "settle": 1,
    },
    "flaw": {
        "icrc": 5,
        "covered": 3,
        "mac": 4,
        "checksum": 1.5,
        "header": 1.5,
        "stranger": 2,
        "dst_ip": 1,
        "dst_mac": 1,
        "alias": 2,
        "opcode": 2,
        "port": 1,
        "tver": 1,
        "pkey": 1,
        "fragment": 1,
        "short": 1,
    },
    "answer": {
        "newest": 8,
        "oldest": 3,
        "share": 3,
        "flip": 3,
        "back": 2,
        "ahead": 2,
        "old": 1,
        "half": 0.7,
        "far": 1,
    },
    "wait": {"cycles": 5, "short": 4, "middle": 3, "long": 1},
}


@dataclass(frozen=True)
class Weights:
    """The tables, some of their entries more likely than usual."""

    factors: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def of(self, what: str) -> Mapping[str, float]:
        table, factors = _TABLES[what], self.factors.get(what)
        if factors is None:
            return table
        return {name: weight * factors.get(name, 1) for name, weight in table.items()}
