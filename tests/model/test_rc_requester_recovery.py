# SPDX-License-Identifier: BSD-2-Clause
"""The RC requester goes back to an exact PSN, in time, and not more often than it may."""

from __future__ import annotations

from typing import Any

import pytest
from requester_bench import (
    T_NS,
    ack,
    drain,
    nak,
    plain,
    psns,
    requester,
    response,
    rnr_nak,
    run,
    statuses,
    work,
)

from roceproof.conformance.model.codes import rnr_wait_ns
from roceproof.conformance.model.requester.policy import (
    NakRetries,
    RequesterPolicy,
    Retransmission,
    RnrAgain,
    Unexpected,
)
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.wire.headers import Aeth
from roceproof.verbs.queue_pair import State
from roceproof.verbs.work import Op, Work

P = 256
LATE = 100_000
FATAL = {1: "rem_inv_req_err", 2: "rem_access_err", 3: "rem_op_err"}


def writes(count: int, length: int = 2 * P) -> list[Work]:
    return [work(length=length, wr_id=number) for number in range(count)]


def five_packets(**fields: Any) -> RcRequester:
    """One packet, then two, then two; all have left."""
    return requester(work(), *writes(2), now_ns=0, **fields)


# timeouts


@pytest.mark.parametrize("code", [1, 8, 12, 14, 18])
def test_a_timeout_is_noticed_between_t_and_4t_after_the_packet_left(code: int) -> None:
    model = requester(work(), ack_timeout=code)
    model.take(0)
    sent = run(model, 100, 4 * (4096 << code))
    assert psns(segment for _, segment in sent[:1]) == [0]
    assert 4096 << code <= sent[0][0] <= 4 * (4096 << code)


def test_the_timer_starts_anew_with_progress() -> None:
    model = five_packets()
    model.receive(ack(0), T_NS)
    sent = run(model, T_NS, 10 * T_NS)
    assert 2 * T_NS <= sent[0][0] <= 5 * T_NS


def test_the_timer_does_not_start_anew_with_each_packet() -> None:
    model = requester(work())
    assert psns(model.take(0)) == [0]
    times = []
    for number in range(1, 40):
        model.post(work(wr_id=number))
        now = number * T_NS // 8
        model.expire(now)
        times += [now for segment in model.take(now) if psns([segment]) == [0]]
    assert times and times[0] <= 4 * T_NS


def test_timeout_code_0_never_sends_again() -> None:
    model = requester(work(), ack_timeout=0, now_ns=0)
    assert model.next_deadline() is None
    model.expire(1 << 50)
    assert drain(model, 1 << 50) == []


def test_no_timer_runs_when_all_is_acknowledged() -> None:
    model = requester(work(), now_ns=0)
    model.receive(ack(0), LATE)
    assert model.next_deadline() is None


def test_after_a_timeout_all_from_the_oldest_unacknowledged_psn_on_leaves_again() -> None:
    model = five_packets()
    model.receive(ack(1), LATE)
    model.expire(20 * T_NS)
    assert psns(drain(model, 20 * T_NS)) == [2, 3, 4]


def test_copies_are_what_was_sent_before() -> None:
    lengths = (0, 1, P, P + 1, 3 * P - 1)
    ops = (Op.WRITE, Op.SEND_IMM, Op.WRITE_IMM, Op.SEND_INV)
    works = [work(op, length, immediate=length) for length in lengths for op in ops]
    model = requester(*works, work(Op.FETCH_ADD, swap_or_add=3))
    originals = drain(model, 0)
    model.expire(20 * T_NS)
    copies = drain(model, 20 * T_NS)
    assert list(map(plain, copies)) == list(map(plain, originals))
    assert copies[-1].bth.ack_req


