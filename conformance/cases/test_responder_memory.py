# SPDX-License-Identifier: BSD-2-Clause
"""Remote keys, ranges and rights; immediate data."""

from collections.abc import Iterable

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over, over_services
from roceproof.conformance.suite.intent import OUT_OF_ORDER, OUT_OF_SEQUENCE, WRONG_LENGTHS
from roceproof.conformance.suite.limits.within_limits import executed_of, skip_for_commands
from roceproof.conformance.suite.memory import at, otherwise, to_a_word
from roceproof.conformance.suite.packet_flow import SUCCESS
from roceproof.conformance.suite.pattern import (
    ACCESS_ERROR,
    ACK,
    FETCH_ADD,
    INVALID_REQUEST,
    NAK,
    OPERATIONAL_ERROR,
    READ_REQUEST,
    READ_RESP_ONLY,
    SEND_FIRST,
    SEND_LAST,
    SEND_MIDDLE,
    SEND_ONLY_IMM,
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
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op, Region

pytestmark = RESPONDER

GUARD = 0xC3
WRITABLE = frozenset({"local_write", "remote_write"})
KEY_BITS = (0, 7, 8, 15, 16, 23, 24, 31)
SLOT = 256


def each_is_refused(bench: Bench, requests: Iterable[Pattern], code: int = ACCESS_ERROR) -> None:
    """Each of these, first on a queue pair, draws that NAK."""
    for request in requests:
        qp = bench.fresh()
        qp.send(request)
        qp.expect(NAK(code, psn=0, msn=0))


def write_and_read(bench: Bench, region: Region, offset: int, length: int) -> list[Pattern]:
    """A WRITE and a READ of the same place, as far as the device executes them."""
    requests = {
        Op.WRITE: WRITE_ONLY(psn=0, payload=length, a=1, **at(region, offset)),
        Op.READ: READ_REQUEST(psn=0, dmalen=length, **at(region, offset)),
    }
    return [requests[op] for op in executed_of(bench.claims, Service.RC, requests)]


@case("RETH-05", smoke=True)
def test_no_bytes_need_no_key(bench: Bench) -> None:
    qp = bench.connect()
    nowhere = {"va": qp.random.getrandbits(64), "rkey": qp.random.getrandbits(32)}
    qp.send(WRITE_ONLY(psn=0, a=1, **nowhere))
    qp.expect(ACK(psn=0))
    if qp.executes(Op.READ):
        qp.send(READ_REQUEST(psn=1, dmalen=0, **nowhere))
        qp.expect(READ_RESP_ONLY(psn=1, payload=0))


def wrong_keys(bench: Bench, region: Region) -> list[int]:
    """Some that name nothing, each nearly that of the region."""
    known = {each.rkey for each in bench.claims.built_in} | {region.rkey}
    return sorted({region.rkey + 1, *(region.rkey ^ 1 << bit for bit in KEY_BITS)} - known)


@case("RETH-06", smoke=True)
def test_a_key_that_names_nothing_is_refused(bench: Bench) -> None:
    region = bench.target.register(4096)
    keys = wrong_keys(bench, region)
    requests = [WRITE_ONLY(psn=0, payload=8, va=region.addr, rkey=key) for key in keys]
    each_is_refused(bench, requests)
    assert region.read(0, 8) == bytes(8)


@case("RETH-06", smoke=True)
def test_a_key_that_was_taken_back_is_refused(bench: Bench) -> None:
    gone = bench.target.register(4096)
    former = write_and_read(bench, gone, 0, 8)
    gone.deregister()
    each_is_refused(bench, former)


@case("RETH-07", smoke=True)
def test_a_range_must_lie_inside_its_region(bench: Bench) -> None:
    region = bench.target.register(4096)
    qp = bench.connect()
    qp.send(WRITE_ONLY(psn=0, payload=8, a=1, **at(region)))
    qp.send(WRITE_ONLY(psn=1, payload=8, a=1, **at(region, 4088)))
    qp.expect(ACK(psn=0), ACK(psn=1))
    if qp.executes(Op.READ):
        qp.send(READ_REQUEST(psn=2, dmalen=8, **at(region, 4088)))
        qp.expect(READ_RESP_ONLY(psn=2, payload=8))
    for offset in (-1, region.extent - 7, region.extent):
        each_is_refused(bench, write_and_read(bench, region, offset, 8))


@case("RETH-07", smoke=True)
def test_every_bit_of_an_address_counts(bench: Bench) -> None:
    region = bench.target.register(4096)
    for bit in range(max(16, region.extent.bit_length()), 64):
        place = {**at(region), "va": region.addr ^ 1 << bit}
        each_is_refused(bench, [WRITE_ONLY(psn=0, payload=8, a=1, **place)])
    assert region.read(0, 4096) == bytes(4096)


@case("RETH-06", "NAK-07", smoke=True, targets=["hdl", "model"])
def test_a_message_under_way_loses_its_memory(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region()
    qp.send(WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=3 * qp.mtu, a=1, **at(region)))
    qp.expect(ACK(psn=0, msn=0))
    held = region.read(0, region.size)
    region.deregister()
    qp.send(WRITE_MIDDLE(psn=1, payload=qp.mtu), WRITE_LAST(psn=2, payload=qp.mtu, a=1))
    qp.expect(NAK(ACCESS_ERROR, msn=0))
    assert region.read(0, region.size) == held


@case("NAK-07", "RETH-06", smoke=True, targets=["hdl", "model"])
@over_services
def test_a_send_under_way_loses_the_memory_of_its_receive(bench: Bench, service: Service) -> None:
    executed_of(bench.claims, service, [Op.SEND])
    qp, is_reliable = bench.connect(service), service is Service.RC
    region = qp.region()
    number = qp.post_receive(region)
    qp.send(SEND_FIRST(psn=0, payload=qp.mtu, a=int(is_reliable)))
    if is_reliable:
        qp.expect(ACK(psn=0, msn=0))
    else:
        bench.settle()
    held = region.read(0, region.size)
    region.deregister()
    stream = bench.target.standing().get("reg")
    if stream is not None and stream.waits:
        skip_for_commands(bench.claims)
    qp.send(SEND_MIDDLE(psn=1, payload=qp.mtu), SEND_LAST(psn=2, payload=8, a=int(is_reliable)))
    if is_reliable:
        qp.expect(NAK(OPERATIONAL_ERROR, msn=0))
    qp.expect_silence()
    ended = [each for each in bench.all_completions(qp, 0) if each.wr_id == number]
    if region.read(0, region.size) != held or any(each.status == SUCCESS for each in ended):
        text = "a SEND went on into memory whose key had been taken back"
        raise bench.failed(text, rules=["RETH-06"])


@case("RETH-07", "NAK-07", smoke=True)
def test_a_range_is_checked_as_a_whole_at_the_first_packet(bench: Bench) -> None:
    region = bench.target.register(4096)
    qp = bench.connect()
    place = at(region, region.extent + 1 - 2 * qp.mtu)
    qp.send(
        WRITE_ONLY(psn=0),
        WRITE_FIRST(psn=1, payload=qp.mtu, dmalen=2 * qp.mtu, **place),
    )
    qp.expect(NAK(ACCESS_ERROR, psn=1, msn=1))
    assert region.read(0, 4096) == bytes(4096)


@case("RETH-08", smoke=True)
def test_an_address_that_wraps_is_refused(bench: Bench) -> None:
    rkey = bench.target.register(4096).rkey
    va = (1 << 64) - 8
    requests = [WRITE_ONLY(psn=0, payload=16, va=va, rkey=rkey)]
    if Op.READ in executed_of(bench.claims, Service.RC, [Op.WRITE, Op.READ]):
        requests.append(READ_REQUEST(psn=0, dmalen=16, va=va, rkey=rkey))
    each_is_refused(bench, requests)


NEEDED = {
    "remote_write": WRITE_ONLY(psn=0, payload=8),
    "remote_read": READ_REQUEST(psn=0, dmalen=8),
    "remote_atomic": FETCH_ADD(psn=0, swap=1),
}


@case("RETH-09", smoke=True)
@over("right", NEEDED)
def test_memory_without_the_right_refuses(bench: Bench, right: str) -> None:
    region = bench.target.register(4096, access=FULL_ACCESS - {right})
    each_is_refused(bench, [NEEDED[right].but(**at(region, to_a_word(region)))])


@case("RETH-06", "RETH-07", "RETH-09", smoke=True)
@over("packet", [WRITE_FIRST, WRITE_ONLY_IMM], ids=["FIRST", "ONLY_IMM"])
def test_each_packet_that_names_memory_is_refused_for_it(bench: Bench, packet: Maker) -> None:
    region = bench.target.register(4096)
    closed = bench.target.register(4096, access=FULL_ACCESS - {"remote_write"})
    foreign = at(region) | {"rkey": wrong_keys(bench, region)[0]}
    for place in (foreign, at(region, region.extent), at(closed)):
        qp = bench.fresh()
        size = 2 * qp.mtu if packet is WRITE_FIRST else qp.mtu
        qp.post_receive(region)
        qp.send(packet(psn=0, payload=qp.mtu, dmalen=size, a=1, **place))
        qp.expect(NAK(ACCESS_ERROR, psn=0, msn=0))


@case("RETH-10", smoke=True)
def test_a_key_of_another_protection_domain_is_refused(bench: Bench) -> None:
    region = bench.target.register_elsewhere(4096)
    each_is_refused(bench, write_and_read(bench, region, 0, 8))
    assert region.read(0, 8) == bytes(8)


@case("RETH-11", smoke=True, breaks=WRONG_LENGTHS)
def test_a_write_that_ends_early_is_refused(bench: Bench) -> None:
    region = bench.target.register(2 * min(bench.claims.path_mtus))
    each_is_refused(bench, [WRITE_ONLY(psn=0, payload=8, dmalen=12, **at(region))], INVALID_REQUEST)
    qp = bench.fresh()
    size = 2 * qp.mtu
    qp.send(
        WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=size, **at(region)),
        WRITE_LAST(psn=1, payload=qp.mtu - 4, a=1),
    )
    qp.expect(NAK(INVALID_REQUEST, psn=1, msn=0))


