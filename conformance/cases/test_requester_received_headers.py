# SPDX-License-Identifier: BSD-2-Clause
"""What a requester makes of the BTH of the responses that reach it.

Whatever it must drop is followed by the same response uncorrupted, which must be taken.
"""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.expect.prediction import Posted
from roceproof.conformance.suite.pattern import ACK, ATOMIC_ACK, READ_RESP_ONLY, Pattern
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.frame_edits import Trailer, resize, set_udp
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC)]

BTH_OPCODE = 8  # counted from the UDP header
ACK_BYTES = 16  # BTH and AETH

over_answers = pytest.mark.parametrize(
    "op",
    [
        pytest.param(Op.WRITE, id="acknowledge", marks=needs(Capability.WRITE)),
        pytest.param(Op.READ, id="read-response", marks=needs(Capability.READ)),
        pytest.param(Op.FETCH_ADD, id="atomic-acknowledge", marks=needs(Capability.ATOMIC)),
    ],
)
"""Run a case with each kind of response."""


def ask(qp: Connection, op: Op) -> tuple[Posted, Pattern]:
    """A request under way, and the response that completes it."""
    message = qp.post(op, 8)
    qp.expect_message(message)
    psn, msn = message.last_psn, message.ordinal
    answer = {
        Op.WRITE: ACK(psn=psn, msn=msn),
        Op.READ: READ_RESP_ONLY(psn=psn, msn=msn, payload=8),
        Op.FETCH_ADD: ATOMIC_ACK(psn=psn, msn=msn, original=1),
    }[op]
    return message, answer


def ignores(qp: Connection, op: Op, *corrupt: dict[str, int]) -> None:
    """A response that says one of these is dropped; the same without is taken."""
    message, answer = ask(qp, op)
    qp.send(*(answer.but(**fields) for fields in corrupt))
    qp.does_not_complete()
    qp.send(answer)
    qp.completes(message)


def takes(qp: Connection, op: Op, **fields: int) -> None:
    """A response that says this is as good as any."""
    message, answer = ask(qp, op)
    qp.send(answer.but(**fields))
    qp.completes(message)


@case("BTH-05", smoke=True)
@over_answers
def test_a_response_of_another_transport_version_is_dropped(bench: Bench, op: Op) -> None:
    qp = bench.connect()
    ignores(qp, op, *({"tver": version} for version in (1, 2, 4, 8, 15)))


@case("BTH-07", smoke=True)
@over_answers
def test_a_response_of_another_partition_is_dropped(bench: Bench, op: Op) -> None:
    qp = bench.connect()
    ignores(qp, op, *({"pkey": key} for key in (0xFFFE, 0x7FFE, 0xBFFF, 0x0000, 0x8000, 0x1234)))


@case("BTH-07", smoke=True)
@over_answers
def test_a_limited_member_of_the_partition_is_heard(bench: Bench, op: Op) -> None:
    takes(bench.connect(), op, pkey=0x7FFF)


@case("BTH-09")
@over_answers
def test_reserved_bits_of_a_response_do_not_matter(bench: Bench, op: Op) -> None:
    qp = bench.connect()
    for bit in range(6):
        takes(qp, op, resv6=1 << bit)
    for bit in range(7):
        takes(qp, op, resv7=1 << bit)


@case("BTH-15", smoke=True)
@over_answers
def test_a_response_may_say_either_migration_state_and_change_it(bench: Bench, op: Op) -> None:
    qp = bench.connect()
    for migrated in (0, 1, 0, 0, 1):
        takes(qp, op, m=migrated)


@case("BTH-11", smoke=True)
@over_answers
def test_a_response_to_a_qpn_that_is_not_there_is_dropped(bench: Bench, op: Op) -> None:
    qp = bench.connect()
    mine = qp.qp.qpn
    others = (0, mine + bench.claims.qps, mine ^ 1 << 16, mine ^ 1 << 23)
    ignores(qp, op, *({"qpn": qpn} for qpn in others))


@case("BTH-11", needs=[Capability.WRITE], smoke=True)
def test_a_response_reaches_no_queue_pair_but_the_one_it_names(bench: Bench) -> None:
    first, second = bench.connect(sq_psn=100), bench.connect(sq_psn=100)
    for qp in (first, second):
        qp.expect_message(qp.post(Op.WRITE, 8))
    first.send(ACK(psn=0, msn=1))
    second.does_not_complete()


@case("BTH-12", smoke=True)
@over_answers
def test_a_response_of_another_service_is_dropped(bench: Bench, op: Op) -> None:
    qp = bench.connect()
    message, answer = ask(qp, op)
    for service in range(1, 8):
        value = bytes([service << 5 | answer.opcode])
        qp.send(answer.resealed(set_udp(BTH_OPCODE, value)))
    qp.does_not_complete()
    qp.send(answer)
    qp.completes(message)


@case("BTH-12", needs=[Capability.UC, Capability.WRITE])
@over("value", [0x11, 0x31], ids=["RC", "UC"])
def test_an_unreliable_connection_hears_no_response(bench: Bench, value: int) -> None:
    qp = bench.connect(Service.UC, path_mtu=256)
    message = qp.post(Op.WRITE, 700)
    for syndrome in (0x1F, 0x60, 0x62):
        answer = ACK(psn=0, msn=0).but(syndrome=syndrome)
        qp.send(answer.resealed(set_udp(BTH_OPCODE, bytes([value]))))
    qp.expect_message(message)
    qp.completes(message)
    qp.transfer(Op.WRITE, 5)


@case("BTH-16", needs=[Capability.WRITE])
@over("missing", range(1, ACK_BYTES + 1))
def test_an_acknowledgement_cut_short_is_dropped(bench: Bench, missing: int) -> None:
    qp = bench.connect()
    message, answer = ask(qp, Op.WRITE)
    cut = answer.resealed(resize(-missing)).corrupted(Trailer(bytes(missing)))
    qp.ignores(message, cut)


@case("BTH-16", needs=[Capability.ATOMIC])
@over("missing", [1, 4, 7, 8, 11, 12])
def test_an_atomic_acknowledgement_cut_short_is_dropped(bench: Bench, missing: int) -> None:
    qp = bench.connect()
    message, answer = ask(qp, Op.FETCH_ADD)
    qp.send(answer.resealed(resize(-missing)))
    qp.does_not_complete()
    qp.send(answer)
    qp.completes(message)
