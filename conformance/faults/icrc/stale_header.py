# SPDX-License-Identifier: BSD-2-Clause
"""What a CRC sees that taps the header before its last stage has written to it.

Each edit works on the bytes from the IP header on and leaves the wire alone.
"""

from __future__ import annotations

from roceproof.conformance.wire.framing import ICRC_BYTES, UDP_BYTES, Layout

_PSN_AT = UDP_BYTES + 9
_IPV4_ID_AT = 4


def _length_places(layout: Layout) -> tuple[int, int]:
    return (2 if layout.version == 4 else 4), layout.udp - layout.ip + 4


def lengths_without_icrc(head: bytearray, layout: Layout) -> None:
    """IP and UDP length as they were before the ICRC made the packet longer."""
    for at in _length_places(layout):
        before = int.from_bytes(head[at : at + 2], "big") - ICRC_BYTES
        head[at : at + 2] = before.to_bytes(2, "big")


def lengths_zero(head: bytearray, layout: Layout) -> None:
    """IP and UDP length not yet filled in."""
    for at in _length_places(layout):
        head[at : at + 2] = bytes(2)


def ipv4_id_zero(head: bytearray, layout: Layout) -> None:
    """The IPv4 identification not yet filled in."""
    if layout.version == 4:
        head[_IPV4_ID_AT : _IPV4_ID_AT + 2] = bytes(2)


def psn_incremented(head: bytearray, layout: Layout) -> None:
    """The PSN register one step ahead of the packet."""
    at = layout.udp - layout.ip + _PSN_AT
    psn = int.from_bytes(head[at : at + 3], "big")
    head[at : at + 3] = ((psn + 1) % (1 << 24)).to_bytes(3, "big")
