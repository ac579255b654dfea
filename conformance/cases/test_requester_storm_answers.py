# SPDX-License-Identifier: BSD-2-Clause
"""Storms into the receive path: answers at line rate, among rubbish, while all else is full.

Completions are held back, so that answers pile up until the device stops the wire. Each queue
pair's last ACK stands alone: one that is lost, doubled or mixed up leaves a message incomplete
or completes one too early.
"""

from functools import partial

from roceproof.conformance.stimulus.requester.answers import BEHIND, DAMAGED
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.intent import WRONG_ANSWERS
from roceproof.conformance.suite.pattern import ACK
from roceproof.conformance.suite.traffic.noise_traffic import Hail, hailing
from roceproof.conformance.suite.traffic.storm import (
    Storm,
    all_that_left,
    each_that_left,
    some_that_left,
)
from roceproof.conformance.suite.traffic.storm_crowd import (
    connected,
    crowd,
    lanes,
    mixed,
    operations,
    post_any,
    tiny,
    weather,
)
from roceproof.conformance.suite.traffic.storm_stream import Stream
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service

pytestmark = [
    REQUESTER,
    needs(Capability.LOCKSTEP, Capability.DISTURBANCE, Capability.RC, Capability.PING),
]

MESSAGES = 200
ROUNDS = 12
RULES = ("ACK-05", "ACK-08", "LIVE-02")
STALE_ACK, STALE_NAK, MANY_BEHIND = 0x03, 0x61, 100
FOREIGN, FARTHEST_NS = "udp", 200
_B, _I, _D, _F = BEHIND, "icrc", DAMAGED, FOREIGN
EACH_BEHIND_EACH = (_B, _B, _I, _B, _D, _B, _F, _I, _I, _D, _I, _F, _D, _D, _F, _F)
"""Good, of a wrong ICRC, damaged, of others: every one follows every one in this ring."""
SHORTEST_CODE, TIMEOUT_NS, SHIFT_NS = 1, 8192, 10
TRAIN, TRAIN_BEATS = 24, 24  # frames of each length, and lengths in beats
TURNS, GAPS = 24, (0, 20, 40, 60)  # so that an answer comes in every cycle around a timeout


def post_tiny(storm: Storm, stream: Stream, messages: int) -> None:
    """Messages of a few bytes."""
    ops = operations(storm.bench, stream.qp.spec.service)
    for _ in range(messages):
        post_any(stream, ops, tiny(storm.random))


def until_quiet(storm: Storm) -> None:
    """Whatever the device sends without an answer."""
    idle = 0
    while idle < 2:
        idle = 0 if storm.step() else idle + 1


@case(*RULES, smoke=True, breaks=WRONG_ANSWERS)
@over("cpl_stall", [0, 90, 99])
def test_an_ack_behind_a_full_receive_path_is_not_lost(bench: Bench, cpl_stall: int) -> None:
    storm = Storm(bench)
    streams = crowd(storm, Service.RC)
    storm.stall(cpl_stall=cpl_stall)
    for filler in range(0, 6 * ROUNDS, 6):
        first, *others = bench.random.sample(streams, len(streams))
        post_tiny(storm, first, 16)
        for stream in others:
            post_tiny(storm, stream, 1)
        until_quiet(storm)
        first.qp.send(*all_that_left(storm, first))  # its completions hold up what follows
        for _ in range(filler):
            bench.random.choice(streams).qp.send(ACK(psn=-1, msn=0))
        for stream in others:
            stream.qp.send(*all_that_left(storm, stream))
        storm.rage(answers=all_that_left)


@case(*RULES, "PSN-08", smoke=True)
@over("gap", [0, 50])
def test_answers_of_all_queue_pairs_come_back_to_back(bench: Bench, gap: int) -> None:
    storm = Storm(bench)
    streams = crowd(storm, Service.RC)
    storm.stall(rx_gap=gap, cpl_stall=gap)
    for _ in range(4):
        for stream in streams:
            post_tiny(storm, stream, bench.random.randrange(1, 12))
        storm.rage(answers=each_that_left)


@case(*RULES, "LIVE-01", "LIVE-03", "FUZZ-19", smoke=True)
@over("gap", [0, 40])
@over("run", range(2))
def test_a_hail_of_foreign_and_broken_frames_changes_nothing(
    bench: Bench, gap: int, run: int
) -> None:
    storm = Storm(bench, observed=True)
    streams = crowd(storm, *[Service.RC, Service.UC][: 1 + run])
    hail = Hail(storm)
    storm.stall(rx_gap=gap, tx_stall=gap)
    for _ in range(MESSAGES):
        stream = bench.random.choice(streams)
        ops = operations(bench, stream.qp.spec.service)
        post_any(stream, ops, mixed(bench.random, stream.qp.mtu), lanes=lanes(bench))
    storm.rage(answers=some_that_left, changes=hailing(hail, 12), at_once=True)
    hail.judge()


