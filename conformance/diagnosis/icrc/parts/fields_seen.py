# SPDX-License-Identifier: BSD-2-Clause
"""Faults that are one header field seen with some other value, whatever rule the value follows."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.icrc.parts.crc_input import MASKED, CrcInput
from roceproof.conformance.diagnosis.icrc.parts.evidence import seen_as

_SIGNATURES = {
    "ttl": "S01",
    "tos": "S02",
    "ip checksum": "S03",
    "udp checksum": "S04",
    "bth byte 4": "S05",
    "psn": "S55",
    "ackreq": "S55",
    "id": "S55",
    "p_key": "S55",
    "ip length": "S55",
    "udp length": "S55",
    "migreq": "S55",
    "solicited": "S55",
    "qpn": "S55",
    "source port": "S55",
}
_EDITED_LATE = ("psn", "ackreq", "id", "p_key", "ip length", "udp length")
_MARGIN = 40  # bits by which the ICRCs say more than the fields could make up
_BITS = {"ackreq": 1, "migreq": 1, "solicited": 1, "ttl": 8, "tos": 8, "bth byte 4": 8}
_BITS |= {"psn": 24, "qpn": 24}
_SHARE = 0.8
_PROBES = 6
_SOLVING_UNITS = 200


class FieldFault(NamedTuple):
    """Fields that the CRC saw otherwise than they stand on the wire."""

    fields: tuple[str, ...]
    examples: tuple[str, ...]
    is_as_sent: bool
    """Whether a field that should be masked was seen as it was sent; else it is something else."""

    @property
    def id(self) -> str:
        """The signature of the first field."""
        return _SIGNATURES[self.fields[0]]

    @property
    def facts(self) -> tuple[str, ...]:
        """Which fields, and what the CRC saw in a few packets."""
        return (f"the CRC saw another {' and '.join(self.fields)}: {'; '.join(self.examples)}",)

    def explained(self, wrong: Sequence[CrcInput]) -> list[CrcInput]:
        """The packets that these fields explain."""
        return [packet for packet in wrong if seen_as(packet, self.fields) is not None]


def field_fault(wrong: Sequence[CrcInput], budget: Budget) -> FieldFault | None:
    """The fewest fields that explain the wrong packets, if those say enough to tell."""
    choices = [(name,) for name in _SIGNATURES]
    for fields in (*choices, *combinations(_EDITED_LATE, 2)):
        bits = sum(_BITS.get(field, 16) for field in fields)
        if bits >= 32 or (32 - bits) * _distinct(wrong) < _MARGIN:
            continue
        budget.spend(_PROBES * _SOLVING_UNITS)
        if not _worth_it(fields, wrong):
            continue
        budget.spend(len(wrong) * _SOLVING_UNITS)
        heads = [(packet, seen_as(packet, fields)) for packet in wrong]
        hits = [(packet, head) for packet, head in heads if head is not None]
        if hits and len(hits) >= _SHARE * len(wrong):
            sent = all(
                _value(packet, head, field) == _value(packet, packet.head, field)
                for packet, head in hits
                for field in fields
                if field in MASKED
            )
            return FieldFault(fields, _examples(fields, hits[:3]), sent)
    return None


def _worth_it(fields: tuple[str, ...], wrong: Sequence[CrcInput]) -> bool:
    probes = wrong[:: len(wrong) // _PROBES + 1]
    return 2 * sum(seen_as(packet, fields) is not None for packet in probes) >= len(probes)


def _distinct(wrong: Sequence[CrcInput]) -> int:
    return len({packet.found ^ packet.right for packet in wrong})


def _examples(fields: tuple[str, ...], hits: Sequence[tuple[CrcInput, bytes]]) -> tuple[str, ...]:
    return tuple(
        f"frame {packet.seen.number}: {_value(packet, head, field)}"
        f" instead of {_value(packet, packet.head, field)}"
        for packet, head in hits
        for field in fields
    )


def _value(packet: CrcInput, head: bytes, field: str) -> str:
    return bytes(head[at] & bits for at, bits in packet.spans(field)).hex()
