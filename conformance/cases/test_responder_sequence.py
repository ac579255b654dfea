# SPDX-License-Identifier: BSD-2-Clause
"""Order of opcodes, sizes against the path MTU, and pads, as a responder checks them."""

from collections.abc import Iterable, Sequence
from itertools import product

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over, over_mtus
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.intent import OUT_OF_ORDER, OUT_OF_SEQUENCE, UNASKED, WRONG_LENGTHS
from roceproof.conformance.suite.limits.within_limits import executed_packets
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    CMP_SWAP,
    FETCH_ADD,
    INVALID_REQUEST,
    NAK,
    READ_REQUEST,
    READ_RESP_ONLY,
    SEND_FIRST,
    SEND_LAST,
    SEND_LAST_IMM,
    SEND_LAST_INV,
    SEND_MIDDLE,
    SEND_ONLY,
    SEND_ONLY_IMM,
    SEND_ONLY_INV,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_LAST_IMM,
    WRITE_MIDDLE,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Maker,
    Pattern,
)
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = RESPONDER

MTU = 256
SENDS = (SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM)
WRITES = (WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM)
WITHOUT_PAYLOAD = (READ_REQUEST, CMP_SWAP, FETCH_ADD)
STARTS = (
    *(SEND_FIRST, SEND_ONLY, SEND_ONLY_IMM, SEND_ONLY_INV),
    *(WRITE_FIRST, WRITE_ONLY, WRITE_ONLY_IMM, *WITHOUT_PAYLOAD),
)
FIRSTS = (SEND_FIRST, WRITE_FIRST)
CHANGES = (-256, -4, pytest.param(-1, marks=pytest.mark.smoke), 1, 4)
"""Of a path MTU; with its pad, one byte less is as long as one."""
NEEDED = {"remote_write": WRITE_ONLY, "remote_read": READ_REQUEST, "remote_atomic": FETCH_ADD}


def name(maker: Maker) -> str:
    """For the names of cases."""
    return maker.__name__


def opened(qp: Connection, first: Maker, *, size: int | None = None) -> Region:
    """Where the message goes whose FIRST the device has taken at PSN 0."""
    region = qp.region()
    length = 3 * qp.mtu if size is None else size
    if first is SEND_FIRST:
        qp.post_receive(region)
        qp.send(SEND_FIRST(psn=0, payload=qp.mtu))
    else:
        qp.send(WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=length, **at(region)))
    return region


def refuses(qp: Connection, request: Pattern) -> None:
    """The device answers a request by NAK 0x61 at its PSN."""
    qp.send(request.but(a=1))
    qp.expect(NAK(INVALID_REQUEST, psn=request.said["psn"]))


def each_is_refused(
    bench: Bench,
    makers: Iterable[Maker],
    firsts: Sequence[Maker],
    *,
    middles: Iterable[int] = (0, 1),
) -> None:
    """Each of these packets, inside each of these messages, if any; memory stays as it is."""
    qp = bench.connect()
    region, other = qp.region(4 * qp.mtu), qp.region(4 * qp.mtu)
    for maker, first, count in product(
        executed_packets(bench.claims, Service.RC, makers),
        executed_packets(bench.claims, Service.RC, firsts) if firsts else [None],
        middles if firsts else [0],
    ):
        qp.reconnect()
        psn = 0
        if first is not None:
            qp.post_receive(region)
            qp.send(first(psn=0, payload=qp.mtu, dmalen=4 * qp.mtu, **at(region)))
            middle = SEND_MIDDLE if first is SEND_FIRST else WRITE_MIDDLE
            qp.send(*(middle(psn=1 + n, payload=qp.mtu) for n in range(count)))
            psn = 1 + count
        qp.post_receive(other)
        payload = {} if maker in WITHOUT_PAYLOAD else {"payload": qp.mtu}
        refuses(qp, maker(psn=psn, **at(other), **payload))
        assert other.read(0, other.size) == bytes(other.size), "what was refused was written"


@case("OPC-06", smoke=True)
def test_what_continues_a_message_needs_a_first(bench: Bench) -> None:
    each_is_refused(bench, (*SENDS, SEND_LAST_INV, *WRITES), [])


@case("OPC-07", smoke=True, breaks=WRONG_LENGTHS | OUT_OF_ORDER)
def test_no_message_starts_inside_another(bench: Bench) -> None:
    each_is_refused(bench, STARTS, FIRSTS)


@case("OPC-08", smoke=True, breaks=OUT_OF_ORDER)
@over("first", FIRSTS, ids=name)
def test_a_message_goes_on_as_it_began(bench: Bench, first: Maker) -> None:
    each_is_refused(bench, WRITES if first is SEND_FIRST else (*SENDS, SEND_LAST_INV), [first])


