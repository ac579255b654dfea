# SPDX-License-Identifier: BSD-2-Clause
"""Long lives: more frames than 16 bits count, more messages than 10, all PSNs twice.

Every frame is compared to its last byte as it comes, and only the last are kept. The long suite
(`make long-life`) has what takes minutes.
"""

from functools import partial

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import MASSES, REQUESTER, case, needs, over
from roceproof.conformance.suite.traffic.storm import Storm, all_that_left, some_that_left
from roceproof.conformance.suite.traffic.storm_crowd import (
    connected,
    crowd,
    lanes,
    operations,
    post_any,
    tiny,
    weather,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.psn import PSN_MODULUS
from roceproof.verbs.limit_table import LONGEST_MESSAGE
from roceproof.verbs.queue_pair import State
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, MASSES, needs(Capability.LOCKSTEP)]

MTU = 256
MESSAGES = 1200
BATCH = 100
IDENTITIES = 1 << 16
LIVES = 260
MILLION = 1_000_000
NARROWEST = 64


@case("PSN-18", "UC-14", "MTU-07", needs=[Capability.UC, Capability.WRITE], targets=["hdl"])
def test_more_frames_than_an_identification_counts(bench: Bench) -> None:
    storm = Storm(bench, endless=True)
    stream = connected(storm, Service.UC, path_mtu=MTU, sq_psn=PSN_MODULUS - IDENTITIES // 2)
    frames = IDENTITIES + 500
    while storm.frames < frames:
        left = max(1, (frames - storm.frames) * MTU - 3)
        if (bench.claims.data_width or 0) > NARROWEST:
            stream.post(Op.WRITE, 0, length=left)
        else:
            for _ in range(frames // 8):
                stream.post(Op.WRITE, b"")
        storm.rage()


@case("PSN-02", "ACK-05", "LIVE-02", needs=[Capability.RC])
def test_more_messages_than_ten_bits_count(bench: Bench) -> None:
    storm = Storm(bench)
    stream = connected(storm, Service.RC, path_mtu=MTU)
    for _ in range(MESSAGES // BATCH):
        for _ in range(BATCH):
            post_any(stream, operations(bench, Service.RC), tiny(bench.random), lanes=lanes(bench))
        storm.rage(answers=some_that_left, at_once=True)


@case("QPS-04", "ACK-08", needs=[Capability.RC, Capability.WRITE, Capability.RESET])
def test_more_lives_than_eight_bits_count(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    for life in range(LIVES):
        qp.transfer(Op.WRITE, 5)
        if life == LIVES // 2:  # whatever counts resets, too, counts on from an odd number
            bench.target.set_state(qp.qp, State.RESET)
        qp.reconnect()
    qp.transfer(Op.WRITE, 2 * MTU + 1)


@case(
    "PSN-18", "UC-14", "MTU-07", needs=[Capability.UC, Capability.WRITE], long=True, targets=["hdl"]
)
def test_all_psns_pass_twice(bench: Bench) -> None:
    storm = Storm(bench, endless=True)
    stream = connected(storm, Service.UC, path_mtu=MTU, sq_psn=PSN_MODULUS - 300)
    for length in (600 * MTU + 1, LONGEST_MESSAGE, LONGEST_MESSAGE, 5):
        stream.post(Op.WRITE, 0, length=length)
        storm.rage()


@case(*("LIVE-02", "PSN-02", "PSN-18"), long=True, targets=["hdl"])
@over("stalled", [False, True], ids=["free", "in any weather"])
def test_a_million_frames_of_all_queue_pairs(bench: Bench, stalled: bool) -> None:
    storm = Storm(bench, endless=True)
    streams = crowd(storm, Service.RC, Service.UC)
    changes = partial(next, weather(storm, every=16)) if stalled else None
    while storm.frames < (MILLION // 10 if stalled else MILLION):
        for _ in range(BATCH):
            stream = bench.random.choice(streams)
            ops = operations(bench, stream.qp.spec.service)
            length = bench.random.choice((tiny(bench.random), bench.random.randrange(40 * MTU)))
            post_any(stream, ops, length, lanes=lanes(bench))
        storm.rage(answers=all_that_left, changes=changes)
