# SPDX-License-Identifier: BSD-2-Clause
"""Which checks of a receiver a case has tried: frames that must be dropped for one reason alone."""

from collections.abc import Collection, Iterator, Mapping
from ipaddress import ip_address
from itertools import islice
from typing import NamedTuple

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.reporting.transcript import DAMAGED
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.framing import Fault
from roceproof.conformance.wire.ip import checksum
from roceproof.conformance.wire.opcodes import Transport
from roceproof.verbs.service import Service

_MOST_FRAMES, _GSI = 512, 1
_OF_A_MARK = "ETH-09"
_IPV4, _IP_AT, _FULL_KEY = b"\x08\x00", 14, 0x7FFF
_OF_FAULTS: dict[Fault | None, str] = {
    Fault.FRAGMENT: "IP-12",
    Fault.IP_LENGTH: "IP-13",
    Fault.UDP_LENGTH: "UDP-09",
    Fault.HEADERS: "BTH-16",
}


class _Peer(NamedTuple):
    ip: bytes
    service: str


def temptations_of(bench: Bench) -> list[str]:
    """The rules for each of which alone the device had to drop some frame of a case."""
    void = (
        each
        for each in bench.transcript.entries()
        if (each.is_void or each.breaks) and not each.is_sent
    )
    rows = [row for epoch in bench.transcript.epochs for row in epoch.qps.values()]
    peers = {row["qpn"]: _Peer(_packed(row["remote_address"]), row["service"]) for row in rows}
    own = {bench.target.host.ip, *(_packed(row["address"]) for row in rows)}
    found = (
        {*_flaws(each.frame, own, peers), *([_OF_A_MARK] if each.comment == DAMAGED else [])}
        for each in islice(void, _MOST_FRAMES)
    )
    return sorted({flaw for flaws in found if len(flaws) == 1 for flaw in flaws})


def _packed(address: str) -> bytes:
    return ip_address(address).packed


def _flaws(frame: bytes, own: Collection[bytes], peers: Mapping[int, _Peer]) -> Iterator[str]:
    packet = parse(frame)
    is_ipv4 = frame[12:14] == _IPV4 and len(frame) > _IP_AT
    if is_ipv4 and checksum(frame[_IP_AT : _IP_AT + 4 * (frame[_IP_AT] & 15)]):
        yield "IP-11"
    if packet is None:
        if is_ipv4 and frame[30:34] not in own:
            yield "GID-05"
        return
    if icrc.check(frame).judgement is icrc.Judgement.BAD:
        yield "ICRC-14"
    if packet.ip.dst not in own:
        yield "GID-05"
    if (rule := _OF_FAULTS.get(packet.fault)) is not None:
        yield rule
    yield from _of_bth(packet, peers)


def _of_bth(packet: Packet, peers: Mapping[int, _Peer]) -> Iterator[str]:
    peer = peers.get(packet.bth.dest_qpn)
    if peer is not None and packet.ip.src != peer.ip:
        yield "GID-02"
    if peer is None and packet.bth.dest_qpn != _GSI:
        yield "BTH-11"
    transport = packet.bth.opcode >> 5
    if peer is not None and transport not in (Service[peer.service], Transport.CNP):
        yield "BTH-12"
    if packet.bth.version:
        yield "BTH-05"
    if packet.bth.pkey & _FULL_KEY != _FULL_KEY:
        yield "BTH-07"
