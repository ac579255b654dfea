# SPDX-License-Identifier: BSD-2-Clause
"""Why a packet never came: a frame did, in which one field says that it is no RoCEv2."""

from collections.abc import Iterator
from struct import pack_into, unpack_from

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.failure_site import Cause
from roceproof.conformance.wire.codec import parse
from roceproof.conformance.wire.framing import (
    ETHER_IPV4,
    ETHER_IPV6,
    IP_PROTOCOL_UDP,
    ROCE_UDP_PORT,
    payload_of_ethernet,
)
from roceproof.conformance.wire.host_traffic import ETHER_ARP
from roceproof.conformance.wire.mac_control import ETHER_MAC_CONTROL

_ETHER_TYPES = {4: ETHER_IPV4, 6: ETHER_IPV6}
_SPOKEN = {ETHER_IPV4, ETHER_IPV6, ETHER_ARP, ETHER_MAC_CONTROL}
_OFFSET = 0x1FFF


def unreadable(bench: Bench) -> Cause | None:
    """The field, if a frame of the device is for a queue pair that it has with that one mended."""
    numbers = {connection.spec.remote_qpn for connection in bench.connections}
    for frame in _unread(bench):
        for mended, words, rule in _mended(frame):
            packet = parse(mended)
            if packet is not None and packet.bth.dest_qpn in numbers:
                return Cause(f"a frame came for it with {words}", (rule,))
    return None


def instead_of_a_packet(bench: Bench) -> Cause | None:
    """The same, where one packet of a row is missing.

    Then its EtherType is enough, if it is none that a device of RoCEv2 has anything to say in.
    """
    if (cause := unreadable(bench)) is not None:
        return cause
    for frame in _unread(bench):
        link = payload_of_ethernet(frame)
        if link is not None and link[0] not in _SPOKEN:
            return Cause(f"a frame came with the EtherType {link[0]:#06x}", ("ETH-01",))
    return None


def _unread(bench: Bench) -> list[bytes]:
    sent = (entry.frame for entry in bench.transcript.entries() if entry.is_sent)
    return [frame for frame in sent if parse(frame) is None]


def _mended(frame: bytes) -> Iterator[tuple[bytes, str, str]]:
    """The frame with each of the fields set right that say what it is; in words, and the rule."""
    link = payload_of_ethernet(frame)
    if link is None or len(frame) <= link[1]:
        return
    found, ip = link
    version = frame[ip] >> 4
    is_ipv4 = version == 4
    if version not in _ETHER_TYPES:
        return
    protocol, udp = (ip + 9, ip + 20) if is_ipv4 else (ip + 6, ip + 40)
    if len(frame) < udp + 4:
        return
    rows = [
        (">H", ip - 2, _ETHER_TYPES[version], f"the EtherType {found:#06x}", "ETH-01"),
        ("B", protocol, IP_PROTOCOL_UDP, f"the IP protocol {frame[protocol]}", "ETH-01"),
        (">H", udp + 2, ROCE_UDP_PORT, "the UDP port {}", "UDP-01"),
    ]
    if is_ipv4:
        (flags,) = unpack_from(">H", frame, ip + 6)
        rows += [
            ("B", ip, 0x45, f"an IPv4 header of {frame[ip] & 15} words", "IP-01"),
            (">H", ip + 6, flags & ~_OFFSET, f"the fragment offset {flags & _OFFSET}", "IP-03"),
        ]
    for form, at, right, words, rule in rows:
        mended = bytearray(frame)
        pack_into(form, mended, at, right)
        yield bytes(mended), words.format(*unpack_from(form, frame, at)), rule
