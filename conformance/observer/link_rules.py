# SPDX-License-Identifier: BSD-2-Clause
"""Rules on Ethernet, VLAN, IP and UDP that one frame decides by itself."""

from collections.abc import Iterator

from roceproof.conformance.observer.observed import Observed
from roceproof.conformance.rules.findings import Violation
from roceproof.conformance.rules.table import Severity
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import (
    BTH_BYTES,
    ETHER_ROCE_V1,
    ETHERNET_BYTES,
    ETHERNET_MINIMUM,
    ICRC_BYTES,
    IP_PROTOCOL_UDP,
    ROCE_UDP_PORT,
    UDP_BYTES,
    Fault,
    Layout,
    locate,
    payload_of_ethernet,
)
from roceproof.conformance.wire.ip import DONT_FRAGMENT, checksum
from roceproof.conformance.wire.opcodes import Transport

_MULTICAST_QPN = 0xFFFFFF
_DEI = 1 << 12
_IPV4_BYTES, _IPV6_BYTES = 20, 40


def outsiders(frame: bytes) -> Iterator[Violation]:
    """ETH-01, UDP-01: frames that are not RoCE, but meant to be."""
    link = payload_of_ethernet(frame)
    if link is None:
        return
    ether_type, at = link
    if ether_type == ETHER_ROCE_V1:
        if frame[at : at + 1] == b"\x45":
            yield Violation("ETH-01", "a GRH behind EtherType 0x8915", "an IPv4 header")
        return
    layout = locate(frame, port=None)
    if layout is None or layout.fault is not None:
        return
    at = layout.udp + 2
    port = int.from_bytes(frame[at : at + 2], "big")
    redirected = frame[:at] + ROCE_UDP_PORT.to_bytes(2, "big") + frame[at + 2 :]
    found = frame[layout.end - ICRC_BYTES : layout.end]
    if found in (icrc.compute_at(frame, layout), icrc.compute_at(redirected, layout)):
        yield Violation("UDP-01", f"port {ROCE_UDP_PORT}", f"port {port}")


def broken(frame: bytes, layout: Layout, size: int) -> Violation:
    """IP-02, UDP-02, ICRC-01, IP-03: why a packet cannot be cut into its parts."""
    udp_length = layout.end - layout.udp
    start = layout.ip if layout.version == 4 else layout.ip + _IPV6_BYTES
    at = layout.ip + (2 if layout.version == 4 else 4)
    claimed = int.from_bytes(frame[at : at + 2], "big")
    room = size - start
    if layout.fault is Fault.FRAGMENT:
        return Violation("IP-03", "no More Fragments", "More Fragments")
    if layout.fault is Fault.SHORT:
        least = UDP_BYTES + BTH_BYTES
        otherwise = "IP-02" if layout.version == 1 else "UDP-02"
        rule = "ICRC-01" if udp_length == least else otherwise
        wanted = f"a UDP length of at least {least + ICRC_BYTES}, for BTH and ICRC"
        return Violation(rule, wanted, str(udp_length))
    fits = claimed == room or (size <= ETHERNET_MINIMUM and claimed < room)
    if fits:
        right = claimed - (layout.udp - start)
        wanted = f"a UDP length of {right}, as the IP length says"
        return Violation("UDP-02", wanted, str(udp_length))
    if claimed > room:
        wanted = f"an IP length of at most {room}, for the frame ends there"
        return Violation("IP-02", wanted, str(claimed))
    wanted = f"an IP length of {layout.end - start}, as the UDP length says"
    return Violation("IP-02", wanted, str(claimed))


def ethernet(packet: Observed) -> Iterator[Violation]:
    """ETH-02, ETH-04, ETH-05."""
    frame, size, end = packet.frame, packet.size, packet.end
    wanted = max(0, ETHERNET_MINIMUM - end)
    if not packet.cut and size - end != wanted:
        expected, got = f"{wanted} bytes behind the ICRC", str(size - end)
        severity = Severity.SHOULD if size - end > wanted else Severity.INFO
        yield Violation("ETH-02", expected, got, severity)
    if wanted and any(frame[end:ETHERNET_MINIMUM]):
        yield Violation("ETH-04", "zeros", frame[end:ETHERNET_MINIMUM].hex())
    if frame[0] & 1 or not any(frame[:6]):
        datagram = packet.transport_class == Transport.UD
        if not (frame[0] & 1 and datagram and packet.dest_qpn == _MULTICAST_QPN):
            yield Violation("ETH-05", "a unicast MAC address", frame[:6].hex(":"))


def has_odd_tags(packet: Observed) -> bool:
    """VLAN-04: more than one tag, or DEI in any."""
    tags = range(ETHERNET_BYTES, packet.ip, 4)
    return len(tags) > 1 or any(packet.frame[at] << 8 & _DEI for at in tags)


def ip_size(packet: Observed) -> int:
    """The length of the IP packet, or of the GRH and what follows it."""
    return packet.end - packet.ip


def ip(frame: bytes, layout: Layout) -> Iterator[Violation]:
    """IP-01, IP-03, IP-05, IP-06 where TTL or hop limit is 0."""
    at = layout.ip
    if layout.version != 4:
        if frame[at + 7] == 0:
            yield Violation("IP-06", "hop limit of at least 1", "0")
        return
    options = layout.udp - at - _IPV4_BYTES
    if options:
        yield Violation("IP-01", "IHL 5", f"IHL {5 + options // 4}")
    fragment = int.from_bytes(frame[at + 6 : at + 8], "big")
    if fragment != DONT_FRAGMENT:
        yield Violation("IP-03", f"flags {DONT_FRAGMENT:#06x}", f"{fragment:#06x}")
    if checksum(frame[at : layout.udp]):
        right = checksum(frame[at : at + 10] + b"\0\0" + frame[at + 12 : layout.udp])
        got = int.from_bytes(frame[at + 10 : at + 12], "big")
        yield Violation("IP-05", f"checksum {right:#06x}", f"{got:#06x}")
    if frame[at + 8] == 0:
        yield Violation("IP-06", "TTL of at least 1", "0")


def udp(packet: Observed) -> Iterator[Violation]:
    """UDP-02 where the length fits but does not divide by 4, UDP-03."""
    length = packet.udp_length
    if length % 4:
        rule = "IP-02" if packet.version == 1 else "UDP-02"
        yield Violation(rule, "a length that divides by 4", str(length))
    if packet.version == 1 or packet.cut:
        return
    at = packet.udp + 6
    found = packet.frame[at : at + 2]
    if found != b"\0\0":
        tail = length.to_bytes(4, "big") + bytes((0, 0, 0, IP_PROTOCOL_UDP))
        covered = packet.src + packet.dst + tail + packet.frame[packet.udp : packet.end]
        if checksum(covered):
            yield Violation("UDP-03", "checksum 0 or right", found.hex())
