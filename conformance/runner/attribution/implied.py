# SPDX-License-Identifier: BSD-2-Clause
"""Whether work that never completed was acknowledged by its own PSN, or by that of later work."""

from collections.abc import Iterator

from roceproof.conformance.model.codes import AethType
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.reporting.failure_site import Stop
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.psn import PSN_MODULUS

_HALF = PSN_MODULUS // 2


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
