# SPDX-License-Identifier: BSD-2-Clause
"""Ethernet, VLAN tags and pauses around what a requester sends.

Scapy is imported by the cases that use it: it takes longer to load than most runs of a few cases.
"""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, over, over_services
from roceproof.conformance.suite.checks.frame_integrity import frames_are_exact
from roceproof.conformance.suite.checks.recovery import longest_wait_ns, timeout_code
from roceproof.conformance.suite.checks.station import answers_ping
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import icrc
from roceproof.conformance.wire.framing import frame_check_sequence
from roceproof.verbs.addresses import Host
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = REQUESTER

TAG = 3 << 13 | 7
STALLS = (1, 30, 50, 75, 99)


def burst(qp: Connection, lengths: list[int], *, op: Op = Op.WRITE) -> None:
    """Messages posted back to back, as many as may be, each exactly as it would be alone."""
    while lengths:
        messages = qp.post_some(op, *lengths)
        qp.expect(*(packet for message in messages for packet in message.packets))
        qp.finish(*messages)
        lengths = lengths[len(messages) :]


@case("ETH-01", "UDP-01", needs=[Capability.SEND])
@over_services
def test_a_packet_is_udp_to_port_4791_in_ip(bench: Bench, service: Service) -> None:
    from scapy.layers.inet import IP, UDP
    from scapy.layers.l2 import Ether

    from roceproof.conformance.wire.scapy import BTH

    qp = bench.connect(service)
    message = qp.post(Op.SEND, 5)
    qp.expect(Ether(type=0x0800) / IP(version=4, ihl=5, proto=17) / UDP(dport=4791) / BTH())
    qp.finish(message)


