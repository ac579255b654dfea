# SPDX-License-Identifier: BSD-2-Clause
"""IP and UDP headers of what a requester sends."""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over, over_mtus, over_services
from roceproof.conformance.suite.checks.frame_integrity import (
    header_checksums_are_right,
    icrcs_are_right,
    idents_that_carry_twice,
)
from roceproof.conformance.suite.expect.length_fields import udp_length_of
from roceproof.conformance.suite.pattern import NAK, SEQUENCE_ERROR
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.codec import Packet, parse
from roceproof.conformance.wire.ip import DONT_FRAGMENT, Ipv4, Ipv6, checksum
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = REQUESTER
CE = 3

over_writing = pytest.mark.parametrize(
    "op",
    [
        pytest.param(op, id=op.value, marks=needs(Capability[op.value]))
        for op in (Op.SEND, Op.SEND_IMM, Op.WRITE, Op.WRITE_IMM)
    ],
)


def packets_sent(bench: Bench) -> list[Packet]:
    """What the device has sent so far."""
    return [packet for frame in bench.frames_sent() if (packet := parse(frame)) is not None]


def is_udp_checksum_right(frame: bytes) -> bool:
    """Zero is none; otherwise addresses, protocol, length and datagram add up to ones."""
    datagram = frame[34 : 14 + int.from_bytes(frame[16:18], "big")]
    pseudo = frame[26:34] + b"\0\x11" + len(datagram).to_bytes(2, "big")
    return datagram[6:8] == b"\0\0" or checksum(pseudo + datagram) == 0


@case("IP-02", "UDP-02", smoke=True)
@over_services
@over_writing
def test_lengths_count_from_their_header_to_the_icrc(
    bench: Bench, service: Service, op: Op
) -> None:
    qp = bench.connect(service)
    for length in (*range(18), qp.mtu - 1, qp.mtu, qp.mtu + 2):
        message = qp.post(op, length)
        for wanted, packet in zip(message.packets, qp.expect(*message.packets), strict=True):
            right = udp_length_of(wanted)
            assert isinstance(packet.ip, Ipv4)
            assert (packet.udp_length, packet.ip.total_length) == (right, right + 20)
        qp.finish(message)


@case("IP-02", "IP-14", needs=[Capability.SEND, Capability.IPV6])
@over_services
def test_over_ipv6_udp_follows_at_once_and_the_length_is_that_of_udp(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service, ipv6=True)
    for length in (0, 1, qp.mtu, qp.mtu + 1):
        message = qp.post(Op.SEND, length)
        for wanted, packet in zip(message.packets, qp.expect(*message.packets), strict=True):
            assert isinstance(packet.ip, Ipv6)
            assert packet.ip.payload_length == udp_length_of(wanted)
        qp.finish(message)
    assert {frame[14] >> 4 for frame in bench.frames_sent()} == {6}
    assert {frame[20] for frame in bench.frames_sent()} == {17}