@case("OPC-09", smoke=True, breaks=OUT_OF_SEQUENCE)
@over("first", FIRSTS, ids=name)
def test_a_duplicate_inside_a_message_leaves_it_whole(bench: Bench, first: Maker) -> None:
    qp = bench.connect()
    other = qp.region()
    qp.send(WRITE_ONLY(psn=0, payload=8, **at(other)))
    reads = [READ_REQUEST(psn=1, dmalen=8, **at(other))] * qp.executes(Op.READ)
    responses = [READ_RESP_ONLY(psn=1, payload=8)] * len(reads)
    psn = 1 + len(reads)
    qp.send(*reads)
    qp.expect(*responses)
    region = qp.region()
    qp.post_receive(region)
    data = qp.random.randbytes(2 * qp.mtu)
    ends = data[: qp.mtu], data[qp.mtu :]
    if first is SEND_FIRST:
        qp.send(SEND_FIRST(psn=psn, payload=ends[0]))
    else:
        qp.send(WRITE_FIRST(psn=psn, payload=ends[0], dmalen=len(data), **at(region)))
    qp.send(WRITE_ONLY(psn=0, payload=8, a=1, **at(other)))
    qp.expect(ACK(psn=range(psn + 1)))
    qp.send(*reads)
    qp.expect(*responses)
    last = SEND_LAST if first is SEND_FIRST else WRITE_LAST
    qp.send(last(psn=psn + 1, payload=ends[1], a=1))
    qp.expect(ACK(psn=psn + 1, msn=psn + 1))
    assert region.read(0, len(data)) == data


@case("OPC-10", "UC-08", needs=[Capability.UC], smoke=True, breaks=OUT_OF_SEQUENCE)
def test_uc_drops_what_continues_no_message(bench: Bench) -> None:
    qp = bench.connect(Service.UC)
    inbox = qp.region()
    for psn, maker in enumerate(executed_packets(bench.claims, Service.UC, (*SENDS, *WRITES))):
        qp.post_receive(inbox)
        qp.drops(maker(psn=2 * psn, payload=qp.mtu), fence=2 * psn + 1)


@case("OPC-10", "NAK-11", smoke=True, needs=[Capability.UC], breaks=OUT_OF_ORDER | UNASKED)
@over("first", FIRSTS, ids=name)
def test_uc_says_nothing_to_a_message_inside_another(bench: Bench, first: Maker) -> None:
    qp = bench.connect(Service.UC)
    region = opened(qp, first)
    qp.send(WRITE_ONLY(psn=1, payload=8, a=1, **at(region)), WRITE_MIDDLE(psn=2, payload=qp.mtu))
    qp.expect_silence()


@case("OPC-13", smoke=True)
@over("right", NEEDED)
def test_an_operation_that_the_queue_pair_forbids_is_no_access_error(
    bench: Bench, right: str
) -> None:
    """Nor is it allowed without a byte, of which no key is asked."""
    for size in (8, 0)[: 1 + (right != "remote_atomic")]:
        qp = bench.connect(access=FULL_ACCESS - {right})
        region = qp.region()
        said = {"remote_write": {"payload": size}, "remote_read": {"dmalen": size}}.get(right, {})
        refuses(qp, NEEDED[right](psn=0, **at(region), **said))
        assert region.read(0, 8) == bytes(8)


