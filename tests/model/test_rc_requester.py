# SPDX-License-Identifier: BSD-2-Clause
"""The RC requester sends what the window admits, and completes what is acknowledged."""

from __future__ import annotations

import pytest
from requester_bench import (
    ack,
    atomic_ack,
    drain,
    opcodes,
    oversized,
    psns,
    read_response,
    requester,
    statuses,
    work,
)

from roceproof.conformance.model.requester.policy import RequesterPolicy
from roceproof.conformance.wire.headers import Reth
from roceproof.verbs.queue_pair import State
from roceproof.verbs.work import Op

P = 256


def test_messages_leave_one_packet_after_the_other_and_none_between() -> None:
    model = requester(work(length=2 * P + 1), work(Op.READ, 5 * P), work(Op.SEND, 0))
    sent = drain(model, 0)
    assert opcodes(sent) == [0x06, 0x07, 0x08, 0x0C, 0x04]
    assert psns(sent) == [0, 1, 2, 3, 8]


def test_each_message_names_its_own_memory() -> None:
    keys = [(0x1000, 1), (0x9000, 2), (0x1000, 3)]
    works = [work(length=2 * P, remote_addr=address, rkey=key) for address, key in keys]
    headers = [segment.extension(Reth) for segment in drain(requester(*works), 0)]
    expected = [header for key in keys for header in (Reth(*key, 2 * P), None)]
    assert headers == expected


def test_no_more_than_one_packet_leaves_per_interval() -> None:
    model = requester(work(length=20 * P))
    assert len(model.take(0)) == 1
    assert model.take(0) == []
    assert model.next_deadline() == 100
    assert model.take(99) == []
    assert len(model.take(100)) == 1


@pytest.mark.parametrize("syndrome", range(32))
def test_an_ack_with_any_credit_code_acknowledges_all_up_to_its_psn(syndrome: int) -> None:
    model = requester(work(length=2 * P, wr_id=1), work(length=P, wr_id=2), work(wr_id=3))
    drain(model, 0)
    model.receive(ack(2, syndrome), 1)
    assert statuses(model) == [(1, "success"), (2, "success")]


def test_work_completes_only_when_its_last_packet_is_acknowledged() -> None:
    model = requester(work(length=3 * P, wr_id=1), work(length=3 * P, wr_id=2))
    drain(model, 0)
    model.receive(ack(1), 1)
    assert statuses(model) == []
    model.receive(ack(4), 2)
    assert statuses(model) == [(1, "success")]
    model.receive(ack(5), 3)
    assert statuses(model) == [(1, "success"), (2, "success")]


def test_acknowledgement_works_across_the_wrap_of_psns() -> None:
    model = requester(*(work(wr_id=number) for number in range(6)), sq_psn=0xFFFFFD)
    drain(model, 0)
    model.receive(ack(0x000001 - 0x123456), 1)
    assert len(model.outcomes) == 5
    assert model.window.outstanding == 1


def test_acks_of_the_past_and_of_requests_never_sent_are_ignored() -> None:
    model = requester(*(work(wr_id=number) for number in range(3)))
    drain(model, 0)
    model.receive(ack(0), 1)
    for offset in (0, -1, -1000, 3, 4, 1000, (1 << 23) - 1):
        model.receive(ack(offset), 2)
    assert len(model.outcomes) == 1
    assert drain(model, 3) == []


def test_an_ack_is_taken_while_its_message_is_still_leaving() -> None:
    model = requester(work(length=3 * P))
    sent = model.take(0)
    model.receive(ack(0), 10)
    sent += drain(model, 100)
    assert psns(sent) == [0, 1, 2]
    model.receive(ack(2), 1000)
    assert statuses(model) == [(1, "success")]


@pytest.mark.parametrize("outstanding", [1, 5, 128])
def test_the_window_bounds_the_psns_without_an_answer(outstanding: int) -> None:
    policy = RequesterPolicy(max_outstanding=outstanding)
    model = requester(work(length=300 * P), policy=policy)
    sent = drain(model, 0)
    assert len(sent) == outstanding
    assert sent[-1].bth.ack_req
    model.receive(ack(0), 100_000)
    assert psns(drain(model, 100_000)) == [outstanding]


