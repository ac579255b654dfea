# SPDX-License-Identifier: BSD-2-Clause
"""End-to-end credits: how many messages that take a receive may leave, and which need none."""

from __future__ import annotations

import pytest
from requester_bench import ack, drain, psns, requester, work

from roceproof.conformance.model.requester.policy import FlowControl, RequesterPolicy
from roceproof.verbs.work import Op

P = 256
LATE = 100_000
CREDITS = RequesterPolicy(flow_control=FlowControl.CREDITS)
TAKE_RECEIVE = (Op.SEND, Op.SEND_IMM, Op.SEND_INV, Op.WRITE_IMM)


@pytest.mark.parametrize("op", TAKE_RECEIVE)
def test_before_the_first_credits_one_packet_leaves_and_asks_for_an_ack(op: Op) -> None:
    model = requester(work(op, 3 * P), work(op), policy=CREDITS)
    sent = drain(model, 0)
    assert psns(sent) == [0]
    assert sent[0].bth.ack_req


@pytest.mark.parametrize(("code", "count"), [(1, 1), (2, 2), (5, 6), (8, 16)])
def test_messages_leave_up_to_the_msn_and_the_credits(code: int, count: int) -> None:
    model = requester(*(work(Op.SEND) for _ in range(40)), policy=CREDITS)
    drain(model, 0)
    model.receive(ack(0, code, msn=1), LATE)
    assert psns(drain(model, LATE)) == list(range(1, 1 + count))


def test_with_code_31_credits_do_not_count() -> None:
    model = requester(*(work(Op.SEND) for _ in range(40)), policy=CREDITS)
    drain(model, 0)
    model.receive(ack(0, 31, msn=1), LATE)
    assert len(drain(model, LATE)) == 39


def test_without_credits_packets_leave_one_at_a_time() -> None:
    model = requester(work(Op.SEND, 2 * P), work(Op.SEND), policy=CREDITS)
    drain(model, 0)
    for offset in (0, 1):
        model.receive(ack(offset, 0, msn=offset), (offset + 1) * LATE)
        sent = drain(model, (offset + 1) * LATE)
        assert psns(sent) == [offset + 1]
        assert sent[0].bth.ack_req


def test_operations_that_take_no_receive_need_no_credit() -> None:
    works = (work(Op.WRITE), work(Op.READ, 1), work(Op.FETCH_ADD), work(Op.SEND))
    assert psns(drain(requester(*works, policy=CREDITS), 0)) == [0, 1, 2]


def test_an_ack_repeated_with_more_credits_resumes_sending() -> None:
    model = requester(*(work(Op.SEND) for _ in range(9)), policy=CREDITS)
    drain(model, 0)
    model.receive(ack(0, 1, msn=1), LATE)
    assert psns(drain(model, LATE)) == [1]
    model.receive(ack(0, 4, msn=1), 2 * LATE)
    assert psns(drain(model, 2 * LATE)) == [2, 3, 4]


def test_credits_are_never_taken_back_nor_given_by_an_ack_of_the_future() -> None:
    model = requester(*(work(Op.SEND) for _ in range(9)), policy=CREDITS)
    drain(model, 0)
    model.receive(ack(5, 8, msn=6), LATE)
    assert drain(model, LATE) == []
    model.receive(ack(0, 3, msn=1), LATE)
    model.receive(ack(0, 0, msn=1), LATE)
    assert psns(drain(model, LATE)) == [1, 2, 3]


def test_an_ack_of_the_psn_before_the_first_gives_no_credits() -> None:
    model = requester(*(work(Op.SEND) for _ in range(9)), policy=CREDITS)
    drain(model, 0)
    model.receive(ack(-1, 8, msn=1), LATE)
    assert drain(model, LATE) == []


def test_an_ack_behind_the_latest_gives_no_credits() -> None:
    model = requester(*(work(Op.SEND) for _ in range(9)), policy=CREDITS)
    drain(model, 0)
    model.receive(ack(0, 1, msn=1), LATE)
    assert psns(drain(model, LATE)) == [1]
    model.receive(ack(1, 0, msn=2), 2 * LATE)
    assert psns(drain(model, 2 * LATE)) == [2]
    model.receive(ack(0, 8, msn=1), 3 * LATE)
    assert drain(model, 3 * LATE) == []


def test_a_requester_without_flow_control_sends_whatever_the_credits_say() -> None:
    model = requester(*(work(Op.SEND) for _ in range(9)))
    assert len(drain(model, 0)) == 9
