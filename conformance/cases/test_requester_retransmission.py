# SPDX-License-Identifier: BSD-2-Clause
"""Go-back-N: from where, what, how often and when a requester sends again."""

from typing import Any

import pytest

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.recovery import (
    NEVER,
    brisk_code,
    copies,
    everything,
    last_given_ns,
    last_sent_ns,
    longest_wait_ns,
    timeout_code,
    unhurried_code,
    write_all,
)
from roceproof.conformance.suite.checks.retransmission import check_retransmissions
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.delay import Delay
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.moments import pass_by
from roceproof.conformance.suite.pattern import ACK, NAK, SEQUENCE_ERROR
from roceproof.conformance.suite.reporting.ends import RETRY_EXCEEDED
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.WRITE, Capability.RETRANSMISSION)]

MTU, LONGEST, MANY = 256, 4096, 16
CONFIGURING = 64
"""Cycles in which a packet that was posted has left, and so has a configuration behind it."""
LENGTHS = (1, MTU, MTU + 1, 3 * MTU - 1)
SLOW_CODE = 20
"""Four seconds: nothing that happens in a case has waited for it, though the host be busy."""


def connect(bench: Bench, *, timeout: int | None = None, **spec: Any) -> Connection:
    code = unhurried_code(bench, SLOW_CODE) if timeout is None else timeout
    return bench.connect(path_mtu=MTU, ack_timeout=code, **spec)


