# SPDX-License-Identifier: BSD-2-Clause
"""The ICRC of what a requester sends, held against a reference that knows nothing of the device.

The traffic of these cases differs in all that a wrong ICRC can depend on, so that `explain` has
what it needs: hop limits, classes, identifications, source ports and peers are drawn for each
queue pair, and lengths reach every place in the last beat. The other end takes every packet
for right, so that a capture shows more of a fault than its first packet.
"""

from collections.abc import Iterable

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, over, over_services
from roceproof.conformance.suite.checks.frame_integrity import frames_are_exact, icrcs_are_right
from roceproof.conformance.suite.checks.recovery import everything, longest_wait_ns, timeout_code
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import sent_of, skip_for_services
from roceproof.conformance.suite.pattern import NAK, SEQUENCE_ERROR
from roceproof.conformance.suite.traffic.storm_crowd import operations, served
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import icrc
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = REQUESTER

OPS = (Op.SEND, Op.WRITE, Op.SEND_IMM, Op.WRITE_IMM)
ASKING = (Op.READ, Op.CMP_SWAP, Op.FETCH_ADD)
LENGTHS = (0, 1, 5, 16, 34, 63, 64)
TAG = 3 << 13 | 7
WIDEST_BUS = 64  # bytes, where a device does not say


def carry(bench: Bench, work: Iterable[tuple[Connection, Op, int]]) -> None:
    """Everything that is posted comes, and every ICRC is right."""
    due = []
    for qp, op, length in work:
        if qp.answer_with is None:
            qp.serve()
        due += [qp] * len(qp.post(op, length, solicited=op in OPS).packets)
    for number, qp in enumerate(due):
        assert qp.next() is not None, f"{len(due)} packets were due, {number} have come"
    icrcs_are_right(bench)


def traffic(bench: Bench, pairs: list[Connection], lengths: Iterable[int] = LENGTHS) -> None:
    """Messages of every kind and length, and some of three packets, on every queue pair.

    Where the device only asks for data there, that is what it sends.
    """
    lengths = tuple(lengths)
    service = pairs[0].spec.service
    asking = sent_of(bench.claims, service, ASKING)
    for op in operations(bench, service) or asking or skip_for_services(bench.claims, [service]):
        carry(bench, [(qp, op, length) for length in lengths for qp in pairs])
        carry(bench, [(qp, op, 2 * qp.mtu + 3) for qp in pairs])


