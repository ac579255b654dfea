# SPDX-License-Identifier: BSD-2-Clause
"""Codec and Scapy layers agree on every opcode, in both directions, in every field.

Fields are random; each opcode goes over IPv4, IPv6 and both behind tags, with each count of pad
bytes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import astuple, fields, replace
from functools import cache
from ipaddress import ip_address

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import NoPayload, Packet, Raw

from roceproof.conformance.wire import headers, scapy
from roceproof.conformance.wire.codec import Packet as Parsed
from roceproof.conformance.wire.codec import build, parse
from roceproof.conformance.wire.headers import Bth, Extension
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.conformance.wire.opcodes import OPCODES, Payload

BTH_FIELDS = {
    "opcode": "opcode",
    "dest_qpn": "dqpn",
    "psn": "psn",
    "solicited": "solicited",
    "migreq": "migreq",
    "pad_count": "padcount",
    "version": "version",
    "pkey": "pkey",
    "fecn": "fecn",
    "becn": "becn",
    "reserved6": "resv6",
    "ack_req": "ackreq",
    "reserved7": "resv7",
}
EXTENSION_FIELDS = {
    headers.Reth: (scapy.RETH, ("address", "rkey", "length")),
    headers.ImmDt: (scapy.ImmDt, ("value",)),
    headers.Ieth: (scapy.IETH, ("rkey",)),
    headers.AtomicEth: (scapy.AtomicETH, ("address", "rkey", "swap_or_add", "compare")),
    headers.AtomicAckEth: (scapy.AtomicAckETH, ("remote_data",)),
    headers.Aeth: (scapy.AETH, ("syndrome", "msn")),
    headers.CnpReserved: (scapy.CNPReserved, ("value",)),
}
BITS = {"dest_qpn": 24, "psn": 24, "version": 4, "pkey": 16, "reserved6": 6, "reserved7": 7}
NETWORKS = ("ipv4", "ipv6", "tagged ipv4", "tagged ipv6")


@cache
def both_of(opcode: int) -> list[tuple[Parsed, Packet, bytes]]:
    """Packets of one opcode for the codec and for Scapy, and what Scapy builds of them."""
    packets = [(packet, stacked(packet)) for packet in any_packets(opcode)]
    return [(packet, layers, bytes(layers)) for packet, layers in packets]


def any_packets(opcode: int) -> Iterator[Parsed]:
    """Of one opcode, over each kind of network and with each pad that it may have."""
    row = OPCODES[opcode]
    for network in NETWORKS:
        for pad in (0,) if row.payload is Payload.NONE else range(4):
            draw = random.Random(f"{opcode} {network} {pad}")
            size = 0 if row.payload is Payload.NONE else 4 * draw.randrange(1, 9) - pad
            bth = {f.name: draw.getrandbits(BITS.get(f.name, 1)) for f in fields(Bth)}
            bth |= {"opcode": opcode, "pad_count": pad}
            yield Parsed(
                dst_mac=b"\x02" + draw.randbytes(5),
                src_mac=b"\x02" + draw.randbytes(5),
                ip=any_ip(draw, is_ipv6=network.endswith("6")),
                udp_sport=draw.getrandbits(16),
                bth=Bth(**{**bth, **{name: bool(bth[name]) for name in booleans()}}),
                extensions=tuple(kind.unpack(draw.randbytes(kind.SIZE)) for kind in row.headers),
                payload=draw.randbytes(size),
                vlans=b"\x81\0" + draw.randbytes(2) if "tagged" in network else b"",
            )


def booleans() -> list[str]:
    return [f.name for f in fields(Bth) if f.type == "bool"]


def any_ip(draw: random.Random, *, is_ipv6: bool) -> Ipv4 | Ipv6:
    tos, ttl = draw.getrandbits(8), draw.getrandbits(8)
    if is_ipv6:
        return Ipv6(draw.randbytes(16), draw.randbytes(16), tos, draw.getrandbits(20), ttl)
    return Ipv4(draw.randbytes(4), draw.randbytes(4), tos, draw.getrandbits(16), 0x4000, ttl)


def stacked(packet: Parsed) -> Packet:
    """The packet in Scapy, said field by field and with nothing derived but by Scapy."""
    layer = Ether(dst=packet.dst_mac.hex(":"), src=packet.src_mac.hex(":"))
    if packet.vlans:
        layer /= Dot1Q(packet.vlans[2:] + b"\0\0")
        del layer[Dot1Q].type
    ip, ends = packet.ip, {"src": text(packet.ip.src), "dst": text(packet.ip.dst)}
    if isinstance(ip, Ipv4):
        layer /= IP(tos=ip.tos, ttl=ip.ttl, id=ip.ident, flags="DF", **ends)
    else:
        layer /= IPv6(tc=ip.traffic_class, fl=ip.flow_label, hlim=ip.hop_limit, **ends)
    layer /= UDP(sport=packet.udp_sport, chksum=0)
    values = {ours: getattr(packet.bth, theirs) for theirs, ours in BTH_FIELDS.items()}
    layer /= scapy.BTH(**{name: int(v) for name, v in values.items() if name != "padcount"})
    for header in packet.extensions:
        layer /= in_scapy(header)
    return layer / Raw(packet.payload) if packet.payload else layer


def in_scapy(header: Extension) -> Packet:
    if isinstance(header, headers.Deth):
        word = header.source_word
        return scapy.DETH(qkey=header.qkey, reserved=word >> 24, sqpn=word & 0xFFFFFF)
    if isinstance(header, headers.Feth):
        word = header.word
        return scapy.FETH(reserved=word >> 6, selectivity=word >> 4 & 3, placement=word & 15)
    kind, names = EXTENSION_FIELDS[type(header)]
    return kind(**dict(zip(names, astuple(header), strict=True)))


def text(address: bytes) -> str:
    return str(ip_address(address))


def test_both_build_the_same_frame_of_the_same_values(subtests: pytest.Subtests) -> None:
    for opcode, row in OPCODES.items():
        with subtests.test(row.name):
            for packet, _, frame in both_of(opcode):
                assert frame.ljust(60, b"\0") == build(packet)


def test_scapy_reads_what_the_codec_built(subtests: pytest.Subtests) -> None:
    for opcode, row in OPCODES.items():
        with subtests.test(row.name):
            for packet, said, _ in both_of(opcode):
                frame = build(packet)
                got = scapy.dissected(frame)
                for layer in said.iterpayloads():
                    same = got.getlayer(type(layer))
                    assert same is not None, type(layer)
                    for name, value in layer.fields.items():
                        assert same.getfieldval(name) == value, f"{type(layer).__name__}.{name}"
                assert got[scapy.BTH].padcount == packet.bth.pad_count
                assert got[scapy.BTH].pad == bytes(packet.bth.pad_count)
                assert (
                    packet.payload
                    or not got.haslayer(Raw)
                    or isinstance(got[Raw].payload, NoPayload)
                )
                again = scapy.refresh(got)
                again[UDP].chksum = 0
                assert bytes(got) == frame == bytes(again).ljust(60, b"\0")


def test_the_codec_reads_what_scapy_built(subtests: pytest.Subtests) -> None:
    for opcode, row in OPCODES.items():
        with subtests.test(row.name):
            for packet, _, frame in both_of(opcode):
                got = parse(frame)
                assert got is not None and got.fault is None
                for name in (
                    "dst_mac",
                    "src_mac",
                    "vlans",
                    "udp_sport",
                    "bth",
                    "extensions",
                    "payload",
                ):
                    assert getattr(got, name) == getattr(packet, name), name
                ip = replace(got.ip, **{name: 0 for name in derived_of(got.ip)})
                assert ip == packet.ip
                assert build(got) == frame.ljust(60, b"\0")


def derived_of(ip: Ipv4 | Ipv6) -> tuple[str, ...]:
    return ("total_length", "checksum") if isinstance(ip, Ipv4) else ("payload_length",)
