# SPDX-License-Identifier: BSD-2-Clause
"""Fuzz of headers: bits, PSNs, addresses, what routers may change, and what is no RoCE at all.

What may come of each packet is asked of the reference model, over all readings of the rules.
"""

from collections.abc import Iterator
from functools import partial

from roceproof.conformance.model.ingress import GSI_QKEY
from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over_services
from roceproof.conformance.suite.intent import WRONG_MESSAGES
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    FETCH_ADD,
    READ_REQUEST,
    SEND_ONLY,
    UD_SEND_ONLY,
    WRITE_FIRST,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Pattern,
)
from roceproof.conformance.suite.traffic.fuzz import run
from roceproof.conformance.suite.traffic.fuzz_session import FuzzSession
from roceproof.conformance.suite.traffic.requests import any_request
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire import frame_edits as edits
from roceproof.conformance.wire.framing import ICRC_BYTES, locate
from roceproof.verbs.service import Service

pytestmark = RESPONDER

LINK_BYTES = 14
IP_BYTES = 20
HEADERS_END = 96  # and some payload
OF_OTHERS = {
    *range(8 * (LINK_BYTES + 2), 8 * (LINK_BYTES + 4)),  # IP length
    *range(8 * (LINK_BYTES + IP_BYTES + 4), 8 * (LINK_BYTES + IP_BYTES + 6)),  # UDP length
    *range(8 * (LINK_BYTES + IP_BYTES + 8), 8 * (LINK_BYTES + IP_BYTES + 10)),  # opcode, pad
    *range(8 * (LINK_BYTES + IP_BYTES + 13), 8 * (LINK_BYTES + IP_BYTES + 16)),  # QPN
}
"""Bits for other generators, and those that lead to another session's queue pair."""
UDP_CHECKSUM = {*range(8 * (LINK_BYTES + IP_BYTES + 6), 8 * (LINK_BYTES + IP_BYTES + 8))}
"""Bits that some devices verify and others do not."""
SAMPLES = 64
MADS = 60
CM_CLASS = 7


@case("FUZZ-01")
@over_services
def test_single_bits_flipped_behind_the_back_of_the_icrc(bench: Bench, service: Service) -> None:
    def flip_each(session: FuzzSession) -> None:
        data = session.random.randbytes(12)
        frame = session.qp.frame(WRITE_ONLY_IMM(psn=0, payload=data, a=1, **at(session.region)))
        bits = {*range(8 * (LINK_BYTES - 2), 8 * len(frame))} - UDP_CHECKSUM
        for bit in sorted(bits):
            session.send_frame(bytes(edits.with_flipped_bit(frame, bit)))

    run(bench, [flip_each], service)


@case("FUZZ-02")
@over_services
def test_single_bits_flipped_under_a_right_icrc(bench: Bench, service: Service) -> None:
    def flip_one(session: FuzzSession) -> None:
        session.send(WRITE_ONLY(psn=0))
        frame = session.qp.frame(any_request(session, psn=1))
        end = min(len(frame) - ICRC_BYTES, HEADERS_END)
        bits = sorted({*range(8 * LINK_BYTES, 8 * end)} - OF_OTHERS)
        flipped = edits.with_flipped_bit(frame, session.random.choice(bits))
        if locate(bytes(flipped), port=None) is None:
            edits.fix_ip_checksum(flipped)
        else:
            edits.reseal(flipped)
        session.send_frame(bytes(flipped))

    run(bench, [flip_one] * SAMPLES, service)


def offsets(bench: Bench) -> Iterator[int]:
    """Distances from the expected PSN; whose the one of 2^23 is nobody knows."""
    far = (1 << 23) - 1
    yield from (0, 1, -1, 2, -2, far, -far)
    for bit in range(2, 23):
        yield from (1 << bit, -(1 << bit))
    for _ in range(20):
        yield bench.random.randint(-far, far)


