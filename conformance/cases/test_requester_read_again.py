# SPDX-License-Identifier: BSD-2-Clause
"""READs and atomics without all of their answer: what is asked for again, and what then counts."""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.reading import (
    answer,
    ask,
    asked_again,
    lands,
    memory_for,
    never_succeeds,
    rest,
)
from roceproof.conformance.suite.checks.recovery import (
    copies,
    everything,
    longest_wait_ns,
    timeout_code,
    unhurried_code,
)
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.limits.within_limits import (
    require_tries_after_rnr,
    skip_for_depth,
)
from roceproof.conformance.suite.pattern import ACK, ATOMIC_ACK, NAK, RNR, SEQUENCE_ERROR
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.service import PathMtu
from roceproof.verbs.work import Op

pytestmark = [
    REQUESTER,
    needs(Capability.RC, Capability.READ, Capability.MEMORY, Capability.RETRANSMISSION),
]

MTU = 256
PARTS = 4
MANY = 200
"""More packets than a device may care to keep for a queue pair."""
ORIGINAL = 0x0102030405060708
SHORT_CODE, LONG_CODE = 5, 31
_WRITES = needs(Capability.WRITE)

LISTENS = [Capability.WRITE, Capability.LOCKSTEP]
"""On the wall's clock timeouts pass while a case listens to all that leaves."""


def connect(bench: Bench, *, path_mtu: int = MTU) -> Connection:
    return bench.connect(path_mtu=path_mtu, ack_timeout=timeout_code(bench))


@case("RTX-17", "READ-10", smoke=True)
@over("path_mtu", [mtu.size for mtu in PathMtu])
def test_the_rest_of_a_read_is_asked_for_at_every_path_mtu(bench: Bench, path_mtu: int) -> None:
    qp = connect(bench, path_mtu=path_mtu)
    into = memory_for(qp)
    carries = (bench.random.randrange(1, 1 << 32) << 32) - path_mtu
    message, data = ask(qp, 2 * path_mtu + 77, into, remote_addr=carries)
    responses = rest(qp, message, 0, data)
    missing = len(responses) // 2
    qp.send(*responses[:missing])
    start = asked_again(bench, qp, message, missing)
    answer(bench, qp, message, into, data, start=start)


@case("RTX-17", "RTX-19", "READ-10", smoke=True)
def test_what_is_lost_time_and_again_is_asked_for_as_often(bench: Bench) -> None:
    qp = connect(bench)
    into = memory_for(qp)
    message, data = ask(qp, 2 * PARTS * MTU, into)
    responses = rest(qp, message, 0, data)
    for missing in range(1, len(responses)):
        qp.send(responses[missing - 1])
        start = asked_again(bench, qp, message, missing)
        responses = [*responses[:start], *rest(qp, message, start, data)]
        qp.send(*responses[start:missing])
    qp.send(responses[-1])
    lands(bench, qp, message, into, data)


@case("RTX-18", "RTX-17", "RTX-04", needs=[Capability.WRITE], smoke=True)
@over("answered", [0, 1, 2])
def test_all_behind_a_lost_response_comes_again_in_order(bench: Bench, answered: int) -> None:
    qp = connect(bench)
    into = memory_for(qp)
    first, read = qp.post(Op.WRITE, 5), qp.post(Op.READ, 3 * MTU, into=into)
    behind = [qp.post(Op.WRITE, 2 * MTU), qp.post(Op.WRITE, 5)]
    qp.expect_message(first, read, *behind)
    data = qp.random.randbytes(read.work.size)
    missing = min(answered, len(rest(qp, read, 0, data)) - 1)
    qp.send(*rest(qp, read, 0, data)[:missing], ACK(psn=behind[-1].last_psn, msn=4))
    start = asked_again(bench, qp, read, missing)
    qp.expect(*copies(behind), within_ns=longest_wait_ns(bench))
    qp.send(*rest(qp, read, start, data))
    qp.completes(first)
    lands(bench, qp, read, into, data)
    qp.finish(*behind)


