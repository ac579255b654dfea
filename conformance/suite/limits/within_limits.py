# SPDX-License-Identifier: BSD-2-Clause
"""Keeps a case within what its device can do: what lies beyond is a skip that names the limit."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import pytest

from roceproof.conformance.model.ingress import GSI_QPN
from roceproof.conformance.model.segmentation import AWAIT_DATA
from roceproof.conformance.suite.limits.skips import PREFIX, missing, no_other_mtu
from roceproof.conformance.suite.packets import Wanted
from roceproof.conformance.suite.pattern import Maker, Pattern
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Claims
from roceproof.conformance.wire.codec import Packet
from roceproof.conformance.wire.opcodes import OPCODES, Opcode, Payload
from roceproof.conformance.wire.operations import has_operation, operations_of
from roceproof.verbs.limit_table import why_beyond
from roceproof.verbs.limits import Limits
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Work

_CLAIM_OF = dict.fromkeys((Op.CMP_SWAP, Op.FETCH_ADD), Capability.ATOMIC.name)


def require_service(claims: Claims, service: Service) -> None:
    """For a queue pair: a device that does not serve it owes nobody an answer there."""
    capability = Capability[service.name]
    if capability not in claims.capabilities:
        pytest.skip(PREFIX + missing(claims, capability))


def allowed_values(
    claims: Claims, said: Mapping[str, Any], drawn: Mapping[str, Any]
) -> dict[str, Any]:
    """The fields of a queue pair: what the device fixes goes before what is drawn.

    A case that says another value cannot be tried. One that says a path MTU which the device
    lacks gets its smallest, and `Lengths` makes of that case's lengths the corresponding ones.
    """
    values = {**drawn, **said, **fixed_values(claims, said)}
    if values.get("path_mtu", claims.path_mtus[0]) not in claims.path_mtus:
        values["path_mtu"] = min(claims.path_mtus)
    return values


def fixed_values(claims: Claims, said: Mapping[str, Any]) -> dict[str, Any]:
    """What nobody can choose of a queue pair; a case that says otherwise cannot be tried."""
    for name, value in claims.limits.fixed_of_qp.items():
        if said.get(name, value) != value:
            _skip(claims, f"its {name} is always {value}, not {said[name]}")
    return dict(claims.limits.fixed_of_qp)


@dataclass(frozen=True)
class Lengths:
    """What a queue pair makes of the lengths that a case thinks in.

    A case thinks in one path MTU and in any number of bytes. Where the device has another MTU, a
    length of so many packets and a rest becomes one of as many packets and that rest, or, if the
    rest does not fit a packet there, one that lacks as much of a whole packet; where its lengths
    are whole words, the rest is rounded up. Path MTUs are whole words, so that what holds of a
    message holds of its last packet, and patterns fit that were written for the case's.
    """

    limits: Limits
    thought: int  # path MTUs
    real: int

    def fit(self, length: int) -> int:
        """Of a message of the device, or of the payload of its packet."""
        packets, rest = self._in_packets(length)
        return packets * self.real + self.limits.fit(rest)

    def spread(self, length: int) -> int:
        """Of a message to the device, which takes any length."""
        packets, rest = self._in_packets(length)
        return packets * self.real + rest

    def _in_packets(self, length: int) -> tuple[int, int]:
        packets, rest = divmod(length, self.thought)
        return packets, rest if rest <= self.real else max(1, rest + self.real - self.thought)

    def fit_pattern(self, wanted: Wanted) -> Wanted:
        """A request of the device with as many bytes as `post` will have given it.

        A pattern with the very bytes of its payload was made from work that was posted.
        """
        is_same = self.thought == self.real and self.limits.length_multiple == 1
        if (
            is_same
            or not isinstance(wanted, Pattern)
            or isinstance(wanted.said.get("payload"), bytes)
        ):
            return wanted
        row = OPCODES.get(wanted.opcode)
        if row is None or row.is_response:
            return wanted
        return self._fitted(wanted, "payload", "dmalen")

    def fit_answer(self, sent: Pattern) -> Pattern:
        """A READ's data of as many bytes as the device will have asked for."""
        row = OPCODES.get(sent.opcode)
        is_data = row is not None and row.is_response and row.payload is not Payload.NONE
        return self._fitted(sent, "payload") if is_data else sent

    def _fitted(self, pattern: Pattern, *names: str) -> Pattern:
        said = {name: pattern.said.get(name) for name in names}
        return pattern.but(**{name: self.fit(n) for name, n in said.items() if type(n) is int})


def require_mtu(claims: Claims, mtu: int) -> None:
    """For what shows at just this path MTU."""
    if mtu not in claims.path_mtus:
        _skip(claims, no_other_mtu(claims))


def require_tries_after_rnr(claims: Claims) -> None:
    """For what shows where a message that met no receiver is sent again."""
    if claims.limits.fixed.get("rnr_retry") == 0:
        _skip(claims, "its rnr_retry is always 0")


def require_queue_pairs(claims: Claims, count: int) -> None:
    """For what shows where there are so many."""
    if claims.qps < count:
        _skip(claims, why_beyond("qps", limit=claims.qps))