@case("RETH-11", smoke=True, breaks=WRONG_LENGTHS)
def test_a_last_of_a_whole_mtu_that_comes_too_early_is_refused(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(
        WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=3 * qp.mtu, **at(qp.region())),
        WRITE_LAST(psn=1, payload=qp.mtu, a=1),
    )
    qp.expect(NAK(INVALID_REQUEST, psn=1, msn=0))


@case("RETH-11", smoke=True, breaks=WRONG_LENGTHS)
def test_a_write_of_more_than_it_said_is_refused(bench: Bench) -> None:
    mtu = min(bench.claims.path_mtus)
    region = bench.target.register(2 * mtu)
    each_is_refused(bench, [WRITE_ONLY(psn=0, payload=12, dmalen=8, **at(region))], INVALID_REQUEST)
    for packet in (WRITE_MIDDLE, WRITE_LAST):
        qp = bench.fresh()
        qp.send(
            WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=qp.mtu + 4, **at(region)),
            packet(psn=1, payload=qp.mtu, a=1),
        )
        qp.expect(NAK(INVALID_REQUEST, psn=1, msn=0))
    assert region.read(mtu + 4, mtu - 4) == bytes(mtu - 4)


@case("RETH-11", smoke=True, breaks=OUT_OF_ORDER)
def test_a_middle_that_leaves_nothing_for_the_last_is_refused_by_the_next_at_the_latest(
    bench: Bench,
) -> None:
    qp = bench.connect()
    qp.send(
        WRITE_FIRST(psn=0, payload=qp.mtu, dmalen=2 * qp.mtu, **at(qp.region())),
        WRITE_MIDDLE(psn=1, payload=qp.mtu),
        WRITE_LAST(psn=2, payload=4, a=1),
    )
    qp.expect(NAK(INVALID_REQUEST, psn=frozenset({1, 2}), msn=0))


