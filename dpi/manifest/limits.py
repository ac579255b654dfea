# SPDX-License-Identifier: BSD-2-Clause
"""The part of a manifest that says what a device cannot do or choose, and wants around it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from roceproof.dpi.contract.records import Operation
from roceproof.dpi.manifest.toml_table import Table, shown
from roceproof.verbs.limit_table import LIMITS, Kind, Limit
from roceproof.verbs.limits import FIXABLE, Limits
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What a device wants of the network around it."""

    resolves_addresses: bool = False
    """It asks for its peers by ARP and sends nothing before the answer."""


def read_limits(
    table: Table, fixed: Table, operations: Mapping[Service, frozenset[Operation]]
) -> Limits:
    """What is not said is not limited; claims have been taken before."""
    said = {
        row.key: read_limit(table, row) for row in LIMITS if not row.is_claim and row.key in table
    }
    if "length" in said:
        said["shortest"], said["longest"] = said.pop("length")
    result = Limits(
        **said,
        fixed=_fixed(fixed),
        operations={
            service: frozenset(Op[each.name] for each in names)
            for service, names in operations.items()
        },
    )
    if result.outstanding_shared and not result.limits_depth:
        raise table.error(
            "outstanding_shared", "there is neither outstanding_messages nor outstanding_packets"
        )
    table.finish()
    return result


def read_environment(table: Table) -> Environment:
    """Nothing is wanted where nothing is said."""
    result = Environment(resolves_addresses=table.take("resolves_addresses", bool, default=False))
    table.finish()
    return result


def read_limit(table: Table, row: Limit) -> Any:
    match row.kind:
        case Kind.NUMBER:
            return table.take_number(row.key, least=1, most=row.most)
        case Kind.FLAG:
            return table.take(row.key, bool)
        case Kind.RANGE:
            return _lengths(table, row)
        case Kind.LIST:
            values = table.take_list(row.key, type(row.choices[0]))
        case Kind.CHOICE:
            values = [table.take(row.key, type(row.choices[0]))]
    for value in values:
        if value not in row.choices:
            known = ", ".join(map(str, row.choices))
            raise table.error(row.key, f"{shown(value)} is none of {known}")
    return frozenset(values) if row.kind is Kind.LIST else values[0]


def _lengths(table: Table, row: Limit) -> tuple[int, int]:
    ends = table.take(row.key, list)
    is_range = len(ends) == 2 and all(type(end) is int for end in ends)
    if not is_range or not 0 <= ends[0] <= ends[1] <= row.most:
        raise table.error(row.key, f"expected [shortest, longest] in 0 to {row.most} bytes")
    return ends[0], ends[1]


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
