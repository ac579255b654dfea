# SPDX-License-Identifier: BSD-2-Clause
"""Hundreds of messages posted at once, into a device whose queues all fill.

A queue that is one entry short, or a back-pressure that comes a cycle late, loses, repeats or
mixes something here. Every frame and completion is judged byte by byte (suite/traffic/storm.py).
"""

from functools import partial

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import (
    REQUESTER,
    case,
    needs,
    over,
    over_all_services,
    over_services,
)
from roceproof.conformance.suite.traffic.storm import (
    Answers,
    Storm,
    all_that_left,
    each_that_left,
    some_that_left,
)
from roceproof.conformance.suite.traffic.storm_crowd import (
    MANY,
    STALLS,
    connected,
    crowd,
    lanes,
    mixed,
    operations,
    post_any,
    tiny,
    weather,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service

pytestmark = [REQUESTER, needs(Capability.LOCKSTEP, Capability.DISTURBANCE)]

MESSAGES = 400
BRISK = (0, 60, 90)
"""Of the stalls of a train of so many: one of 99 % takes as long as all others."""
RULES = ("LIVE-02", "ETH-07", "FUZZ-15")

over_answers = over(
    "answers",
    [all_that_left, each_that_left, some_that_left],
    ids=["one ACK", "an ACK each", "ACKs in the middle"],
)


@case(*RULES)
@over_all_services
@over("stall", [pytest.param(n, marks=pytest.mark.smoke if n in BRISK else ()) for n in STALLS])
def test_hundreds_of_tiny_messages_leave_at_line_rate(
    bench: Bench, service: Service, stall: int
) -> None:
    storm = Storm(bench)
    stream = connected(storm, service)
    storm.stall(tx_stall=stall)
    for _ in range(MESSAGES):
        post_any(stream, operations(bench, service), tiny(bench.random), lanes=lanes(bench))
    storm.rage(answers=all_that_left)


@case(*RULES)
@over_all_services
@over("gap", STALLS[1:])
@over("stream", ["payload_gap", "wr_gap"])
def test_hundreds_of_messages_are_fed_with_gaps(
    bench: Bench, service: Service, gap: int, stream: str
) -> None:
    storm = Storm(bench)
    one = connected(storm, service)
    storm.stall(**{stream: gap})
    for _ in range(MESSAGES // 2):
        post_any(one, operations(bench, service), tiny(bench.random), lanes=lanes(bench))
    storm.rage(answers=some_that_left)


@case(*RULES, "ACK-05", "ACK-08", needs=[Capability.RC])
@over_answers
@over("cpl_stall", [0, 90, 99])
def test_a_full_ring_is_acknowledged_in_part_and_refilled(
    bench: Bench, answers: Answers, cpl_stall: int
) -> None:
    storm = Storm(bench)
    stream = connected(storm, Service.RC)
    storm.stall(cpl_stall=cpl_stall)
    for _ in range(MESSAGES // 2):
        post_any(stream, operations(bench, Service.RC), mixed(bench.random, stream.qp.mtu))
    storm.rage(answers=answers)


@case(*RULES, "PSN-08", smoke=True)
@over_all_services
@over("cpl_stall", [0, 99])
def test_all_queue_pairs_at_once_do_not_mix(bench: Bench, service: Service, cpl_stall: int) -> None:
    storm = Storm(bench)
    streams = crowd(storm, service)
    storm.stall(cpl_stall=cpl_stall)
    for _ in range(MESSAGES):
        stream = bench.random.choice(streams)
        length = mixed(bench.random, min(bench.claims.path_mtus))
        post_any(stream, operations(bench, service), length, lanes=lanes(bench))
    storm.rage(answers=each_that_left)


@case(*RULES, "PSN-08", "FUZZ-16", smoke=True)
@over("run", range(3))
def test_every_service_in_any_weather(bench: Bench, run: int) -> None:
    storm = Storm(bench, observed=True)
    streams = crowd(storm, Service.RC, Service.UC, Service.UD)
    for _ in range(MESSAGES // 2):
        stream = bench.random.choice(streams)
        ops = operations(bench, stream.qp.spec.service)
        post_any(stream, ops, mixed(bench.random, stream.qp.mtu), lanes=lanes(bench))
    storm.rage(answers=some_that_left, at_once=bool(run), changes=partial(next, weather(storm)))


@case(*RULES, "PSN-08")
@over("held", ["tx_stall", "cpl_stall", "payload_gap"])
@over_services
def test_what_was_held_until_all_was_full_comes_in_order(
    bench: Bench, service: Service, held: str
) -> None:
    storm = Storm(bench)
    streams = crowd(storm, service)
    for _ in range(3):
        storm.stall(**{held: 99})
        for _ in range(MESSAGES // 4):
            stream = bench.random.choice(streams)
            post_any(stream, operations(bench, service), tiny(bench.random), lanes=lanes(bench))
        storm.blow(steps=8)
        storm.say([(s, p) for s in streams for p in each_that_left(storm, s)])
        storm.blow(steps=4)
        storm.stall()
        storm.rage(answers=some_that_left)


@case(*RULES, "QPS-06", "FUZZ-16", smoke=True)
@over("qpc_gap", [0, 90, 99])
def test_queue_pairs_open_and_start_anew_in_the_middle_of_it(bench: Bench, qpc_gap: int) -> None:
    storm = Storm(bench)
    storm.stall(qpc_gap=qpc_gap, tx_stall=bench.random.choice((0, 30, 60)))
    for _ in range(min(MANY, bench.claims.qps)):
        crowd(storm, Service.UC, Service.RC, count=1)
        for _ in range(MESSAGES // 20):
            stream = bench.random.choice(storm.streams)
            ops = operations(bench, stream.qp.spec.service)
            post_any(stream, ops, tiny(bench.random), lanes=lanes(bench))
        storm.blow(steps=bench.random.randrange(3))
    storm.rage(answers=some_that_left)
    for _ in range(4):
        for stream in bench.random.sample(storm.streams, len(storm.streams)):
            if stream.is_done:
                stream.qp.reconnect()
                stream = storm.on(stream.qp)
            for _ in range(3):
                ops = operations(bench, stream.qp.spec.service)
                post_any(stream, ops, tiny(bench.random), lanes=lanes(bench))
        storm.rage(answers=some_that_left)
