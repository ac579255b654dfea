# SPDX-License-Identifier: BSD-2-Clause
"""End-to-end credits: which messages wait for them, and what lets them go."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.pattern import ACK, SEND_ONLY, WRITE_ONLY
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, needs(Capability.RC, Capability.SEND)]

MTU = 256


def connect(bench: Bench, *, credits: int) -> Connection:
    """A connection whose first message was acknowledged with so many credits (4 at most)."""
    qp = bench.connect(path_mtu=MTU, flow_control=True)
    qp.post(Op.SEND, 5)
    qp.expect(SEND_ONLY(psn=0, a=1))
    qp.send(ACK(psn=0, msn=1, credits=credits))
    return qp


@case("CRED-03", needs=[Capability.CREDITS], smoke=True)
@over("credits", [0, 2, 4])
def test_as_many_messages_leave_as_there_are_credits_and_at_most_one_that_asks(
    bench: Bench, credits: int
) -> None:
    qp = connect(bench, credits=credits)
    for _ in range(credits + 3):
        qp.post(Op.SEND, 5)
    for number in range(credits):
        qp.expect(SEND_ONLY(psn=1 + number))
    qp.expect_silence(allowing=[SEND_ONLY(psn=1 + credits, a=1)])


@case("CRED-04", needs=[Capability.WRITE], smoke=True)
def test_a_write_needs_no_credit(bench: Bench) -> None:
    qp = connect(bench, credits=0)
    for _ in range(4):
        qp.post(Op.WRITE, 5)
    qp.expect(*(WRITE_ONLY(psn=1 + number) for number in range(4)))


@case("CRED-05", needs=[Capability.CREDITS], smoke=True)
def test_an_ack_that_only_raises_credits_lets_messages_go(bench: Bench) -> None:
    qp = connect(bench, credits=0)
    for _ in range(4):
        qp.post(Op.SEND, 5)
    qp.expect(SEND_ONLY(psn=1, a=1))
    qp.expect_silence()
    qp.send(ACK(psn=0, msn=1, credits=4))
    qp.expect(*(SEND_ONLY(psn=psn) for psn in (2, 3, 4)))