def test_a_replay_runs_across_the_wrap_of_psns() -> None:
    model = requester(*writes(4), sq_psn=0xFFFFFE, now_ns=0)
    model.expire(20 * T_NS)
    copies = drain(model, 20 * T_NS)
    assert [segment.bth.psn for segment in copies] == [0xFFFFFE, 0xFFFFFF, 0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("retries", [0, 1, 3, 6, 7])
def test_without_any_answer_a_packet_leaves_once_and_as_often_again_as_the_retry_count(
    retries: int,
) -> None:
    model = requester(work(wr_id=1), work(wr_id=2), retry_count=retries)
    sent = [segment for _, segment in run(model, 0, 100 * T_NS)]
    assert psns(sent) == [0, 1] * (1 + retries)
    assert statuses(model) == [(1, "retry_exc_err"), (2, "wr_flush_err")]
    assert model.next_deadline() is None


def test_progress_restores_the_retry_counter() -> None:
    model = requester(*writes(20, 1), retry_count=1, now_ns=0)
    for lost in range(20):
        due = model.next_deadline()
        assert due is not None
        model.expire(due)
        assert psns(drain(model, due)) == list(range(lost, 20))
        model.receive(ack(lost), due + LATE)
    assert statuses(model) == [(number, "success") for number in range(20)]


def test_an_acknowledgement_lost_is_made_good_by_the_one_for_the_copy() -> None:
    model = requester(work(), now_ns=0)
    model.expire(20 * T_NS)
    assert psns(drain(model, 20 * T_NS)) == [0]
    for _ in range(2):
        model.receive(ack(0), 21 * T_NS)
    assert statuses(model) == [(1, "success")]


# sequence NAKs


@pytest.mark.parametrize("at", range(5))
def test_a_sequence_nak_acknowledges_all_before_its_psn_and_restarts_there(at: int) -> None:
    model = five_packets()
    model.receive(nak(at), LATE)
    assert len(model.outcomes) == (0, 1, 1, 2, 2)[at]
    assert psns(drain(model, LATE)) == list(range(at, 5))


def test_further_sequence_naks_for_the_same_psn_do_not_restart_again() -> None:
    model = five_packets()
    model.receive(nak(2), LATE)
    sent = model.take(LATE)
    for _ in range(20):
        model.receive(nak(2), LATE + 10)
    sent += drain(model, LATE + 100)
    assert psns(sent) == [2, 3, 4]


def test_after_a_timeout_a_sequence_nak_for_the_same_psn_counts_again() -> None:
    model = five_packets()
    model.receive(nak(2), LATE)
    drain(model, LATE)
    model.expire(20 * T_NS)
    drain(model, 20 * T_NS)
    model.receive(nak(2), 20 * T_NS + LATE)
    assert psns(drain(model, 20 * T_NS + LATE)) == [2, 3, 4]


def test_sequence_naks_outside_the_outstanding_psns_are_ignored() -> None:
    model = five_packets()
    model.receive(ack(1), LATE)
    for offset in (0, 1, -5, 5, 6, 1000, -(1 << 22)):
        model.receive(nak(offset), LATE)
    assert drain(model, LATE) == []
    assert len(model.outcomes) == 1


def test_an_acknowledgement_during_the_replay_moves_it_forward() -> None:
    model = requester(work(length=10 * P), now_ns=0)
    model.receive(nak(1), LATE)
    assert psns(model.take(LATE)) == [1]
    model.receive(ack(6), LATE + 50)
    assert psns(drain(model, LATE + 100)) == [7, 8, 9]


def test_work_posted_during_the_replay_leaves_behind_it_with_the_next_psn() -> None:
    model = five_packets()
    model.receive(nak(3), LATE)
    sent = model.take(LATE)
    model.post(work(wr_id=9))
    sent += drain(model, LATE + 100)
    assert psns(sent) == [3, 4, 5]


def test_an_acknowledgement_below_a_nak_that_overtook_it_changes_nothing() -> None:
    model = five_packets()
    model.receive(nak(3), LATE)
    model.receive(ack(0), LATE)
    assert psns(drain(model, LATE)) == [3, 4]
    model.receive(ack(4), 2 * LATE)
    assert len(model.outcomes) == 3


@pytest.mark.parametrize(
    ("naks", "state"), [(NakRetries.COUNTED, State.ERR), (NakRetries.FREE, State.RTS)]
)
def test_a_sequence_nak_without_progress_uses_up_a_retry_unless_it_is_free(
    naks: NakRetries, state: State
) -> None:
    model = five_packets(policy=RequesterPolicy(nak_retries=naks), retry_count=2)
    model.receive(nak(0), LATE)
    drain(model, LATE)
    model.expire(20 * T_NS)
    drain(model, 20 * T_NS)
    model.receive(nak(0), 21 * T_NS)
    assert model.state is state


# fatal NAKs


@pytest.mark.parametrize(("code", "status"), FATAL.items())
def test_a_fatal_nak_completes_its_request_in_error_and_flushes_the_rest(
    code: int, status: str
) -> None:
    model = five_packets()
    model.post(work(wr_id=9))
    model.receive(nak(2, code), LATE)
    assert [outcome.status for outcome in model.outcomes] == ["success", status] + [
        "wr_flush_err"
    ] * 2
    model.post(work(wr_id=10))
    assert drain(model, LATE) == []
    assert model.next_deadline() is None


@pytest.mark.parametrize("code", FATAL)
def test_a_fatal_nak_still_acknowledges_what_came_before(code: int) -> None:
    model = five_packets()
    model.receive(nak(4, code), LATE)
    assert statuses(model)[:2] == [(1, "success"), (0, "success")]


@pytest.mark.parametrize("offset", [0, 5, 1000])
def test_a_fatal_nak_for_a_request_that_is_not_outstanding_is_ignored(offset: int) -> None:
    model = five_packets()
    model.receive(ack(0), LATE)
    model.receive(nak(offset, 2), LATE)
    assert model.state is State.RTS


RESERVED = [0x40, 0x5F, 0x64, 0x65, 0x7F, 0x80, 0x9F, 0xA0, 0xE0, 0xFF]


@pytest.mark.parametrize("syndrome", RESERVED)
def test_a_reserved_syndrome_is_no_acknowledgement(syndrome: int) -> None:
    model = five_packets()
    model.receive(ack(4, syndrome), LATE)
    assert model.outcomes == []
    assert model.state is State.RTS
    model = five_packets(policy=RequesterPolicy(unexpected=Unexpected.BAD_RESPONSE))
    model.receive(ack(4, syndrome), LATE)
    assert statuses(model)[0] == (1, "bad_resp_err")


@pytest.mark.parametrize("opcode", [0x0D, 0x0E, 0x0F, 0x10, 0x12])
def test_data_for_a_request_that_awaits_none_is_no_acknowledgement(opcode: int) -> None:
    model = five_packets()
    model.receive(response(opcode, 4, Aeth(0x1F, 0)), LATE)
    assert model.outcomes == []


def test_requests_and_notifications_that_reach_the_requester_are_no_responses() -> None:
    model = five_packets()
    for opcode in (0x04, 0x0A, 0x0C, 0x13, 0x81):
        model.receive(response(opcode, 4), LATE)
    assert model.outcomes == []
    assert drain(model, LATE) == []


# RNR NAKs


@pytest.mark.parametrize("code", range(32))
def test_after_an_rnr_nak_nothing_leaves_for_the_time_of_its_code(code: int) -> None:
    model = five_packets()
    model.receive(rnr_nak(1, code), LATE)
    sent = run(model, LATE, LATE + rnr_wait_ns(code) + LATE)
    assert sent[0][0] == LATE + rnr_wait_ns(code)
    assert psns(segment for _, segment in sent) == [1, 2, 3, 4]


def test_rnr_timer_code_0_is_the_longest() -> None:
    assert rnr_wait_ns(0) == 655_360_000
    assert [rnr_wait_ns(code) for code in (1, 2, 25, 31)] == [
        10_000,
        20_000,
        61_440_000,
        491_520_000,
    ]


def test_an_rnr_nak_acknowledges_what_came_before() -> None:
    model = five_packets()
    model.receive(rnr_nak(3, 1), LATE)
    assert statuses(model) == [(1, "success"), (0, "success")]


def test_the_ack_timer_does_not_run_in_the_rnr_wait() -> None:
    model = five_packets(retry_count=0)
    model.receive(rnr_nak(0, 31), LATE)
    assert rnr_wait_ns(31) > 20 * T_NS
    sent = run(model, LATE, LATE + rnr_wait_ns(31))
    assert psns(segment for _, segment in sent) == [0]
    assert model.state is State.RTS


def test_naks_in_the_rnr_wait_neither_end_it_nor_count() -> None:
    model = five_packets(retry_count=0, rnr_retry=1)
    model.receive(rnr_nak(1, 10), LATE)
    for now in range(LATE, LATE + 50, 10):
        model.receive(nak(1), now)
        model.receive(rnr_nak(1, 10), now)
    assert psns(drain(model, LATE)) == []
    assert psns(drain(model, LATE + rnr_wait_ns(10))) == [1, 2, 3, 4]


def test_an_rnr_nak_in_the_rnr_wait_may_begin_it_again() -> None:
    model = five_packets(policy=RequesterPolicy(rnr_again=RnrAgain.WAITS_ANEW), rnr_retry=2)
    model.receive(rnr_nak(1, 10), LATE)
    model.receive(rnr_nak(1, 1), LATE + 10)
    assert model.next_deadline() == LATE + 10 + rnr_wait_ns(1) < LATE + rnr_wait_ns(10)
    model.receive(rnr_nak(1, 1), LATE + 20)
    assert model.state is State.ERR


def test_progress_in_the_rnr_wait_does_not_end_it() -> None:
    model = five_packets()
    model.receive(rnr_nak(1, 10), LATE)
    model.receive(ack(2), LATE + 10)
    assert model.next_deadline() == LATE + rnr_wait_ns(10)
    assert psns(drain(model, LATE + rnr_wait_ns(10))) == [3, 4]


def test_an_rnr_nak_for_a_later_request_in_the_rnr_wait_begins_a_wait_of_its_own() -> None:
    model = five_packets()
    model.receive(rnr_nak(1, 10), LATE)
    model.receive(rnr_nak(3, 10), LATE + 1000)
    sent = run(model, LATE, 3 * LATE + rnr_wait_ns(10))
    assert sent[0][0] == LATE + 1000 + rnr_wait_ns(10)
    assert psns(segment for _, segment in sent) == [3, 4]


@pytest.mark.parametrize("retries", [0, 1, 6])
def test_after_as_many_rnr_naks_as_the_rnr_retry_count_the_next_one_is_fatal(retries: int) -> None:
    model = requester(work(wr_id=1), work(wr_id=2), rnr_retry=retries)
    attempts, now = 0, 0
    while model.state is State.RTS:
        attempts += psns(drain(model, now)).count(0)
        model.receive(rnr_nak(0, 1), now + LATE)
        now += 2 * LATE
    assert attempts == retries + 1
    assert statuses(model) == [(1, "rnr_retry_exc_err"), (2, "wr_flush_err")]


def test_rnr_retry_count_7_has_no_end() -> None:
    model = requester(work(), rnr_retry=7)
    for attempt in range(50):
        assert psns(drain(model, attempt * 2 * LATE)) == [0]
        model.receive(rnr_nak(0, 1), attempt * 2 * LATE + LATE)
    assert model.state is State.RTS


def test_progress_restores_the_rnr_counter() -> None:
    model = requester(*writes(10, 1), rnr_retry=1)
    for lost in range(10):
        now = lost * 10 * LATE
        drain(model, now)
        model.receive(rnr_nak(lost, 1), now + LATE)
        drain(model, now + 3 * LATE)
        model.receive(ack(lost), now + 5 * LATE)
    assert statuses(model) == [(number, "success") for number in range(10)]


# no retransmission


def test_without_retransmission_every_call_for_it_ends_the_queue_pair() -> None:
    once = RequesterPolicy(retransmission=Retransmission.NONE)
    for segment, status in ((nak(1), "retry_exc_err"), (rnr_nak(1, 1), "rnr_retry_exc_err")):
        model = five_packets(policy=once)
        model.receive(segment, LATE)
        assert statuses(model)[:2] == [(1, "success"), (0, status)]
        assert drain(model, 10 * T_NS) == []
    model = five_packets(policy=once)
    model.expire(20 * T_NS)
    assert statuses(model)[0] == (1, "retry_exc_err")
