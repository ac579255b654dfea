# SPDX-License-Identifier: BSD-2-Clause
"""The laws of the ACK timer on all queue pairs side by side, each in a history of its own."""

from collections.abc import Sequence
from itertools import cycle, islice

from roceproof.conformance.stimulus.drawing.waiting import (
    PUTTING_OFF,
    Side,
    copy_held_up,
    drawn,
    held_up,
    histories_of,
    steps_of,
    tick_ns,
)
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import MASSES, REQUESTER, case, needs, over
from roceproof.conformance.suite.checks.recovery import NEVER, awaited_code, brisk_code
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.limits.within_limits import (
    fixed_values,
    require_queue_pairs,
    require_sent,
)
from roceproof.conformance.suite.traffic.storm_crowd import PUSHES
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service

pytestmark = [REQUESTER, needs(Capability.LOCKSTEP, Capability.RC)]

RULES = ("RTX-01", "RTX-05", "ACK-08")
TIME, SHORT_TIME = 12, 6  # quarters of the time after which a device is quiet
TOGETHER, MOST_TOGETHER = 2, 5
MOST = 16
HELD_BACK = 99
FIRST, MANY = 0x40, 16  # numbers of queue pairs in one place
SIMULATED = ["hdl", "model"]
ROUNDS = 6
MANY_PUT_OFF, LONG_TICKS, LAST_CODE = 4, 40, 10


def places(bench: Bench) -> list[int]:
    """The first and the last of the device's queue pairs, and some between."""
    count = bench.claims.qps
    if count <= MOST:
        return [*range(count)]
    return [0, count - 1, *bench.random.sample(range(1, count - 1), MOST - 2)]


def sides_of(bench: Bench, where: Sequence[int], *, first: int = 0, **spec: int) -> list[Side]:
    """A queue pair in each of these places, for any message."""
    ops = require_sent(bench.claims, Service.RC, PUSHES)
    fixed = fixed_values(bench.claims, {"retry_count": 0} | spec)
    usual = {"path_mtu": min(bench.claims.path_mtus)} | spec | fixed
    return [
        Side(
            key,
            {
                "local_qpn": (FIRST + MANY * first) * bench.claims.qps + place,
                "sq_psn": bench.random.getrandbits(24),
                **usual,
            },
            op=bench.random.choice(ops).name,
            places=bench.claims.qps,
        )
        for key, place in enumerate(where, first)
    ]


def behind_a_long_packet(bench: Bench, play: Play, **spec: int) -> tuple[Side, list[Side]]:
    """A queue pair of the largest path MTU and no timer, and others; all are configured."""
    require_queue_pairs(bench.claims, TOGETHER)
    where, longest = places(bench)[:MOST_TOGETHER], max(bench.claims.path_mtus)
    (front,) = sides_of(bench, where[:1], path_mtu=longest, ack_timeout=NEVER)
    sides = sides_of(bench, where[1:], first=1, **spec)
    for side in (front, *sides):
        side.begins().apply(play)
    return front, sides


def live(bench: Bench, histories: list[str]) -> None:
    """All of these, as many at once as there are queue pairs."""
    where, play = places(bench), Play(bench)
    code = brisk_code(bench, TIME)
    is_told = Capability.RESTART in bench.claims.capabilities
    for turn in range(0, len(histories), len(where)):
        now = histories[turn : turn + len(where)]
        sides = sides_of(bench, where[: len(now)], first=turn if is_told else 0, ack_timeout=code)
        for step in steps_of(sides, now, tick_ns(code)):
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


@case(*RULES, "ACK-10", smoke=True, targets=SIMULATED, breaks=WRONG_ANSWERS)
def test_answers_to_nothing_that_is_outstanding_put_no_timer_off(bench: Bench) -> None:
    where, play = places(bench)[:MANY_PUT_OFF], Play(bench)
    least_ns = bench.target.patience.answer_ns // LONG_TICKS
    times = (code for code in range(brisk_code(bench, TIME), LAST_CODE) if tick_ns(code) > least_ns)
    code = awaited_code(bench, next(times, LAST_CODE))
    sides = sides_of(bench, where, ack_timeout=code)
    histories = list(islice(cycle(PUTTING_OFF.values()), len(sides)))
    for step in steps_of(sides, histories, tick_ns(code)):
        step.apply(play)
    play.finish()


@case(*RULES, smoke=True, needs=[Capability.DISTURBANCE], targets=["hdl"])
@over("held", ["tx_stall", "payload_gap"])
def test_no_timer_runs_while_what_it_is_for_has_not_left(bench: Bench, held: str) -> None:
    play, code = Play(bench), brisk_code(bench, SHORT_TIME)
    front, sides = behind_a_long_packet(bench, play, ack_timeout=code)
    for number, side in enumerate(sides):
        second = "pP"[number % 2]
        for step in held_up(side, front, {held: HELD_BACK}, tick_ns(code), second=second):
            step.apply(play)
    play.finish()


@case(
    *RULES,
    smoke=True,
    needs=[Capability.DISTURBANCE, Capability.RETRANSMISSION],
    targets=["hdl"],
)
@over("retries", [1, 2])
def test_no_try_is_over_before_its_copy_has_left(bench: Bench, retries: int) -> None:
    play, code = Play(bench), brisk_code(bench, SHORT_TIME)
    front, sides = behind_a_long_packet(bench, play, ack_timeout=code, retry_count=retries)
    for side in sides:
        for step in copy_held_up(side, front, {"tx_stall": HELD_BACK}, tick_ns(code)):
            step.apply(play)
    play.finish()