@case(*RULES, "ICRC-08", "FUZZ-19")
@over("cpl_stall", [0, 95])
def test_a_broken_frame_right_in_front_does_not_touch_a_good_one(
    bench: Bench, cpl_stall: int
) -> None:
    storm = Storm(bench)
    streams = crowd(storm, Service.RC)
    hail = Hail(storm)
    storm.stall(cpl_stall=cpl_stall)
    for _ in range(ROUNDS):
        for stream in streams:
            post_tiny(storm, stream, 2)
        until_quiet(storm)
        for stream in bench.random.sample(streams, len(streams)):
            for packet in each_that_left(storm, stream):
                for _ in range(bench.random.randrange(3)):
                    hail.one(bench.random.choice(streams))
                stream.qp.send(packet)
        storm.rage(answers=each_that_left)
    hail.judge()


@case(*RULES, "LIVE-03", "FUZZ-16")
@over("run", range(4))
def test_a_hail_in_any_weather(bench: Bench, run: int) -> None:
    storm = Storm(bench)
    streams = crowd(storm, Service.RC, Service.UC, Service.UD)
    hail = Hail(storm)
    change, fall = partial(next, weather(storm)), hailing(hail, 4 + 8 * (run % 2), every=2)

    def both() -> None:
        change()
        fall()

    for _ in range(MESSAGES // 2):
        stream = bench.random.choice(streams)
        ops = operations(bench, stream.qp.spec.service)
        post_any(stream, ops, mixed(bench.random, stream.qp.mtu), lanes=lanes(bench))
    storm.rage(answers=some_that_left, changes=both, at_once=run >= 2)
    hail.judge()


@case(*RULES, "ICRC-08")
def test_a_reliable_ring_lives_through_rubbish_of_every_length(bench: Bench) -> None:
    storm = Storm(bench)
    stream = connected(storm, Service.RC)
    for size in range(60, 60 + 2 * lanes(bench) + 70):
        post_tiny(storm, stream, 1)
        until_quiet(storm)
        bench.send(bench.target.host.mac + bench.random.randbytes(size - 6), is_void=True)
        stream.qp.send(*all_that_left(storm, stream))
        storm.rage()


@case("LIVE-01", "LIVE-03", *RULES, smoke=True)
@over("kind", ["answers", "strangers"])
def test_a_train_of_frames_of_one_length_leaves_the_device_as_it_was(
    bench: Bench, kind: str
) -> None:
    storm = Storm(bench)
    stream = connected(storm, Service.RC)
    hail = Hail(storm)
    beat = lanes(bench)
    longest = 60 + TRAIN_BEATS * beat
    for size in [60, *range(60 + beat, longest, beat)]:
        post_tiny(storm, stream, 1)
        until_quiet(storm)
        hail.train(stream, size, TRAIN, is_answer=kind == "answers")
        stream.qp.send(*all_that_left(storm, stream))
        storm.rage()


@case("ACK-15", *RULES, smoke=True)
@over("cpl_stall", [0, 90, 99])
def test_answers_come_on_the_heels_of_what_they_answer(bench: Bench, cpl_stall: int) -> None:
    storm = Storm(bench, steps=64)
    streams = crowd(storm, Service.RC, Service.UC)
    storm.stall(cpl_stall=cpl_stall)
    for _ in range(MESSAGES):
        post_tiny(storm, bench.random.choice(streams), 1)
    storm.rage(answers=each_that_left, at_once=True)


@case("LIVE-01", "ETH-07", "LIVE-03")
@over("tx_stall", [0, 90, 99])
def test_questions_that_pile_up_get_answers_of_their_own(bench: Bench, tx_stall: int) -> None:
    storm = Storm(bench)
    streams = crowd(storm, Service.RC, Service.UC)
    hail = Hail(storm)
    for _ in range(ROUNDS):
        storm.stall(tx_stall=tx_stall)
        for _ in range(8):
            stream = bench.random.choice(streams)
            post_any(stream, operations(bench, stream.qp.spec.service), 64)
        hail.ask(24)
        storm.blow(steps=3)
        hail.ask(8)
        storm.stall()
        storm.rage(answers=all_that_left)
        hail.judge()


@case("RTX-01", "RTX-07", "ACK-05", needs=[Capability.RESTART])
@over("code", [STALE_ACK, STALE_NAK])
def test_a_timer_runs_out_under_stale_answers(bench: Bench, code: int) -> None:
    play = Play(bench)
    play.connect(0, service="RC", ack_timeout=SHORTEST_CODE)
    if Capability.UC in bench.claims.capabilities and bench.claims.qps > 1:
        play.connect(1, service="UC")
    for turn in range(TURNS):
        play.disturb(rx_gap=GAPS[turn % len(GAPS)])
        play.post(0, "SEND", 1)
        play.wait(TIMEOUT_NS + turn * SHIFT_NS)
        play.post(1, "SEND", 1, count=MESSAGES)
        play.answer(0, back=MANY_BEHIND, syndrome=code, count=10 * lanes(bench))
        play.wait(2 * TIMEOUT_NS)
        play.restart(0)
    play.finish()


@case("ICRC-08", *RULES)
def test_frames_of_all_kinds_follow_each_other_at_any_distance(bench: Bench) -> None:
    play = Play(bench)
    play.connect(0, service="RC")
    play.post(0, "SEND", 1)
    play.until()
    for apart in range(0, FARTHEST_NS, 6):
        for kind in EACH_BEHIND_EACH:
            if kind == FOREIGN:
                play.foreign("udp", 18)
            else:
                play.answer(0, flaw=kind, syndrome=STALE_ACK)
            if apart:
                play.wait(apart)
    play.finish()
