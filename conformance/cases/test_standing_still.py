# SPDX-License-Identifier: BSD-2-Clause
"""All streams stand still at once, amid anything, as when a clock enable falls; then all go on."""

from roceproof.conformance.stimulus.responder.play import Asking
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, RESPONDER, case, needs, over_services
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.traffic.storm_crowd import operations, served
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [needs(Capability.LOCKSTEP), needs(Capability.DISTURBANCE)]

SIMULATED = ["hdl", "model"]
TIMES = 60
SHORT, LONG, VERY_LONG = 8, 200, 20_000  # ns


def pauses(bench: Bench) -> None:
    """For a cycle or many, and some cycles go on between them."""
    draw, target = bench.random, bench.target
    for turn in range(TIMES):
        longest = VERY_LONG if turn == TIMES // 2 else draw.choice([SHORT, LONG])
        target.stand_still(draw.randrange(1, longest + 1))
        target.wait(draw.randrange(1, draw.choice([SHORT, LONG])))


@case("LIVE-03", "FUZZ-16", smoke=True, targets=SIMULATED)
@REQUESTER
@over_services
def test_messages_leave_between_pauses_of_all_streams(bench: Bench, service: Service) -> None:
    served(bench, service)
    qp = bench.connect(service)
    messages = [
        qp.post(op, size) for op in operations(bench, service) for size in (5, 3 * qp.mtu + 1)
    ]
    pauses(bench)
    for message in messages:
        qp.expect_message(message)
    qp.finish(*messages)


@case("LIVE-03", "FUZZ-16", smoke=True, targets=SIMULATED)
@RESPONDER
def test_requests_are_served_between_pauses_of_all_streams(bench: Bench) -> None:
    wanted = executed_of(bench.claims, Service.RC, [Op.SEND, Op.WRITE, Op.READ, Op.FETCH_ADD])
    play = Asking(bench)
    play.connect(0, path_mtu=min(bench.claims.path_mtus), max_dest_rd_atomic=4)
    play.region(0, 2048)
    for size in (5, 700):
        for op in wanted:
            if op is Op.SEND:
                play.receive(0, size)
            play.request(0, op.name, size, swap=3, offset=512)
        pauses(bench)
    play.finish()
