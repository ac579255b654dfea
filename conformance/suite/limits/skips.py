# SPDX-License-Identifier: BSD-2-Clause
"""Why a case does not run here. Every reason is one of these; any other skip is an error.

What a capability is called stands in `targets/capability.py`, what a limit in
`verbs/limit_table.py`, and why a manifest lacks one in `targets/manifest_claims.py`.
"""

from collections.abc import Iterable

import pytest

from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.verbs.limit_table import why_beyond

PREFIX = "roceproof: "
_LENGTHS = {"length", "size"}
"""Parameters of cases that are about a message of just this length; limits bind what is sent."""


def reason_to_skip(item: pytest.Item, claims: Claims) -> str | None:
    """The first thing that the case needs and the target does not claim."""
    needed = [*_needed(item.iter_markers("needs"))]
    for capability in needed:
        if capability not in claims.capabilities:
            return PREFIX + missing(claims, capability)
        if capability is Capability.RETRANSMISSION and claims.limits.fixed.get("retry_count") == 0:
            return f"{PREFIX}{claims.device}: its retry_count is always 0"
    for mark in item.iter_markers("targets"):
        if claims.target not in mark.args:
            return f"{PREFIX}only {' and '.join(mark.args)} can show it"
    params = getattr(getattr(item, "callspec", None), "params", {})
    mtu = params.get("mtu")
    if isinstance(mtu, int) and mtu not in claims.path_mtus:
        return f"{PREFIX}{claims.device}: {no_other_mtu(claims)}"
    for name in _LENGTHS & params.keys() if Capability.REQUESTER in needed else ():
        length = params[name]
        reason = claims.limits.against_length(length) if isinstance(length, int) else None
        if reason:
            return f"{PREFIX}{claims.device}: {reason}"
    return None


def missing(claims: Claims, capability: Capability) -> str:
    """Why a capability is not there."""
    why = claims.absent.get(capability)
    text = f"{claims.device} does not {capability.value}"
    return f"{text}: {why}" if why else text


def no_other_mtu(claims: Claims) -> str:
    """Why another path MTU is not tried."""
    return why_beyond("path_mtus", limit=", ".join(map(str, claims.path_mtus)))


def is_known(reason: str) -> bool:
    """Whether a skip's reason is one of ours."""
    return PREFIX in reason


def _needed(marks: Iterable[pytest.Mark]) -> Iterable[Capability]:
    for mark in marks:
        yield from mark.args
