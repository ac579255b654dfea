# SPDX-License-Identifier: BSD-2-Clause
"""The rule by which a responder refuses the first packet of a row that is not in its place."""

from collections.abc import Iterable

from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.opcodes import OPCODES, Family, Position, Transport
from roceproof.conformance.wire.psn import PSN_MODULUS, distance

_BEGINS_INSIDE = {Transport.RC: "OPC-07", Transport.UC: "UC-07"}
_OF_ANOTHER_FAMILY = {Transport.RC: "OPC-08", Transport.UC: "OPC-10"}
_GOES_ON_WITH_NOTHING = {Transport.RC: "OPC-06", Transport.UC: "UC-08"}
_BEHIND_A_GAP = {Transport.RC: "PSN-14", Transport.UC: "UC-04"}
_AGAIN, _OF_NO_SUCH_SERVICE = "DUP-01", "BTH-12"


def rule_out_of_order(frames: Iterable[bytes], start: int) -> str | None:
    """Of requests to one queue pair of RC or UC, the first of them due at `start`.

    Where all are in their place, one may have no place there, its opcode being of neither service.
    """
    opened: Family | None = None
    due, otherwise = start, None
    for frame in frames:
        packet = parse(frame)
        if packet is None:
            continue
        row = OPCODES.get(packet.bth.opcode)
        if row is None or row.transport not in _BEGINS_INSIDE:
            otherwise = _OF_NO_SUCH_SERVICE
            continue
        service, begins = row.transport, bool(row.position & Position.FIRST)
        away = distance(packet.bth.psn, due)
        if away < 0 and service is Transport.RC:
            return _AGAIN
        if away and not (begins and service is Transport.UC):
            return _BEHIND_A_GAP[service]
        if begins and opened is not None:
            return _BEGINS_INSIDE[service]
        if not begins and opened is not row.family:
            return (_OF_ANOTHER_FAMILY if opened else _GOES_ON_WITH_NOTHING)[service]
        opened = None if row.position & Position.LAST else row.family
        if row.family is Family.READ:
            return otherwise  # how many PSNs it takes is not looked at
        due = (packet.bth.psn + 1) % PSN_MODULUS
    return otherwise
