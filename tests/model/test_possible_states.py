# SPDX-License-Identifier: BSD-2-Clause
"""What a requester may be in stays few, however long nobody sees what it has taken in."""

from requester_bench import T_NS, ack, psn, qp, work

from roceproof.conformance.model.monitor.allowed_sends import admitted
from roceproof.conformance.model.monitor.possible_states import Candidates
from roceproof.conformance.model.monitor.sent import WireRecord
from roceproof.conformance.model.segmentation import Message
from roceproof.verbs.work import Op

ANSWERS = 32
EACH = 4
"""Behind an answer: with it or without, with the timer run out before it or not."""


def test_answers_that_may_wait_behind_a_timeout_do_not_multiply() -> None:
    spec = qp(retry_count=7)
    wire = WireRecord(spec.sq_psn, spec.path_mtu)
    candidates = Candidates(spec, wire)
    now = 0
    for number in range(ANSWERS):
        request = Message(spec, work(Op.WRITE, 5, wr_id=number), psn(number)).request(0)
        states = [
            after
            for before in candidates.reached(now)
            for after in admitted(before, request, now, wire, spec)
        ]
        wire.add(request, now, now)
        candidates.settle(states)
        now += 2 * T_NS
        candidates.hear(ack(number), now, ANSWERS * 2 * T_NS)
    assert len(candidates.reached(now)) <= EACH * (ANSWERS + 1)
