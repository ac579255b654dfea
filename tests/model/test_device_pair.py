# SPDX-License-Identifier: BSD-2-Clause
"""Two model devices over a bad wire: all arrives once, and the observer has nothing to say.

The observer sits at the first device's port and knows the queue pairs. What a wire repeats or
swaps can look like a device's doing, so a wire that is watched only loses.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from random import Random

import pytest

from roceproof.conformance.model.device import Device
from roceproof.conformance.observer.checker import Checker
from roceproof.conformance.observer.facts import Facts, QpFacts
from roceproof.conformance.rules.findings import Direction, Finding
from roceproof.conformance.rules.table import Severity
from roceproof.conformance.targets.model.device import ModelTarget
from roceproof.conformance.wire.opcodes import Transport
from roceproof.verbs.addresses import Host
from roceproof.verbs.queue_pair import Qp, QpSpec
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Outcome, Region, Work

HOSTS = [Host(bytes((2, 0, 0, 0, 0, end)), bytes((192, 168, 1, end))) for end in (1, 2)]
REGION_BYTES, RECEIVE_BYTES = 1 << 14, 4096
QUANTUM_NS = 500
P = 256


@dataclass
class Wire:
    """Loses, repeats and delays; the capture is taken at the first device's port."""

    random: Random
    loss: float = 0.0
    repeat: float = 0.0
    swap: float = 0.0
    held: list[bytes] = field(default_factory=list)

    def carry(self, frames: list[bytes]) -> list[bytes]:
        """What comes out at the other end."""
        carried = self.held
        self.held = []
        for frame in frames:
            draw = self.random.random()
            if draw < self.loss:
                continue
            if draw < self.loss + self.swap:
                self.held.append(frame)
                continue
            carried += [frame] * (2 if draw < self.loss + self.swap + self.repeat else 1)
        return carried


class Pair:
    """Two devices, a wire each way, and a queue pair between them."""

    def __init__(self, service: Service, *, seed: int, vlan: int | None = None, **bad: float):
        self.random = Random(seed)
        self.ends = [ModelTarget(Device(host)) for host in HOSTS]
        self.wires = [Wire(self.random, **bad) for _ in HOSTS]
        psns = [self.random.choice((0, 0xFFFFF0, self.random.randrange(1 << 24))) for _ in HOSTS]
        self.qps: list[Qp] = []
        for own, other in ((0, 1), (1, 0)):
            spec = QpSpec(
                service=service,
                remote=HOSTS[other],
                remote_qpn=0x20 + other,
                local_qpn=0x20 + own,
                path_mtu=P,
                sq_psn=psns[own],
                rq_psn=psns[other],
                ack_timeout=4,
                rnr_retry=7,
                min_rnr_timer=1,
                max_rd_atomic=4,
                max_dest_rd_atomic=4,
                vlan=vlan,
            )
            self.qps.append(self.ends[own].open(spec))
        self.regions: list[Region] = [end.register(REGION_BYTES) for end in self.ends]
        self.outcomes: list[list[Outcome]] = [[], []]
        self.frames: deque[tuple[bytes, Direction]] = deque()
        self.facts = Facts([_facts(self.qps[own], HOSTS[own]) for own in (0, 1)])

    def run(self, quanta: int) -> None:
        """Let time pass on both ends in step."""
        for _ in range(quanta):
            for own, other in ((0, 1), (1, 0)):
                end = self.ends[own]
                end.wait(QUANTUM_NS)
                sent = []
                while (arrival := end.receive(0)) is not None:
                    sent.append(arrival.frame)
                if own == 0:
                    self.capture(sent, Direction.SENT)
                carried = self.wires[own].carry(sent)
                if own == 1:
                    self.capture(carried, Direction.RECEIVED)
                for frame in carried:
                    self.ends[other].send(frame)
                self.outcomes[own] += end.completions(self.qps[own], count=0, timeout_ns=0)

    def capture(self, frames: list[bytes], direction: Direction) -> None:
        """See frames at the first device's port."""
        for frame in frames:
            self.frames.append((frame, direction))

    def findings(self, *, knows_facts: bool = True) -> list[Finding]:
        """What the observer says of the capture."""
        checker = Checker(self.facts if knows_facts else None)
        found: list[Finding] = []
        for frame, direction in self.frames:
            found += checker.feed(frame, direction)
        found += checker.finish()
        return [one for one in found if one.severity is not Severity.INFO]


