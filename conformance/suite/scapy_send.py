# SPDX-License-Identifier: BSD-2-Clause
"""Scapy packets on their way to the device: what a case did not set comes from its connection.

A packet that begins with its link layer is a whole frame and says everything itself. One that
begins at a VLAN tag, IP, UDP or BTH is of the connection: layers below it are put there, and
fields that are not set take the value that a pattern would give them. Its PSN is relative.
What Scapy derives (lengths, the IP checksum, pad, ICRC) it derives here, too, unless it is set.
"""

import random as global_random
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from random import Random
from typing import Any

from scapy.contrib import roce
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Dot3, Ether
from scapy.packet import Packet

from roceproof.conformance.suite.flow_codec import FlowCodec
from roceproof.conformance.suite.pattern import Pattern
from roceproof.conformance.suite.reporting.failure import Incomplete
from roceproof.conformance.wire.opcodes import name_of
from roceproof.conformance.wire.scapy.bth import BTH, ServiceOfConnection
from roceproof.conformance.wire.scapy.dissection import dissected
from roceproof.conformance.wire.scapy.edits import NotAFrame, is_frame
from roceproof.conformance.wire.scapy.extensions import ExtensionLayer
from roceproof.verbs.addresses import Host

_STACK: tuple[tuple[type[Packet], ...], ...] = (
    (Ether,),
    (Dot1Q, Dot1AD),
    (IP, IPv6),
    (UDP,),
    (roce.BTH,),
)
_BY_SCAPY = frozenset(
    ["type", "proto", "nh", "dport", "ihl", "len", "plen", "chksum", "padcount", "pad", "icrc"]
)
"""Fields that follow from the layers around them."""


def each_of(packet: Packet, random: Random) -> list[Packet]:
    """The packets that a Scapy packet stands for; its random fields are drawn from the seed."""
    with _drawing_from(random):
        return list(packet)


def completed(packet: Packet, flow: FlowCodec) -> Packet:
    """The whole frame of one packet of this direction."""
    if is_frame(packet):
        return addressed(packet, flow.src, flow.dst)
    rank = _rank(packet)
    if rank is None:
        raise NotAFrame(
            f"{packet.summary()} begins with {packet.name}: begin it at BTH, UDP or IP to have "
            "the rest from the connection, or with Ether"
        )
    whole = packet.copy()
    example = _example(whole, flow)
    for layer in whole.iterpayloads():
        _fill(layer, example)
    below = [layer for layer in example.iterpayloads() if (_rank(layer) or 0) < rank]
    for layer in reversed([layer for layer in below if _rank(layer) is not None]):
        whole = type(layer)(**_settable(layer)) / whole
    return whole


def wire_opcode(value: int, flow: FlowCodec) -> int:
    """An opcode with the service of this direction, where it names none itself."""
    return flow.opcode_of(_pattern(value))


def addressed(frame: Packet, src: Host, dst: Host) -> Packet:
    """A whole frame in which addresses that are not set are these, and not this machine's."""
    if not is_frame(frame):
        raise NotAFrame(
            f"{frame.summary()} begins with {frame.name}, and no connection supplies what is "
            "below it; begin it with Ether, or send it with qp.send"
        )
    whole = frame.copy()
    for layer in whole.iterpayloads():
        for name, value in _addresses(layer, src, dst).items():
            if name not in layer.fields:
                if not _is_address_of(layer, value):
                    raise Incomplete(f"{layer.name} has no {name}, and the connection none for it")
                layer.setfieldval(name, value)
    return whole


@contextmanager
def _drawing_from(random: Random) -> Iterator[None]:
    state = global_random.getstate()
    global_random.seed(random.getrandbits(64))
    try:
        yield
    finally:
        global_random.setstate(state)


def _rank(layer: Packet) -> int | None:
    found = (rank for rank, kinds in enumerate(_STACK) if isinstance(layer, kinds))
    return next(found, None)


def _example(packet: Packet, flow: FlowCodec) -> Packet:
    """A frame that the connection's patterns would make, with every value that can be missing."""
    bth = packet.getlayer(roce.BTH, _subclass=True)
    if bth is None:
        return dissected(flow.build(Pattern("SEND_ONLY", 0x04, {})))
    if "opcode" not in bth.fields:
        raise Incomplete("the BTH says no opcode; give it one, as in BTH(opcode='WRITE ONLY')")
    pattern = _pattern(bth.opcode).but(dmalen=len(bytes(_payload_behind(bth))))
    if "psn" in bth.fields:
        pattern = pattern.but(psn=bth.psn)
    example = dissected(flow.build(pattern))
    bth.opcode, bth.psn = example[BTH].opcode, example[BTH].psn
    return example


def _pattern(value: int) -> Pattern:
    return Pattern(name_of(value), int(value), {}, isinstance(value, ServiceOfConnection))


def _payload_behind(bth: Packet) -> Packet:
    layer = bth.payload
    while isinstance(layer, ExtensionLayer | roce.AETH):
        layer = layer.payload
    return layer


def _fill(layer: Packet, example: Packet) -> None:
    like = next((each for each in example.iterpayloads() if isinstance(each, type(layer))), None)
    if like is None:
        if isinstance(layer, IP | IPv6):
            raise Incomplete(f"the connection has no {layer.name}; begin the packet at UDP or BTH")
        return
    for name, value in _settable(like).items():
        if name not in layer.fields:
            layer.setfieldval(name, value)


def _settable(layer: Packet) -> dict[str, Any]:
    derived = _BY_SCAPY - {"chksum"} if isinstance(layer, UDP) else _BY_SCAPY
    return {name: value for name, value in layer.fields.items() if name not in derived}


def _addresses(layer: Packet, src: Host, dst: Host) -> dict[str, str]:
    if isinstance(layer, Ether | Dot3):
        return {"src": src.mac.hex(":"), "dst": dst.mac.hex(":")}
    if isinstance(layer, ARP):
        return {"hwsrc": src.mac.hex(":"), "psrc": str(ip_address(src.ip))}
    if isinstance(layer, IP | IPv6):
        return {"src": str(ip_address(src.ip)), "dst": str(ip_address(dst.ip))}
    return {}


def _is_address_of(layer: Packet, value: str) -> bool:
    return not isinstance(layer, IP | IPv6) or (":" in value) == isinstance(layer, IPv6)
