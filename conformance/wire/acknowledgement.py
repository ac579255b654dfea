# SPDX-License-Identifier: BSD-2-Clause
"""The ACK of a request, from the peer that the request went to."""

from dataclasses import replace

from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.headers import Aeth, Bth

_RC_ACKNOWLEDGE, _NO_CREDITS = 0x11, 0x1F


def acknowledgement(request: Packet, *, qpn: int, msn: int = 0) -> bytes:
    """A frame to the requester's queue pair; MSN is that of the message acknowledged."""
    return build(
        Packet(
            dst_mac=request.src_mac,
            src_mac=request.dst_mac,
            ip=replace(request.ip, src=request.ip.dst, dst=request.ip.src),
            udp_sport=request.udp_sport,
            bth=Bth(_RC_ACKNOWLEDGE, qpn, request.bth.psn),
            extensions=(Aeth(_NO_CREDITS, msn),),
        )
    )
