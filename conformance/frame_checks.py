# SPDX-License-Identifier: BSD-2-Clause
"""Rules that one frame decides by itself: Ethernet, IP, UDP, ICRC and BTH."""

from __future__ import annotations

from collections.abc import Iterator

from roceproof.conformance import icrc
from roceproof.conformance.codec import Packet
from roceproof.conformance.findings import Violation
from roceproof.conformance.framing import (
    BTH_BYTES,
    ETHERNET_MINIMUM,
    ICRC_BYTES,
    IP_PROTOCOL_UDP,
    ROCE_UDP_PORT,
    UDP_BYTES,
    Fault,
    Layout,
    locate,
)
from roceproof.conformance.headers import ImmDt, Reth
from roceproof.conformance.ip import DONT_FRAGMENT, Ipv4, checksum
from roceproof.conformance.opcodes import Family, Opcode, Payload, Transport


def misdirected(frame: bytes) -> Iterator[Violation]:
    """UDP-01: a packet to another port whose ICRC proves that it is meant for RoCE."""
    layout = locate(frame, port=None)
    if layout is None or layout.fault is not None:
        return
    at = layout.udp + 2
    port = int.from_bytes(frame[at : at + 2], "big")
    redirected = frame[:at] + ROCE_UDP_PORT.to_bytes(2, "big") + frame[at + 2 :]
    found = frame[layout.end - ICRC_BYTES : layout.end]
    if found in (icrc.compute_at(frame, layout), icrc.compute_at(redirected, layout)):
        yield Violation("UDP-01", f"port {ROCE_UDP_PORT}", f"port {port}")


def lengths(frame: bytes, layout: Layout) -> Iterator[Violation]:
    """IP-02, UDP-02, ICRC-01, IP-03: why a packet cannot be cut into its parts."""
    udp_length = layout.end - layout.udp
    start = layout.ip if layout.version == 4 else layout.udp
    at = layout.ip + (2 if layout.version == 4 else 4)
    claimed = int.from_bytes(frame[at : at + 2], "big")
    room = len(frame) - start
    match layout.fault:
        case Fault.FRAGMENT:
            yield Violation("IP-03", "no More Fragments", "More Fragments")
        case Fault.SHORT:
            least = UDP_BYTES + BTH_BYTES
            rule = "ICRC-01" if udp_length == least else "UDP-02"
            yield Violation(rule, f"UDP length of at least {least + ICRC_BYTES}", str(udp_length))
        case Fault.IP_LENGTH | Fault.UDP_LENGTH:
            ip_is_right = claimed == room or (len(frame) <= ETHERNET_MINIMUM and claimed < room)
            if ip_is_right:
                right = claimed - (layout.udp - start)
                yield Violation("UDP-02", f"UDP length {right}", str(udp_length))
            else:
                right = layout.end - start
                yield Violation("IP-02", f"IP length {right}", str(claimed))


def ethernet(frame: bytes, packet: Packet) -> Iterator[Violation]:
    """ETH-02, ETH-04, ETH-05."""
    excess = len(packet.trailer)
    wanted = max(0, ETHERNET_MINIMUM - (len(frame) - excess))
    if excess != wanted:
        yield Violation("ETH-02", f"{wanted} bytes behind the ICRC", str(excess))
    elif any(packet.trailer):
        yield Violation("ETH-04", bytes(excess).hex(), packet.trailer.hex())
    if packet.dst_mac[0] & 1 or not any(packet.dst_mac):
        yield Violation("ETH-05", "a unicast MAC address", packet.dst_mac.hex(":"))


def ip(frame: bytes, layout: Layout, packet: Packet) -> Iterator[Violation]:
    """IP-01, IP-03, IP-05."""
    header = packet.ip
    if not isinstance(header, Ipv4):
        return
    if header.options:
        yield Violation("IP-01", "IHL 5", f"IHL {5 + len(header.options) // 4}")
    if header.fragment != DONT_FRAGMENT:
        yield Violation("IP-03", f"flags {DONT_FRAGMENT:#06x}", f"{header.fragment:#06x}")
    residue = checksum(frame[layout.ip : layout.udp])
    if residue:
        right = checksum(
            frame[layout.ip : layout.ip + 10] + b"\0\0" + frame[layout.ip + 12 : layout.udp]
        )
        yield Violation("IP-05", f"checksum {right:#06x}", f"{header.checksum:#06x}")


def udp(frame: bytes, layout: Layout, packet: Packet) -> Iterator[Violation]:
    """UDP-02 where the length fits but does not divide by 4, UDP-03."""
    if packet.udp_length % 4:
        yield Violation("UDP-02", "a UDP length that divides by 4", str(packet.udp_length))
    if packet.udp_checksum:
        address = packet.ip.src + packet.ip.dst
        pseudo = address + packet.udp_length.to_bytes(4, "big") + bytes((0, 0, 0, IP_PROTOCOL_UDP))
        if checksum(pseudo + frame[layout.udp : layout.end]):
            yield Violation("UDP-03", "checksum 0 or right", f"{packet.udp_checksum:#06x}")


