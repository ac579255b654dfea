# SPDX-License-Identifier: BSD-2-Clause
"""READs and atomics that come again: the first, the last, each of a full table, and used anew."""

from collections.abc import Sequence
from typing import NamedTuple

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import executed_of, held_reads
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ATOMIC_ACK,
    CMP_SWAP,
    FETCH_ADD,
    READ_REQUEST,
    Maker,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.psn import packet_count
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = [RESPONDER, needs(Capability.LOCKSTEP), needs(Capability.RC)]

SIMULATED = ["hdl", "model"]
MAKERS: dict[Op, Maker] = {Op.READ: READ_REQUEST, Op.CMP_SWAP: CMP_SWAP, Op.FETCH_ADD: FETCH_ADD}
DEPTHS = (1, 2, 3, 15, 16)
DEEPEST = 16  # of which every device keeps as many as it is told
WORDS = 1 << 64
BYTES, WORD = 1024, 8


class Asked(NamedTuple):
    """A request, and its answer whenever it comes; a READ's is what memory then holds."""

    request: Pattern
    original: int | None


class Memory(NamedTuple):
    """What is read, and the word that atomics change, with what it must hold."""

    read: Region
    word: Region

    def value(self) -> int:
        return int.from_bytes(self.word.read(0, WORD), "little")


class Remembering:
    """One queue pair and what it has been asked for, the latest last."""

    def __init__(self, bench: Bench, memory: Memory, *, depth: int) -> None:
        self.qp: Connection = bench.connect(max_dest_rd_atomic=depth)
        self.depth = held_reads(bench.claims) or depth
        self.asked: list[Asked] = []
        self._bench, self._memory, self._psn = bench, memory, 0

    def again(self, *, depth: int, rq_psn: int) -> None:
        """It begins a new life."""
        self.qp.reconnect(max_dest_rd_atomic=depth, rq_psn=rq_psn)
        self.depth = held_reads(self._bench.claims) or depth
        self.asked.clear()
        self._psn = 0

    def ask(self, op: Op) -> None:
        """For one thing more, which is answered."""
        draw, memory = self._bench.random, self._memory
        original, length = None, draw.choice([draw.randrange(1, 64), self.qp.mtu + 5])
        if op is Op.READ:
            offset = draw.randrange(memory.read.size - length)
            request = READ_REQUEST(psn=self._psn, dmalen=length, **at(memory.read, offset))
        else:
            original, length = memory.value(), WORD
            request = MAKERS[op](
                psn=self._psn, swap=draw.getrandbits(64), compare=original, **at(memory.word)
            )
        self.asked.append(Asked(request, original))
        self.send([self.asked[-1]])
        self.is_answered([self.asked[-1]])
        self._psn += packet_count(length, self.qp.mtu)

    def send(self, again: Sequence[Asked]) -> None:
        self.qp.send(*(each.request for each in again))

    def is_answered(self, again: Sequence[Asked]) -> None:
        """To these in their order, and the word holds what it held."""
        for each in again:
            said = each.request.said
            if each.original is not None:
                wanted = [ATOMIC_ACK(psn=said["psn"], original=each.original)]
            else:
                offset = (said["va"] - self._memory.read.addr) % WORDS
                data = self._memory.read.read(offset, said["dmalen"])
                wanted = read_responses(self.qp, said["psn"], data)
            self.qp.expect(*wanted)


def both_come_again(bench: Bench, qps: Sequence[Remembering], memory: Memory) -> None:
    """All that each still keeps, in any order, in turn between the queue pairs."""
    before, draw = memory.value(), bench.random
    memory.read.write(0, draw.randbytes(memory.read.size))
    rows = []
    for each in qps:
        kept = each.asked[-each.depth :]
        rows.append([*draw.sample(kept, len(kept)), kept[0], kept[-1]])
    for place in range(max(map(len, rows))):
        for each, row in zip(qps, rows, strict=True):
            each.send(row[place : place + 1])
    for each, row in zip(qps, rows, strict=True):
        each.is_answered(row)
    if memory.value() != before:
        raise bench.failed("an atomic that came again was carried out again", rules=["DUP-07"])


def remembers(bench: Bench, ops: Sequence[Op], depths: Sequence[int]) -> None:
    """With any number of places, at each filling that is a border, two queue pairs at once."""
    sizes = BYTES + min(bench.claims.path_mtus), WORD
    memory = Memory(*(bench.target.register(size, access=FULL_ACCESS) for size in sizes))
    memory.word.write(0, bench.random.randbytes(WORD))
    qps: list[Remembering] = []
    for depth in depths:
        starts = [(1 << 24) - bench.random.randrange(1, 2 * DEEPEST) for _ in range(2)]
        if not qps:
            count = min(2, bench.claims.qps)
            qps = [Remembering(bench, memory, depth=depth) for _ in range(count)]
        for each, start in zip(qps, starts, strict=False):
            each.again(depth=depth, rq_psn=start)
        borders = {1, 2, depth - 1, depth, depth + 1, 2 * depth, 2 * depth + 1}
        for count in range(1, 2 * depth + 2):
            for each in qps:
                each.ask(bench.random.choice(ops))
            if count in borders:
                both_come_again(bench, qps, memory)


@case("DUP-07", "ATOM-06", smoke=True, targets=SIMULATED)
def test_any_atomic_that_is_kept_is_answered_from_what_it_found(bench: Bench) -> None:
    remembers(bench, executed_of(bench.claims, Service.RC, (Op.CMP_SWAP, Op.FETCH_ADD)), (1, 16))


@case("DUP-04", "READ-12", smoke=True, targets=SIMULATED)
def test_any_read_that_is_kept_is_answered_again(bench: Bench) -> None:
    remembers(bench, executed_of(bench.claims, Service.RC, [Op.READ]), (1, 16))


@case("DUP-04", "DUP-07", targets=SIMULATED)
@over("depth", DEPTHS)
def test_reads_and_atomics_share_what_is_kept(bench: Bench, depth: int) -> None:
    remembers(bench, executed_of(bench.claims, Service.RC, MAKERS), (depth,))
