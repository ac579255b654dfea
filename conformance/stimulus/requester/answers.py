# SPDX-License-Identifier: BSD-2-Clause
"""What the far side says to a requester: good responses in all their forms, and flawed ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.pattern import ACKNOWLEDGE, Pattern
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.ip import checksum

DAMAGED = "mac"
"""The flaw that the MAC finds, whatever the frame says."""

BEHIND = "behind"
"""Nothing is wrong with it, but what it answers has been answered long ago."""

_QPN_BITS = 24
_FAR_BEHIND, _STRIDE = 1000, 977  # more than is outstanding, and other bits each time
_OTHER_OPCODES = (
    0x81,
    0x31,
    0x51,
    0x91,
    0x0D,
    0x12,
    0x01,
    0x10,
    0x19,
    0x15,
    0x13,
    0x71,
    0x00,
    0xFF,
)
_FRAGMENTS = (0x2000, 0x0001, 0x1FFF, 0x6000)
_UNCOVERED = (1, 8)
"""Bytes of the IPv4 header that only its own checksum covers: TOS and TTL."""
_IN_PAYLOAD = 8 + 12 + 4
"""Behind UDP, BTH and AETH, where the first bytes of the data are, or those of the ICRC."""
_VERSION_BITS, _PROTOCOL_AT, _ETHER_TYPE_BYTES = 4, 9, 2
_ONES = 0xFFFF


def _flipped_bth(at: int, mask: int) -> Callable[[Pattern], Pattern]:
    return lambda pattern: pattern.resealed(edits.flip_udp(8 + at, mask))


def _other_version(bit: int) -> edits.Edit:
    def edit(frame: bytearray) -> None:
        at = edits.layout_of(frame).ip
        frame[at] ^= 0x10 << bit
        frame[at + 10 : at + 12] = bytes(2)
        frame[at + 10 : at + 12] = checksum(bytes(frame[at : at + 20])).to_bytes(2, "big")

    return edit


def _other_type(bit: int) -> edits.Edit:
    def edit(frame: bytearray) -> None:
        frame[edits.layout_of(frame).ip - _ETHER_TYPE_BYTES + bit // 8] ^= 1 << bit % 8

    return edit


def _flaws() -> dict[str, Callable[[Pattern, int, FlowCodec], Pattern]]:
    """Each makes of a good response one that the device must ignore; the number varies it."""

    def other(value: bytes, bit: int) -> bytes:
        changed = bytearray(value)
        changed[bit // 8 % len(value)] ^= 1 << bit % 8
        return bytes(changed)

    return {
        "icrc": lambda p, n, _: p.corrupted(edits.bad_icrc(1 << n % 32)),
        "covered": lambda p, n, _: (
            p.corrupted(edits.flip_udp(8 + n // 8 % 4, 1 << n % 8))
            if n // 8 % 4 != 0
            else p.corrupted(edits.flip_udp(17 + n % 3, 1 << n % 8))
        ),
        "checksum": lambda p, n, _: p.corrupted(edits.flip_ip(10 + n // 8 % 2, 1 << n % 8)),
        "header": lambda p, n, _: p.corrupted(edits.flip_ip(_UNCOVERED[n // 8 % 2], 1 << n % 8)),
        "version": lambda p, n, _: p.corrupted(_other_version(n % _VERSION_BITS)),
        "protocol": lambda p, n, _: p.corrupted(
            edits.flip_ip_checksummed(_PROTOCOL_AT, 1 << n % 8)
        ),
        "ether": lambda p, n, _: p.corrupted(_other_type(n % 16)),
        "stranger": lambda p, n, f: p.but(src_ip=other(f.src.ip, n % (8 * len(f.src.ip)))),
        "dst_ip": lambda p, n, f: p.but(dst_ip=other(f.dst.ip, n % (8 * len(f.dst.ip)))),
        "dst_mac": lambda p, n, f: p.but(dst_mac=other(f.dst.mac, n % 48)),
        "alias": lambda p, n, f: p.but(qpn=f.dest_qpn ^ 1 << n % _QPN_BITS),
        "opcode": lambda p, n, _: p.resealed(
            edits.set_udp(8, bytes((_OTHER_OPCODES[n % len(_OTHER_OPCODES)],)))
        ),
        "port": lambda p, n, _: p.resealed(edits.flip_udp(2 + n // 8 % 2, 1 << n % 8)),
        "tver": lambda p, n, _: p.but(tver=1 + n % 15),
        "pkey": lambda p, n, _: p.but(pkey=0xFFFF ^ 1 << n % 15),
        "fragment": lambda p, n, _: p.corrupted(edits.fragment(_FRAGMENTS[n % len(_FRAGMENTS)])),
        "short": lambda p, n, _: p.resealed(edits.resize(-4)),
        BEHIND: lambda p, n, _: p.but(psn=p.said["psn"] - _FAR_BEHIND - _STRIDE * n),
        DAMAGED: lambda p, _n, _f: p,
    }


FLAWS = _flaws()
_OF_DATA: dict[str, Callable[[Pattern, int, FlowCodec], Pattern]] = {
    "payload": lambda p, n, _: p.corrupted(edits.flip_udp(_IN_PAYLOAD + n % 4, 1 << n // 4 % 8))
}
"""What a response without data cannot have."""
_OF_IPV4 = frozenset(("checksum", "header", "version", "protocol", "fragment"))
"""What is wrong with the header of IPv4 alone."""


def response(
    flow: FlowCodec,
    *,
    psn: int,
    syndrome: int,
    flaw: str | None = None,
    bit: int = 0,
    trailer: int = 0,
    brink: int | None = None,
    **fields: Any,
) -> Pattern:
    """An ACK or NAK at a PSN relative to the queue pair's start.

    What IPv6 has not, is not said over it; a flaw that it has not is one of the ICRC there.
    """
    pattern = ACKNOWLEDGE(psn=psn, syndrome=syndrome, **fields)
    if brink is not None and not flow.src.is_ipv6:
        pattern = pattern.but(ident=_turning(flow.build(pattern.but(ident=0)), brink))
    if flaw is not None:
        pattern = flawed(pattern, flaw, bit, flow)
    if trailer:
        pattern = pattern.corrupted(edits.Trailer(bytes(0xA5 for _ in range(trailer))))
    return pattern


def flawed(answer: Pattern, flaw: str, bit: int, flow: FlowCodec) -> Pattern:
    """The answer with a flaw, which is one of the ICRC where IPv6 has no such."""
    return (FLAWS | _OF_DATA)["icrc" if flow.src.is_ipv6 and flaw in _OF_IPV4 else flaw](
        answer, bit, flow
    )


def _turning(frame: bytes, brink: int) -> int:
    """The identification with which the sum of an IPv4 header is so far from all ones."""
    at = edits.layout_of(frame).ip + 10
    return (int.from_bytes(frame[at : at + 2], "big") + brink) % _ONES