@case("IP-01", needs=[Capability.SEND])
@over_services
def test_an_ipv4_header_has_no_options(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    qp.transfer(Op.SEND, 2 * qp.mtu + 1)
    assert {frame[14] for frame in bench.frames_sent()} == {0x45}


@case("IP-03", needs=[Capability.WRITE])
@over_services
@over_mtus(256, 4096)
def test_nothing_is_or_may_be_fragmented(bench: Bench, service: Service, mtu: int) -> None:
    qp = bench.connect(service, path_mtu=mtu)
    for length in (0, 1, mtu, 2 * mtu + 1):
        message = qp.post(Op.WRITE, length)
        qp.expect(*(packet.but(fragment=DONT_FRAGMENT) for packet in message.packets))
        qp.finish(message)


@case("IP-04", needs=[Capability.WRITE])
@over_services
@over("ident", [0, 1, 0x00FF, 0xFFFE])
def test_the_identification_is_final_before_the_icrc(
    bench: Bench, service: Service, ident: int
) -> None:
    qp = bench.connect(service, ip_id=ident)
    for length in (5, 0, 3 * qp.mtu, 2):
        qp.transfer(Op.WRITE, length)
    icrcs_are_right(bench)


@case("IP-04", "ICRC-16", needs=[Capability.WRITE, Capability.RETRANSMISSION])
def test_the_identification_of_a_packet_sent_again_is_final_before_the_icrc(bench: Bench) -> None:
    qp = bench.connect(ip_id=0xFFFF)
    message = qp.post(Op.WRITE, 3 * qp.mtu)
    qp.expect_message(message)
    qp.send(NAK(SEQUENCE_ERROR, psn=1))
    qp.expect(*message.packets[1:])
    qp.finish(message)
    icrcs_are_right(bench)


@case("IP-05", needs=[Capability.WRITE])
@over_services
def test_the_header_checksum_is_right_for_any_header(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    for _ in range(24):
        draw = bench.random
        qp.reconnect(
            traffic_class=draw.getrandbits(6) << 2,
            hop_limit=draw.randrange(1, 256),
            ip_id=draw.getrandbits(16),
        )
        qp.transfer(Op.WRITE, draw.randrange(qp.mtu))
    header_checksums_are_right(bench)


@case("IP-05", needs=[Capability.WRITE], smoke=True)
@over_services
def test_a_header_checksum_carries_twice_where_it_must(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, ip_id=0)
    qp.transfer(Op.WRITE, 8)
    for ident in idents_that_carry_twice(bench):
        qp.reconnect(ip_id=ident)
        qp.transfer(Op.WRITE, 8)
    header_checksums_are_right(bench)


@case("IP-06", needs=[Capability.WRITE])
@over_services
@over("hops", [1, 64, 255])
def test_the_ttl_is_the_configured_one(bench: Bench, service: Service, hops: int) -> None:
    qp = bench.connect(service, hop_limit=hops)
    message = qp.post(Op.WRITE, 2 * qp.mtu + 1)
    qp.expect(*message.packets)
    qp.finish(message)


@case("IP-07", needs=[Capability.WRITE])
@over_services
@over("dscp", [0, 26, 46, 63])
def test_the_dscp_is_the_configured_one(bench: Bench, service: Service, dscp: int) -> None:
    qp = bench.connect(service, traffic_class=dscp << 2)
    message = qp.post(Op.WRITE, 2 * qp.mtu + 1)
    for packet in qp.expect(*(each.without("tos") for each in message.packets)):
        assert isinstance(packet.ip, Ipv4)
        assert packet.ip.tos >> 2 == dscp
        assert packet.ip.tos & 3 != CE, "a sender marks nothing as congested"
    qp.finish(message)


@case("IP-06", "IP-07", "IP-08", needs=[Capability.WRITE, Capability.IPV6])
@over_services
def test_hop_limit_class_and_addresses_over_ipv6_are_the_configured_ones(
    bench: Bench, service: Service
) -> None:
    for index in range(2):
        peer = bench.peer(index, ipv6=True)
        qp = bench.connect(service, remote=peer, hop_limit=7, traffic_class=26 << 2)
        message = qp.post(Op.WRITE, 2 * qp.mtu + 1)
        qp.expect(*(packet.but(src_ip=qp.from_device.src.ip) for packet in message.packets))
        qp.finish(message)


@case("UDP-03", needs=[Capability.WRITE])
@over_services
def test_the_udp_checksum_is_none_or_right(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    for length in (0, 1, qp.mtu, 2 * qp.mtu + 3):
        qp.transfer(Op.WRITE, length)
    assert all(map(is_udp_checksum_right, bench.frames_sent()))


@case("UDP-04", "UDP-05", needs=[Capability.WRITE], smoke=True)
@over_services
def test_a_queue_pair_keeps_its_source_port(bench: Bench, service: Service) -> None:
    pairs = [bench.connect(service) for _ in range(min(4, bench.claims.qps))]
    for length in (0, 1, 3 * pairs[0].mtu, 5):
        for qp in pairs:
            qp.transfer(Op.WRITE, length)
    ports = {(packet.bth.dest_qpn, packet.udp_sport) for packet in packets_sent(bench)}
    assert len(ports) == len(pairs), f"QPNs and source ports: {sorted(ports)}"


@case("UDP-04", needs=[Capability.WRITE, Capability.RETRANSMISSION])
def test_a_packet_sent_again_keeps_its_source_port(bench: Bench) -> None:
    qp = bench.connect()
    message = qp.post(Op.WRITE, 3 * qp.mtu)
    first = qp.expect_message(message)
    qp.send(NAK(SEQUENCE_ERROR, psn=0))
    again = qp.expect(*message.packets)
    assert {packet.udp_sport for packet in (*first, *again)} == {first[0].udp_sport}
    qp.finish(message)


@case("UDP-06", needs=[Capability.WRITE])
@over_services
def test_the_source_port_is_final_before_the_icrc(bench: Bench, service: Service) -> None:
    for _ in range(min(4, bench.claims.qps)):
        qp = bench.connect(service)
        for length in (0, 3 * qp.mtu, 1):
            qp.transfer(Op.WRITE, length)
    icrcs_are_right(bench)
