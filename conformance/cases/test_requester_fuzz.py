# SPDX-License-Identifier: BSD-2-Clause
"""Generators: responses of every kind, in every place, at every time; none may lie."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, over, over_services
from roceproof.conformance.suite.checks.recovery import unhurried_code, write_all
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE, WRONG_ANSWERS
from roceproof.conformance.suite.packet_flow import SUCCESS
from roceproof.conformance.suite.pattern import (
    ACK,
    ACKNOWLEDGE,
    ATOMIC_ACK,
    READ_REQUEST,
    READ_RESP_FIRST,
    READ_RESP_LAST,
    READ_RESP_MIDDLE,
    READ_RESP_ONLY,
    SEND_ONLY,
    WRITE_ONLY,
    Maker,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.frame_edits import resize
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = REQUESTER

MTU = 256
NAKS = range(0x60, 0x64)
RNR_NAKS = range(0x20, 0x40)
PLACES = {"old": -1, "oldest": 0, "middle": 2, "newest": 5, "ghost": 6, "far ghost": 1000}


def three_messages(bench: Bench) -> tuple[Connection, list[Posted]]:
    """PSNs 0 to 5 are outstanding, messages end at 1, 3 and 5."""
    qp = bench.connect(path_mtu=MTU, ack_timeout=unhurried_code(bench))
    return qp, write_all(qp, 2 * MTU, 2 * MTU, 2 * MTU)


def done(bench: Bench, qp: Connection) -> list[int]:
    """The work that has completed with success once all is quiet."""
    bench.settle()
    quiet = bench.target.patience.quiet_ns
    told = bench.target.completions(qp.qp, count=3, timeout_ns=quiet)
    return [outcome.wr_id for outcome in told if outcome.status == SUCCESS]


@case("FUZZ-11", "AETH-05", needs=[Capability.RC, Capability.WRITE], breaks=WRONG_ANSWERS)
@over("place", PLACES, ids=[place.replace(" ", "-") for place in PLACES])
def test_no_syndrome_completes_what_it_does_not_acknowledge(bench: Bench, place: str) -> None:
    qp, messages = three_messages(bench)
    psn = PLACES[place]
    for syndrome in [*bench.random.sample(range(256), 24), 0, 31, 0x20, *NAKS, 0x80]:
        qp.send(ACKNOWLEDGE(psn=psn, syndrome=syndrome, msn=bench.random.choice((0, 3, 99))))
        acked = _acknowledged(psn, syndrome)
        may = [m.work.wr_id for m in messages if 0 <= psn <= 5 and m.last_psn <= acked]
        lied = set(done(bench, qp)) - set(may)
        if lied:
            raise bench.failed(f"syndrome {syndrome:#04x} at {psn:+d} completed work {lied}")
        qp.reconnect()
        messages = write_all(qp, 2 * MTU, 2 * MTU, 2 * MTU)


def _acknowledged(psn: int, syndrome: int) -> int:
    """The last PSN that a response acknowledges, or is taken to: one that is reserved says nothing,
    but has a place.
    """
    return psn if syndrome < 0x20 else psn - 1


@case("FUZZ-12", needs=[Capability.RC, Capability.WRITE], smoke=True, breaks=WRONG_ANSWERS)
@over(
    "make",
    [READ_RESP_FIRST, READ_RESP_MIDDLE, READ_RESP_LAST, READ_RESP_ONLY, ATOMIC_ACK],
    ids=["first", "middle", "last", "only", "atomic"],
)
def test_a_write_is_not_completed_by_the_answer_to_something_else(
    bench: Bench, make: Maker
) -> None:
    qp = bench.connect(path_mtu=MTU, ack_timeout=unhurried_code(bench))
    (message,) = write_all(qp, 5)
    response = make(psn=0)
    has_data = response.opcode != 0x12
    qp.send(response.but(payload=MTU, **_msn(response)) if has_data else response.but(msn=1))
    if message.work.wr_id in done(bench, qp):
        raise bench.failed(f"an answer to something else completed a WRITE: {response.name}")


def _msn(response: Pattern) -> dict[str, int]:
    return {} if response.opcode == 0x0E else {"msn": 1}


@case("FUZZ-12", needs=[Capability.RC, Capability.WRITE], smoke=True, breaks=OUT_OF_SEQUENCE)
def test_requests_to_a_requester_complete_nothing(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU, ack_timeout=unhurried_code(bench))
    (message,) = write_all(qp, 5)
    behind = qp.spec.sq_psn - qp.spec.rq_psn  # the PSN that an ACK would have
    qp.send(WRITE_ONLY(psn=behind, a=1), SEND_ONLY(psn=behind, payload=4), READ_REQUEST(psn=behind))
    if message.work.wr_id in done(bench, qp):
        raise bench.failed("a request completed a WRITE")


@case("FUZZ-13", needs=[Capability.RC, Capability.READ, Capability.MEMORY], breaks=WRONG_ANSWERS)
def test_no_corrupted_response_completes_a_read(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU, ack_timeout=unhurried_code(bench))
    into = qp.region(8192)
    for _ in range(40):
        message = qp.post(Op.READ, 3 * MTU, into=into)
        qp.expect_message(message)
        good = [
            READ_RESP_FIRST(psn=0, payload=MTU),
            READ_RESP_MIDDLE(psn=1, payload=MTU),
            READ_RESP_LAST(psn=2, payload=MTU),
        ]
        qp.send(*_mutated(bench, good))
        if message.work.wr_id in done(bench, qp):
            raise bench.failed("a READ completed by responses that cannot be its own")
        qp.reconnect()


def _mutated(bench: Bench, good: list[Pattern]) -> list[Pattern]:
    """The responses with one of them wrong in length or opcode, or missing."""
    place = bench.random.randrange(len(good))
    match bench.random.randrange(3):
        case 0:
            change = bench.random.choice((-MTU, -4, 4, 64))
            good[place] = good[place].resealed(resize(change))
        case 1:
            others = [make for make in good if make is not good[place]] + [READ_RESP_ONLY()]
            other = bench.random.choice(others)
            good[place] = other.but(psn=place, payload=MTU)
        case _:
            del good[place]
    return good


@case("FUZZ-15", needs=[Capability.DISTURBANCE, Capability.WRITE_IMM])
@over_services
@over("turn", range(4))
def test_stalls_of_every_stream_change_nothing(bench: Bench, service: Service, turn: int) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    streams = ("tx_stall", "rx_gap", "payload_gap", "qpc_gap", "wr_gap", "cpl_stall")
    bench.target.disturb(**{name: bench.random.choice((0, 10, 50, 90)) for name in streams})
    for _ in range(12):
        qp.transfer(Op.WRITE_IMM, bench.random.randrange(4 * MTU))


@case("FUZZ-16", needs=[Capability.WRITE])
@over_services
def test_other_queue_pairs_come_and_go_beside_a_busy_one(bench: Bench, service: Service) -> None:
    busy, other = bench.connect(service, path_mtu=MTU), bench.connect(service, path_mtu=MTU)
    for mtu in bench.random.choices(bench.claims.path_mtus, k=6):
        message = busy.post(Op.WRITE, 5 * MTU)
        other.reconnect(path_mtu=mtu, traffic_class=bench.random.getrandbits(6) << 2)
        busy.expect_message(message)
        other.transfer(Op.WRITE, 2 * mtu + 1)
        busy.finish(message)


@case(
    "FUZZ-21",
    "ACK-15",
    needs=[Capability.RC, Capability.WRITE, Capability.LOCKSTEP],
    breaks=WRONG_ANSWERS,
)
def test_an_ack_may_come_in_any_cycle_around_the_last_beat(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    for step in range(24):
        message = qp.post(Op.WRITE, 4 * MTU)
        qp.expect(message.packets[0])
        bench.target.wait(step * 64)
        qp.ack(message)
        qp.expect(*message.packets[1:])
        bench.settle()
        told = bench.target.completions(qp.qp, count=1, timeout_ns=0)
        if len(told) > 1:
            raise bench.failed("one message completed twice")
        if not told:
            qp.ack(message)
            qp.completes(message)


@case("FUZZ-22", needs=[Capability.WRITE], smoke=True)
@over_services
def test_garbage_between_frames_leaves_nothing_behind(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    for size in (1, 13, 14, 15, 33, 34, 59, 60, 61, 1514):
        bench.send(bench.random.randbytes(size).ljust(60, b"\0"), is_void=True)
        qp.transfer(Op.WRITE, size)


@case("FUZZ-11", "ACK-10", needs=[Capability.RC, Capability.WRITE])
def test_a_storm_of_old_acks_changes_nothing(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    for _ in range(6):
        qp.transfer(Op.WRITE, MTU + 1)
    (message,) = write_all(qp, 5)
    qp.ignores(message, *(ACK(psn=psn, msn=psn // 2) for psn in range(12) for _ in range(4)))
