# SPDX-License-Identifier: BSD-2-Clause
"""Atomic operations: results, alignment, rights; and the optional operations of annex A19."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over
from roceproof.conformance.suite.limits.within_limits import (
    executed_of,
    held_reads,
    require_queue_pairs,
)
from roceproof.conformance.suite.memory import at, to_a_word
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    ATOMIC_ACK,
    ATOMIC_WRITE,
    CMP_SWAP,
    FETCH_ADD,
    FLUSH,
    INVALID_REQUEST,
    NAK,
    READ_REQUEST,
    READ_RESP_ONLY,
    WRITE_ONLY,
    Maker,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.headers import AtomicAckEth
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = RESPONDER

EACH = 8  # atomics of a queue pair at once
ODD = 21  # bytes

over_atomics = over("atomic", [CMP_SWAP, FETCH_ADD], ids=["CMP_SWAP", "FETCH_ADD"])


def store(region: Region, value: int, *, offset: int = 0) -> None:
    """Put a number into memory, as a little-endian host does."""
    region.write(offset, value.to_bytes(8, "little"))


def load(region: Region, *, offset: int = 0) -> int:
    """The number in memory, as a little-endian host sees it."""
    return int.from_bytes(region.read(offset, 8), "little")


def leaves(bench: Bench, region: Region, value: int, *, offset: int = 0) -> None:
    """An atomic has left this number in memory."""
    found = load(region, offset=offset)
    if found != value:
        raise bench.failed(
            f"an atomic left {found:#x} in memory; want {value:#x}", rules=["ATOM-04"]
        )


@case("ATOM-02", "ATOM-04", smoke=True)
@over(
    ("before", "compare", "after"),
    [
        (0x0102030405060708, 0x0102030405060708, 0x1112131415161718),
        (0x0102030405060708, 0x0102030405060709, 0x0102030405060708),
        (0x0102030405060708, 0x8102030405060708, 0x0102030405060708),
    ],
    ids=["equal", "lowest_bit_differs", "highest_bit_differs"],
)
def test_compare_and_swap_stores_only_if_equal(
    bench: Bench, before: int, compare: int, after: int
) -> None:
    qp = bench.connect()
    region = qp.region(24, filled=True)
    store(region, before, offset=8)
    around = region.read(0, 8), region.read(16, 8)
    qp.send(CMP_SWAP(psn=0, compare=compare, swap=0x1112131415161718, **at(region, 8)))
    qp.expect(ATOMIC_ACK(psn=0, msn=1, original=before, payload=0))
    leaves(bench, region, after, offset=8)
    assert (region.read(0, 8), region.read(16, 8)) == around


@case("ATOM-02", "ATOM-04", smoke=True)
@over(
    ("before", "add"),
    [(5, 7), ((1 << 64) - 1, 1), (0xFFFFFFFF, 1), (1 << 63, 1 << 63), (9, (1 << 64) - 4)],
    ids=["small", "wrap", "carry", "highest_bit", "negative"],
)
def test_fetch_and_add_counts_modulo_2_to_the_64(bench: Bench, before: int, add: int) -> None:
    qp = bench.connect()
    region = qp.region()
    store(region, before)
    qp.send(FETCH_ADD(psn=0, swap=add, **at(region)))
    qp.expect(ATOMIC_ACK(psn=0, msn=1, original=before, payload=0))
    leaves(bench, region, (before + add) % (1 << 64))


@case("ATOM-04", smoke=True)
def test_an_atomic_has_its_turn_between_writes_and_reads(bench: Bench) -> None:
    qp = bench.connect(max_dest_rd_atomic=8)
    region, last = qp.region(qp.mtu), qp.mtu - 8
    written = [qp.random.randbytes(qp.mtu) for _ in range(4)]
    for number, data in enumerate(written):
        psn = 3 * number
        qp.send(
            WRITE_ONLY(psn=psn, payload=data, **at(region)),
            FETCH_ADD(psn=psn + 1, swap=5, **at(region, last)),
            READ_REQUEST(psn=psn + 2, dmalen=8, **at(region, last)),
        )
    for number, data in enumerate(written):
        psn, before = 3 * number, int.from_bytes(data[last:], "little")
        after = (before + 5) % (1 << 64)
        qp.expect(ATOMIC_ACK(psn=psn + 1, msn=psn + 2, original=before))
        qp.expect(READ_RESP_ONLY(psn=psn + 2, msn=psn + 3, payload=after.to_bytes(8, "little")))


@case("ATOM-04", needs=[Capability.DISTURBANCE], smoke=True, targets=["hdl", "model"])
@over("lag", [0, 98])
def test_atomics_and_writes_of_queue_pairs_to_one_word_have_their_turns(
    bench: Bench, lag: int
) -> None:
    executed_of(bench.claims, Service.RC, [Op.FETCH_ADD])
    require_queue_pairs(bench.claims, 2)
    held = held_reads(bench.claims) or EACH
    qps = [bench.connect(max_dest_rd_atomic=held) for _ in range(min(4, bench.claims.qps))]
    region = qps[0].region(24)
    written = [turn << 32 for turn in range(1, held + 1)] if qps[0].executes(Op.WRITE) else []
    writers = [qps.pop()] if written else []
    bench.target.disturb(memory_lag=lag)
    for psn in range(held):
        for writer in writers:
            data = written[psn].to_bytes(8, "little")
            writer.send(WRITE_ONLY(psn=psn, payload=data, a=int(psn == held - 1), **at(region, 8)))
        for step, qp in enumerate(qps, start=1):
            qp.send(FETCH_ADD(psn=psn, swap=step, **at(region, 8)))
    found: dict[int, int] = {}
    for step, qp in enumerate(qps, start=1):
        for packet in qp.expect(*(ATOMIC_ACK(psn=psn) for psn in range(held))):
            header = packet.extension(AtomicAckEth)
            assert header is not None
            found[header.original] = step
    for writer in writers:
        writer.expect(ACK(psn=held - 1))
    bench.target.disturb()
    wanted = held * len(qps)
    for value in (0, *written):
        while value in found:
            wanted -= 1
            value += found.pop(value)
    if wanted:
        text = f"{wanted} of {held * len(qps)} atomics on one word did not have a turn of their own"
        raise bench.failed(text, rules=["ATOM-04"])
    leaves(bench, region, value, offset=8)


@case("ATOM-03", smoke=True)
@over_atomics
def test_an_address_that_is_not_aligned_is_refused(bench: Bench, atomic: Maker) -> None:
    region = bench.target.register(ODD, access=FULL_ACCESS - {"remote_read"})
    word = to_a_word(region)
    for offset in {*range(8)} - {word}:
        qp = bench.fresh()
        qp.send(atomic(psn=0, swap=1, **at(region, offset)))
        qp.expect(NAK(INVALID_REQUEST, psn=0, msn=0))
    assert region.read(0, ODD) == bytes(ODD)
    qp = bench.fresh()
    qp.send(atomic(psn=0, swap=1, **at(region, word)))
    qp.expect(ATOMIC_ACK(psn=0))


@case("ATOM-05", smoke=True)
@over_atomics
def test_an_atomic_takes_one_psn_and_is_answered_unasked(bench: Bench, atomic: Maker) -> None:
    qp = bench.connect()
    region = qp.region()
    for psn, asked in enumerate((0, 1, 0)):
        qp.send(atomic(psn=psn, a=asked, **at(region)))
        qp.expect(ATOMIC_ACK(psn=psn, msn=psn + 1))
    qp.fence(3, msn=4)


def refuses(bench: Bench, atomic: Maker, **place: int) -> None:
    qp = bench.connect()
    qp.send(atomic(psn=0, swap=1, **place))
    qp.expect(NAK(ACCESS_ERROR, psn=0, msn=0))


@case("ATOM-07", smoke=True)
@over_atomics
def test_memory_outside_of_the_region_refuses(bench: Bench, atomic: Maker) -> None:
    region = bench.target.register(4096)
    for offset in (-8, region.extent):
        refuses(bench, atomic, **at(region, offset))


@case("RETH-09", "ATOM-07", smoke=True)
@over_atomics
def test_memory_that_may_not_be_changed_so_refuses(bench: Bench, atomic: Maker) -> None:
    region = bench.target.register(4096, access=FULL_ACCESS - {"remote_atomic"})
    refuses(bench, atomic, **at(region, to_a_word(region)))


@case("RETH-10", "ATOM-07", smoke=True)
@over_atomics
def test_memory_of_another_protection_domain_refuses(bench: Bench, atomic: Maker) -> None:
    refuses(bench, atomic, **at(bench.target.register_elsewhere(4096)))


@case("ATOM-07", "OPC-13", smoke=True)
@over_atomics
def test_a_queue_pair_without_atomics_refuses(bench: Bench, atomic: Maker) -> None:
    qp = bench.connect(access=FULL_ACCESS - {"remote_atomic"})
    region = qp.region()
    qp.send(atomic(psn=0, swap=1, **at(region)))
    qp.expect(NAK(INVALID_REQUEST, psn=0, msn=0))
    assert region.read(0, 8) == bytes(8)


@case("ATOM-08", needs=[Capability.FLUSH])
def test_flush_and_atomic_write_are_answered_by_an_empty_response(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    qp.send(ATOMIC_WRITE(psn=0, payload=b"12345678", dmalen=8, **at(region)))
    qp.expect(READ_RESP_ONLY(psn=0, msn=1, payload=0))
    assert region.read(0, 8) == b"12345678"
    qp.send(FLUSH(psn=1, dmalen=8, **at(region)))
    qp.expect(READ_RESP_ONLY(psn=1, msn=2, payload=0))
    qp.fence(2)
