# SPDX-License-Identifier: BSD-2-Clause
"""What a plan makes wrong with a request on its way: damage, strangers, headers of others."""

from collections.abc import Callable

from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.framing import IP_PROTOCOL_UDP
from roceproof.conformance.wire.ip import CE
from roceproof.verbs.addresses import Host

Flaw = Callable[[Pattern, Connection, int], Pattern]
"""Of a request to a queue pair; the number says which bit, byte or value, where there are many."""

_BTH_AT, _ICRC_BITS = 8, 32
_SERVICES, _SERVICE_SHIFT = 7, 5
_HOST_BYTES = 3  # of an IPv4 address, those that say no class of it
_FRAGMENT_HEADER = 44


def _other_service(request: Pattern, qp: Connection, number: int) -> Pattern:
    """Of RC, UC, RD, UD, or of what those have no bits for: CNP, XRC, a manufacturer's."""
    steps = 1 + number % _SERVICES
    own = qp.to_device.opcode_of(request)
    other = (own >> _SERVICE_SHIFT ^ steps) << _SERVICE_SHIFT | own & 0x1F
    return request.resealed(edits.set_udp(_BTH_AT, bytes([other])))


def _flipped_address(host: Host, number: int) -> bytes:
    changed = bytearray(host.ip)
    places = len(host.ip) if host.is_ipv6 else _HOST_BYTES
    changed[-1 - number // 8 % places] ^= 1 << number % 8
    return bytes(changed)


def _fragment(request: Pattern, qp: Connection, number: int) -> Pattern:
    if qp.spec.remote.is_ipv6:
        return request.corrupted(edits.flip_protocol(IP_PROTOCOL_UDP ^ _FRAGMENT_HEADER))
    return request.corrupted(edits.fragment((0x2000, 0x0004)[number % 2]))


FLAWS: dict[str, Flaw] = {
    "icrc": lambda request, _, n: request.corrupted(edits.bad_icrc(1 << n % _ICRC_BITS)),
    "payload": lambda request, _, n: request.corrupted(edits.flip_end(1 + n % 8, 1 << n % 7)),
    "header": lambda request, _, n: request.corrupted(edits.flip_udp(_BTH_AT + n % 12, 0x01)),
    "tver": lambda request, _, n: request.but(tver=1 + n % 15),
    "pkey": lambda request, _, n: request.but(pkey=0xFFFF ^ 1 << n % 15),
    "member": lambda request, _, __: request.but(pkey=0x7FFF),
    "qpn": lambda request, qp, n: request.but(qpn=qp.qp.qpn ^ 1 << n % 24),
    "service": _other_service,
    "stranger": lambda request, qp, n: request.but(src_ip=_flipped_address(qp.spec.remote, n)),
    "astray": lambda request, qp, n: request.but(dst_ip=_flipped_address(qp.to_device.dst, n)),
    "pad": lambda request, _, n: request.but(pad=n % 4),
    "short": lambda request, _, n: request.resealed(edits.truncate(12 + 4 * (n % 8))),
    "cut": lambda request, _, n: request.resealed(edits.resize(-4 * (1 + n % 3))),
    "grown": lambda request, _, n: request.resealed(edits.resize(1 + n % 5)),
    "fragment": _fragment,
    "trailer": lambda request, _, n: request.resealed(
        edits.Trailer(bytes([n & 0xFF | 1]) * (1 + n % 8))
    ),
    "marked": lambda request, qp, n: request.but(
        becn=n & 1,
        fecn=n >> 1 & 1,
        resv6=n % 64,
        ttl=1 + n % 255,
        tos=qp.to_device.tos & ~CE | n >> 2 & CE,
    ),
}
"""By name; what must come of each the oracle knows, who sees the very bytes."""
