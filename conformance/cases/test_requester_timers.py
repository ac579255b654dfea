# SPDX-License-Identifier: BSD-2-Clause
"""The laws of the ACK timer on all queue pairs side by side, each in a history of its own."""

from __future__ import annotations

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.stimulus.play import Play
from roceproof.conformance.stimulus.waiting import TICKS, Side, drawn, histories_of, steps_of
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import MASSES, REQUESTER, case, needs, over
from roceproof.conformance.suite.recovery import awaited_code
from roceproof.conformance.suite.storm_crowd import PUSHES
from roceproof.conformance.suite.within_limits import fixed_values, sent_of, skip_for_services
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service

pytestmark = [REQUESTER, needs(Capability.LOCKSTEP, Capability.RC)]

RULES = ("RTX-01", "RTX-05", "ACK-08")
CODE = 3  # 33 us
MOST = 16
FIRST, MANY = 0x40, 16  # numbers of queue pairs in one place
SIMULATED = ["hdl", "model"]
ROUNDS = 6


def places(bench: Bench) -> list[int]:
    """The first and the last of the device's queue pairs, and some between."""
    count = bench.claims.qps
    if count <= MOST:
        return [*range(count)]
    return [0, count - 1, *bench.random.sample(range(1, count - 1), MOST - 2)]


def live(bench: Bench, histories: list[str]) -> None:
    """All of these, as many at once as there are queue pairs."""
    ops = sent_of(bench.claims, Service.RC, PUSHES)
    if not ops:
        skip_for_services(bench.claims, [Service.RC])
    code, mtu = awaited_code(bench, CODE), min(bench.claims.path_mtus)
    fixed = fixed_values(bench.claims, {"ack_timeout": code, "retry_count": 0})
    where, play = places(bench), Play(bench)
    is_told = Capability.RESTART in bench.claims.capabilities
    for turn in range(0, len(histories), len(where)):
        now, first = histories[turn : turn + len(where)], turn if is_told else 0
        sides = [
            Side(
                first + each,
                {
                    "local_qpn": (FIRST + MANY * first) * bench.claims.qps + where[each],
                    "path_mtu": mtu,
                    "ack_timeout": code,
                    "sq_psn": bench.random.getrandbits(24),
                    **fixed,
                },
                op=bench.random.choice(ops).name,
                places=bench.claims.qps,
            )
            for each in range(len(now))
        ]
        for step in steps_of(sides, now, (ack_timeout_ns(code) or 0) // TICKS):
            step.apply(play)
    play.finish()


@case(*RULES, smoke=True, targets=SIMULATED)
def test_every_timer_keeps_its_time_beside_all_others(bench: Bench) -> None:
    known = histories_of(bench.claims)
    live(bench, bench.random.sample(known, min(len(known), 2 * bench.claims.qps)))


@MASSES
@case(*RULES, targets=SIMULATED)
@over("part", range(ROUNDS))
def test_every_history_of_a_timer_beside_every_other(bench: Bench, part: int) -> None:
    known, others = histories_of(bench.claims), range(len(places(bench)))
    bench.random.shuffle(known)
    live(bench, [*known, *(drawn(bench.random, bench.claims) for _ in others)])