def three_pairs(bench: Bench, service: Service) -> list[Connection]:
    """Queue pairs to different peers, with the smallest, the largest and a middle path MTU."""
    mtus = sorted(bench.claims.path_mtus)
    sizes = (mtus[0], mtus[-1], mtus[len(mtus) // 2])[: bench.claims.qps]
    return [
        bench.connect(service, remote=bench.peers[index], path_mtu=mtu)
        for index, mtu in enumerate(sizes)
    ]


@case("ICRC-02", "ICRC-06", "ICRC-21", smoke=True)
@over_services
def test_every_icrc_is_that_of_the_reference(bench: Bench, service: Service) -> None:
    pairs = three_pairs(bench, service)
    traffic(bench, pairs)
    for qp in pairs:
        qp.reconnect()
    traffic(bench, pairs, [0, 7, 65])


@case("ICRC-01", needs=[Capability.WRITE_IMM])
@over_services
def test_every_packet_of_a_message_ends_with_an_icrc(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    carry(bench, [(qp, Op.WRITE_IMM, 5), (qp, Op.WRITE_IMM, 4 * qp.mtu + 5)])


@case("ICRC-22", needs=[Capability.SEND])
@over_services
def test_an_icrc_is_no_placeholder(bench: Bench, service: Service) -> None:
    qp = bench.connect(service)
    for length in (0, 1, 64):
        qp.transfer(Op.SEND, length)
    found = {icrc.check(frame).found for frame in bench.frames_sent()}
    assert len(found) == 3, f"three packets have the ICRCs {sorted(map(str, found))}"


@case("ICRC-03", needs=[Capability.IPV6], smoke=True)
@over_services
def test_every_icrc_is_that_of_the_reference_over_ipv6(bench: Bench, service: Service) -> None:
    over4 = bench.connect(service)
    pairs = [bench.connect(service, remote=bench.peer(i, ipv6=True)) for i in range(2)]
    traffic(bench, [over4, *pairs])


@case("ICRC-03", "ICRC-09", "ETH-08", needs=[Capability.IPV6])
@over_services
def test_packets_of_both_ip_versions_end_anywhere_in_a_beat(bench: Bench, service: Service) -> None:
    """By turns and without a pause, so that nothing of one is left in the next."""
    served(bench, service)
    width = (bench.claims.data_width or 8 * WIDEST_BUS) // 8
    pairs = [bench.connect(service, ipv6=is_ipv6) for is_ipv6 in (False, True)]
    for op in operations(bench, service):
        for length in (*range(width + 4), pairs[0].mtu + 1):
            posted = [(qp, qp.post(op, length)) for qp in (*pairs, *reversed(pairs))]
            for qp, message in posted:
                qp.expect_message(message)
                qp.finish(message)
    frames_are_exact(bench)


@case("ICRC-04", needs=[Capability.VLAN])
@over_services
def test_tags_leave_every_icrc_as_it_is(bench: Bench, service: Service) -> None:
    traffic(bench, [bench.connect(service), bench.connect(service, vlan=TAG)])


@case("ICRC-07", smoke=True)
@over_services
@over("rest", [1, 2, 3])
def test_the_icrc_covers_the_pad(bench: Bench, service: Service, rest: int) -> None:
    served(bench, service)
    pairs = three_pairs(bench, service)
    traffic(bench, pairs, [rest, 4 + rest, 60 + rest, pairs[0].mtu - 4 + rest])


@case("ICRC-08", needs=[Capability.SEND])
@over_services
def test_the_icrc_leaves_the_ethernet_pad_out(bench: Bench, service: Service) -> None:
    pairs = three_pairs(bench, service)
    carry(bench, [(qp, Op.SEND, length) for length in (0, 1, 0, 256, 0) for qp in pairs])


@case("ICRC-09", smoke=True)
@over_services
def test_the_icrc_is_right_for_every_place_in_the_last_beat(bench: Bench, service: Service) -> None:
    served(bench, service)
    width = (bench.claims.data_width or 8 * WIDEST_BUS) // 8
    traffic(bench, [bench.connect(service)], range(2 * width + 4))


@case("ICRC-09", "ETH-07", needs=[Capability.DISTURBANCE])
@over_services
@over("stall", [10, 50, 90])
def test_the_icrc_is_right_when_the_mac_stalls(bench: Bench, service: Service, stall: int) -> None:
    width = (bench.claims.data_width or 8 * WIDEST_BUS) // 8
    bench.target.disturb(tx_stall=stall, payload_gap=stall)
    traffic(bench, [bench.connect(service)], range(0, width + 4, 3))


@case("ICRC-10")
@over_services
def test_bth_byte_4_is_zeros_on_the_wire_and_ones_in_the_icrc(
    bench: Bench, service: Service
) -> None:
    traffic(bench, [bench.connect(service)])
    assert {frame[46] for frame in bench.frames_sent()} == {0}


@case("ICRC-16", needs=[Capability.WRITE, Capability.RETRANSMISSION], smoke=True)
@over("ident", [0, 0x1234, 0xFFFF])
def test_a_packet_sent_again_has_the_icrc_of_its_own_bytes(bench: Bench, ident: int) -> None:
    """Whatever is sent again, which others ask about."""
    qp = bench.connect(ip_id=ident)
    for start in range(3):
        message = qp.post(Op.WRITE, 4 * qp.mtu - 3)
        qp.expect(*message.packets)
        qp.send(NAK(SEQUENCE_ERROR, psn=message.psn + start))
        everything(bench, qp)
        qp.finish(message)
    icrcs_are_right(bench)


@case("ICRC-16", needs=[Capability.WRITE, Capability.RETRANSMISSION])
def test_an_unacknowledged_packet_sent_again_has_the_icrc_of_its_own_bytes(bench: Bench) -> None:
    qp = bench.connect(ack_timeout=timeout_code(bench), retry_count=3)
    message = qp.post(Op.WRITE, qp.mtu + 1)
    qp.expect(*message.packets)
    qp.expect(
        *(packet.without("a") for packet in message.packets), within_ns=longest_wait_ns(bench)
    )
    qp.finish(message)
    icrcs_are_right(bench)


@case("ICRC-17", needs=[Capability.SEND, Capability.WRITE])
@over_services
def test_an_icrc_owes_nothing_to_the_packet_before(bench: Bench, service: Service) -> None:
    one, other = bench.connect(service), bench.connect(service)
    for first, second in ((0, 64), (64, 0), (1, one.mtu), (one.mtu, 1), (8, 8)):
        turns = (one, other, other, one)
        carry(bench, [each for qp in turns for each in ((qp, OPS[0], first), (qp, OPS[1], second))])


@case("ICRC-19", needs=[Capability.WRITE_IMM], smoke=True)
@over_services
def test_the_longest_packet_has_a_right_icrc(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=max(bench.claims.path_mtus))
    carry(bench, [(qp, Op.WRITE_IMM, size) for size in (qp.mtu, qp.mtu - 1, 64, 2 * qp.mtu)])
