# SPDX-License-Identifier: BSD-2-Clause
"""Fuzz of sizes: packets cut short or drawn out, pads that do not fit, lengths that lie.

Each kind of packet has a case of its own: one that does not survive takes no other with it.
"""

from functools import partial

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over, over_services
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    CMP_SWAP,
    READ_REQUEST,
    SEND_ONLY,
    SEND_ONLY_IMM,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Maker,
    Pattern,
)
from roceproof.conformance.suite.traffic.fuzz import run
from roceproof.conformance.suite.traffic.fuzz_session import FuzzSession
from roceproof.conformance.wire import frame_edits as edits
from roceproof.verbs.service import Service

pytestmark = RESPONDER

BTH_AND_ICRC = 16
REQUESTS = {
    "SEND": partial(SEND_ONLY, payload=8),
    "SEND_IMM": partial(SEND_ONLY_IMM, payload=8),
    "WRITE": partial(WRITE_ONLY, payload=8),
    "WRITE_IMM": partial(WRITE_ONLY_IMM, payload=8),
    "READ": partial(READ_REQUEST, dmalen=8),
    "CMP_SWAP": partial(CMP_SWAP, swap=1),
}
over_requests = over("kind", list(REQUESTS))
over_unreliable = over("kind", ["SEND", "WRITE"])
EXTENSION = 64


def request(session: FuzzSession, kind: str) -> Pattern:
    """A request of that kind at the first PSN."""
    return session.qp.filled(REQUESTS[kind](psn=0, a=1, **at(session.region, 64)))


def truncated(bench: Bench, kind: str, service: Service) -> None:
    """Every size from nothing to one byte less than the whole."""

    def cut(session: FuzzSession, size: int) -> None:
        whole = request(session, kind)
        edit = edits.truncate(size)
        is_sealed = size >= BTH_AND_ICRC
        session.send(whole.resealed(edit) if is_sealed else whole.corrupted(edit))

    size = {"SEND": 24, "SEND_IMM": 28, "WRITE": 40, "WRITE_IMM": 44, "READ": 32, "CMP_SWAP": 44}
    run(bench, [partial(cut, size=size) for size in range(size[kind])], service)


@case("FUZZ-03", "BTH-16")
@over_requests
def test_requests_are_cut_short(bench: Bench, kind: str) -> None:
    truncated(bench, kind, Service.RC)


@case("FUZZ-03", "BTH-16")
@over_unreliable
def test_unreliable_requests_are_cut_short(bench: Bench, kind: str) -> None:
    truncated(bench, kind, Service.UC)


@case("FUZZ-04")
@over_services
def test_requests_are_drawn_out(bench: Bench, service: Service) -> None:
    kinds = list(REQUESTS) if service is Service.RC else ["SEND", "WRITE"]

    def draw_out(session: FuzzSession, by: int) -> None:
        whole = request(session, session.random.choice(kinds))
        session.send(whole.resealed(edits.resize(by, filler=0xA5)))

    run(bench, [partial(draw_out, by=by) for by in range(1, EXTENSION + 1)], service)


@case("FUZZ-09", "PAD-06")
@over("maker", [SEND_ONLY, WRITE_ONLY], ids=["SEND", "WRITE"])
@over_services
def test_pad_counts_and_sizes_that_do_not_fit(bench: Bench, service: Service, maker: Maker) -> None:
    def pad(session: FuzzSession, count: int, size: int) -> None:
        dmalen = max(1, size - session.random.choice([count, 0, 1, 2, 3]))
        whole = maker(psn=0, a=1, dmalen=dmalen, **at(session.region, 64))
        packet = whole.resealed(edits.resize(size, filler=0xA5))
        session.send(packet.resealed(edits.set_pad_count(count)))

    sizes = [(count, size) for count in range(4) for size in (0, 1, 2, 3, 4, 5, 7, 8, 11, 13)]
    run(bench, [partial(pad, count=count, size=size) for count, size in sizes], service)


@case("FUZZ-10", "UDP-09", "IP-02")
@over("resealed", [False, True], ids=["as_it_was", "resealed"])
def test_lengths_that_lie(bench: Bench, *, resealed: bool) -> None:
    steps = (1, -1, 4, -4, 8, -8, 20, -20)

    def lie(session: FuzzSession) -> None:
        draw = session.random
        whole = session.qp.frame(request(session, "WRITE"))
        frame = bytearray(whole)
        for at_byte in draw.choice([(16,), (38,), (16, 38)]):
            size = int.from_bytes(whole[at_byte : at_byte + 2], "big")
            wrong = draw.choice([*(size + step for step in steps), 0, 7, 8, 0xFFFF])
            frame[at_byte : at_byte + 2] = wrong.to_bytes(2, "big")
        frame += draw.randbytes(draw.choice([0, 0, 4, 20]))
        edits.fix_ip_checksum(frame)
        if resealed:
            edits.reseal(frame)
        session.send_frame(bytes(frame))

    run(bench, [lie] * EXTENSION)
