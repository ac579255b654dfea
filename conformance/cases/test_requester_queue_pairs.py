# SPDX-License-Identifier: BSD-2-Clause
"""Queue pairs of a requester side by side, and what is done while one is amid a message."""

from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over, over_services
from roceproof.conformance.suite.checks.recovery import write_all
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.intent import ANYTHING
from roceproof.conformance.suite.limits.within_limits import skip_for_commands
from roceproof.conformance.suite.pattern import ACK, INVALID_REQUEST, NAK
from roceproof.conformance.suite.traffic.background_traffic import broadcasts
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.frame_edits import set_udp
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.WRITE)]

MTU = 256
WAITING = 60
"""Messages, more than most devices let wait for an answer."""
UDP_PORT = 2  # of the destination, counted from the UDP header


def begin(bench: Bench, qp: Connection, length: int) -> Posted:
    """A message of which the first packet has left."""
    count = len(qp.inbox)
    message = qp.post(Op.WRITE, length)
    bench.pump(bench.target.patience.answer_ns, lambda: len(qp.inbox) > count)
    return message


@case("QPS-02", needs=[Capability.RESET], targets=["hdl"])
@over_services
def test_a_reset_stops_the_message_that_is_leaving(bench: Bench, service: Service) -> None:
    qp, other = bench.connect(service, path_mtu=MTU), bench.connect(service, path_mtu=MTU)
    message = begin(bench, qp, 400 * MTU)
    bench.target.set_state(qp.qp, State.RESET)
    is_taken = bench.comes_true(lambda: not bench.target.commands_waiting)
    if not is_taken or len(qp.inbox) == len(message.packets):
        skip_for_commands(bench.claims)
    other.transfer(Op.WRITE, 700)
    bench.settle()
    if len(qp.inbox) == len(message.packets):
        raise bench.failed(f"all {len(qp.inbox)} packets of the message left")
    qp.inbox.clear()
    qp.expect_silence()
    other.transfer(Op.WRITE, 700)


@case("QPS-06", smoke=True)
@over_services
def test_opening_another_queue_pair_leaves_a_busy_one_alone(bench: Bench, service: Service) -> None:
    busy = bench.connect(service, path_mtu=MTU)
    busy.serve()
    messages = []
    for _ in range(4):
        messages += [begin(bench, busy, 20 * MTU), busy.post(Op.WRITE, 5)]
        other = bench.connect(service, path_mtu=1024)
        other.transfer(Op.WRITE, 1500)
    bench.settle()
    busy.follow(*messages)
    busy.completes(*messages)


@case("QPS-06")
@over_services
def test_reconnecting_another_queue_pair_leaves_a_busy_one_alone(
    bench: Bench, service: Service
) -> None:
    busy, other = bench.connect(service, path_mtu=MTU), bench.connect(service, path_mtu=1024)
    busy.serve()
    messages = []
    for _ in range(4):
        messages += [begin(bench, busy, 20 * MTU), busy.post(Op.WRITE, 5)]
        other.reconnect()
        other.transfer(Op.WRITE, 1500)
    bench.settle()
    busy.follow(*messages)
    busy.completes(*messages)


@case("QPS-06", needs=[Capability.RC])
def test_the_failure_of_another_queue_pair_leaves_a_busy_one_alone(bench: Bench) -> None:
    busy = bench.connect(path_mtu=MTU)
    busy.serve()
    messages = []
    for _ in range(3):
        other = bench.connect(path_mtu=MTU)
        lost = write_all(other, 5)[0]
        messages += [begin(bench, busy, 20 * MTU), busy.post(Op.WRITE, 5)]
        other.send(NAK(INVALID_REQUEST, psn=0, msn=0))
        other.completes(lost, status="rem_inv_req_err")
    bench.settle()
    busy.follow(*messages)
    busy.completes(*messages)


