# SPDX-License-Identifier: BSD-2-Clause
"""Keeps a case within what its device can do: what lies beyond is a skip that names the limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import pytest

from roceproof.conformance.suite.packets import Wanted
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.suite.skips import PREFIX
from roceproof.conformance.targets.interface import Claims
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.verbs.service import Service
from roceproof.verbs.work import Work


def allowed_values(
    claims: Claims, said: Mapping[str, Any], drawn: Mapping[str, Any]
) -> dict[str, Any]:
    """The fields of a queue pair: what the device fixes goes before what is drawn.

    A case that says another value, or a path MTU that the device lacks, cannot be tried.
    """
    values = {**drawn, **said}
    for name, value in claims.limits.fixed.items():
        if said.get(name, value) != value:
            _skip(claims, f"its {name} is always {value}, not {said[name]}")
        if name in values:
            values[name] = value
    mtu = values.get("path_mtu")
    if mtu is not None and mtu not in claims.path_mtus:
        _skip(claims, f"it does not claim path MTU {mtu}")
    return values


def fitted(claims: Claims, wanted: Wanted) -> Wanted:
    """A request of the device with as many bytes as `post` will have given it.

    Path MTUs are whole words, too, so what is rounded in a message is rounded in its last packet.
    """
    if claims.limits.length_multiple == 1 or not isinstance(wanted, Pattern):
        return wanted
    row = OPCODES.get(wanted.opcode)
    if row is None or row.is_response:
        return wanted
    lengths = {name: wanted.said.get(name) for name in ("payload", "dmalen")}
    return wanted.but(
        **{name: claims.limits.fit(size) for name, size in lengths.items() if type(size) is int}
    )


def allowed_work(claims: Claims, service: Service, work: Work, *, said: Mapping[str, Any]) -> None:
    """Whether such work can be tried at all, however little is outstanding."""
    limits = claims.limits
    reason = limits.against_operation(service, work.op) or limits.against_length(work.size)
    solicited = limits.fixed.get("solicited", said.get("solicited"))
    if not reason and said.get("solicited", solicited) != solicited:
        reason = f"it always {'sets' if solicited else 'clears'} SE"
    if reason:
        _skip(claims, reason)


def allowed_depth(claims: Claims, messages: int, packets: int) -> None:
    """Whether so much, with the message to be posted, may be outstanding on one queue pair."""
    reason = claims.limits.against_depth(messages, packets)
    if reason:
        _skip(claims, reason)


def _skip(claims: Claims, reason: str) -> NoReturn:
    pytest.skip(f"{PREFIX}{claims.device}: {reason}")