def _facts(qp: Qp, host: Host) -> QpFacts:
    spec = qp.spec
    return QpFacts(
        service=Transport(int(spec.service)),
        address=host.ip,
        qpn=qp.qpn,
        remote_address=spec.remote.ip,
        remote_qpn=spec.remote_qpn,
        start_psn=spec.sq_psn,
        remote_start_psn=spec.rq_psn,
        path_mtu=P,
        dscp=0,
        ttl=64,
        min_rnr_timer=spec.min_rnr_timer,
        credits=True,
    )


class Traffic:
    """Work of one end, and what the other end must hold when all of it is done.

    The other end's region has a part that is written, one that is read, and a counter.
    """

    WRITTEN, READ_FROM, COUNTER = 0, 8192, REGION_BYTES - 8

    def __init__(self, pair: Pair, own: int, count: int) -> None:
        self.pair, self.own, self.other = pair, own, 1 - own
        self.target = pair.regions[self.other]
        self.written = bytearray(self.READ_FROM)
        self.source = pair.random.randbytes(self.COUNTER - self.READ_FROM)
        self.target.write(self.READ_FROM, self.source)
        self.results = pair.ends[own].register(count * RECEIVE_BYTES)
        self.inbox = pair.ends[self.other].register(count * RECEIVE_BYTES)
        self.read: dict[int, bytes] = {}
        self.messages: list[tuple[bytes | None, int | None]] = []
        self.total = 0
        for wr_id in range(count):
            self.post(wr_id)

    def post(self, wr_id: int) -> None:
        """One random work request."""
        draw = self.pair.random
        op = draw.choice([Op.SEND, Op.SEND_IMM, Op.WRITE, Op.WRITE_IMM, Op.READ, Op.FETCH_ADD])
        size = draw.choice([0, 1, 5, P - 1, P, P + 1, 2 * P, draw.randrange(RECEIVE_BYTES)])
        data = b"" if op in (Op.READ, Op.FETCH_ADD) else draw.randbytes(size)
        at = self.WRITTEN + draw.randrange(self.READ_FROM - size)
        immediate = draw.getrandbits(32)
        add = draw.getrandbits(64)
        if op in (Op.WRITE, Op.WRITE_IMM):
            self.written[at : at + size] = data
        if op in (Op.SEND, Op.SEND_IMM, Op.WRITE_IMM):
            has_immediate = op is not Op.SEND
            body = None if op is Op.WRITE_IMM else data
            self.messages.append((body, immediate if has_immediate else None))
        if op is Op.READ:
            at = draw.randrange(len(self.source) - size)
            self.read[wr_id] = self.source[at : at + size]
            at += self.READ_FROM
        if op is Op.FETCH_ADD:
            at, size = self.COUNTER, 8
            self.read[wr_id] = self.total.to_bytes(8, "little")
            self.total = (self.total + add) % (1 << 64)
        work = Work(
            wr_id=wr_id,
            op=op,
            data=data,
            length=size if op is Op.READ else None,
            remote_addr=self.target.addr + at,
            rkey=self.target.rkey,
            immediate=immediate,
            swap_or_add=add,
            into=self.results,
            into_offset=wr_id * RECEIVE_BYTES,
        )
        self.pair.ends[self.own].post(self.pair.qps[self.own], work)

    def post_receives(self, numbers: range) -> None:
        """Room for messages at the other end."""
        for number in numbers:
            self.pair.ends[self.other].post_receive(
                self.pair.qps[self.other],
                wr_id=number,
                region=self.inbox,
                offset=number * RECEIVE_BYTES,
                length=RECEIVE_BYTES,
            )

    def is_done(self, count: int) -> bool:
        """Whether all work has completed."""
        return sum(not one.is_receive for one in self.pair.outcomes[self.own]) == count

    def check(self, count: int) -> None:
        """Exactly once, in order, and the right bytes."""
        own = [one for one in self.pair.outcomes[self.own] if not one.is_receive]
        assert [(one.wr_id, one.status) for one in own] == [(n, "success") for n in range(count)]
        assert self.target.read(0, self.READ_FROM) == bytes(self.written)
        assert self.target.read(self.COUNTER, 8) == self.total.to_bytes(8, "little")
        for wr_id, data in self.read.items():
            assert self.results.read(wr_id * RECEIVE_BYTES, len(data)) == data
        got = [one for one in self.pair.outcomes[self.other] if one.is_receive]
        assert [one.immediate for one in got] == [immediate for _, immediate in self.messages]
        for number, (body, _) in enumerate(self.messages):
            if body is not None:
                assert got[number].byte_len == len(body)
                assert self.inbox.read(number * RECEIVE_BYTES, len(body)) == body


