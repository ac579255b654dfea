# SPDX-License-Identifier: BSD-2-Clause
"""The rules of what differed first in a case, which tell more than all that it accuses."""

from collections.abc import Iterator

from roceproof.conformance.model.codes import AethType
from roceproof.conformance.runner.attribution.last_request import (
    asks_again,
    needs_no_receive,
    refuses_no_bytes,
)
from roceproof.conformance.runner.attribution.rule_attribution import services_of
from roceproof.conformance.runner.attribution.unreadable import instead_of_a_packet
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.reporting.divergence import differed, on_services
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_site import Kind, Stop
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.service import Service

_OF_A_DUPLICATE: dict[tuple[str, ...], str] = {
    ("ACK-01",): "DUP-01",
    ("READ-02",): "DUP-04",
    ("ATOM-05",): "DUP-07",
}
"""By the rule that an answer is missing."""
_HAS_NO_RIGHT, _NEEDS_NONE = ("RETH-07",), ("RETH-05",)
_STARVES, _NEEDS_NO_RECEIVE = ("RNR-01",), ("RNR-08",)
_HALF = PSN_MODULUS // 2


def first_difference(bench: Bench, failure: CaseFailed, stop: Stop | None) -> tuple[str, ...]:
    """Of a failure that stopped there; empty where its words do not tell.

    Where a later packet came than the one that was due, the one that was due may have come as a
    frame that nobody can read.
    """
    if stop is not None and stop.kind is Kind.NO_COMPLETION and stop.at is not None:
        if stop.at.spec.service is not Service.RC:
            return ("UC-01",)
        return ("ACK-05" if is_behind_another(bench, stop) else "ACK-08",)
    if stop is not None and stop.skips and (cause := instead_of_a_packet(bench)):
        return cause.rules
    told = on_services(differed(failure), services_of(bench))
    if told == _HAS_NO_RIGHT and refuses_no_bytes(bench):
        return _NEEDS_NONE
    if told == _STARVES and needs_no_receive(bench):
        return _NEEDS_NO_RECEIVE
    again = _OF_A_DUPLICATE.get(told)
    return (again,) if again and asks_again(bench) else told


def is_behind_another(bench: Bench, stop: Stop) -> bool:
    """Whether ACKs name only PSNs behind it, which stand for it, too (ACK-05)."""
    if stop.message is None or not isinstance(stop.at, Connection):
        return False
    last = stop.at.spec.sq_psn + stop.message.last_psn
    behind = [(psn - last) % PSN_MODULUS for psn in _acknowledged(bench, stop.at)]
    reaching = [psn for psn in behind if psn < _HALF]
    return bool(reaching) and min(reaching) > 0


def _acknowledged(bench: Bench, connection: Connection) -> Iterator[int]:
    for entry in bench.transcript.entries():
        if entry.is_sent or entry.is_void or entry.flow is not connection.to_device:
            continue
        packet = parse(entry.frame)
        if packet and packet.aeth and packet.aeth.syndrome >> 5 == AethType.ACK:
            yield packet.bth.psn