@case("FUZZ-06")
@over_services
def test_psns_all_over_the_circle(bench: Bench, service: Service) -> None:
    def request_at(session: FuzzSession, offset: int) -> None:
        session.send(WRITE_ONLY(psn=0), WRITE_ONLY(psn=1))
        makers = (SEND_ONLY, WRITE_ONLY)
        size = session.random.randrange(1, session.qp.mtu)
        place = at(session.region, session.random.randrange(session.region.size // 2))
        session.send(session.random.choice(makers)(psn=2 + offset, payload=size, a=1, **place))

    run(bench, [partial(request_at, offset=offset) for offset in offsets(bench)], service)


@case("FUZZ-08")
@over_services
def test_addresses_keys_and_lengths_at_their_edges(bench: Bench, service: Service) -> None:
    makers = [WRITE_ONLY, WRITE_FIRST, READ_REQUEST] if service is Service.RC else [WRITE_ONLY]

    def edge(session: FuzzSession) -> None:
        draw, mtu, region = session.random.choice, session.qp.mtu, session.region
        end = region.size
        edges = (-1, 0, 1, end - mtu, end - 8, end, end + 1)
        far = (0, 1, (1 << 32) - 1, 1 << 63, (1 << 64) - 8, (1 << 64) - 1)
        lengths = (0, 1, 8, mtu, mtu + 1, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, (1 << 32) - 1)
        maker, dmalen = draw(makers), draw(lengths)
        if maker is WRITE_FIRST:
            dmalen = max(dmalen, 1)
        payload = {WRITE_FIRST: mtu, READ_REQUEST: 0}.get(maker, min(dmalen, mtu))
        near = [(region.addr + edge) % (1 << 64) for edge in edges]
        va = draw([*near, *far, region.addr ^ 1 << 32, region.addr ^ 1 << 63])
        masks = (0x80, region.rkey, region.rkey ^ 0xFFFFFFFF)
        rkey = draw([region.rkey] * 3 + [region.wrong_key(mask) for mask in masks])
        session.send(maker(psn=0, payload=payload, dmalen=dmalen, va=va, rkey=rkey, a=1))

    run(bench, [edge] * SAMPLES, service)


def as_a_router_may(session: FuzzSession, pattern: Pattern) -> Pattern:
    """The packet with all fields changed that the ICRC leaves out."""
    draw = session.random
    return pattern.but(
        tos=draw.getrandbits(8),
        ttl=draw.randrange(1, 256),
        fecn=draw.getrandbits(1),
        becn=draw.getrandbits(1),
        resv6=draw.getrandbits(6),
    )


@case("FUZZ-17", "ICRC-13", smoke=True)
@over_services
def test_fields_that_routers_change_in_every_packet(bench: Bench, service: Service) -> None:
    def normal_run(session: FuzzSession) -> None:
        for psn in range(40):
            place = at(session.region, 8 * psn)
            write = WRITE_ONLY(psn=psn, payload=8, a=psn == 39, **place)
            session.send(as_a_router_may(session, write))

    run(bench, [normal_run] * 2, service)


def management(bench: Bench) -> Iterator[Pattern]:
    """Datagrams to QP1 that are wrong in some way, as management datagrams go."""
    draw = bench.random
    for _ in range(MADS):
        mad = bytearray(draw.randbytes(256))
        mad[:4] = [1, CM_CLASS, 2, 3]  # base version, class, class version, method
        mad[16:18] = draw.randrange(0x10, 0x1B).to_bytes(2, "big")
        wrong = draw.randrange(4)
        if wrong == 0:
            mad[draw.randrange(4)] = draw.getrandbits(8)
        elif wrong == 1:
            mad[16:18] = draw.randbytes(2)
        size = draw.choice([0, 4, 23, 24, 64, 255]) if wrong == 2 else len(mad)
        yield UD_SEND_ONLY(qpn=1, src_qpn=1, qkey=GSI_QKEY, payload=bytes(mad[:size]))


@case(
    "FUZZ-18",
    "CM-10",
    smoke=True,
    needs=[Capability.UD],
    unjudged={"BTH-10": "a device may answer to QP1 of the sender, which no case opens"},
    breaks=WRONG_MESSAGES,
)
def test_management_datagrams_of_any_content_kill_nobody(bench: Bench) -> None:
    qp = bench.connect()
    qp.send(*management(bench))
    qp.fence(0)
    bench.connect().fence(0)


def look_alikes(session: FuzzSession) -> Iterator[bytes]:
    """Frames that look a little like RoCE."""
    draw = session.random
    frame = session.qp.frame(WRITE_ONLY(psn=0, payload=32, a=1, **at(session.region)))
    ethernet, packet = frame[:12], frame[12:]
    yield session.qp.frame(WRITE_ONLY(psn=0).corrupted(edits.set_udp(8, draw.randbytes(20))))
    for words in (0x2000, 0x2001, 0x0004):
        yield session.qp.frame(WRITE_ONLY(psn=0).corrupted(edits.fragment(words)))
    yield ethernet + b"\x89\x15" + packet[2:]
    yield ethernet + b"\x89\x15" + draw.randbytes(70)
    yield ethernet + b"\x81\x00\x00\x07" * 6 + draw.randbytes(60)
    yield ethernet + b"\x81\x00\xff\xff\x88\xa8\x00\x00" + packet[:20]
    for size in (1, 4, 8, 20, 46, 1400, 8900):
        yield ethernet + b"\x08\x00" + draw.randbytes(size)
        yield frame[: LINK_BYTES + min(size, len(packet))]


@case("FUZZ-19", "FUZZ-22", "LIVE-03")
def test_frames_that_only_look_like_roce(bench: Bench) -> None:
    def between_requests(session: FuzzSession) -> None:
        for frame in look_alikes(session):
            session.send_frame(frame)
        session.send(FETCH_ADD(psn=0, swap=1, **at(session.region)))

    run(bench, [between_requests] * 4)