@case("ETH-02", "ICRC-08", needs=[Capability.SEND], smoke=True)
@over_services
def test_an_empty_send_is_padded_behind_its_icrc(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    qp.transfer(Op.SEND, 0)
    frame = bench.frames_sent()[0]
    assert len(frame) == 60
    assert frame[54:58] == icrc.compute(frame)
    assert (frame[16:18], frame[38:40]) == (b"\0\x2c", b"\0\x18")


@case("ETH-04", needs=[Capability.SEND])
@over_services
def test_the_ethernet_pad_is_zeros_behind_a_packet_of_ones(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    qp.transfer(Op.SEND, b"\xff" * qp.mtu)
    qp.transfer(Op.SEND, 0)
    assert bench.frames_sent()[-1][58:] == b"\0\0"


@case("ETH-05", "IP-08", "GID-01", needs=[Capability.WRITE], smoke=True)
@over_services
def test_each_queue_pair_reaches_its_own_peer(bench: Bench, service: Service) -> None:
    ours = bench.target.host
    pairs = [
        bench.connect(service, remote=peer) for peer in bench.peers[: min(3, bench.claims.qps)]
    ]
    messages = [qp.post(Op.WRITE, 2 * qp.mtu + 1) for qp in pairs]
    for qp, message in zip(pairs, messages, strict=True):
        qp.expect(*(p.but(src_mac=ours.mac, src_ip=ours.ip) for p in message.packets))
        qp.finish(message)


@case("ETH-05", needs=[Capability.WRITE], smoke=True)
@over_services
def test_frames_follow_the_peer_to_another_mac_address(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    qp.transfer(Op.WRITE, 5)
    qp.reconnect(remote=Host(bytes.fromhex("020000000c77"), qp.spec.remote.ip))
    qp.transfer(Op.WRITE, 5)


@case("ETH-06", needs=[Capability.WRITE, Capability.SEND, Capability.FCS], smoke=True)
@over_services
def test_the_frame_check_sequence_is_that_of_the_bytes_that_left(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service)
    for length in (0, 1, 3 * qp.mtu, 5):
        qp.transfer(Op.SEND, length)
        qp.transfer(Op.WRITE, length)
    for entry in bench.transcript.entries():
        if entry.is_sent:
            assert entry.fcs == frame_check_sequence(entry.frame)


@case("ETH-07", "PFC-05", needs=[Capability.WRITE, Capability.DISTURBANCE], smoke=True)
@over_services
@over("stall", STALLS)
def test_stalls_of_the_mac_change_nothing_but_the_timing(
    bench: Bench, service: Service, stall: int
) -> None:
    qp = bench.connect(service)
    bench.target.disturb(tx_stall=stall)
    burst(qp, [qp.mtu + 1, 0, 1, 2 * qp.mtu, 3, 64, 7])
    bench.target.disturb(tx_stall=0)
    frames_are_exact(bench)


@case("ETH-07", needs=[Capability.WRITE, Capability.DISTURBANCE])
@over_services
@over("stream", ["rx_gap", "payload_gap", "qpc_gap", "wr_gap", "cpl_stall"])
def test_gaps_in_what_feeds_the_device_change_nothing_but_the_timing(
    bench: Bench, service: Service, stream: str
) -> None:
    bench.target.disturb(**{stream: 70, "tx_stall": 30})
    qp = bench.connect(service)
    burst(qp, [2 * qp.mtu + 3, 0, 5, qp.mtu])
    frames_are_exact(bench)


@case("ETH-07", needs=[Capability.WRITE, Capability.DISTURBANCE, Capability.PING])
@over_services
@over("stall", [0, 50])
def test_answers_to_arp_and_ping_do_not_cut_into_frames(
    bench: Bench, service: Service, stall: int
) -> None:
    qp = bench.connect(service)
    qp.serve()
    bench.target.disturb(tx_stall=stall)
    messages = [qp.post(Op.WRITE, 2 * qp.mtu) for _ in range(8)]
    answers_ping(bench, bench.peers[0])
    qp.expect(*(packet for message in messages for packet in message.packets))
    qp.completes(*messages)
    frames_are_exact(bench)


@case("PFC-05", needs=[Capability.SEND, Capability.DISTURBANCE])
@over("length", [0, 1, 33, 256])
def test_a_pause_at_any_beat_of_a_frame_leaves_it_as_it_is(bench: Bench, length: int) -> None:
    qp = bench.connect(Service.UC)
    bench.target.disturb(tx_stall=80)
    for _ in range(12):
        burst(qp, [length, length], op=Op.SEND)
    bench.target.disturb(tx_stall=0)
    frames_are_exact(bench)


@case("ETH-08", needs=[Capability.WRITE, Capability.SEND], smoke=True)
@over_services
@over("op", [Op.WRITE, Op.SEND], ids=["WRITE", "SEND"])
def test_a_short_message_keeps_nothing_of_a_long_one_before_it(
    bench: Bench, service: Service, op: Op
) -> None:
    qp = bench.connect(service)
    shrinking = [qp.mtu, 4, 3, 2, 1, 0]
    burst(qp, [qp.mtu, 0, qp.mtu, 1, *shrinking, *reversed(shrinking)], op=op)
    frames_are_exact(bench)


@case("ETH-08", "ETH-07", needs=[Capability.WRITE, Capability.DISTURBANCE])
@over_services
def test_a_short_message_keeps_nothing_of_a_long_one_when_the_mac_stalls(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service)
    bench.target.disturb(tx_stall=50)
    for short in range(5):
        burst(qp, [qp.mtu, short, qp.mtu - 1, short])
    frames_are_exact(bench)


@case("VLAN-01", "ICRC-04", needs=[Capability.WRITE, Capability.VLAN], smoke=True)
@over_services
def test_a_tag_stands_in_front_of_the_ethertype_and_outside_the_icrc(
    bench: Bench, service: Service
) -> None:
    for tag in (None, TAG):
        qp = bench.connect(service, vlan=tag)
        message = qp.post(Op.WRITE, 16)
        qp.expect(*message.packets)
        qp.finish(message)
        frame = bench.frames_sent()[-1]
        at = 14 if tag is None else 18
        if tag is not None:
            assert frame[12:18] == b"\x81\0" + tag.to_bytes(2, "big") + b"\x08\0"
        assert frame[-4:] == icrc.compute(frame[:12] + frame[at - 2 :])


@case("VLAN-02", needs=[Capability.WRITE, Capability.VLAN])
@over_services
def test_every_packet_of_a_queue_pair_carries_its_tag(bench: Bench, service: Service) -> None:
    pairs = [(bench.connect(service, vlan=tag), tag) for tag in (TAG, None)]
    for length in (0, 5, 513):
        for qp, tag in pairs:
            message = qp.post(Op.WRITE, length)
            qp.expect(*(packet.but(vlan=tag) for packet in message.packets))
            qp.finish(message)


@case("VLAN-02", needs=[Capability.WRITE, Capability.VLAN, Capability.RETRANSMISSION])
def test_a_packet_that_is_sent_again_carries_its_tag(bench: Bench) -> None:
    qp = bench.connect(vlan=TAG, ack_timeout=timeout_code(bench), retry_count=1)
    message = qp.post(Op.WRITE, 5)
    again = message.packets[0].but(vlan=TAG)
    qp.expect(again)
    qp.expect(again, within_ns=longest_wait_ns(bench))
    qp.finish(message)


@case("VLAN-05", needs=[Capability.SEND, Capability.VLAN])
@over_services
def test_a_tag_counts_towards_the_shortest_frame_only(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, vlan=TAG)
    qp.transfer(Op.SEND, 0)
    frame = bench.frames_sent()[0]
    assert len(frame) == 62
    assert (frame[20:22], frame[42:44]) == (b"\0\x2c", b"\0\x18")