@case("NAK-06", "RTX-04", smoke=True, breaks=WRONG_ANSWERS)
@over("start", [0, 3, 5, 8])
def test_a_sequence_nak_restarts_exactly_there(bench: Bench, start: int) -> None:
    qp = connect(bench)
    messages = write_all(qp, 3 * MTU, 3 * MTU, 3 * MTU)
    qp.send(NAK(SEQUENCE_ERROR, psn=start, msn=start // 3))
    qp.expect(*copies(messages, first=start))
    qp.expect_silence()
    qp.completes(*messages[: start // 3])
    qp.finish(*messages[start // 3 :])


@case("RTX-08")
def test_a_sequence_nak_does_not_wait_for_the_timeout(bench: Bench) -> None:
    qp = connect(bench)
    messages = write_all(qp, 2 * MTU)
    qp.send(NAK(SEQUENCE_ERROR, psn=0))
    qp.expect(*copies(messages))
    qp.finish(*messages)


@case("RTX-03", "RTX-14", "PSN-06", "IMM-06", smoke=True)
def test_what_is_sent_again_is_what_was_sent(bench: Bench) -> None:
    qp = connect(bench)
    messages = [qp.post(Op.WRITE_IMM, length) for length in LENGTHS]
    messages += [qp.post(Op.SEND, length) for length in LENGTHS]
    qp.expect_message(*messages)
    qp.send(NAK(SEQUENCE_ERROR, psn=0))
    qp.expect(*copies(messages))
    qp.finish(*messages)


@case("ICRC-16", "RTX-03")
def test_a_copy_has_an_icrc_for_its_own_bytes(bench: Bench) -> None:
    qp = connect(bench)
    messages = write_all(qp, *LENGTHS)
    for start in (0, 1, 4):
        qp.send(NAK(SEQUENCE_ERROR, psn=start))
        qp.expect(*copies(messages, first=start))
    qp.completes(*messages[:3])
    qp.finish(messages[3])


@case("RTX-15")
@over("start", [pytest.param(0xFFFFFE, marks=pytest.mark.smoke), 0xFFFFFB, 0x7FFFFE])
def test_a_restart_crosses_the_wrap(bench: Bench, start: int) -> None:
    qp = connect(bench, sq_psn=start)
    messages = write_all(qp, 4 * MTU, 4 * MTU)
    qp.send(NAK(SEQUENCE_ERROR, psn=0))
    qp.expect(*copies(messages))
    qp.send(NAK(SEQUENCE_ERROR, psn=6, msn=1))
    qp.expect(*copies(messages, first=6))
    qp.finish(*messages)


@case("RTX-09", breaks=WRONG_ANSWERS, smoke=True)
def test_one_gap_told_three_times_is_one_restart(bench: Bench) -> None:
    qp = connect(bench)
    messages = write_all(qp, 6 * MTU)
    qp.send(*[NAK(SEQUENCE_ERROR, psn=2)] * 3)
    found = [packet.bth.psn for packet in everything(bench, qp)]
    passes = found.count((qp.spec.sq_psn + 2) % (1 << 24))
    if passes != 1:
        raise bench.failed(f"three NAKs of one gap led to {passes} restarts")
    qp.finish(*messages)


@case("RTX-10", breaks=WRONG_ANSWERS)
def test_a_nak_of_what_is_acknowledged_is_ignored(bench: Bench) -> None:
    qp = connect(bench)
    messages = write_all(qp, 3 * MTU)
    qp.finish(*messages)
    qp.send(NAK(SEQUENCE_ERROR, psn=0), NAK(SEQUENCE_ERROR, psn=2))
    qp.expect_silence()
    qp.transfer(Op.WRITE, MTU + 1)


@case("RTX-21")
def test_an_ack_that_a_nak_has_overtaken_confuses_nothing(bench: Bench) -> None:
    qp = connect(bench)
    messages = write_all(qp, 5, 5, 5, 5)
    qp.send(NAK(SEQUENCE_ERROR, psn=2, msn=2), ACK(psn=0, msn=1), ACK(psn=1, msn=2))
    qp.expect(*copies(messages, first=2))
    qp.expect_silence()
    qp.completes(*messages[:2])
    qp.send(ACK(psn=3, msn=4), ACK(psn=2, msn=3))
    qp.completes(*messages[2:])
    qp.transfer(Op.WRITE, 5)


@case("RTX-24", smoke=True)
def test_work_posted_during_recovery_follows_the_replay(bench: Bench) -> None:
    qp = connect(bench)
    messages = write_all(qp, 4 * MTU, 4 * MTU)
    qp.send(NAK(SEQUENCE_ERROR, psn=1))
    qp.expect(copies(messages, first=1)[0])
    late = qp.post(Op.WRITE, 2 * MTU)
    qp.expect(*copies(messages, first=2), *copies([late]))
    qp.finish(*messages, late)


@case("RTX-13", smoke=True)
def test_progress_during_recovery_moves_the_restart(bench: Bench) -> None:
    qp = connect(bench)
    messages = write_all(qp, *[MTU] * 16)
    qp.send(NAK(SEQUENCE_ERROR, psn=0))
    qp.expect(copies(messages)[0])
    qp.send(ACK(psn=11, msn=12))
    everything(bench, qp)
    qp.completes(*messages[:12])
    qp.send(NAK(SEQUENCE_ERROR, psn=5), NAK(SEQUENCE_ERROR, psn=12, msn=12))
    qp.expect(*copies(messages, first=12))
    qp.finish(*messages[12:])


@case("RTX-13", smoke=True)
def test_what_is_acknowledged_during_recovery_is_not_sent_again(bench: Bench) -> None:
    qp = bench.connect(path_mtu=LONGEST, ack_timeout=unhurried_code(bench, SLOW_CODE))
    messages = write_all(qp, *[LONGEST] * 16)
    qp.send(NAK(SEQUENCE_ERROR, psn=0))
    qp.expect(copies(messages)[0])
    qp.send(ACK(psn=13, msn=14))
    everything(bench, qp)
    check_retransmissions(bench, qp)
    qp.completes(*messages[:14])
    qp.finish(*messages[14:])


@case(
    "RTX-04",
    "QPS-06",
    smoke=True,
    needs=[Capability.RESTART],
    targets=["hdl"],
    breaks=WRONG_ANSWERS,
)
def test_what_leaves_in_any_cycle_of_anothers_configuration_is_sent_again(bench: Bench) -> None:
    qp, other = connect(bench), bench.connect()
    for cycles in range(CONFIGURING):
        message = qp.post(Op.WRITE, 2 * MTU)
        pass_by(bench, cycles)
        other.restart()
        qp.expect_message(message)
        qp.send(NAK(SEQUENCE_ERROR, psn=message.last_psn - 1, msn=message.ordinal - 1))
        qp.expect(*copies([message]))
        qp.finish(message)


@case("QPS-02", "RTX-03", "RTX-16", smoke=True)
def test_what_each_queue_pair_sent_is_its_own(bench: Bench) -> None:
    """All have packets outstanding at the same PSNs; in any order each is asked for its own."""
    qps = [connect(bench)]
    start = qps[0].spec.sq_psn
    qps += [connect(bench, sq_psn=start) for _ in range(min(bench.claims.qps, MANY) - 1)]
    posted = [(qp, qp.post(Op.WRITE, 2 * MTU)) for qp in qps]
    for qp, message in posted:
        qp.expect_message(message)
    bench.random.shuffle(posted)
    for qp, message in posted:
        qp.send(NAK(SEQUENCE_ERROR, psn=0))
        qp.expect(*copies([message]))
        qp.finish(message)


@case("RTX-16")
def test_the_oldest_packet_of_a_full_window_is_still_whole(bench: Bench) -> None:
    qp = connect(bench)
    messages = [qp.post(Op.WRITE, MTU) for _ in range(160)]
    count = len(everything(bench, qp))
    qp.send(NAK(SEQUENCE_ERROR, psn=0))
    qp.expect(*copies(messages)[:count])
    while count < len(messages):
        qp.send(ACK(psn=count - 1, msn=count))
        count += len(everything(bench, qp))
    qp.finish(*messages)


@case("RTX-16")
@over("path_mtu", [pytest.param(MTU, marks=pytest.mark.smoke), LONGEST])
def test_the_oldest_packet_of_a_long_message_is_still_whole(bench: Bench, path_mtu: int) -> None:
    qp = bench.connect(path_mtu=path_mtu, ack_timeout=unhurried_code(bench, SLOW_CODE))
    message = qp.post(Op.WRITE, 290 * MTU)
    packets, sent = len(message.packets), len(everything(bench, qp))
    qp.send(NAK(SEQUENCE_ERROR, psn=0))
    qp.expect(*copies([message])[:sent])
    while sent < packets:
        qp.send(ACK(psn=sent - 1, msn=0))
        sent += len(everything(bench, qp))
    qp.finish(message)


# without any answer


@case("RTX-01", smoke=True)
@over("longer", [0, 1, 2])
def test_silence_is_noticed_between_t_and_four_t(bench: Bench, longer: int) -> None:
    code = timeout_code(bench) + longer
    qp = connect(bench, timeout=code)
    delay = Delay(bench.target)
    messages = write_all(qp, MTU)
    start = last_sent_ns(bench)
    qp.expect(copies(messages)[0], within_ns=longest_wait_ns(bench, code))
    waited = last_sent_ns(bench) - start
    least = ack_timeout_ns(code) or 0
    earliest = least - bench.target.patience.grain_ns - delay.within_ns(waited)
    if not earliest <= waited <= longest_wait_ns(bench, code):
        raise bench.failed(f"sent again after {waited} ns; T is {least} ns, 4 T at most")
    qp.finish(*messages)


@case(
    "RTX-01",
    "RTX-12",
    needs=[Capability.LOCKSTEP, Capability.DISTURBANCE],
    targets=["hdl"],
    smoke=True,
    breaks=WRONG_ANSWERS,
)
def test_a_copy_that_leaves_behind_its_ack_leaves_no_timer(bench: Bench) -> None:
    """It would run out for the next message, which is posted ever later behind the copy."""
    code = brisk_code(bench, 8)
    least = ack_timeout_ns(code) or 0
    qp = connect(bench, timeout=code, retry_count=7)
    for eighths in range(3, 12):
        messages = write_all(qp, MTU)
        bench.target.disturb(tx_stall=95)
        qp.send(NAK(SEQUENCE_ERROR, psn=messages[0].psn), ACK(psn=messages[0].psn))
        bench.pump(least // 8)
        bench.target.disturb()
        bench.pump(least // 8)
        qp.completes(*messages)
        bench.pump(last_sent_ns(bench) + eighths * least // 8 - bench.target.now_ns)
        qp.inbox.clear()
        late = write_all(qp, MTU)
        if qp.next(timeout_ns=least - 2 * bench.target.patience.grain_ns) is not None:
            raise bench.failed(f"sent again in less than {least} ns", rules=["RTX-01"])
        qp.finish(*late)


@case("RTX-02", "RTX-11", smoke=True)
@over("acked", [0, 1, 3])
def test_a_timeout_restarts_at_the_oldest_unacknowledged_packet(bench: Bench, acked: int) -> None:
    qp = connect(bench, timeout=timeout_code(bench))
    messages = write_all(qp, 5 * MTU)
    qp.send(ACK(psn=acked, msn=0))
    wait = longest_wait_ns(bench)
    qp.expect(*copies(messages, first=acked + 1), within_ns=wait)
    qp.finish(*messages)


@case("RTX-11", "RTX-01", "PSN-16", smoke=True)
@over("start", [0x123456, 0xFFFFFD], ids=["anywhere", "in_front_of_the_wrap"])
def test_the_loss_of_the_very_last_packet_is_noticed(bench: Bench, start: int) -> None:
    qp = connect(bench, timeout=timeout_code(bench), sq_psn=start)
    first, last = write_all(qp, 3 * MTU, 5)
    qp.ack(first)
    qp.completes(first)
    qp.expect(*copies([last]), within_ns=longest_wait_ns(bench))
    qp.finish(last)


@case("RTX-12", "RTX-20")
def test_a_lost_ack_completes_a_message_once(bench: Bench) -> None:
    qp = connect(bench, timeout=timeout_code(bench))
    (message,) = write_all(qp, 5)
    (copy,) = qp.expect(*copies([message]), within_ns=longest_wait_ns(bench))
    if not copy.bth.ack_req:
        raise bench.failed("the copy has A=0: its loss is never noticed", rules=["RTX-20"])
    qp.ack(message)
    qp.ack(message)
    qp.completes(message)
    qp.transfer(Op.WRITE, 5)


@case("RTX-05", smoke=True)
@over("retries", [0, 1, 3, 6, 7])
def test_a_packet_is_sent_once_and_again_as_often_as_configured(bench: Bench, retries: int) -> None:
    qp = connect(bench, timeout=timeout_code(bench), retry_count=retries)
    gives_up(bench, qp)
    qp.expect_silence()


def gives_up(bench: Bench, qp: Connection, *, beside: Connection | None = None) -> None:
    """A message that nobody answers is sent as often as it may be, and then ends."""
    (message,) = write_all(qp, 5)
    wait, retries = longest_wait_ns(bench), qp.spec.retry_count
    for _ in range(retries):
        if beside is not None:
            beside.transfer(Op.WRITE, 5)
        qp.expect(*copies([message]), within_ns=wait)
    after = qp.next(timeout_ns=wait)
    if after is not None:
        raise bench.failed(f"retry count {retries}: sent once more than {1 + retries} times")
    qp.completes(message, status=RETRY_EXCEEDED)


@case("RTX-05", "RTX-01", "QPS-04")
@over("begun", [pytest.param((1, 0), marks=pytest.mark.smoke), (0, 1), (2, 1)], ids=str)
def test_each_copy_is_timed_however_often_queue_pairs_have_begun(
    bench: Bench, begun: tuple[int, int]
) -> None:
    qps = [connect(bench, timeout=timeout_code(bench), retry_count=2) for _ in begun]
    for qp, count in zip(qps, begun, strict=True):
        for _ in range(count):
            qp.transfer(Op.WRITE, 5)
            qp.reconnect()
    gives_up(bench, qps[0], beside=qps[1])


@case("RTX-06", smoke=True)
def test_progress_restores_the_retry_counter(bench: Bench) -> None:
    qp = connect(bench, timeout=timeout_code(bench), retry_count=1)
    for _ in range(3):
        (message,) = write_all(qp, 5)
        qp.expect(*copies([message]), within_ns=longest_wait_ns(bench))
        qp.finish(message)


@case("RTX-06", smoke=True, breaks=WRONG_ANSWERS)
def test_progress_that_a_nak_brings_restores_the_retry_counter(bench: Bench) -> None:
    qp = connect(bench, retry_count=1)
    (message,) = write_all(qp, 5 * MTU)
    for psn in (1, 2, 4):
        qp.send(NAK(SEQUENCE_ERROR, psn=psn))
        qp.expect(*copies([message], first=psn))
    qp.finish(message)


@case("RTX-07", smoke=True)
def test_code_0_means_no_timeout(bench: Bench) -> None:
    qp = connect(bench, timeout=NEVER)
    (message,) = write_all(qp, 5)
    if qp.next(timeout_ns=2 * longest_wait_ns(bench)) is not None:
        raise bench.failed("sent again, though timeout code 0 means never")
    qp.finish(message)


@case("RTX-23", breaks=WRONG_ANSWERS)
def test_the_recovery_of_one_queue_pair_does_not_hold_up_another(bench: Bench) -> None:
    lost = connect(bench, timeout=timeout_code(bench))
    healthy = connect(bench)
    write_all(lost, 8 * MTU)
    for _ in range(6):
        lost.send(NAK(SEQUENCE_ERROR, psn=0))
        healthy.transfer(Op.WRITE, 2 * MTU)


@case("NAK-06", "RTX-04", breaks=WRONG_ANSWERS)
def test_recovery_follows_recovery(bench: Bench) -> None:
    qp = connect(bench)
    messages = write_all(qp, MTU, 5, MTU, 2 * MTU)
    for start in (1, 2, 3):
        qp.send(NAK(SEQUENCE_ERROR, psn=start))
        qp.expect(*copies(messages, first=start))
    qp.completes(*messages[:3])
    qp.finish(messages[3])


@case("RTX-08", breaks=WRONG_ANSWERS, smoke=True)
def test_a_second_nak_inside_a_message_is_answered_at_once(bench: Bench) -> None:
    qp = connect(bench)
    messages = write_all(qp, 3 * MTU, 5, 2 * MTU)
    for start in (1, 2, 3, 5):
        qp.send(NAK(SEQUENCE_ERROR, psn=start))
        qp.expect(*copies(messages, first=start))
    qp.completes(*messages[:2])
    qp.finish(messages[2])


@case("QPS-04", "RTX-08", breaks=WRONG_ANSWERS, smoke=True)
def test_the_first_nak_of_each_life_is_answered_at_once(bench: Bench) -> None:
    qp = connect(bench)
    for _ in range(3):
        messages = write_all(qp, 2 * MTU)
        qp.send(NAK(SEQUENCE_ERROR, psn=0, msn=0))
        qp.expect(*copies(messages))
        qp.reconnect()


@case("RTX-08", "RTX-02", breaks=WRONG_ANSWERS, smoke=True)
def test_a_nak_of_what_a_timeout_has_repeated_is_answered_at_once(bench: Bench) -> None:
    code = timeout_code(bench)
    qp = connect(bench, timeout=code, retry_count=3)
    messages = write_all(qp, 2 * MTU)
    qp.send(NAK(SEQUENCE_ERROR, psn=0, msn=0))
    qp.expect(*copies(messages))
    qp.expect(*copies(messages), within_ns=longest_wait_ns(bench))
    qp.send(NAK(SEQUENCE_ERROR, psn=0, msn=0))
    begun_ns = last_given_ns(bench)
    qp.expect(*copies(messages), within_ns=longest_wait_ns(bench))
    if last_sent_ns(bench) - begun_ns > (ack_timeout_ns(code) or 0) // 2:
        raise bench.failed(
            "a NAK of what a timeout has repeated waits for the next", rules=["RTX-08"]
        )
    qp.finish(*messages)


@case("RTX-23", "NAK-06", smoke=True)
def test_all_queue_pairs_send_again_at_once(bench: Bench) -> None:
    qps = [connect(bench) for _ in range(min(bench.claims.qps, MANY))]
    messages = [write_all(qp, 2 * MTU) for qp in qps]
    for qp in qps:
        qp.send(NAK(SEQUENCE_ERROR, psn=0, msn=0))
    for qp, own in zip(qps, messages, strict=True):
        qp.expect(*copies(own))
        qp.finish(*own)
