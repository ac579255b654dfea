# SPDX-License-Identifier: BSD-2-Clause
"""What a case may send and expect: patterns, Scapy packets and, to be sent, frames as bytes.

This is the one place that tells them apart. A case without Scapy packets does not load Scapy.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from roceproof.common.errors import RoceproofError
from roceproof.conformance.suite import notation
from roceproof.conformance.suite.flow_codec import FlowCodec, with_payload
from roceproof.conformance.suite.notation import Mismatch
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.suite.reporting.failure import Incomplete
from roceproof.conformance.wire.codec import Packet
from roceproof.verbs.addresses import Host

if TYPE_CHECKING:
    from scapy.packet import Packet as ScapyPacket

Wanted: TypeAlias = "Pattern | ScapyPacket"
"""What `expect` takes."""

Sendable: TypeAlias = "Pattern | ScapyPacket | bytes"
"""What `send` takes."""


class NoPacket(RoceproofError):
    """A case sends or expects what is no packet; the text says what it may be."""


def filled(pattern: Pattern, random: Random) -> Pattern:
    """The pattern with bytes for a payload that was given as a length."""
    payload = pattern.said.get("payload", b"")
    if isinstance(payload, int):
        return with_payload(pattern, random.randbytes(payload))
    return pattern


def frames_of(packet: Sendable, flow: FlowCodec, random: Random) -> Iterator[bytes]:
    """What is sent in this direction: one frame, or all for which a Scapy packet stands."""
    if isinstance(packet, Pattern):
        yield flow.build(filled(packet, random))
    elif isinstance(packet, bytes | bytearray):
        yield bytes(packet)
    else:
        from roceproof.conformance.suite.scapy_send import completed, each_of

        for each in each_of(_scapy(packet), random):
            yield bytes(completed(each, flow))


def whole_frames(
    packet: ScapyPacket | bytes, src: Host, dst: Host, random: Random
) -> Iterator[bytes]:
    """What is sent from one host to another outside any connection."""
    if isinstance(packet, bytes | bytearray):
        yield bytes(packet)
    else:
        from roceproof.conformance.suite.scapy_send import addressed, each_of

        for each in each_of(_scapy(packet), random):
            yield bytes(addressed(each, src, dst))


def example(wanted: Wanted, flow: FlowCodec) -> bytes | None:
    """A frame that fits, one of many as a rule; None where too little is said to make one."""
    if isinstance(wanted, Pattern):
        choices = {k: min(v) for k, v in wanted.said.items() if isinstance(v, range | frozenset)}
        wanted = wanted.but(**choices)
    try:
        return next(frames_of(wanted, flow, Random(0)))
    except Incomplete:
        return None


def mismatches(wanted: Wanted, packet: Packet, frame: bytes, flow: FlowCodec) -> list[Mismatch]:
    """What a packet that came in this frame has otherwise than was said."""
    if isinstance(wanted, Pattern):
        return notation.mismatches(wanted, packet, flow)
    from roceproof.conformance.suite.scapy_expect import differences

    return differences(_scapy(wanted), frame, flow)


def described(wanted: Wanted) -> str:
    """What was said, in one line."""
    if isinstance(wanted, Pattern):
        return notation.wanted(wanted)
    from roceproof.conformance.suite.scapy_expect import described

    return described(_scapy(wanted))


def _scapy(packet: ScapyPacket) -> ScapyPacket:
    from scapy.packet import Packet as ScapyPacket

    if not isinstance(packet, ScapyPacket):
        raise NoPacket(
            f"{packet!r} is no packet; pass a pattern, a Scapy packet or, to send, bytes"
        )
    return packet
