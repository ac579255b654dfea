# SPDX-License-Identifier: BSD-2-Clause
"""Two things happen at once, to two queue pairs or to one, while what they have sent waits."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product

import pytest

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.stimulus.drawing.meeting import (
    EVENTS,
    HELD,
    TRAIN,
    One,
    again,
    meet,
    meet_at_rest,
    meet_copies,
    run_out,
)
from roceproof.conformance.stimulus.plan import Step
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import MASSES, REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.recovery import brisk_code
from roceproof.conformance.suite.limits.within_limits import fixed_values
from roceproof.conformance.suite.moments import in_ns
from roceproof.conformance.suite.traffic.storm_crowd import operations, served
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service

pytestmark = [
    REQUESTER,
    needs(Capability.LOCKSTEP, Capability.RC, Capability.DISTURBANCE, Capability.RESTART),
]

RULES = ("NAK-09", "QPS-06", "ACK-08", "LIVE-02")
MOST = 16
FIRST = 0x80
Meets = Callable[[One, One, tuple[str, str]], Iterable[Step]]
SMOKE = pytest.mark.smoke
TURNS, REPEATING = 3, 3
AMID = 400
"""Cycles from the answer that asks for copies to what comes amid them, at most."""
NEAR, FEW = 12, 3
"""In cycles: more than the beats of the shortest frame, and what one step inside takes."""
SHORTEST, ROUNDS = 3, 12  # quarters of the time after which a device is quiet


def what_is_held(held: Mapping[str, int]) -> str:
    """In the name of a case."""
    return " ".join(f"{name} {percent}" for name, percent in held.items()) or "nothing"


def pairs(bench: Bench, **spec: int) -> list[One]:
    """Queue pairs in the first and the last place of the device, and between."""
    services = served(bench, Service.RC, Service.RC, Service.UC)
    count = bench.claims.qps
    where = range(count) if count <= MOST else [0, count - 1, *range(1, MOST - 1)]
    return [
        One(
            key,
            {
                "service": service.name,
                "local_qpn": FIRST * count + place,
                "path_mtu": min(bench.claims.path_mtus),
                "sq_psn": bench.random.getrandbits(24),
                **spec,
                **fixed_values(bench.claims, spec),
            },
            bench.random.choice(operations(bench, service)).name,
        )
        for key, place in enumerate(where)
        for service in [services[key % len(services)]]
    ]


def all_meet(
    bench: Bench, meetings: Iterable[tuple[tuple[str, str], Meets]], *, is_one: bool = False
) -> None:
    """Each of these pairs of events, to one queue pair or to two."""
    play, known, left = Play(bench), pairs(bench), list(meetings)
    for one in known:
        one.begins().apply(play)
    bench.random.shuffle(left)
    while left:
        ones = bench.random.sample(known, len(known)) if len(known) > 1 else known * 2
        firsts, seconds = (ones, ones) if is_one else (ones[::2], ones[1::2])
        met: list[tuple[One, str]] = []
        for both in zip(firsts, seconds, strict=False):
            if left:
                events, meets = left.pop()
                for step in meets(*both, events):
                    step.apply(play)
                met += zip(both, events, strict=True)
        for step in again(met):
            step.apply(play)
    play.finish()


def at_rest(bench: Bench, cycles: int) -> Meets:
    """The second comes so many cycles behind the first."""
    return partial(meet_at_rest, apart_ns=in_ns(bench, cycles))


@case(*RULES, targets=["hdl"])
@over(
    "held",
    [pytest.param(held, marks=() if "rx_gap" in held else SMOKE) for held in HELD],
    ids=what_is_held,
)
def test_what_meets_on_two_queue_pairs_stays_apart(bench: Bench, held: Mapping[str, int]) -> None:
    all_meet(bench, product(product(EVENTS, EVENTS), [partial(meet, held=held)]))


@case(*RULES, targets=["hdl"])
@over("cycles", [pytest.param(n, marks=SMOKE if n < FEW else ()) for n in range(1, NEAR)])
@over("is_one", [True, False], ids=["one", "two"])
def test_what_comes_cycles_apart_to_queue_pairs_at_rest_is_told_apart(
    bench: Bench, cycles: int, is_one: bool
) -> None:
    meets = at_rest(bench, cycles)
    all_meet(bench, product(product(EVENTS, EVENTS), [meets]), is_one=is_one)


@case(*RULES, smoke=True, targets=["hdl"])
def test_what_comes_in_any_cycle_of_anothers_train_is_told_apart(bench: Bench) -> None:
    trains = product([TRAIN], EVENTS)
    all_meet(bench, product(trains, [at_rest(bench, cycles) for cycles in range(1, 2 * NEAR)]))


@case(
    *("RTX-03", "RNR-03", "QPS-03", *RULES),
    needs=[Capability.RETRANSMISSION],
    smoke=True,
    targets=["hdl"],
)
@over("held", [*HELD, {"tx_stall": 80}], ids=what_is_held)
def test_what_comes_amid_copies_is_heeded_at_once(bench: Bench, held: Mapping[str, int]) -> None:
    play, draw = Play(bench), bench.random
    reliable = [one for one in pairs(bench) if one.spec["service"] == Service.RC.name]
    for one in reliable:
        one.begins().apply(play)
    left = draw.sample([*EVENTS] * TURNS, len(EVENTS) * TURNS)
    while left:
        ones = draw.sample(reliable, min(REPEATING, len(reliable)))
        happen = [(one, left.pop()) for one in ones if left]
        apart = [in_ns(bench, draw.randrange(1, AMID)) for _ in happen]
        for step in (*meet_copies(happen, held, apart), *again(happen)):
            step.apply(play)
    play.finish()


@MASSES
@case("RTX-01", "RTX-05", *RULES, targets=["hdl"])
@over("held", [*HELD, {"payload_gap": 95}, {"tx_stall": 90}, {"cpl_stall": 90}], ids=what_is_held)
def test_timers_run_out_amid_all_that_happens(bench: Bench, held: Mapping[str, int]) -> None:
    code = brisk_code(bench, SHORTEST)
    play, known = Play(bench), pairs(bench, retry_count=0)
    reliable = [one for one in known if one.spec["service"] == Service.RC.name]
    for _ in range(ROUNDS):
        waiting = bench.random.sample(reliable, -(-len(reliable) // 2))
        others = [one for one in known if one not in waiting]
        armed = [one._replace(spec={**one.spec, "ack_timeout": code}) for one in waiting]
        timeout_ns = ack_timeout_ns(code) or 0
        for step in run_out(armed, others, held, bench.random, timeout_ns):
            step.apply(play)
    play.finish()