def icrc_value(frame: bytes, layout: Layout, packet: Packet) -> Iterator[Violation]:
    """IP-04, ICRC-02, ICRC-03."""
    right = icrc.compute_at(frame, layout)
    if packet.icrc == right:
        return
    rule = "ICRC-03"
    if isinstance(packet.ip, Ipv4):
        rule = "ICRC-02"
        for ident in (0, packet.ip.ident - 1, packet.ip.ident + 1):
            at = layout.ip + 4
            early = frame[:at] + (ident & 0xFFFF).to_bytes(2, "big") + frame[at + 2 :]
            if icrc.compute_at(early, layout) == packet.icrc:
                rule = "IP-04"
    yield Violation(rule, f"ICRC {right.hex()}", packet.icrc.hex())


def lacks_icrc(packet: Packet, row: Opcode) -> Iterator[Violation]:
    """ICRC-01: four bytes are missing, by the opcode's headers or by the length in the RETH."""
    headers = sum(kind.SIZE for kind in row.headers)
    short_of_headers = (
        packet.fault is Fault.HEADERS
        and packet.udp_length == UDP_BYTES + BTH_BYTES + headers
        and headers > 0
    )
    reth = packet.reth
    short_of_payload = (
        reth is not None
        and row.family is Family.WRITE
        and Reth in row.headers
        and row.payload is Payload.ANY
        and -(-reth.length // 4) * 4 == len(packet.payload) + len(packet.pad) + ICRC_BYTES
    )
    if short_of_headers or short_of_payload:
        yield Violation("ICRC-01", "four bytes of ICRC behind the packet", "none")


def bth(packet: Packet, row: Opcode | None) -> Iterator[Violation]:
    """BTH-01, BTH-02, BTH-04, BTH-06, BTH-08, OPC-11, PSN-19, UC-02."""
    header = packet.bth
    if row is None:
        rule = "OPC-11" if header.opcode >> 5 == Transport.UC else "BTH-01"
        yield Violation(rule, "a defined opcode", f"{header.opcode:#04x}")
    elif header.solicited and not row.may_solicit and not row.is_response:
        yield Violation("BTH-02", f"{row.name} without Solicited Event", "Solicited Event")
    if header.version:
        yield Violation("BTH-04", "TVer 0", str(header.version))
    if header.pkey != 0xFFFF:
        yield Violation("BTH-06", "P_Key 0xffff", f"{header.pkey:#06x}")
    congestion = row is not None and row.family is Family.CONGESTION
    if header.fecn or header.reserved6 or (header.becn and not congestion):
        got = header.fecn << 7 | header.becn << 6 | header.reserved6
        yield Violation("BTH-08", "BTH byte 4 of 0x00", f"{got:#04x}")
    if header.reserved7:
        yield Violation("PSN-19", "0x00 beside AckReq", f"{header.reserved7:#04x}")
    if header.ack_req and header.opcode >> 5 == Transport.UC:
        yield Violation("UC-02", "AckReq 0", "AckReq 1")


def headers(packet: Packet, row: Opcode) -> Iterator[Violation]:
    """RETH-01, IMM-01, AETH-01 where a header is cut off or stands in the wrong place."""
    if packet.fault is Fault.HEADERS:
        missing = row.headers[len(packet.extensions)]
        rule = {"Reth": "RETH-01", "ImmDt": "IMM-01", "Aeth": "AETH-01"}.get(
            missing.__name__, "UDP-02"
        )
        yield Violation(rule, f"{row.name} with {missing.__name__}", "no room for it")
    elif row.headers == (Reth, ImmDt) and immediate_stands_first(packet):
        yield Violation("IMM-01", "RETH before the immediate", "the immediate before RETH")


def immediate_stands_first(packet: Packet) -> bool:
    """Whether RETH and ImmDt make sense only when read in the other order."""
    raw = b"".join(header.pack() for header in packet.extensions)
    as_read = Reth.unpack(raw, 0).length
    swapped = Reth.unpack(raw, ImmDt.SIZE).length
    return as_read != len(packet.payload) == swapped


def pads(packet: Packet, row: Opcode) -> Iterator[Violation]:
    """PAD-01 where it exceeds the payload, PAD-02, PAD-05."""
    count = packet.bth.pad_count
    if row.payload is Payload.NONE and count:
        yield Violation("PAD-05", f"{row.name} with PadCnt 0", str(count))
    elif packet.fault is Fault.PAD_COUNT:
        yield Violation("PAD-01", "PadCnt within the payload", str(count))
    elif any(packet.pad):
        yield Violation("PAD-02", bytes(len(packet.pad)).hex(), packet.pad.hex())