def several_mtus(claims: Claims) -> list[int]:
    """Those that the device claims, smallest first, where it has more than one."""
    if len(claims.path_mtus) < 2:
        _skip(claims, no_other_mtu(claims))
    return sorted(claims.path_mtus)


def allowed_work(
    claims: Claims,
    service: Service | None,
    work: Work,
    *,
    said: Mapping[str, Any],
    first: Mapping[str, int],
) -> None:
    """Whether such work can be tried at all, however little is outstanding.

    `said` are the fields that the case has chosen, `first` those of the queue pair's first work.
    Work that is to be refused for its service, None, has an operation that the device has on one.
    """
    limits = claims.limits
    reason = (
        limits.against_operation(service, work.op)
        or limits.against_work(work.op, work.size)
        or limits.against_choice(said, first)
    )
    if reason:
        _skip(claims, reason)


def executable_request(claims: Claims, service: Service, packet: Packet | None) -> None:
    """Whether the device, as a responder, has the operation of a request to be sent to it.

    What it takes on QP1 is no matter of its responder.
    """
    executed = claims.executed_on(service)
    if packet is not None and packet.bth.dest_qpn == GSI_QPN:
        return
    row = OPCODES.get(packet.bth.opcode) if packet is not None else None
    if executed is None or row is None or row.is_response or row.transport.value != service.value:
        return
    wanted = operations_of(row)
    if wanted and wanted.isdisjoint(executed):
        names = " or ".join(sorted(operation.name for operation in wanted))
        _skip(claims, f"it does not execute {names} on {service.name}")


def executed_of(claims: Claims, service: Service, operations: Iterable[Op]) -> list[Op]:
    """Those of these operations that the device executes, for cases that take any."""
    held = held_reads(claims)
    found = [
        each
        for each in operations
        if claims.does_execute(service, each) and (held != 0 or each not in AWAIT_DATA)
    ]
    if not found:
        skip_for_requests(claims, service)
    return found


def executed_packets(claims: Claims, service: Service, makers: Iterable[Maker]) -> list[Maker]:
    """Those of these packets that belong to an operation which the device executes."""
    executed = claims.executed_on(service)
    found = [each for each in makers if executed is None or _belongs(each, executed)]
    if not found:
        skip_for_requests(claims, service)
    return found


def _belongs(maker: Maker, executed: Collection[Op]) -> bool:
    return has_operation(OPCODES[maker().opcode], executed)


def sent_of(claims: Claims, service: Service, operations: Iterable[Op]) -> list[Op]:
    """Those of these operations that the device, as a requester, has on a service."""
    return [
        op
        for op in operations
        if Capability[_CLAIM_OF.get(op, op.name)] in claims.capabilities
        and claims.limits.against_operation(service, op) is None
    ]


def require_sent(claims: Claims, service: Service, operations: Iterable[Op]) -> list[Op]:
    """The same, for cases that take any of these messages with payload."""
    found = sent_of(claims, service, operations)
    if not found:
        skip_for_services(claims, [service])
    return found


def require_lack(claims: Claims, service: Service, row: Opcode) -> None:
    """For what shows where the device, as a responder, does not have an operation."""
    executed = claims.executed_on(service)
    if executed is None or has_operation(row, executed):
        _skip(claims, f"it executes {row.name}")


def allowed_depth(claims: Claims, messages: int, packets: int) -> None:
    """Whether so much, with the message to be posted, may be outstanding on one queue pair."""
    reason = claims.limits.against_depth(messages, packets)
    if reason:
        _skip(claims, reason)


def held_reads(claims: Claims) -> int | None:
    """How many READs and atomics the device holds, where nobody can choose."""
    return claims.limits.fixed_of_qp.get("max_dest_rd_atomic")


def allowed_read_depth(claims: Claims, needed: int) -> None:
    """Whether the device can hold so many READs and atomics, where nobody can choose how many."""
    held = held_reads(claims)
    if held is not None and held < needed:
        _skip(claims, f"its max_dest_rd_atomic is always {held}, not {needed}")


def skip_for_depth(claims: Claims) -> NoReturn:
    """For what cannot go on, since the device may not have more outstanding."""
    _skip(claims, "it may not have enough outstanding")


def skip_for_commands(claims: Claims) -> NoReturn:
    """For what shows where a device takes a command while it sends."""
    _skip(claims, "it takes no command for a queue pair amid a message")


def skip_for_services(claims: Claims, services: Iterable[Service]) -> NoReturn:
    """For what shows where a device sends messages with payload on one of these services."""
    _skip(claims, f"it sends no payload on {' or '.join(service.name for service in services)}")


def skip_for_requests(claims: Claims, *services: Service) -> NoReturn:
    """For what asks a device, as a responder, for operations that all are too much for it."""
    names = " or ".join(service.name for service in services)
    _skip(claims, f"it executes nothing of that on {names}")


def _skip(claims: Claims, reason: str) -> NoReturn:
    pytest.skip(f"{PREFIX}{claims.device}: {reason}")
