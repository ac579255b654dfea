# SPDX-License-Identifier: BSD-2-Clause
"""The invariant CRC of RoCE, from the standard library's CRC-32.

The ICRC covers the packet from the IP header to the last pad byte, as if eight
bytes of ones stood in front (the absent LRH) and every field that a router may
rewrite held ones. It is sent least significant byte first. Bytes of the frame
behind the UDP datagram (Ethernet pad) and in front of IP (MACs, VLAN tags)
have no part in it.
"""

from enum import StrEnum
from typing import NamedTuple
from zlib import crc32

from roceproof.conformance.wire.framing import BTH_BYTES, ICRC_BYTES, UDP_BYTES, Layout, locate

_SEED = crc32(b"\xff" * 8)
_HEADER_BYTES = UDP_BYTES + BTH_BYTES


class Judgement(StrEnum):
    """What can be said about the ICRC of one frame."""

    NOT_ROCE = "not-roce"
    MALFORMED = "malformed"
    OK = "ok"
    BAD = "bad"


class Verdict(NamedTuple):
    """Judgement with both values as they stand on the wire (None where there is no packet)."""

    judgement: Judgement
    found: bytes | None = None
    computed: bytes | None = None


_NOT_ROCE = Verdict(Judgement.NOT_ROCE)
_MALFORMED = Verdict(Judgement.MALFORMED)


def masked_headers(frame: bytes, layout: Layout) -> bytearray:
    """IP, UDP and BTH with ones in every field that may change in flight."""
    udp = layout.udp - layout.ip
    head = bytearray(frame[layout.ip : layout.udp + _HEADER_BYTES])
    if layout.version == 4:
        head[1] = head[8] = head[10] = head[11] = 0xFF  # TOS, TTL, header checksum
    else:
        head[0] |= 0x0F  # traffic class and flow label
        head[1] = head[2] = head[3] = head[7] = 0xFF  # ... and hop limit
    if layout.version != 1:
        head[udp + 6] = head[udp + 7] = 0xFF  # UDP checksum
    head[udp + UDP_BYTES + 4] = 0xFF  # FECN, BECN and six reserved bits
    return head


def masked_input(frame: bytes) -> bytes:
    """The exact bytes whose CRC-32 is the ICRC, for showing and for tests."""
    layout = _sound_layout(frame)
    tail = frame[layout.udp + _HEADER_BYTES : layout.end - ICRC_BYTES]
    return b"\xff" * 8 + masked_headers(frame, layout) + tail


def compute_at(frame: bytes, layout: Layout) -> bytes:
    """The right ICRC of a located packet, in wire order; `layout` must have no fault."""
    crc = crc32(masked_headers(frame, layout), _SEED)
    body = memoryview(frame)[layout.udp + _HEADER_BYTES : layout.end - ICRC_BYTES]
    return crc32(body, crc).to_bytes(ICRC_BYTES, "little")


def compute(frame: bytes) -> bytes:
    """The right ICRC of a frame whose last four packet bytes are any placeholder."""
    return compute_at(frame, _sound_layout(frame))


def check(frame: bytes) -> Verdict:
    """Judge the ICRC of any frame; never raises."""
    layout = locate(frame)
    if layout is None:
        return _NOT_ROCE
    if layout.fault is not None:
        return _MALFORMED
    found = frame[layout.end - ICRC_BYTES : layout.end]
    computed = compute_at(frame, layout)
    judgement = Judgement.OK if found == computed else Judgement.BAD
    return Verdict(judgement, found, computed)


def reseal(frame: bytes) -> bytes:
    """The same frame with the ICRC that its present bytes call for."""
    layout = _sound_layout(frame)
    return frame[: layout.end - ICRC_BYTES] + compute_at(frame, layout) + frame[layout.end :]


def _sound_layout(frame: bytes) -> Layout:
    layout = locate(frame)
    if layout is None:
        raise ValueError("not a RoCEv2 frame: pass one with UDP destination port 4791")
    if layout.fault is not None:
        raise ValueError(f"no ICRC position: {layout.fault}")
    return layout
