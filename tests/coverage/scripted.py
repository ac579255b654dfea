# SPDX-License-Identifier: BSD-2-Clause
"""A device of which a test says what moves, and the counts of the collector that watches it."""

from __future__ import annotations

from typing import Any

from roceproof.conformance.coverage.collector import Collector
from roceproof.conformance.coverage.counts import Counts
from roceproof.conformance.targets.bus_events import (
    Configured,
    Grant,
    Movement,
    Posted,
    Provided,
    Received,
    Registered,
    Sent,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Arrival, Claims, Patience, Target
from roceproof.conformance.wire.codec import Packet, build
from roceproof.conformance.wire.headers import Aeth, Bth, Extension
from roceproof.conformance.wire.ip import Ipv4
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Work

DEVICE = Host(bytes.fromhex("020000000001"), bytes((192, 168, 1, 1)))
PEER = Host(bytes.fromhex("020000000002"), bytes((192, 168, 1, 2)))
CLAIMS = Claims(
    target="hdl",
    device="scripted",
    capabilities=frozenset(Capability),
    path_mtus=(256, 1024),
    data_width=64,
)


class Scripted(Target):
    """It moves what is put into `script`."""

    def __init__(self) -> None:
        self.host = DEVICE
        self.patience = Patience(1, 1)
        self.script: list[Movement] = []

    @property
    def now_ns(self) -> int:
        return 0

    def watch(self) -> bool:
        return True

    def moved(self) -> list[Movement]:
        moved, self.script = self.script, []
        return moved

    def wait(self, duration_ns: int) -> None:
        pass

    def send(self, frame: bytes) -> None:
        raise NotImplementedError

    def receive(self, timeout_ns: int) -> Arrival | None:
        raise NotImplementedError

    def open(self, spec: QpSpec) -> Qp:
        raise NotImplementedError

    def reopen(self, qp: Qp, spec: QpSpec) -> Qp:
        raise NotImplementedError

    def post(self, qp: Qp, work: Work) -> None:
        raise NotImplementedError

    def completions(self, qp: Qp, *, count: int, timeout_ns: int) -> list[Outcome]:
        raise NotImplementedError


def counted(*movements: Movement | Grant) -> Counts:
    """What a life of these movements has reached."""
    device, counts = Scripted(), Counts()
    collector = Collector(device, CLAIMS, counts)
    for movement in movements:
        if isinstance(movement, Registered | Provided):
            collector.observe(movement)
            continue
        device.script.append(movement)
        collector.target.wait(1)
    collector.finish()
    return counts


def active(
    qpn: int = 0x11, time: int = 0, *, service: Service = Service.RC, **fields: Any
) -> Configured:
    usual: dict[str, Any] = {"remote": PEER, "remote_qpn": qpn + 0x100, "path_mtu": 256}
    return Configured(time, qpn, QpSpec(service=service, local_qpn=qpn, **(usual | fields)))


def posted(
    length: int, time: int = 0, *, qpn: int = 0x11, op: Op = Op.SEND, **fields: Any
) -> Posted:
    return Posted(time, qpn, Work(wr_id=1, op=op, length=length, **fields))


def packet(opcode: int, qpn: int, psn: int, *headers: Extension, data: bytes = b"") -> bytes:
    return build(
        Packet(
            dst_mac=DEVICE.mac,
            src_mac=PEER.mac,
            ip=Ipv4(PEER.ip, DEVICE.ip),
            udp_sport=0xC000,
            bth=Bth(opcode, qpn, psn),
            extensions=headers,
            payload=data,
        )
    )


def sent(psn: int, time: int = 0, *, qpn: int = 0x11, opcode: int = 0x04) -> Sent:
    return Sent(time, packet(opcode, qpn + 0x100, psn, data=bytes(4)))


def answered(psn: int, time: int = 0, *, qpn: int = 0x11, syndrome: int = 0x1F) -> Received:
    return Received(time, packet(0x11, qpn, psn, Aeth(syndrome, 0)))