@case("RETH-11", smoke=True, breaks=WRONG_LENGTHS)
@over("packet", [WRITE_ONLY, WRITE_FIRST], ids=["ONLY", "FIRST"])
def test_a_write_of_no_bytes_that_carries_some_is_refused(bench: Bench, packet: Maker) -> None:
    qp = bench.connect()
    region = qp.region()
    qp.send(packet(psn=0, payload=qp.mtu, dmalen=0, a=1, **at(region)))
    qp.expect(NAK(INVALID_REQUEST, psn=0, msn=0))
    assert region.read(0, qp.mtu) == bytes(qp.mtu)


@case("MTU-06", smoke=True, breaks=WRONG_LENGTHS)
def test_a_write_first_of_no_bytes_is_refused(bench: Bench) -> None:
    each_is_refused(bench, [WRITE_FIRST(psn=0, dmalen=0, a=1)], INVALID_REQUEST)


@case("UC-09", smoke=True, needs=[Capability.UC], breaks=OUT_OF_SEQUENCE)
def test_an_unreliable_write_of_no_bytes_that_carries_some_is_dropped(bench: Bench) -> None:
    qp = bench.connect(Service.UC)
    region = qp.region()
    qp.drops(WRITE_ONLY(psn=0, payload=8, dmalen=0, **at(region)), fence=1)
    assert region.read(0, 8) == bytes(8)