@case("MTU-06", breaks=WRONG_LENGTHS)
@over("change", CHANGES)
@over("first", FIRSTS, ids=name)
def test_first_carries_exactly_the_path_mtu(bench: Bench, first: Maker, change: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    region = qp.region()
    qp.post_receive(region)
    refuses(qp, first(psn=0, payload=qp.mtu + change, dmalen=3 * qp.mtu, **at(region)))


@case("MTU-06", breaks=WRONG_LENGTHS)
@over("change", CHANGES)
@over("first", FIRSTS, ids=name)
def test_middle_carries_exactly_the_path_mtu(bench: Bench, first: Maker, change: int) -> None:
    qp = bench.connect(path_mtu=MTU)
    opened(qp, first)
    middle = SEND_MIDDLE if first is SEND_FIRST else WRITE_MIDDLE
    refuses(qp, middle(psn=1, payload=qp.mtu + change))


@case("MTU-06", breaks=WRONG_LENGTHS, smoke=True)
@over("more", [None, 1, 4])
@over("maker", (SEND_LAST, SEND_LAST_IMM, WRITE_LAST, WRITE_LAST_IMM), ids=name)
def test_last_carries_one_byte_to_the_path_mtu(
    bench: Bench, maker: Maker, more: int | None
) -> None:
    qp = bench.connect(path_mtu=MTU)
    size = 0 if more is None else qp.mtu + more
    is_send = maker in (SEND_LAST, SEND_LAST_IMM)
    opened(qp, SEND_FIRST if is_send else WRITE_FIRST, size=qp.mtu + max(size, 4))
    qp.post_receive(qp.region())
    refuses(qp, maker(psn=1, payload=size))


@case("MTU-06", breaks=WRONG_LENGTHS)
@over("more", [1, 4, 3840])
@over("maker", (SEND_ONLY, SEND_ONLY_IMM, WRITE_ONLY, WRITE_ONLY_IMM), ids=name)
def test_only_carries_no_more_than_the_path_mtu(bench: Bench, maker: Maker, more: int) -> None:
    """A port may drop what is far longer than its largest path MTU."""
    qp = bench.connect(path_mtu=MTU)
    size = min(qp.mtu + more, max(*bench.claims.path_mtus, qp.mtu + 4))
    region = qp.region(4 * qp.mtu + more)
    qp.post_receive(qp.region())
    refuses(qp, maker(psn=0, payload=size, **at(region)))
    assert region.read(0, size) == bytes(size)


@case("MTU-10", "AETH-01")
@over_mtus(256, 1024, 4096)
def test_a_read_is_answered_in_pieces_of_the_path_mtu(bench: Bench, mtu: int) -> None:
    qp = bench.connect(path_mtu=mtu)
    region = qp.region(3 * mtu, filled=True)
    data = region.read(0, region.size)
    psn = 0
    for length in (0, 1, mtu - 1, mtu, mtu + 1, 2 * mtu, 3 * mtu - 1, 3 * mtu):
        qp.send(READ_REQUEST(psn=psn, dmalen=length, **at(region)))
        psn += len(qp.expect(*read_responses(qp, psn, data[:length])))


@case("PAD-06", smoke=True)
@over("pad", [1, 2, 3])
@over("maker", (SEND_ONLY, WRITE_ONLY), ids=name)
def test_more_pad_than_payload_is_refused(bench: Bench, maker: Maker, pad: int) -> None:
    qp = bench.connect()
    region = qp.region()
    qp.post_receive(qp.region())
    qp.send(maker(psn=0, pad=pad, a=1, **at(region)))
    answer = qp.next(quiet=True)
    if answer is None:
        qp.fence(0)
    elif answer.aeth is None or answer.aeth.syndrome != 0x60 | INVALID_REQUEST:
        raise bench.failed("a pad that is not there was accepted")
    assert region.read(0, region.size) == bytes(region.size)
    bench.fresh().fence(0)


@case("FUZZ-19", breaks=OUT_OF_SEQUENCE)
@over("size", [1, 2, 3, 5])
def test_a_send_that_fills_no_words_is_not_executed(bench: Bench, size: int) -> None:
    qp = bench.connect()
    inbox = qp.region()
    qp.post_receive(inbox)
    qp.send(SEND_ONLY(psn=0, a=1).resealed(edits.resize(size, filler=0xA5)))
    answer = qp.next(quiet=True)
    if answer is None:
        qp.fence(0)
    elif answer.aeth is None or answer.aeth.syndrome != 0x60 | INVALID_REQUEST:
        raise bench.failed("payload and pad make no whole words, and were accepted")
    assert inbox.read(0, inbox.size) == bytes(inbox.size)


@case("PAD-07", smoke=True)
@over("dmalen, pad", [(5, 2), (5, 0), (7, 3), (6, 1), (9, 0), (8, 1)])
def test_a_pad_that_contradicts_dmalen_is_refused(bench: Bench, dmalen: int, pad: int) -> None:
    qp = bench.connect()
    region = qp.region()
    refuses(qp, WRITE_ONLY(psn=0, payload=8, pad=pad, dmalen=dmalen, **at(region)))
    assert region.read(0, 16) == bytes(16)


def ends_there(bench: Bench, memory: Region, data: bytes, before: bytes, *, rule: str) -> None:
    """The data are in memory, and nothing behind them: that is a rule of its own."""
    size, found = len(data), memory.read(0, len(before))
    assert found[:size] == data
    wrong = [place for place in range(size, len(before)) if found[place] != before[place]]
    if wrong:
        end, start = wrong[-1] + 1, wrong[0]
        text = f"{size} bytes were sent, and what lies {start - size} behind their end was written"
        was = f"want  {before[start:end].hex()}\ngot   {found[start:end].hex()}"
        raise bench.failed(f"{text}\n{was}", rules=[rule])


@case("PAD-08", "PAD-03", smoke=True)
@over("length", [1, 2, 3, 5])
def test_pad_bytes_may_be_anything_and_are_never_delivered(bench: Bench, length: int) -> None:
    qp = bench.connect()
    region, receive = qp.region(), qp.region()
    before = qp.random.randbytes(16)
    data = qp.random.randbytes(length)
    write, send = WRITE_ONLY(payload=data, a=1, **at(region)), SEND_ONLY(payload=data, a=1)
    places = ((write, region, "RETH-12"), (send, receive, "PAD-03"))
    for psn, (packet, memory, rule) in enumerate((*places, *places)):
        memory.write(0, before)
        number = qp.post_receive(receive) if memory is receive else None
        for place in range(1, -length % 4 + 1 if psn >= len(places) else 1):
            packet = packet.resealed(edits.flip_end(place, 0xFF))
        qp.send(packet.but(psn=psn))
        qp.expect(ACK(psn=psn))
        if number is not None:
            qp.receives(number, byte_len=length)
        ends_there(bench, memory, data, before, rule=rule)
