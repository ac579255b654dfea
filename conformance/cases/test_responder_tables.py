# SPDX-License-Identifier: BSD-2-Clause
"""Whole tables of a responder at once: all receives, all regions, a message on each queue pair."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle, product

import pytest

from roceproof.conformance.stimulus.responder.sharing import TURNS, SharedQueue
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_ORDER
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at, otherwise
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    NAK,
    READ_REQUEST,
    RNR,
    SEND_FIRST,
    SEND_LAST,
    SEND_MIDDLE,
    SEND_ONLY,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    WRITE_ONLY,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.targets.interface import Beyond
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = [RESPONDER, needs(Capability.LOCKSTEP), needs(Capability.RC)]

SIMULATED = ["hdl", "model"]
MOST_QPS, MOST_RECEIVES, MOST_REGIONS = 16, 16, 256
SLOT, ROOM = 32, 64
"""Bytes of a receive, and of a region."""
REFILLS = (MOST_RECEIVES, 1, MOST_RECEIVES - 1, 5, MOST_RECEIVES)


QUEUES = [
    pytest.param(False, id="own"),
    pytest.param(True, id="own and shared", marks=needs(Capability.SHARED_RECEIVE)),
]


def connected(bench: Bench, op: Op) -> list[Connection]:
    """As many queue pairs as there are, in turn of each service that has the operation."""
    executed_of(bench.claims, Service.RC, [op])
    services = [Service.RC]
    if Capability.UC in bench.claims.capabilities and bench.claims.does_execute(Service.UC, op):
        services.append(Service.UC)
    turns = cycle(services)
    return [bench.connect(next(turns)) for _ in range(min(MOST_QPS, bench.claims.qps))]


class Inbox:
    """A receive queue, the queue pair that is served from it, and a place for each receive."""

    def __init__(self, bench: Bench, qp: Connection, region: Region, start: int) -> None:
        self.qp = qp
        self._bench, self._region, self._start = bench, region, start
        self._places = min(MOST_RECEIVES, bench.claims.receives)
        self._waiting: list[tuple[int, int]] = []
        self._sent: list[bytes] = []
        self._posted = self.psn = 0

    def post(self) -> None:
        """One receive more, if it has room."""
        if len(self._waiting) < self._places:
            offset = self._start + self._posted % self._places * SLOT
            number = self.qp.post_receive(self._region, offset=offset, length=SLOT)
            self._waiting.append((number, offset))
            self._posted += 1

    def has_more(self) -> bool:
        """Whether a receive waits for which nothing was sent."""
        return len(self._sent) < len(self._waiting)

    def send(self) -> None:
        """A message that takes the next receive."""
        asks = int(self.qp.spec.service is Service.RC)
        size = self._bench.random.randrange(1, SLOT + 1)
        only = self.qp.filled(SEND_ONLY(psn=self.psn, payload=size, a=asks))
        self.qp.send(only)
        self._sent.append(only.said["payload"])
        self.psn += 1

    def has_received(self) -> None:
        """Each message in its receive, in their order."""
        if self.qp.spec.service is Service.RC:
            first = self.psn - len(self._sent)
            self.qp.expect(*(ACK(psn=first + n) for n in range(len(self._sent))))
        for (number, offset), data in zip(self._waiting, self._sent, strict=False):
            self.qp.receives(number, byte_len=len(data))
            found = self._region.read(offset, len(data))
            if found != data:
                text = otherwise(data, found, b"")
                raise self._bench.failed(f"a receive has {text}", rules=["PSN-12"])
        del self._waiting[: len(self._sent)]
        self._sent.clear()

    def finds_none(self) -> None:
        """A message for which there is no receive."""
        if self.qp.spec.service is Service.RC:
            self.qp.send(SEND_ONLY(psn=self.psn, payload=1, a=1))
            self.qp.expect(RNR(psn=self.psn))


@case("RQ-01", "RNR-01", "CRED-02", smoke=True, targets=SIMULATED)
@over("shared", QUEUES)
def test_all_receives_of_all_queues_are_used_in_their_order(bench: Bench, *, shared: bool) -> None:
    """Filled and used up again and again; between them each queue lacks one of others."""
    draw, claims = bench.random, bench.claims
    executed_of(claims, Service.RC, [Op.SEND])
    count = min(MOST_QPS, claims.qps)
    queues = min(count // 2, claims.shared_queues) if shared else 0
    qps = [bench.connect() for _ in range(count - queues)]
    qps += [bench.connect(shared_receive=True, shared_queue=n) for n in range(queues)]
    places = min(MOST_RECEIVES, claims.receives)
    region = bench.target.register(count * places * SLOT)
    inboxes = [Inbox(bench, qp, region, n * places * SLOT) for n, qp in enumerate(qps)]
    for refill in REFILLS:
        for _ in range(refill):
            for inbox in draw.sample(inboxes, count):
                inbox.post()
        while able := [inbox for inbox in inboxes if inbox.has_more()]:
            for inbox in draw.sample(able, len(able)):
                inbox.send()
        for inbox in inboxes:
            inbox.has_received()
    for inbox in inboxes:
        inbox.finds_none()


def all_regions(bench: Bench) -> list[Region]:
    """As many as the device holds."""
    regions: list[Region] = []
    with suppress(Beyond):
        while len(regions) < MOST_REGIONS:
            regions.append(bench.target.register(ROOM, access=FULL_ACCESS))
            regions[-1].write(0, bench.random.randbytes(ROOM))
    return regions


def each_is_reached(bench: Bench, qp: Connection, regions: Sequence[Region], psn: int) -> int:
    """Written and read, in any order; the next PSN."""
    draw = bench.random
    order, offset = draw.sample(regions, len(regions)), draw.randrange(ROOM - 8)
    writes = [
        qp.filled(WRITE_ONLY(psn=psn + n, payload=8, a=1, **at(region, offset)))
        for n, region in enumerate(order)
    ]
    qp.send(*writes)
    qp.expect(*(ACK(psn=psn + n) for n in range(len(order))))
    for write, region in zip(writes, order, strict=True):
        if region.read(offset, 8) != write.said["payload"]:
            raise bench.failed(f"one of {len(order)} regions does not hold what was written there")
    psn += len(order)
    for region in order if qp.executes(Op.READ) else ():
        qp.send(READ_REQUEST(psn=psn, dmalen=ROOM, **at(region)))
        qp.expect(*read_responses(qp, psn, region.read(0, ROOM)))
        psn += 1
    return psn


@case("RETH-05", "RETH-06", needs=[Capability.TOLD_KEYS], smoke=True, targets=SIMULATED)
def test_all_regions_are_reached_and_those_alone(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.WRITE])
    draw, qp, other = bench.random, bench.connect(), bench.connect()
    regions = all_regions(bench)
    psn = each_is_reached(bench, qp, regions, 0)
    kept, gone = regions[::2], regions[1::2]
    former = [at(region) for region in gone]
    for region in gone:
        region.deregister()
    for place in draw.sample(former, min(8, len(former))):
        other.send(WRITE_ONLY(psn=0, payload=8, **place))
        other.expect(NAK(ACCESS_ERROR, psn=0, msn=0))
        other.reconnect()
    ends = kept[:4] + kept[4:][-4:]
    psn = each_is_reached(bench, qp, ends, psn)
    each_is_reached(bench, qp, ends + all_regions(bench)[-4:], psn)


class Message:
    """A message of several packets on one queue pair, which comes packet by packet."""

    def __init__(self, bench: Bench, qp: Connection, region: Region, op: Op) -> None:
        self.qp, self._bench, self._region = qp, bench, region
        self._data = bench.random.randbytes(region.size)
        self._number = qp.post_receive(region) if op is Op.SEND else None
        first, middle, last = (
            (SEND_FIRST, SEND_MIDDLE, SEND_LAST)
            if op is Op.SEND
            else (WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST)
        )
        mtu = qp.mtu
        parts = [self._data[start : start + mtu] for start in range(0, region.size, mtu)]
        self._asks = int(qp.spec.service is Service.RC)
        self.packets: list[Pattern] = [
            first(psn=0, payload=parts[0], dmalen=region.size, **at(region)),
            *(middle(psn=n, payload=part) for n, part in enumerate(parts[1:-1], start=1)),
            last(psn=len(parts) - 1, payload=parts[-1], a=self._asks),
        ]
        self._last = len(parts) - 1

    def breaks_off(self) -> None:
        """Another message comes in its midst, or a packet of none: the queue pair fails."""
        due = self._last + 1 - len(self.packets)
        self.packets.clear()
        maker = WRITE_ONLY if 0 < due <= self._last else WRITE_MIDDLE
        payload = self.qp.mtu if maker is WRITE_MIDDLE else 0
        self.qp.send(maker(psn=due, payload=payload), breaks=OUT_OF_ORDER)

    def ends_well(self) -> None:
        if self._asks:
            self.qp.expect(ACK(psn=self._last, msn=1))
        if self._number is not None:
            self.qp.receives(self._number, byte_len=len(self._data))
        self._bench.holds(self._region, self._data, what="a message beside others")


@case("PSN-12", "UC-03", "QPS-06", smoke=True, targets=SIMULATED)
@over("op", [Op.SEND, Op.WRITE], ids=lambda op: op.name)
def test_messages_of_all_queue_pairs_come_packet_by_packet(bench: Bench, op: Op) -> None:
    """In turn, and meanwhile one queue pair begins anew and another fails."""
    draw = bench.random
    qps = connected(bench, op)
    size = 2 * qps[0].mtu + 5
    messages = [Message(bench, qp, bench.target.register(size), op) for qp in qps]
    anew, failing = (draw.choice(messages), None) if len(messages) < 4 else draw.sample(messages, 2)
    left = [message for message in messages for _ in message.packets]
    for turn, message in enumerate(draw.sample(left, len(left))):
        if turn == len(left) // 2 and len(messages) > 1:
            anew.packets.clear()
            anew.qp.reconnect()
            if failing is not None:
                failing.breaks_off()
        if message.packets:
            message.qp.send(message.packets.pop(0))
    for message in messages:
        if message not in (anew, failing):
            message.ends_well()


@case("QPS-06", "QPS-04", "RNR-01", targets=SIMULATED)
@needs(Capability.SHARED_RECEIVE, Capability.RESET)
@over("most", [1, pytest.param(2, marks=pytest.mark.smoke), 5])
def test_each_turn_behind_each_on_a_shared_queue(bench: Bench, most: int) -> None:
    """Of each of two queue pairs, with no more receives than that, and now and then with none."""
    queue = SharedQueue(bench, 2)
    turns = product(product(range(2), TURNS), repeat=2)
    for number, ((one, first), (two, second)) in enumerate(turns):
        if queue.waiting < most and number % 3:
            queue.post(number % 2, most - queue.waiting)
        queue.turn(one, first, number)
        queue.turn(two, second, number)