@case("RETH-12", "PAD-03", smoke=True)
def test_nothing_beside_the_range_is_written(bench: Bench) -> None:
    qp = bench.connect()
    reachable = (each.length for each in bench.claims.built_in if each.access >= WRITABLE)
    slots = max(1, min(64, max(reachable, default=64 * SLOT) // SLOT))
    region = qp.region(slots * SLOT)
    guarded = bytearray([GUARD]) * region.size
    region.write(0, bytes(guarded))
    inside: set[int] = set()
    pads: set[int] = set()
    psn = 0
    for lane in range(slots):
        for half in (0, SLOT // 2):
            start = lane * SLOT + half + lane % 64
            data = qp.random.randbytes(qp.random.randint(1, SLOT // 2 - lane))
            guarded[start : start + len(data)] = data
            inside.update(range(start, start + len(data)))
            pads.update(range(start + len(data), start + len(data) + -len(data) % 4))
            is_last = lane == slots - 1 and half > 0
            qp.send(WRITE_ONLY(psn=psn, payload=data, a=is_last, **at(region, start)))
            psn += 1
    qp.expect(ACK(psn=psn - 1, msn=psn))
    memory = region.read(0, region.size)
    wrong = [offset for offset in range(region.size) if memory[offset] != guarded[offset]]
    told = f"{len(wrong)} bytes differ, the first at {wrong[0]} of the region" if wrong else ""
    if not inside.isdisjoint(wrong):
        raise bench.failed(f"{told}: {otherwise(bytes(guarded), memory, b'')}", rules=["RETH-12"])
    if wrong:
        is_pad = pads.issuperset(wrong) and not any(memory[offset] for offset in wrong)
        rules = ["PAD-03" if is_pad else "RETH-12"]
        raise bench.failed(f"beside what was addressed {told}", rules=rules)


@case("IMM-02", smoke=True)
@over_services
@over("packet", [SEND_ONLY_IMM, WRITE_ONLY_IMM], ids=["SEND", "WRITE"])
def test_immediate_data_arrive_in_their_byte_order(
    bench: Bench, service: Service, packet: Maker
) -> None:
    qp = bench.connect(service)
    region = qp.region()
    for psn, value in enumerate((0x01020304, 0, 0xFFFFFFFF, 0x80000001)):
        number = qp.post_receive(region)
        qp.send(packet(psn=psn, payload=5, imm=value, **at(region)))
        qp.receives(number, byte_len=5, immediate=value)


@case("IMM-04", "IMM-05", smoke=True)
@over_services
def test_an_immediate_write_takes_one_receive_and_reports_its_length(
    bench: Bench, service: Service
) -> None:
    qp = bench.connect(service)
    region = qp.region()
    numbers = [qp.post_receive(region) for _ in range(4)]
    qp.send(
        WRITE_ONLY_IMM(psn=0, imm=1, va=qp.random.getrandbits(64), rkey=0),
        WRITE_ONLY_IMM(psn=1, payload=5, imm=2, **at(region)),
        WRITE_FIRST(psn=2, payload=qp.mtu, dmalen=3 * qp.mtu, **at(region)),
        WRITE_MIDDLE(psn=3, payload=qp.mtu),
        WRITE_LAST_IMM(psn=4, payload=qp.mtu, imm=3),
        WRITE_ONLY_IMM(psn=5, payload=1, imm=4, **at(region)),
    )
    for number, (length, value) in zip(
        numbers, [(0, 1), (5, 2), (3 * qp.mtu, 3), (1, 4)], strict=True
    ):
        qp.receives(number, byte_len=length, immediate=value)
