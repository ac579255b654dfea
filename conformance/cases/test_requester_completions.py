# SPDX-License-Identifier: BSD-2-Clause
"""Completions of several queue pairs at once, and of more than a device can report at a time."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.recovery import write_all
from roceproof.conformance.suite.pattern import ACK
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [
    REQUESTER,
    needs(Capability.RC, Capability.UC, Capability.WRITE, Capability.DISTURBANCE),
]

MTU = 256
SELDOM = 99  # percent of the cycles in which no completion is taken
MESSAGES = 6


@case("ACK-08", "UC-01", "FUZZ-15")
def test_of_completions_that_come_together_each_is_told(bench: Bench) -> None:
    reliable, unreliable = (bench.connect(s, path_mtu=MTU) for s in (Service.RC, Service.UC))
    for _ in range(3):
        acknowledged = write_all(reliable, *[5] * MESSAGES)
        bench.target.disturb(cpl_stall=SELDOM)
        reliable.ack(acknowledged[-1])
        sent = write_all(unreliable, *[5] * MESSAGES)
        bench.settle()
        bench.target.disturb(cpl_stall=0)
        reliable.completes(*acknowledged)
        unreliable.completes(*sent)


@case("ACK-15")
@over("length", [5, 2 * MTU])
def test_an_answer_may_come_before_the_completions_of_what_left_earlier(
    bench: Bench, length: int
) -> None:
    reliable, unreliable = (bench.connect(s, path_mtu=MTU) for s in (Service.RC, Service.UC))
    bench.target.disturb(cpl_stall=SELDOM)
    for _ in range(3):
        sent = [unreliable.post(Op.WRITE, 5) for _ in range(MESSAGES)]
        message = reliable.post(Op.WRITE, length)
        reliable.expect_message(message)
        reliable.send(ACK(psn=message.last_psn, msn=message.ordinal))
        reliable.completes(message)
        unreliable.expect_message(*sent)
        unreliable.completes(*sent)
