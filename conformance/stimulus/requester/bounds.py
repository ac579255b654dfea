# SPDX-License-Identifier: BSD-2-Clause
"""Bends what a plan posts to what its device can do, so that one plan suits any device."""

from __future__ import annotations

from roceproof.conformance.model.codes import AethType
from roceproof.conformance.model.segmentation import AWAIT_DATA
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.verbs.service import Service
from roceproof.verbs.work import ATOMICS, Op

SHORT_RNR_TIMER = 4
"""A code: 40 us, where a device keeps it and goes on."""
_TIMER_BITS = 5


def may_post(claims: Claims, service: Service, op: Op, *, is_beyond: bool) -> bool:
    """Whether the device has the operation; what is longer than any message only without limit.

    Data are asked for on RC alone, and where the bench can look at them. A datagram is one packet.
    """
    limits = claims.limits
    if service is Service.UD and (is_beyond or op not in (Op.SEND, Op.SEND_IMM)):
        return False
    needed = {Capability.ATOMIC if op in ATOMICS else Capability[op.name]}
    if op in AWAIT_DATA:
        needed.add(Capability.MEMORY)
        if is_beyond or service is not Service.RC:
            return False
    if not needed <= claims.capabilities or limits.against_operation(service, op) is not None:
        return False
    has_any = Capability.LOCKSTEP in claims.capabilities and limits.longest is None
    return not is_beyond or (has_any and limits.length_multiple == 1)


def hears_only_acks(claims: Claims) -> bool:
    """Whether the device ignores every packet that is no ACK or NAK, whatever else it says."""
    others = (Capability.RESPONDER, Capability.READ, Capability.ATOMIC)
    return claims.capabilities.isdisjoint(others)


def soon(claims: Claims, syndrome: int) -> int:
    """The same, or of an RNR NAK with a long timer one with a short timer where that is kept."""
    is_kept = Capability.RETRANSMISSION in claims.capabilities
    if not is_kept or syndrome >> _TIMER_BITS != AethType.RNR_NAK:
        return syndrome
    timer = syndrome % (1 << _TIMER_BITS)
    return syndrome if 0 < timer <= SHORT_RNR_TIMER else syndrome - timer + SHORT_RNR_TIMER
