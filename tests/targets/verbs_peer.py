# SPDX-License-Identifier: BSD-2-Clause
"""The other end of a device's queue pair, by hand: what it sends, and what it gets."""

from __future__ import annotations

from typing import Any

from roceproof.conformance.targets.interface import Target
from roceproof.conformance.targets.verbs.target import VerbsTarget
from roceproof.conformance.wire.codec import Packet, build, parse
from roceproof.conformance.wire.headers import Bth, Extension
from roceproof.conformance.wire.ip import Ipv4, Ipv6
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service

MAC = bytes.fromhex("0200000000b2")
REMOTE_QPN = 0x10203
PSN = 0xFFFFFE


def peer_of(host: Host, *, last: int = 102) -> Host:
    """Another host of the device's subnet."""
    return Host(MAC, host.ip[:-1] + bytes([last]))


def spec_for(target: Target, service: Service = Service.RC, **more: Any) -> QpSpec:
    """A queue pair whose other end we are."""
    said: dict[str, Any] = {
        "remote": peer_of(target.host),
        "remote_qpn": REMOTE_QPN,
        "rq_psn": PSN,
        "sq_psn": PSN,
    }
    return QpSpec(service=service, **(said | more))


def frame(
    target: VerbsTarget, qp: Qp, opcode: int, psn: int, *extensions: Extension, data: bytes = b""
) -> bytes:
    """A frame to the queue pair that asks for an answer; `psn` counts from PSN."""
    spec = qp.spec
    host = target.host_for(spec)
    version = Ipv4 if len(host.ip) == 4 else Ipv6
    bth = Bth(opcode, qp.qpn, at(psn), ack_req=True)
    ip = version(spec.remote.ip, host.ip)
    tag = b"" if spec.vlan is None else b"\x81\x00" + spec.vlan.to_bytes(2, "big")
    return build(Packet(host.mac, spec.remote.mac, ip, 0xC0DE, bth, extensions, data, tag))


def at(psn: int) -> int:
    """A PSN on the wire."""
    return (PSN + psn) & 0xFFFFFF


def answer(target: Target) -> Packet:
    """The device's next packet, which must come."""
    arrival = target.receive(target.patience.answer_ns)
    assert arrival, "nothing came"
    packet = parse(arrival.frame)
    assert packet
    return packet


def silence(target: Target) -> None:
    """Nothing comes."""
    arrival = target.receive(target.patience.quiet_ns)
    assert arrival is None, parse(arrival.frame)
