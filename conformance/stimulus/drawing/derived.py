# SPDX-License-Identifier: BSD-2-Clause
"""What plans say of a queue pair unnamed: the other fields of the contract's record."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import Any

from roceproof.conformance.coverage.scope import Scope
from roceproof.conformance.stimulus.drawing.values import Draw
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.conformance.wire.framing import DEI
from roceproof.dpi.contract.fields import Field, contract_field, contract_fields
from roceproof.verbs.queue_pair import QpSpec

NUMBERS = {each.name for each in fields(QpSpec) if each.type in (int, "int")}
_PARTS, _TAGGED = ("tag_high", "tag_low"), 0.4


def the_rest(draw: Draw, claims: Claims, named: Collection[str]) -> dict[str, Any]:
    """Every number of a queue pair's record that is not named, and that means something there."""
    scope = Scope.of([claims])

    def is_meant(field: Field) -> bool:
        is_free = field.name in NUMBERS and field.name not in named and not field.why
        return is_free and all(map(scope.allows, field.needs.split()))

    record = contract_fields()["qp_config_t"].values()
    return {field.name: field.draw(draw.aside) for field in record if is_meant(field)}


def tag(draw: Draw, claims: Claims) -> dict[str, Any]:
    """The tag of a queue pair's packets, now and then, if the device's network is the bench."""
    has_tags = {Capability.VLAN, Capability.LOCKSTEP} <= claims.capabilities
    if not has_tags or draw.aside.random() >= _TAGGED:
        return {}
    high, low = (contract_field("qp_config_t", name).draw(draw.aside) for name in _PARTS)
    return {"vlan": (high << 8 | low) & ~DEI}
