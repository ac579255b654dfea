# SPDX-License-Identifier: BSD-2-Clause
"""How a requester counts its packets.

All of a conversation takes place before it is judged, so that the capture of a failure shows
enough to say how the device counts instead.
"""

from typing import Any

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, over, over_services
from roceproof.conformance.suite.checks.recovery import timeout_code
from roceproof.conformance.suite.checks.station import answers_ping
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.limits.within_limits import require_mtu
from roceproof.conformance.suite.pattern import ACK, CNP, NAK, SEQUENCE_ERROR, WRITE_ONLY
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.limit_table import LONGEST_MESSAGE
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = REQUESTER

MTU = 256
MIXED = (5, 700, 256, 1500, 64, 513, 300, 4)
PSNS = 1 << 24
TIMEOUTS = 6
CORNERS = (0x0000FFFD, 0x007FFFFD, 0x00FFFFFD, 0x7FFFFD, 0xABFFFD, 0xFFFFFD)


def connected(bench: Bench, service: Service = Service.RC, **spec: Any) -> Connection:
    """A queue pair whose other end answers whatever PSNs come."""
    qp = bench.connect(service, path_mtu=MTU, **spec)
    qp.serve()
    return qp


def all_came(bench: Bench, qp: Connection, messages: list[Posted]) -> None:
    """Everything that is posted passes; then it is judged."""
    bench.settle()
    qp.follow(*messages)
    qp.completes(*messages)


@case("PSN-01", "PSN-02", needs=[Capability.WRITE], smoke=True)
@over_services
@over("sq_psn, rq_psn", [(0x123456, 0xABCDEF), (1, 0xFFFFFF), (0xFFFFFF, 0), (0, 0x7FFFFF)])
def test_the_first_request_has_the_configured_psn_and_each_other_the_next(
    bench: Bench, service: Service, sq_psn: int, rq_psn: int
) -> None:
    qp = connected(bench, service, sq_psn=sq_psn, rq_psn=rq_psn)
    all_came(bench, qp, [qp.post(Op.WRITE, length) for length in MIXED])


@case("PSN-02", needs=[Capability.WRITE, Capability.SEND])
@over_services
def test_messages_of_every_size_use_as_many_psns_as_packets(bench: Bench, service: Service) -> None:
    qp = connected(bench, service)
    kinds = (Op.WRITE, Op.SEND)
    all_came(bench, qp, [qp.post(kinds[i % 2], length) for i, length in enumerate(MIXED * 2)])


@case("PSN-02", needs=[Capability.WRITE])
@over_services
def test_pauses_between_packets_do_not_matter(bench: Bench, service: Service) -> None:
    qp = connected(bench, service)
    messages = []
    for burst in ((5,), (64, 64, 64), (700,), (5, 5), (1500, 4)):
        messages += [qp.post(Op.WRITE, length) for length in burst]
        bench.settle()
    all_came(bench, qp, messages)


@case("PSN-03", "PSN-19", needs=[Capability.WRITE])
@over_services
@over("start", CORNERS, ids=hex)
@over("before", [0, 1, 2, 3])
def test_psns_count_modulo_two_to_the_24(
    bench: Bench, service: Service, start: int, before: int
) -> None:
    qp = connected(bench, service, sq_psn=start - before)
    all_came(bench, qp, [qp.post(Op.WRITE, length) for length in (5, 700, 256, 1500, 300)])


@case("PSN-03", "PSN-05", needs=[Capability.RC, Capability.READ, Capability.WRITE])
@over("before", range(5))
def test_a_psn_wraps_inside_a_read(bench: Bench, before: int) -> None:
    qp = connected(bench, sq_psn=PSNS - 1 - before)
    all_came(bench, qp, [qp.post(Op.READ, 5 * MTU), qp.post(Op.WRITE, 700)])


@case("PSN-04", needs=[Capability.WRITE, Capability.SEND], smoke=True)
@over_services
@over("op", [Op.WRITE, Op.SEND])
def test_an_empty_message_uses_one_psn(bench: Bench, service: Service, op: Op) -> None:
    qp = connected(bench, service)
    lengths = (0, 700, 0, 0, 5, 1021, 0, 33)
    all_came(bench, qp, [qp.post(op, length) for length in lengths])


@case("PSN-04", "PSN-05", needs=[Capability.RC, Capability.READ, Capability.WRITE])
def test_an_empty_read_uses_one_psn(bench: Bench) -> None:
    qp = connected(bench)
    kinds = (Op.READ, Op.WRITE, Op.READ, Op.READ, Op.WRITE)
    all_came(bench, qp, [qp.post(op, 0) for op in kinds])


