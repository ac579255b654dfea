# SPDX-License-Identifier: BSD-2-Clause
"""What a manifest says of the device as a responder: the contract's second version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from roceproof.dpi.toml_table import Table, shown
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

MOST_HELD = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Responder:
    """What requests the device executes, and how much it holds for that."""

    operations: Mapping[Service, frozenset[Op]]
    regions: int = 16  # at once
    receives: int = 16  # on one queue
    states: bool = False  # it knows the QP commands between reset and activation

    @property
    def reads_memory(self) -> bool:
        """Whether it has ports for that."""
        return any(Op.READ in operations for operations in self.operations.values())


def read_responder(table: Table) -> Responder:
    """The table `[responder]`."""
    operations = {}
    for service in Service:
        if service.name not in table:
            continue
        names = table.take_list(service.name, str)
        for name in names:
            if name not in Op.__members__:
                known = ", ".join(Op.__members__)
                raise table.error(service.name, f"{shown(name)} is none of {known}")
        operations[service] = frozenset(Op[name] for name in names)
    limits = {
        key: table.take_number(key, least=1, most=MOST_HELD)
        for key in ("regions", "receives")
        if key in table
    }
    states = table.take("states", bool, default=False)
    table.finish()
    return Responder(operations=operations, states=states, **limits)
