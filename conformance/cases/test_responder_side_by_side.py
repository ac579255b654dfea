# SPDX-License-Identifier: BSD-2-Clause
"""READs and atomics of many queue pairs at once: begun and ended side by side, at line rate."""

from typing import NamedTuple

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, needs, over
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.limits.within_limits import executed_of
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import READ_REQUEST, Pattern
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.psn import packet_count
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = [RESPONDER, needs(Capability.LOCKSTEP), needs(Capability.RC)]

SIMULATED = ["hdl", "model"]
MOST = 8  # queue pairs
DEEP = 16  # READs of each
ROUNDS = 3
BYTES = 1 << 14


class Read(NamedTuple):
    """One that was asked for."""

    psn: int
    offset: int
    length: int

    def request(self, region: Region) -> Pattern:
        return READ_REQUEST(psn=self.psn, dmalen=self.length, **at(region, self.offset))

    def responses(self, qp: Connection, region: Region) -> list[Pattern]:
        """What it is answered with."""
        return read_responses(qp, self.psn, region.read(self.offset, self.length))


class Reader:
    """A queue pair, and what it has been asked for."""

    def __init__(self, bench: Bench, qp: Connection, region: Region) -> None:
        self.qp, self.region = qp, region
        self.asked: list[Read] = []
        self._random = bench.random
        self._psn = 0

    def ask(self, length: int) -> None:
        """A READ of so many bytes, from anywhere."""
        offset = self._random.randrange(self.region.size - length + 1)
        read = Read(self._psn, offset, length)
        self._psn += packet_count(length, self.qp.mtu)
        self.asked.append(read)
        self.qp.send(read.request(self.region))

    def has_answers(self) -> None:
        """To all of it, in its order."""
        for read in self.asked:
            self.qp.expect(*read.responses(self.qp, self.region))
        self.asked.clear()


@case("READ-12", "READ-02", "READ-06", "LIVE-03", smoke=True, targets=SIMULATED)
@over("slow", [{}, {"tx_stall": 60}, {"memory_gap": 60, "memory_stall": 40}], ids=str)
def test_reads_of_many_queue_pairs_at_once(bench: Bench, slow: dict[str, int]) -> None:
    executed_of(bench.claims, Service.RC, [Op.READ])
    if slow and Capability.DISTURBANCE in bench.claims.capabilities:
        bench.target.disturb(**slow)
    mtus, draw = bench.claims.path_mtus, bench.random
    pairs = [
        bench.connect(path_mtu=mtus[n % min(2, len(mtus))], max_dest_rd_atomic=DEEP)
        for n in range(min(MOST, bench.claims.qps))
    ]
    region = bench.target.register(BYTES, access=FULL_ACCESS)
    region.write(0, draw.randbytes(region.size))
    readers = [Reader(bench, qp, region) for qp in pairs]
    for turn in range(ROUNDS):
        for _ in range(DEEP // 2 if turn else DEEP):
            for reader in draw.sample(readers, len(readers)):
                mtu = reader.qp.mtu
                lengths = [draw.randrange(1, 40), mtu, mtu + 1, draw.randrange(1, 3 * mtu)]
                reader.ask(draw.choice(lengths))
        for reader in draw.sample(readers, len(readers)):
            reader.has_answers()


@case("DUP-04", "READ-12", targets=SIMULATED)
def test_reads_of_many_queue_pairs_come_again(bench: Bench) -> None:
    executed_of(bench.claims, Service.RC, [Op.READ])
    count = min(MOST, bench.claims.qps)
    pairs = [bench.connect(max_dest_rd_atomic=DEEP) for _ in range(count)]
    region = bench.target.register(BYTES, access=FULL_ACCESS)
    region.write(0, bench.random.randbytes(region.size))
    readers = [Reader(bench, qp, region) for qp in pairs]
    for _ in range(DEEP):
        for reader in readers:
            reader.ask(bench.random.randrange(1, 2 * reader.qp.mtu))
    known = [(reader, list(reader.asked)) for reader in readers]
    for reader in readers:
        reader.has_answers()
    for back in range(1, DEEP + 1):
        again = [(reader, asked[-back]) for reader, asked in known]
        for reader, read in again:
            reader.qp.send(read.request(region))
        for reader, read in again:
            reader.qp.expect(*read.responses(reader.qp, region))