@case("PSN-05", "READ-04", needs=[Capability.RC, Capability.READ, Capability.WRITE])
@over("depth", [1, 4])
def test_a_read_uses_a_psn_for_each_packet_of_its_response(bench: Bench, depth: int) -> None:
    qp = connected(bench, max_rd_atomic=depth)
    messages = []
    for length in (0, 1, MTU, MTU + 1, 5 * MTU):
        messages += [qp.post(Op.READ, length), qp.post(Op.WRITE, 5)]
    all_came(bench, qp, messages)


@case("PSN-06", needs=[Capability.RC, Capability.WRITE, Capability.RETRANSMISSION])
@over("start", CORNERS, ids=hex)
def test_what_is_sent_again_has_its_psn_and_what_follows_the_next(bench: Bench, start: int) -> None:
    qp = bench.connect(path_mtu=MTU, sq_psn=start)
    message = qp.post(Op.WRITE, 6 * MTU)
    bench.settle()
    qp.serve(expected=2)
    qp.send(NAK(SEQUENCE_ERROR, psn=2, msn=0))
    bench.settle()
    onward = [qp.post(Op.WRITE, length) for length in (700, 5)]
    bench.settle()
    qp.follow(message)
    qp.expect(*(packet.without("a") for packet in message.packets[2:]))
    qp.follow(*onward)
    qp.completes(message, *onward)


@case("PSN-07", needs=[Capability.RC, Capability.WRITE])
def test_acknowledgements_that_come_use_no_psn(bench: Bench) -> None:
    qp = connected(bench)
    messages = []
    for length in (3, 64, 257) * 3:
        messages.append(qp.post(Op.WRITE, length))
        bench.settle()
    messages += [qp.post(Op.WRITE, length) for length in (3, 64, 257) * 3]
    all_came(bench, qp, messages)


@case("PSN-07", "PSN-22", needs=[Capability.RC, Capability.WRITE, Capability.RESPONDER])
def test_acknowledgements_that_are_sent_use_no_psn(bench: Bench) -> None:
    qp = connected(bench)
    messages = []
    for index in range(8):
        messages.append(qp.post(Op.WRITE, 257))
        qp.send(WRITE_ONLY(psn=index, a=1))
        bench.settle()
    sent = [packet for packet in qp.inbox if packet.aeth is None]
    answers = [packet for packet in qp.inbox if packet.aeth is not None]
    qp.inbox.clear()
    qp.inbox.extend(sent + answers)
    all_came(bench, qp, messages)
    qp.expect(*(ACK(psn=index) for index in range(8)))


@case("PSN-07", "CNP-06", needs=[Capability.WRITE])
@over_services
def test_congestion_notifications_use_no_psn(bench: Bench, service: Service) -> None:
    qp = connected(bench, service)
    messages = []
    for length in MIXED:
        messages.append(qp.post(Op.WRITE, length))
        qp.send(CNP())
        bench.settle()
    all_came(bench, qp, messages)


@case("PSN-22", needs=[Capability.RC, Capability.WRITE])
def test_requests_of_the_peer_do_not_move_the_own_psn(bench: Bench) -> None:
    qp = connected(bench, sq_psn=0x5000, rq_psn=0x5000)
    messages = []
    for index in range(6):
        qp.send(WRITE_ONLY(psn=index))
        messages.append(qp.post(Op.WRITE, 300))
        bench.settle()
    all_came(bench, qp, messages)


@case("PSN-08", "OPC-04", needs=[Capability.WRITE], smoke=True)
@over_services
@over("count", [2, 6])
def test_every_queue_pair_counts_for_itself(bench: Bench, service: Service, count: int) -> None:
    pairs = [connected(bench, service, sq_psn=0x222222 * index) for index in range(count)]
    messages: list[list[Posted]] = [[] for _ in pairs]
    for length in (5, 700, 256, 64):
        for qp, own in zip(pairs, messages, strict=True):
            own.append(qp.post(Op.WRITE, length))
            bench.settle()
    for qp, own in zip(pairs, messages, strict=True):
        qp.follow(*own)
        qp.completes(*own)


@case("PSN-09", "QPS-04", needs=[Capability.WRITE], smoke=True)
@over_services
@over("peer", ["another", "the same"])
def test_a_new_connection_starts_from_its_new_psn(
    bench: Bench, service: Service, peer: str
) -> None:
    qp = connected(bench, service, sq_psn=0x300000)
    all_came(bench, qp, [qp.post(Op.WRITE, length) for length in (700, 5)])
    for start in (0x100000, 0xF00000, 0x100000):
        other = qp.spec.remote_qpn + (peer == "another")
        qp.reconnect(sq_psn=start, remote_qpn=other)
        all_came(bench, qp, [qp.post(Op.WRITE, length) for length in (700, 5, 256)])