def test_a_read_beyond_the_window_leaves_alone() -> None:
    policy = RequesterPolicy(max_outstanding=4)
    model = requester(work(wr_id=1), work(Op.READ, 9 * P, wr_id=2), work(wr_id=3), policy=policy)
    assert psns(drain(model, 0)) == [0]
    model.receive(ack(0), 1)
    assert psns(drain(model, 100_000)) == [1]


def test_not_more_than_half_of_all_psns_are_outstanding() -> None:
    policy = RequesterPolicy(max_outstanding=1 << 23)
    longest = work(Op.READ, (1 << 31) - P, wr_id=1)
    model = requester(longest, work(wr_id=2), work(wr_id=3), policy=policy)
    assert psns(drain(model, 0)) == [0, (1 << 23) - 1]
    assert model.window.outstanding == 1 << 23


def test_reads_and_atomics_outstanding_do_not_exceed_the_initiator_depth() -> None:
    model = requester(
        work(Op.READ, 3 * P), work(Op.FETCH_ADD), work(Op.READ, 1), work(), max_rd_atomic=2
    )
    assert psns(drain(model, 0)) == [0, 3]
    for index, opcode in enumerate((0x0D, 0x0E, 0x0F)):
        model.receive(read_response(opcode, index, bytes(P)), 1)
    assert psns(drain(model, 100_000)) == [4, 5]


def test_a_response_with_data_acknowledges_the_requests_before_it() -> None:
    model = requester(
        work(wr_id=1), work(Op.READ, 5, wr_id=2), work(wr_id=3), work(Op.CMP_SWAP, wr_id=4)
    )
    drain(model, 0)
    model.receive(read_response(0x10, 1, b"fives"), 1)
    assert statuses(model) == [(1, "success"), (2, "success")]
    model.receive(atomic_ack(3), 2)
    assert [outcome.wr_id for outcome in model.outcomes] == [1, 2, 3, 4]


def test_work_that_is_refused_uses_no_psn_and_disturbs_nothing() -> None:
    model = requester(work(wr_id=1), oversized(wr_id=2), work(wr_id=3))
    assert statuses(model) == [(2, "loc_len_err")]
    assert psns(drain(model, 0)) == [0, 1]
    assert model.state is State.RTS


def test_nothing_is_sent_before_rts() -> None:
    model = requester(work(), state=State.RTR)
    assert model.next_deadline() is None
    assert drain(model, 0) == []
    model.state = State.RTS
    assert psns(drain(model, 0)) == [0]


def test_in_the_error_state_all_work_is_flushed_and_nothing_is_sent() -> None:
    model = requester(work(length=3 * P, wr_id=1), work(wr_id=2))
    model.take(0)
    model.flush()
    model.post(work(wr_id=3))
    assert statuses(model) == [(number, "wr_flush_err") for number in (1, 2, 3)]
    model.receive(ack(0), 1)
    assert model.next_deadline() is None
    assert drain(model, 2) == []
    assert len(model.outcomes) == 3


def test_a_packet_that_takes_longer_than_the_interval_is_slowed_too() -> None:
    model = requester(work(length=2 * P), policy=RequesterPolicy(packet_interval_ns=1))
    model.notify_congestion(0)
    assert model.take(0) and model.next_deadline() == int(2 * P * 0.8)


def test_a_congestion_notification_changes_the_rate_and_nothing_else() -> None:
    model = requester(work(length=40 * P), policy=RequesterPolicy(packet_interval_ns=1000))
    model.take(0)
    model.notify_congestion(50)
    assert model.take(1000) and model.next_deadline() == 3000
    model.notify_congestion(2500)
    assert model.take(3000) and model.next_deadline() == 7000
    assert model.take(60_000) and model.next_deadline() == 62_000
    assert model.take(110_000) and model.next_deadline() == 111_000
    assert psns(drain(model, 111_000)) == list(range(5, 40))
    model.receive(ack(39), 200_000)
    assert statuses(model) == [(1, "success")]