@case("ACK-05", "ACK-08", needs=[Capability.RC])
def test_more_work_than_may_wait_for_an_answer_completes_in_order(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    messages = [qp.post(Op.WRITE, 5) for _ in range(60)]
    done = 0
    while done < len(messages):
        bench.settle()
        under_way = messages[done : done + len(qp.inbox)]
        qp.follow(*under_way)
        qp.ack(under_way[-1])
        qp.completes(*under_way)
        done += len(under_way)


@case("QPS-04", "QPS-06", smoke=True, needs=[Capability.RC, Capability.RESTART], targets=["hdl"])
@over("is_its_own", [True, False], ids=["its own", "another's"])
def test_a_queue_pair_starts_anew_while_work_waits_for_room(bench: Bench, is_its_own: bool) -> None:
    play, others = Play(bench), range(min(2, bench.claims.qps))
    for key in others:
        play.connect(key, service="RC")
    play.post(0, "WRITE", 5, count=WAITING)
    play.until()
    patience = bench.target.patience
    play.wait(patience.quiet_ns)
    play.connect(0 if is_its_own else others[-1], service="RC")
    end_ns = bench.target.now_ns + patience.answer_ns
    while bench.target.commands_waiting and bench.target.now_ns < end_ns:
        play.wait(patience.quiet_ns)
    if waiting := bench.target.commands_waiting:
        text = f"{waiting} configurations wait while work of a queue pair waits for an answer"
        raise bench.failed(text, rules=["QPS-04" if is_its_own else "QPS-06"])
    for key in others:
        play.post(key, "WRITE", 5)
    play.finish()


@case("QPS-07", needs=[Capability.RC])
@over("qpn", [0x000002, 0x00FF07, 0x010007, 0x123457, 0xFFFFF7], ids=hex)
def test_a_queue_pair_may_have_any_number(bench: Bench, qpn: int) -> None:
    bench.connect(path_mtu=MTU, local_qpn=qpn).transfer(Op.WRITE, 700)


@case("LIVE-02", smoke=True)
@over("run", range(3))
def test_random_work_of_many_queue_pairs_leaves_as_it_was_meant(bench: Bench, run: int) -> None:
    services = [Service.RC, Service.UC] * 2
    if Capability.UC not in bench.claims.capabilities:
        services = [Service.RC] * 4
    draw = bench.random
    pairs = [bench.connect(service, path_mtu=MTU) for service in services]
    for qp in pairs:
        qp.serve()
    for _ in range(8):
        messages = []
        for qp in pairs:
            lengths = [draw.choice((draw.randrange(8), draw.randrange(4 * MTU))) for _ in range(6)]
            messages.append([qp.post(Op.WRITE, length) for length in lengths])
        bench.settle()
        for qp, own in zip(pairs, messages, strict=True):
            qp.follow(*own)
            qp.completes(*own)


@case("LIVE-02", needs=[Capability.DISTURBANCE])
@over_services
@over("stalls", [{"tx_stall": 50}, {"payload_gap": 50}, {"cpl_stall": 90, "wr_gap": 30}], ids=str)
def test_stalls_in_any_stream_change_nothing(
    bench: Bench, service: Service, stalls: dict[str, int]
) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    qp.serve()
    bench.target.disturb(**stalls)
    for _ in range(4):
        lengths = [qp.random.randrange(4 * MTU) for _ in range(12)]
        messages = [qp.post(Op.WRITE, length) for length in lengths]
        bench.settle()
        qp.follow(*messages)
        qp.completes(*messages)


@case("LIVE-03")
@over_services
def test_unrelated_traffic_between_messages_changes_nothing(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    for index in range(6):
        message = qp.post(Op.WRITE, 700)
        for frame in broadcasts(bench):
            bench.send(frame, breaks=ANYTHING)
        qp.follow(message)
        good = ACK(psn=message.last_psn, msn=index + 1)
        for port in (4790, 4792):
            qp.send(good.resealed(set_udp(UDP_PORT, port.to_bytes(2, "big"))))
        if service is Service.RC:
            qp.does_not_complete()
        qp.finish(message)
