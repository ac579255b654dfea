# SPDX-License-Identifier: BSD-2-Clause
"""Storms in which queue pairs fail: many at once, in the middle of a message, beside busy ones."""

from functools import partial

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import REQUESTER, case, needs, over
from roceproof.conformance.suite.pattern import ACCESS_ERROR, INVALID_REQUEST, OPERATIONAL_ERROR
from roceproof.conformance.suite.traffic.storm import Answers, Storm, all_that_left, some_that_left
from roceproof.conformance.suite.traffic.storm_crowd import crowd, mixed, operations, post_any, tiny
from roceproof.conformance.suite.traffic.storm_stream import Stream
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service

pytestmark = [REQUESTER, needs(Capability.LOCKSTEP, Capability.DISTURBANCE, Capability.RC)]

MESSAGES = 100
ENDS = {
    INVALID_REQUEST: "rem_inv_req_err",
    ACCESS_ERROR: "rem_access_err",
    OPERATIONAL_ERROR: "rem_op_err",
}


@case("NAK-09", "QPS-06", "LIVE-02")
@over("stalled", [None, "cpl_stall", "tx_stall"], ids=str)
def test_many_queue_pairs_fail_at_once_and_start_anew(bench: Bench, stalled: str | None) -> None:
    storm = Storm(bench, steps=32, observed=True)
    streams = crowd(storm, Service.RC, Service.RC, Service.UC)
    for turn in range(4):
        if turn:
            storm.stall()
            for stream in streams:
                stream.qp.reconnect()
            streams = [storm.on(stream.qp) for stream in streams]
        for _ in range(MESSAGES):
            stream = bench.random.choice(streams)
            length = tiny(bench.random) if turn % 2 else mixed(bench.random, stream.qp.mtu)
            post_any(stream, operations(bench, stream.qp.spec.service), length)
        storm.stall(**({stalled: 90} if stalled else {}))
        storm.blow(steps=bench.random.randrange(12, 40))
        fail_some(storm, streams)
        storm.rage(answers=some_that_left)


def fail_some(storm: Storm, streams: list[Stream]) -> None:
    """NAKs for half of those that have sent something, back to back with ACKs for the others."""
    naks = []
    for stream in streams:
        is_open = stream.qp.spec.service is Service.RC and stream.sent_psn > stream.acked_psn
        if is_open and storm.random.random() < 0.5:
            code, status = storm.random.choice(list(ENDS.items()))
            psn = storm.random.randrange(stream.acked_psn, stream.sent_psn)
            naks.append((stream, stream.nak(code, psn, status=status)))
    storm.say(naks)


def post_tiny(bench: Bench, stream: Stream, messages: int) -> None:
    """Messages of a few bytes."""
    for _ in range(messages):
        post_any(stream, operations(bench, Service.RC), tiny(bench.random))


def has_sent(stream: Stream, psn: int) -> bool:
    """Whether the device is as far as that."""
    return stream.sent_psn >= psn


def all_but(stream: Stream) -> Answers:
    """This one's peer says nothing."""
    return lambda storm, each: [] if each is stream else all_that_left(storm, each)


@case("NAK-09", "QPS-06", "LIVE-02")
@over("tx_stall", [0, 70, 95])
def test_a_nak_stops_a_long_message_on_its_way(bench: Bench, tx_stall: int) -> None:
    storm = Storm(bench, steps=64)
    mtu, ops = min(bench.claims.path_mtus), operations(bench, Service.RC)
    streams = crowd(storm, Service.RC, path_mtu=mtu)
    storm.stall(tx_stall=tx_stall)
    for stream in bench.random.sample(streams, len(streams)):
        post_tiny(bench, stream, bench.random.randrange(6))
        long = stream.post(bench.random.choice(ops), bench.random.randrange(12, 30) * mtu)
        for other in bench.random.sample(streams, min(2, len(streams))):
            post_tiny(bench, other, 1)
        packets = long.end_psn - long.psn
        enough = long.psn + bench.random.randrange(1, min(10, packets + 1))
        storm.rage(answers=all_but(stream), at_once=True, until=partial(has_sent, stream, enough))
        psn = bench.random.randrange(stream.acked_psn, stream.sent_psn)
        storm.say([(stream, stream.nak(ACCESS_ERROR, psn, status=ENDS[ACCESS_ERROR]))])
        storm.rage(answers=all_that_left)