@case("PSN-10", needs=[Capability.WRITE, Capability.PING])
@over_services
def test_idle_time_and_address_resolution_leave_the_psn_alone(
    bench: Bench, service: Service
) -> None:
    qp = connected(bench, service)
    messages = []
    for length in (5, 700, 5):
        messages.append(qp.post(Op.WRITE, length))
        bench.settle()
        bench.target.wait(4 * bench.target.patience.quiet_ns)
        answers_ping(bench, qp.spec.remote)
    all_came(bench, qp, messages)


@case("PSN-11", needs=[Capability.RC, Capability.READ, Capability.WRITE], targets=["model"])
def test_no_more_than_half_of_all_psns_are_outstanding(bench: Bench) -> None:
    require_mtu(bench.claims, MTU)
    qp = bench.connect(path_mtu=MTU)
    write = qp.post(Op.WRITE, 5)
    read = qp.post(Op.READ, MTU << 23)
    qp.expect_message(write)
    qp.expect_silence()
    qp.ack(write)
    qp.expect_message(read)


@case("PSN-11", needs=[Capability.RC, Capability.WRITE], targets=["hdl"])
def test_one_write_longer_than_half_of_all_psns_waits_for_acknowledgements(bench: Bench) -> None:
    require_mtu(bench.claims, MTU)
    qp = bench.connect(path_mtu=MTU)
    first = qp.post(Op.WRITE, 5)
    qp.expect_message(first)
    qp.begin(Op.WRITE, length=LONGEST_MESSAGE)
    qp.expect_silence()
    qp.finish(first)


@case("PSN-16", needs=[Capability.RC, Capability.WRITE], breaks=WRONG_ANSWERS)
@over("start", CORNERS, ids=hex)
def test_acknowledgements_are_compared_modulo_two_to_the_24(bench: Bench, start: int) -> None:
    qp = bench.connect(path_mtu=MTU, sq_psn=start)
    messages = [qp.post(Op.WRITE, 5) for _ in range(6)]
    qp.expect_message(*messages)
    qp.ack(messages[4])
    qp.completes(*messages[:5])
    qp.does_not_complete()
    qp.send(ACK(psn=-1, msn=0))
    qp.does_not_complete()
    qp.ack(messages[5])
    qp.completes(messages[5])


@case("PSN-16", needs=[Capability.RC, Capability.WRITE, Capability.RETRANSMISSION])
@over("start", [0x7FFFFD, 0xFFFFFD], ids=hex)
def test_an_acknowledgement_behind_the_wrap_leaves_nothing_to_repeat(
    bench: Bench, start: int
) -> None:
    code = timeout_code(bench)
    qp = connected(bench, sq_psn=start, ack_timeout=code)
    messages = [qp.post(Op.WRITE, length) for length in (5, 700, 5)]
    bench.settle()
    qp.inbox.clear()
    bench.pump(TIMEOUTS * (ack_timeout_ns(code) or 0))
    qp.expect_silence()
    qp.completes(*messages)


@case("PSN-21", needs=[Capability.WRITE], targets=["hdl", "model"])
@over_services
def test_work_that_is_refused_uses_no_psn(bench: Bench, service: Service) -> None:
    qp = connected(bench, service)
    for _ in range(3):
        all_came(bench, qp, [qp.post(Op.WRITE, 5) for _ in range(6)])
        qp.refuses(Op.WRITE, 5, length=LONGEST_MESSAGE + 1, status="loc_len_err")


@case("PSN-18", "UC-14", needs=[Capability.UC, Capability.WRITE], smoke=True)
@over("start", [0xFFFF, 0x7FFFFF, 0xFFFFFF], ids=hex)
def test_an_unreliable_connection_leaves_out_no_psn_in_a_long_run(bench: Bench, start: int) -> None:
    qp = bench.connect(Service.UC, path_mtu=MTU, sq_psn=start - 146)
    all_came(bench, qp, [qp.post(Op.WRITE, (index % 4 + 1) * MTU) for index in range(120)])


@case("PSN-18", "UC-14", needs=[Capability.UC, Capability.WRITE, Capability.DISTURBANCE])
@over("stalls", [{"tx_stall": 60}, {"payload_gap": 60}, {"tx_stall": 30, "payload_gap": 30}])
def test_stalls_make_an_unreliable_connection_skip_no_psn(
    bench: Bench, stalls: dict[str, int]
) -> None:
    qp = bench.connect(Service.UC, path_mtu=MTU, sq_psn=0xFFFFF0)
    bench.target.disturb(**stalls)
    all_came(bench, qp, [qp.post(Op.WRITE, length) for length in MIXED * 4])


@case("PSN-02", "ETH-07", needs=[Capability.RC, Capability.WRITE, Capability.DISTURBANCE])
@over("stall", [10, 50, 90])
def test_stalls_make_a_reliable_one_skip_none_either(bench: Bench, stall: int) -> None:
    qp = connected(bench)
    bench.target.disturb(tx_stall=stall)
    all_came(bench, qp, [qp.post(Op.WRITE, length) for length in MIXED])
