# SPDX-License-Identifier: BSD-2-Clause
"""What of a frame is wrong whose fields are all right: checksums, pad, ICRC, what stands behind."""

from roceproof.conformance.suite.notation import Mismatch
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.framing import ICRC_BYTES, locate
from roceproof.conformance.wire.notation import first_difference

_IP_CHECKSUM, _UDP_CHECKSUM = 10, 6
_CHECKSUM_BYTES, _SHOWN = 2, 8


def wrong_bytes(want: bytes, got: bytes) -> Mismatch:
    """The first place of a right frame in which another differs."""
    at = first_difference(want, got)
    for name, start, size in _places(want):
        if start <= at < start + size:
            own = slice(start, start + min(size, _SHOWN))
            return Mismatch(name, want[own].hex() or "none", got[own].hex() or "none")
    shown = slice(at, at + _SHOWN)
    return Mismatch(f"bytes from {at} on", want[shown].hex() or "none", got[shown].hex() or "none")


def _places(frame: bytes) -> list[tuple[str, int, int]]:
    """Name, start and size of all that a packet's fields do not say."""
    layout, packet = locate(frame), parse(frame)
    if layout is None or packet is None:
        return []
    icrc = layout.end - ICRC_BYTES
    pad = packet.bth.pad_count
    found = [
        ("udp_checksum", layout.udp + _UDP_CHECKSUM, _CHECKSUM_BYTES),
        ("pad bytes", icrc - pad, pad),
        ("icrc", icrc, ICRC_BYTES),
        ("trailer", layout.end, 1 << 16),
    ]
    if layout.version == 4:
        found.append(("ip_checksum", layout.ip + _IP_CHECKSUM, _CHECKSUM_BYTES))
    return found
