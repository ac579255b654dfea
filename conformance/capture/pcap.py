# SPDX-License-Identifier: BSD-2-Clause
"""The classic capture format: one header, then packets of one interface."""

from collections.abc import Iterator
from struct import Struct

from roceproof.conformance.capture.record import (
    LINK_ETHERNET,
    PACKET_LIMIT,
    CaptureError,
    Flow,
    Record,
    Source,
)

_NANO = 10**9
_VERSION = 2
_FCS_PRESENT = 1 << 26

PCAP_MAGICS: dict[bytes, tuple[str, int]] = {
    bytes.fromhex(magic): (sign, tick_ns)
    for magic, sign, tick_ns in (
        ("a1b2c3d4", ">", 1000),
        ("d4c3b2a1", "<", 1000),
        ("a1b23c4d", ">", 1),
        ("4d3cb2a1", "<", 1),
    )
}
"""The four spellings of the magic number: byte order and nanoseconds per tick."""


def read_pcap(source: Source, magic: bytes) -> Iterator[Record]:
    """The packets of a capture whose magic number has been taken."""
    sign, tick_ns = PCAP_MAGICS[magic]
    header = Struct(sign + "4xH14xI")
    packet = Struct(sign + "IIII")
    head = magic + source.take(header.size - len(magic))
    if len(head) < header.size:
        remedy = "it holds no packet; repeat the capture"
        raise CaptureError(source.name, 0, "ends inside its header", remedy)
    version, link_word = header.unpack(head)
    if version != _VERSION:
        remedy = f"convert it to version {_VERSION}"
        raise CaptureError(source.name, 4, f"is pcap of version {version}", remedy)
    if link_word & 0xFFFF != LINK_ETHERNET:
        raise source.not_ethernet(link_word & 0xFFFF)
    fcs_bytes = 2 * (link_word >> 28) if link_word & _FCS_PRESENT else 0

    number = 0
    while head := source.take(packet.size):
        at = source.offset - len(head)
        number += 1
        if len(head) < packet.size:
            raise source.damaged("ends inside a packet header", at)
        seconds, ticks, captured, full_size = packet.unpack(head)
        if captured > PACKET_LIMIT:
            raise source.damaged(f"claims a packet of {captured} bytes", at)
        frame = source.take(captured)
        if len(frame) < captured:
            raise source.damaged("ends inside a packet", at)
        yield Record(
            "interface 0",
            seconds * _NANO + ticks * tick_ns,
            Flow.UNKNOWN,
            frame,
            bytes_cut=max(0, full_size - captured),
            number=number,
            fcs_bytes=fcs_bytes,
        )
