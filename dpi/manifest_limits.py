# SPDX-License-Identifier: BSD-2-Clause
"""The part of a manifest that says what a device cannot do or choose, and wants around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from roceproof.dpi.records import Operation
from roceproof.dpi.toml_table import Table
from roceproof.verbs.limits import FIXABLE, LONGEST_MESSAGE, Limits
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

MOST_CYCLES = 10**9
SMALLEST_MTU = 256
MOST_OUTSTANDING = 1 << 24


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What a device wants of the network around it."""

    resolves_addresses: bool = False
    """It asks for its peers by ARP and sends nothing before the answer."""


def read_limits(
    table: Table, fixed: Table, operations: Mapping[Service, frozenset[Operation]]
) -> Limits:
    """What is not said is not limited; `path_mtus` and `qps` have been taken before."""
    shortest, longest = _lengths(table)
    outstanding_shared = _shared(table)
    result = Limits(
        length_multiple=_multiple(table),
        shortest=shortest,
        longest=longest,
        outstanding_messages=_optional(table, "outstanding_messages", MOST_OUTSTANDING),
        outstanding_packets=_optional(table, "outstanding_packets", MOST_OUTSTANDING),
        outstanding_shared=outstanding_shared,
        answer_cycles=_optional(table, "answer_cycles", MOST_CYCLES),
        quiet_cycles=_optional(table, "quiet_cycles", MOST_CYCLES),
        fixed=_fixed(fixed),
        operations={
            service: frozenset(Op[each.name] for each in names)
            for service, names in operations.items()
        },
    )
    table.finish()
    return result


def read_environment(table: Table) -> Environment:
    """Nothing is wanted where nothing is said."""
    result = Environment(
        resolves_addresses=table.take("resolves_addresses", bool, default=False),
    )
    table.finish()
    return result


def _multiple(table: Table) -> int:
    multiple = table.take_number("length_multiple", least=1, most=SMALLEST_MTU, default=1)
    if SMALLEST_MTU % multiple:
        raise table.error("length_multiple", f"{multiple} is no power of two")
    return multiple


def _lengths(table: Table) -> tuple[int, int | None]:
    if "length" not in table:
        return 0, None
    ends = table.take("length", list)
    is_range = len(ends) == 2 and all(type(end) is int for end in ends)
    if not is_range or not 0 <= ends[0] <= ends[1] <= LONGEST_MESSAGE:
        raise table.error("length", f"expected [shortest, longest] in 0 to {LONGEST_MESSAGE} bytes")
    return ends[0], ends[1]


def _shared(table: Table) -> bool:
    is_limited = "outstanding_messages" in table or "outstanding_packets" in table
    shared = table.take("outstanding_shared", bool, default=False)
    if shared and not is_limited:
        raise table.error(
            "outstanding_shared", "there is neither outstanding_messages nor outstanding_packets"
        )
    return shared


def _optional(table: Table, key: str, most: int) -> int | None:
    return table.take_number(key, least=1, most=most) if key in table else None


def _fixed(table: Table) -> dict[str, int]:
    found = {}
    for key, most in FIXABLE.items():
        if key not in table:
            continue
        if key == "solicited":
            found[key] = int(table.take(key, bool))
        else:
            found[key] = table.take_number(key, least=0, most=most)
    table.finish()
    return found
