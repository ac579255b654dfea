# SPDX-License-Identifier: BSD-2-Clause
"""The fault that shows in the headers themselves, not in the ICRC's value: S56."""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address
from itertools import islice
from typing import Any, NamedTuple

from roceproof.conformance.diagnosis.icrc.parts.crc_input import MASKED, CrcInput
from roceproof.conformance.diagnosis.icrc.parts.floor import FLOORS, distinct, shortage
from roceproof.conformance.diagnosis.observation import Observation

_TELLING = frozenset({"bth byte 4", "ip checksum"})  # never ones on a healthy wire
CONFIGURED = frozenset({"ttl", "tos"})
"""The fields that a healthy sender may have all ones in, if it is told so."""


class Leak(NamedTuple):
    """S56: packets that carry the mask on the wire."""

    packets: list[CrcInput]
    fields: list[str]
    """Those that are all ones in all of these packets."""
    doubt: str
    """What is missing for it to be named."""


def leaking(
    packets: Sequence[CrcInput], facts: Mapping[str, Any] | None, others: Iterable[Observation] = ()
) -> Leak:
    """S56: the packets that carry the mask on the wire, and the fields that do in all of them.

    A hop limit or TOS of all ones is a leak only where it is not what is configured. The contrast
    is packets of other transmitters, what is configured, or a second field that is never ones.
    """
    telling = {*_TELLING, *_unlike_configuration(packets, facts)}
    found = [packet for packet in packets if any(_all_ones(packet, field) for field in telling)]
    if all(packet.seen.wrong for packet in found) and 2 * len(found) < len(packets):
        found = []  # all ones as the way makes them, of which the ICRC would know nothing else
    fields = [
        field
        for field in MASKED
        if found and all(_all_ones(packet, field) or not packet.spans(field) for packet in found)
    ]
    borne_out = len(fields) > 1 or not telling <= _TELLING
    contrasting = (seen for seen in others if seen.sound and seen.frame[seen.bth_at + 4] != 0xFF)
    right = FLOORS["S56"].right if borne_out else sum(1 for _ in islice(contrasting, 2))
    doubt = shortage(("S56",), distinct(found), right)
    return Leak(found, fields, doubt if found else "")


def _unlike_configuration(
    packets: Sequence[CrcInput], facts: Mapping[str, Any] | None
) -> list[str]:
    """Return the fields that are all ones in every packet, though configured otherwise."""
    rows = facts.get("qps", ()) if facts else ()
    configured = [(ip_address(row["address"]).packed, row) for row in rows]
    own = [
        row for address, row in configured if any(c.seen.source == address for c in packets[:99])
    ]
    return [
        field
        for field, key, ones in (("ttl", "ttl", 255), ("tos", "dscp", 63))
        if (values := {row[key] for row in own if key in row})
        and ones not in values
        and all(_all_ones(packet, field) for packet in packets)
    ]


def _all_ones(packet: CrcInput, field: str) -> bool:
    spans = packet.spans(field)
    return bool(spans) and all(packet.head[at] & bits == bits for at, bits in spans)
