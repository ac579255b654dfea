# SPDX-License-Identifier: BSD-2-Clause
"""Sweeps over whole tables: operation x path MTU x length, byte lane x gap, sizes, timeout codes.

Many messages share a simulation and are judged as a storm is, byte by byte.
"""

from itertools import product

from roceproof.conformance.model.codes import ack_timeout_ns
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import MASSES, REQUESTER, case, needs, over, over_services
from roceproof.conformance.suite.traffic.storm import Storm, all_that_left
from roceproof.conformance.suite.traffic.storm_crowd import connected, lanes, operations, served
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

pytestmark = [REQUESTER, MASSES, needs(Capability.LOCKSTEP)]

AROUND = (-3, -2, -1, 0, 1, 2, 3)
WHOLE = 1 << 16
LONGEST_BIT = 31
FIRST_PACKETS = 24
CODES = 32
LONGEST_CODE = 8  # 1 ms
GIVEN_UP = "retry_exc_err"


@case("MTU-01", "MTU-02", "MTU-03", "MTU-04", "MTU-07", "OPC-01", "PAD-01")
@over_services
def test_every_operation_at_every_path_mtu_and_length(bench: Bench, service: Service) -> None:
    storm = Storm(bench)
    for mtu in bench.claims.path_mtus:
        stream = connected(storm, service, path_mtu=mtu)
        edges = [count * mtu + by for count in (0, 1, 2, 3) for by in AROUND]
        lengths = [length for length in edges if length >= 0]
        for op in operations(bench, service):
            for length in [*lengths, WHOLE + bench.random.choice(AROUND)]:
                stream.post(op, length, solicited=bench.random.random() < 0.5)
        storm.rage(answers=all_that_left)


@case("RETH-02", "MTU-01", needs=[Capability.WRITE], targets=["hdl"])
@over_services
@over("bit", range(14, LONGEST_BIT + 1))
def test_a_long_message_says_its_length_and_begins_right(
    bench: Bench, service: Service, bit: int
) -> None:
    storm = Storm(bench)
    stream = connected(storm, service, path_mtu=max(bench.claims.path_mtus))
    more = bench.random.randrange(1 << bit) if bit < LONGEST_BIT else 0
    ops = [op for op in (Op.WRITE, Op.SEND) if op in operations(bench, service)]
    stream.post(bench.random.choice(ops or [Op.WRITE]), 0, length=(1 << bit) + more)
    for _ in range(FIRST_PACKETS):
        storm.step()
    if not storm.frames:
        raise bench.failed("nothing of the message has come")


@case("RETH-02", needs=[Capability.RC, Capability.WRITE], targets=["hdl"])
def test_a_long_message_is_right_to_its_last_byte(bench: Bench) -> None:
    storm = Storm(bench)
    stream = connected(storm, Service.RC, path_mtu=max(bench.claims.path_mtus))
    stream.post(Op.WRITE, 0, length=(1 << 21) + bench.random.randrange(1 << 12))
    stream.post(Op.WRITE, 5)
    storm.rage(answers=all_that_left)


@case("PAD-02", "PAD-01", "ICRC-09", smoke=True, needs=[Capability.ALIGNMENT])
def test_every_byte_lane_begins_messages_that_end_around_a_beat(bench: Bench) -> None:
    storm = Storm(bench)
    streams = [connected(storm, each) for each in served(bench, Service.RC, Service.UC)]
    beat, draw = lanes(bench), bench.random
    every = [
        (offset, length)
        for offset in range(beat)
        for whole in (0, 1, 2)
        for by in (-draw.randrange(2, beat + 2), -1, 0, 1)
        if (length := (whole + 1) * beat - offset + by) > 0
    ]
    draw.shuffle(every)
    for offset, length in every:
        stream = draw.choice(streams)
        ops = operations(bench, stream.qp.spec.service)
        stream.post(draw.choice(ops), length, offset=offset)
    storm.rage(answers=all_that_left)


@case("ICRC-09", "FUZZ-15", needs=[Capability.ALIGNMENT, Capability.DISTURBANCE])
@over("gap", [0, 70, 95])
def test_every_byte_lane_with_every_end_and_gaps_between(bench: Bench, gap: int) -> None:
    storm = Storm(bench)
    service = served(bench, Service.UC, Service.RC)[0]
    stream = connected(storm, service)
    storm.stall(payload_gap=gap)
    beat = lanes(bench)
    every = list(product(range(beat), range(beat)))
    bench.random.shuffle(every)
    share = every if gap != 95 else every[: len(every) // 4]
    for offset, end in share:
        whole = bench.random.choice((0, 0, 1, 2)) * beat
        ops = operations(bench, service)
        stream.post(bench.random.choice(ops), whole + end or beat, offset=offset)
    storm.rage(answers=all_that_left)


@case("RTX-01", "RTX-07", needs=[Capability.RC, Capability.WRITE])
@over("first", [0, CODES // 2])
def test_each_timeout_code_has_its_time(bench: Bench, first: int) -> None:
    codes = range(first, min(CODES, first + bench.claims.qps, first + CODES // 2))
    pairs = [bench.connect(ack_timeout=code, retry_count=0) for code in codes]
    messages = [qp.post(Op.WRITE, 5) for qp in pairs]
    bench.settle()
    begun, patience = bench.target.now_ns, bench.target.patience
    ended: dict[int, int] = {}
    while bench.target.now_ns - begun < 2 * (ack_timeout_ns(LONGEST_CODE) or 0):
        bench.pump(patience.quiet_ns // 2)
        for code, qp, message in zip(codes, pairs, messages, strict=True):
            if code not in ended and qp.has_outcome():
                ended[code] = bench.target.now_ns - begun
                qp.completes(message, status=GIVEN_UP)
    for code in codes:
        least = ack_timeout_ns(code)
        waited = ended.get(code)
        if waited is None:
            is_right = least is None or code > LONGEST_CODE - 1
        else:
            slack = patience.answer_ns
            is_right = least is not None and least - slack <= waited <= 4 * least + slack
        if not is_right:
            raise bench.failed(f"code {code} gave up after {waited} ns; T is {least} ns")
