# SPDX-License-Identifier: BSD-2-Clause
"""Fuzz of what a request asks for: every opcode, opcodes in any order, two faults at a time."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over, over_services
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    SEND_FIRST,
    WRITE_FIRST,
    WRITE_ONLY,
    WRITE_ONLY_IMM,
    Pattern,
)
from roceproof.conformance.suite.traffic.fuzz import run
from roceproof.conformance.suite.traffic.fuzz_session import FuzzSession
from roceproof.conformance.suite.traffic.requests import of_opcode
from roceproof.conformance.targets.capability import Capability
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.verbs.queue_pair import FULL_ACCESS
from roceproof.verbs.service import Service

pytestmark = RESPONDER

OPCODES_OF_A_SERVICE = 32
TRIPLES = 64


INVALIDATING = {0x16, 0x17}


def of_service(bench: Bench, service: Service) -> list[int]:
    """All opcodes of a service; what a device does that cannot invalidate is its own affair."""
    opcodes = range(service << 5, (service << 5) + OPCODES_OF_A_SERVICE)
    left_out = INVALIDATING if Capability.INVALIDATE not in bench.claims.capabilities else set()
    return sorted({*opcodes} - left_out)


def idle(_session: FuzzSession) -> int:
    return 0


def in_a_send(session: FuzzSession) -> int:
    session.send(SEND_FIRST(psn=0, payload=session.qp.mtu))
    return 1


def in_a_write(session: FuzzSession) -> int:
    mtu = session.qp.mtu
    session.send(WRITE_FIRST(psn=0, payload=mtu, dmalen=mtu + 8, **at(session.region)))
    return 1


def every_opcode(bench: Bench, service: Service, state: Callable[[FuzzSession], int]) -> None:
    """Those of other services in a row, since all are dropped; each of its own by itself."""

    def of_others(session: FuzzSession) -> None:
        psn = state(session)
        foreign = sorted(set(range(256)) - set(of_service(bench, service)) - {0x81, *INVALIDATING})
        session.send(*(of_opcode(session, value, psn=psn) for value in foreign))

    def own(session: FuzzSession, value: int) -> None:
        session.send(of_opcode(session, value, psn=state(session)))

    plans = [partial(own, value=value) for value in of_service(bench, service)]
    run(bench, [of_others, *plans], service)


@case("FUZZ-05", "BTH-12", unjudged={"NAK-07": "an observer does not count reserved opcodes"})
@over_services
@over("state", [pytest.param(idle, marks=pytest.mark.smoke), in_a_send, in_a_write])
def test_every_opcode_in_every_state(
    bench: Bench, service: Service, state: Callable[[FuzzSession], int]
) -> None:
    every_opcode(bench, service, state)


@case("UC-07", "UC-04", "OPC-10", needs=[Capability.UC], smoke=True)
def test_every_packet_of_uc_inside_every_message(bench: Bench) -> None:
    def inside(session: FuzzSession, value: int, state: Callable[[FuzzSession], int]) -> None:
        session.send(of_opcode(session, value, psn=state(session)))

    opcodes = [value for value in of_service(bench, Service.UC) if value in OPCODES]
    states = (in_a_send, in_a_write)
    plans = [partial(inside, value=value, state=each) for value in opcodes for each in states]
    run(bench, plans, Service.UC)


@case("FUZZ-05", "BTH-12", needs=[Capability.UD], smoke=True)
def test_every_opcode_to_a_datagram_queue_pair(bench: Bench) -> None:
    every_opcode(bench, Service.UD, idle)


@case("FUZZ-07")
def test_three_opcodes_in_any_order(bench: Bench) -> None:
    requests = {*range(0x0D), 0x13, 0x14, *INVALIDATING} & {*of_service(bench, Service.RC)}

    def triple(session: FuzzSession) -> None:
        for psn, value in enumerate(session.random.choices(sorted(requests), k=3)):
            session.send(of_opcode(session, value, psn=psn))

    run(bench, [triple] * TRIPLES)


Fault = Callable[[FuzzSession, Pattern], Pattern]


def out_of_sequence(session: FuzzSession, request: Pattern) -> Pattern:
    session.send(SEND_FIRST(psn=1, payload=session.qp.mtu))
    return request.but(psn=request.said["psn"] + 1)


FAULTS: Mapping[str, Fault] = {
    "ahead": lambda _, request: request.but(psn=request.said["psn"] + 3),
    "duplicate": lambda _, request: request.but(psn=request.said["psn"] - 1),
    "sequence": out_of_sequence,
    "key": lambda session, request: request.but(rkey=session.region.wrong_key(0x80)),
    "length": lambda _, request: request.but(dmalen=12),
    "receive": lambda _, request: request,
    "permission": lambda _, request: request,
}


@case("FUZZ-20", "NAK-14")
@over("pair", list(combinations(FAULTS, 2)), ids=["+".join(p) for p in combinations(FAULTS, 2)])
def test_two_faults_in_one_request(bench: Bench, pair: tuple[str, str]) -> None:
    def faulty(session: FuzzSession) -> None:
        session.send(WRITE_ONLY(psn=0))
        request = WRITE_ONLY_IMM(psn=1, payload=8, a=1, **at(session.region))
        for name in sorted(pair, key=("sequence", *FAULTS).index):
            request = FAULTS[name](session, request)
        session.send(request)

    run(
        bench,
        [faulty] * 2,
        receives=0 if "receive" in pair else 1,
        access=FULL_ACCESS - {"remote_write"} if "permission" in pair else FULL_ACCESS,
    )
