# SPDX-License-Identifier: BSD-2-Clause
"""Bends what a plan posts to what its device can do, so that one plan suits any device."""

from __future__ import annotations

from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op


def may_post(claims: Claims, service: Service, op: Op, *, is_beyond: bool) -> bool:
    """Whether the device has the operation; what is longer than any message only without limit."""
    limits = claims.limits
    is_claimed = Capability[op.name] in claims.capabilities
    if not is_claimed or limits.against_operation(service, op) is not None:
        return False
    return not is_beyond or (limits.longest is None and limits.length_multiple == 1)