@case("RTX-03", "RTX-16", needs=LISTENS, smoke=True)
@over("apart", [16, 256])
def test_payload_is_kept_however_many_numbers_a_read_takes(bench: Bench, apart: int) -> None:
    """A ring of up to ``apart`` packets that goes by the PSN keeps both payloads in one place."""
    qp = connect(bench, path_mtu=1024)
    length = (apart - 1) * qp.mtu
    into = memory_for(qp, length)
    before, read = qp.post(Op.WRITE, qp.mtu), qp.post(Op.READ, length, into=into)
    behind = qp.post(Op.WRITE, qp.mtu)
    sent = everything(bench, qp)
    if len(sent) < 3:
        skip_for_depth(bench.claims)
    qp.expect(*copies([before, read, behind]), within_ns=longest_wait_ns(bench))


@case("NAK-06", "RTX-04", needs=[Capability.WRITE], smoke=True)
def test_reads_among_writes_are_sent_again_as_they_were(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU, ack_timeout=unhurried_code(bench))
    into = memory_for(qp)
    before, read = qp.post(Op.WRITE, 5), qp.post(Op.READ, 3 * MTU, into=into)
    behind = qp.post(Op.WRITE, MTU + 1)
    qp.expect_message(before, read, behind)
    qp.send(NAK(SEQUENCE_ERROR, psn=0, msn=0))
    qp.expect(*copies([before, read, behind]))
    qp.ack(before)
    qp.completes(before)
    data = qp.random.randbytes(read.work.size)
    answer(bench, qp, read, into, data)
    qp.finish(behind)


@case("RTX-18", "ACK-13", needs=LISTENS, smoke=True)
def test_an_ack_amid_copies_does_not_stand_for_data(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU, ack_timeout=unhurried_code(bench))
    into = memory_for(qp)
    read = qp.post(Op.READ, 2 * MTU, into=into)
    write = qp.post(Op.WRITE, MANY * MTU)
    sent = everything(bench, qp)
    if len(sent) == 1:
        skip_for_depth(bench.claims)
    qp.send(NAK(SEQUENCE_ERROR, psn=0, msn=0))
    qp.expect(*copies([read]))
    last = (sent[-1].bth.psn - qp.spec.sq_psn) % PSN_MODULUS
    qp.send(ACK(psn=last, msn=1 + (last == write.last_psn)))
    everything(bench, qp)
    data = qp.random.randbytes(read.work.size)
    answer(bench, qp, read, into, data)