def exchange(pair: Pair, count: int) -> None:
    """Random work from both ends, with fewer receives than messages at first."""
    sides = [Traffic(pair, own, count) for own in (0, 1)]
    few = count // 6
    for side in sides:
        side.post_receives(range(few))
    pair.run(40)
    for side in sides:
        side.post_receives(range(few, len(side.messages)))
    for _ in range(400):
        if all(side.is_done(count) for side in sides):
            break
        pair.run(20)
    pair.run(20)
    for side in sides:
        side.check(count)


def test_the_observer_finds_nothing_in_all_operations_both_ways_over_a_good_wire():
    pair = Pair(Service.RC, seed=1, vlan=0x6005)
    exchange(pair, 60)
    assert pair.findings() == []
    assert pair.findings(knows_facts=False) == []


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("seed", range(6))
def test_fuzz_14_rtx_22_all_is_done_exactly_once_over_a_bad_wire(seed: int):
    pair = Pair(Service.RC, seed=seed, loss=0.02 * (seed % 6))
    exchange(pair, 40)
    assert pair.findings() == []


@pytest.mark.parametrize("seed", range(6))
def test_rtx_21_all_is_done_exactly_once_where_both_ways_repeat_and_swap(seed: int):
    exchange(Pair(Service.RC, seed=seed, loss=0.02, repeat=0.05, swap=0.05), 40)


@pytest.mark.parametrize("seed", range(3))
def test_uc_delivers_whole_messages_or_none_over_a_bad_wire(seed: int):
    pair = Pair(Service.UC, seed=seed, loss=0.05)
    count = 40
    inbox = pair.ends[1].register(count * RECEIVE_BYTES)
    messages = [pair.random.randbytes(pair.random.randrange(4 * P)) for _ in range(count)]
    for number, data in enumerate(messages):
        at = number * RECEIVE_BYTES
        pair.ends[1].post_receive(
            pair.qps[1], wr_id=number, region=inbox, offset=at, length=RECEIVE_BYTES
        )
        work = Work(wr_id=number, op=Op.SEND_IMM, data=data, immediate=number)
        pair.ends[0].post(pair.qps[0], work)
    pair.run(200)
    got = [one for one in pair.outcomes[1] if one.is_receive]
    assert 0 < len(got) < len(messages)
    for one in got:
        assert one.immediate is not None
        data = messages[one.immediate]
        assert one.byte_len == len(data)
        assert inbox.read(one.wr_id * RECEIVE_BYTES, len(data)) == data
    assert pair.findings() == []
