# SPDX-License-Identifier: BSD-2-Clause
"""Random work of the reference requester, on a network that loses, doubles, reorders, corrupts."""

from collections.abc import Iterator

from roceproof.conformance.model.memory import Memory
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over
from roceproof.conformance.suite.checks.recovery import longest_wait_ns
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.traffic.reference_requester import ReferenceRequester
from roceproof.conformance.suite.traffic.reference_responder import Impairment
from roceproof.conformance.targets.capability import Capability
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region, Work

pytestmark = RESPONDER

MTU = 256
IN_LOCKSTEP, ON_THE_WALL = 150, 60
LARGEST = 4 * MTU
SIZES = (0, 1, 3, 4, 5, MTU - 1, MTU, MTU + 1, 2 * MTU, 3 * MTU - 1, LARGEST)
OPERATIONS = (Op.SEND, Op.SEND_IMM, Op.WRITE, Op.WRITE_IMM, Op.READ, Op.FETCH_ADD)
TAKE_RECEIVE = (Op.SEND, Op.SEND_IMM, Op.WRITE_IMM)
WAITS = 60


class Soak:
    """Random messages to a queue pair, each with a place of its own, and what becomes of them."""

    def __init__(self, bench: Bench, qp: Connection, count: int) -> None:
        self._bench = bench
        self._qp = qp
        self._target, self._inbox = qp.region(count * LARGEST), qp.region(count * LARGEST)
        self._source, self._counter = qp.region(LARGEST, filled=True), qp.region(8)
        self._data = self._source.read(0, LARGEST)
        self._operations = executed_of(bench.claims, Service.RC, OPERATIONS)
        self._local = Memory().register(count * LARGEST)
        self.works = [self._work(number) for number in range(count)]
        self._receives: dict[int, Work] = {}

    def _work(self, number: int) -> Work:
        draw = self._bench.random
        op, size = draw.choice(self._operations), draw.choice(SIZES)
        region: Region = {Op.READ: self._source, Op.FETCH_ADD: self._counter}.get(op, self._target)
        is_own = region is self._target
        return Work(
            wr_id=number,
            op=op,
            data=b"" if op in (Op.READ, Op.FETCH_ADD) else draw.randbytes(size),
            length={Op.READ: size, Op.FETCH_ADD: 8}.get(op),
            remote_addr=region.addr + (number * LARGEST if is_own else 0),
            rkey=region.rkey,
            immediate=draw.getrandbits(32),
            swap_or_add=draw.getrandbits(64),
            into=self._local,
            into_offset=number * LARGEST,
        )

    def batches(self) -> Iterator[list[Work]]:
        """As much work at a time as the device holds receives for, each time with these posted."""
        batch: list[Work] = []
        posted = 0
        for work in self.works:
            takes = work.op in TAKE_RECEIVE
            if takes and posted == self._bench.claims.receives:
                yield batch
                batch, posted = [], 0
            if takes:
                posted += 1
                into = work.into_offset
                number = self._qp.post_receive(self._inbox, offset=into, length=LARGEST)
                self._receives[number] = work
            batch.append(work)
        yield batch

    def check(self) -> None:
        """Each message was executed exactly once."""
        for number, work in self._receives.items():
            immediate = None if work.op is Op.SEND else work.immediate
            self._qp.receives(number, byte_len=len(work.data), immediate=immediate)
        memory = {region: region.read(0, region.size) for region in (self._target, self._inbox)}
        added = 0
        for work in self.works:
            found = self._local.read(work.into_offset, work.size)
            want = self._data[: work.size]
            if work.op is Op.FETCH_ADD:
                want = added.to_bytes(8, "little")
                added = (added + work.swap_or_add) % (1 << 64)
            elif work.op is not Op.READ:
                place = self._inbox if work.op in (Op.SEND, Op.SEND_IMM) else self._target
                found, want = memory[place][work.into_offset :][: work.size], work.data
            if found != want:
                raise self._bench.failed(f"{work.op.value} {work.wr_id} left other bytes")
        assert int.from_bytes(self._counter.read(0, 8), "little") == added


def soak(bench: Bench, impairment: Impairment, *, corruption: float = 0.0) -> None:
    """Everything is done exactly once, whatever the network does."""
    in_lockstep = Capability.LOCKSTEP in bench.claims.capabilities
    start = bench.random.choice((0, 0x7FFFE0, 0xFFFFE0, bench.random.randrange(1 << 24)))
    qp = bench.connect(path_mtu=MTU, rq_psn=start)
    work = Soak(bench, qp, IN_LOCKSTEP if in_lockstep else ON_THE_WALL)
    near = ReferenceRequester(bench, qp, impairment, corruption=corruption)
    for batch in work.batches():
        near.work_through(batch, within_ns=WAITS * longest_wait_ns(bench))
    work.check()


@case("FUZZ-14", "RTX-22")
@over("loss", [0.001, 0.02, 0.1])
def test_nothing_is_done_twice_or_left_out_where_packets_get_lost(
    bench: Bench, loss: float
) -> None:
    soak(bench, Impairment(loss=loss))


@case("FUZZ-14", "RTX-22")
def test_nothing_is_done_twice_where_packets_double_reorder_and_corrupt(bench: Bench) -> None:
    soak(bench, Impairment(loss=0.02, doubling=0.1, overtaking=0.05), corruption=0.03)


@case("FUZZ-14")
def test_everything_is_done_once_on_a_healthy_network(bench: Bench) -> None:
    soak(bench, Impairment())