@case("RTX-16", "RTX-17", needs=LISTENS, smoke=True)
@over("answered", [0, 1, MANY // 2, MANY - 1])
def test_a_long_read_is_kept_until_all_of_it_is_answered(bench: Bench, answered: int) -> None:
    qp = connect(bench)
    into = memory_for(qp, MANY * MTU)
    read, data = ask(qp, MANY * MTU, into)
    missing = min(answered, len(rest(qp, read, 0, data)) - 1)
    qp.send(*rest(qp, read, 0, data)[:missing])
    write = qp.post(Op.WRITE, MANY * MTU)
    sent = everything(bench, qp)
    start = asked_again(bench, qp, read, missing)
    qp.expect(*copies([write])[: len(sent)], within_ns=longest_wait_ns(bench))
    answer(bench, qp, read, into, data, start=start)


@case("RTX-22", "READ-10", "RTX-12", smoke=True)
def test_late_answers_and_those_to_the_second_asking_are_one(bench: Bench) -> None:
    qp = connect(bench)
    into = memory_for(qp)
    message, data = ask(qp, PARTS * MTU, into)
    responses = rest(qp, message, 0, data)
    qp.send(*responses[:1])
    if len(responses) > 1:
        start = asked_again(bench, qp, message, 1)
        qp.send(*responses[1:], *rest(qp, message, start, data))
    lands(bench, qp, message, into, data)
    into.write(0, bytes(len(data)))
    qp.send(*responses)
    bench.settle()
    if any(into.read(0, len(data))):
        raise bench.failed("answers to a READ that was complete changed memory")


@case("READ-07", smoke=True, breaks=WRONG_ANSWERS)
def test_what_is_asked_for_again_begins_once(bench: Bench) -> None:
    qp = connect(bench)
    message, data = ask(qp, PARTS * MTU, memory_for(qp))
    qp.send(*rest(qp, message, 0, data)[:1])
    start = asked_again(bench, qp, message, 1)
    first, *middles, last = rest(qp, message, start, data)
    again = first.but(psn=message.psn + start + 1, payload=middles[0].said["payload"])
    qp.send(first, again, *middles[1:], last)
    never_succeeds(bench, qp, "a READ", by="a FIRST in the place of a MIDDLE")


@case("RTX-01", "RTX-03", "ATOM-01", "RTX-12", needs=[Capability.ATOMIC], smoke=True)
@over("op", [Op.CMP_SWAP, Op.FETCH_ADD])
def test_an_atomic_without_answer_is_sent_again_as_it_was(bench: Bench, op: Op) -> None:
    qp = connect(bench)
    into = memory_for(qp)
    compared = {"compare": 7} if op is Op.CMP_SWAP else {}
    message = qp.post(op, 8, into=into, swap_or_add=3, **compared)
    qp.expect_message(message)
    qp.expect(*copies([message]), within_ns=longest_wait_ns(bench))
    original = ATOMIC_ACK(psn=message.psn, msn=1, original=ORIGINAL)
    qp.send(original, original.but(original=0))
    lands(bench, qp, message, into, ORIGINAL.to_bytes(8, "little"))


@case("RNR-03", "RNR-04", smoke=True)
@over("op", [Op.READ, pytest.param(Op.FETCH_ADD, marks=needs(Capability.ATOMIC))])
def test_what_asks_for_data_waits_for_a_peer_that_is_not_ready(bench: Bench, op: Op) -> None:
    require_tries_after_rnr(bench.claims)
    qp = bench.connect(path_mtu=MTU, ack_timeout=unhurried_code(bench))
    message = qp.post(op, 8, into=memory_for(qp), swap_or_add=3)
    qp.expect_message(message)
    qp.send(RNR(psn=message.psn, timer=SHORT_CODE))
    qp.expect(*copies([message]), within_ns=longest_wait_ns(bench))


@case("QPS-04", "RTX-02", smoke=True)
@over("op", [Op.READ, pytest.param(Op.WRITE, marks=_WRITES)])
def test_a_new_life_knows_nothing_of_what_was_answered(bench: Bench, op: Op) -> None:
    qp = connect(bench)
    into = memory_for(qp)
    whole, data = ask(qp, PARTS * MTU, into)
    answer(bench, qp, whole, into, data)
    part, data = ask(qp, PARTS * MTU, into)
    qp.send(*rest(qp, part, 0, data)[: PARTS // 2])
    bench.settle()
    qp.reconnect()
    message = qp.post(op, 2 * MTU, into=into) if op is Op.READ else qp.post(op, 2 * MTU)
    qp.expect_message(message)
    qp.expect(*copies([message]), within_ns=longest_wait_ns(bench))


@case("QPS-04", "READ-10", needs=[Capability.SEND], smoke=True)
def test_a_read_that_never_left_does_not_outlive_its_connection(bench: Bench) -> None:
    require_tries_after_rnr(bench.claims)
    qp = bench.connect(path_mtu=MTU, ack_timeout=unhurried_code(bench))
    refused = qp.post(Op.SEND, 5)
    qp.expect_message(refused)
    qp.send(RNR(psn=refused.psn, timer=LONG_CODE))
    bench.settle()
    into = memory_for(qp)
    read = qp.post(Op.READ, MTU, into=into)
    qp.expect_silence(allowing=copies([refused, read]))  # not all wait behind what is refused
    qp.reconnect()
    for _ in range(2):
        message, data = ask(qp, 2 * MTU, into)
        answer(bench, qp, message, into, data)


@case("RTX-03", "READ-07", breaks=WRONG_ANSWERS)
def test_what_a_short_answer_leaves_is_asked_for_by_its_own_number(bench: Bench) -> None:
    """If at all: the answer may end the queue pair."""
    code = timeout_code(bench)
    qp = bench.connect(path_mtu=MTU, ack_timeout=code, retry_count=1, max_rd_atomic=4)
    into = qp.region(4 * qp.mtu)
    first, data = ask(qp, 2 * MTU, into)
    *others, last = rest(qp, first, 0, data)
    qp.send(*others, last.but(payload=data[MTU:-4]))
    bench.settle()
    second = qp.post(Op.READ, MTU, into=into)
    due = (second.work.remote_addr, second.work.size)
    for packet in everything(bench, qp, quiet_ns=longest_wait_ns(bench)):
        offset = (packet.bth.psn - qp.spec.sq_psn) % PSN_MODULUS
        if packet.reth is None or offset < second.psn:
            continue
        if (got := (packet.reth.address, packet.reth.length)) != due:
            raise bench.failed(
                f"the number of a READ asks for va={got[0]:#x} dmalen={got[1]}; "
                f"va={due[0]:#x} dmalen={due[1]} belong to it"
            )
