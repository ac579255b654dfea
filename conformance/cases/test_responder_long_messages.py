# SPDX-License-Identifier: BSD-2-Clause
"""Messages of more packets than a byte has numbers for, and of more bytes than 16 bits have."""

import pytest

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case, over, over_services
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.connection import Connection
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    READ_REQUEST,
    SEND_FIRST,
    SEND_LAST,
    SEND_MIDDLE,
    WRITE_FIRST,
    WRITE_LAST,
    WRITE_MIDDLE,
    Maker,
    Pattern,
)
from roceproof.verbs.service import Service

pytestmark = RESPONDER

MTU = 256
PACKETS = 260
SIMULATED = ["hdl", "model"]


def middles(parts: list[bytes], middle: Maker) -> list[Pattern]:
    """The packets between the first and the last."""
    return [middle(psn=psn, payload=part) for psn, part in enumerate(parts[1:-1], start=1)]


def length_of(qp: Connection) -> int:
    """The bytes of so many packets, the last of them short."""
    return (PACKETS - 1) * qp.mtu + 5


@case("READ-02", "MSN-02", targets=SIMULATED, smoke=True)
def test_a_long_read_is_answered_to_its_end(bench: Bench) -> None:
    qp = bench.connect(path_mtu=MTU)
    region = qp.region(length_of(qp), filled=True)
    qp.send(READ_REQUEST(psn=0, dmalen=region.size, **at(region)))
    qp.expect(*read_responses(qp, 0, region.read(0, region.size), msn=1))
    qp.fence(PACKETS, msn=2)


@case("RETH-12", "OPC-10", targets=SIMULATED)
@over_services
def test_long_messages_arrive_whole(bench: Bench, service: Service) -> None:
    qp = bench.connect(service, path_mtu=MTU)
    length = length_of(qp)
    region = qp.region(length)
    parts = [qp.random.randbytes(qp.mtu) for _ in range(PACKETS - 1)] + [qp.random.randbytes(5)]
    ends = {"psn": PACKETS - 1, "payload": parts[-1], "a": int(service is Service.RC)}
    qp.send(WRITE_FIRST(psn=0, payload=parts[0], dmalen=length, **at(region)))
    qp.send(*middles(parts, WRITE_MIDDLE), WRITE_LAST(**ends))
    if service is Service.RC:
        qp.expect(ACK(psn=PACKETS - 1, msn=1))
    qp.fence(PACKETS)
    assert region.read(0, length) == b"".join(parts)

    number, behind = qp.post_receive(region), PACKETS + 1
    parts = [*parts[-2::-1], parts[-1]]
    send = [SEND_FIRST(psn=0, payload=parts[0]), *middles(parts, SEND_MIDDLE), SEND_LAST(**ends)]
    qp.send(*(each.but(psn=each.said["psn"] + behind) for each in send))
    if service is Service.RC:
        qp.expect(ACK(psn=behind + PACKETS - 1, msn=3))
    qp.receives(number, byte_len=length)
    assert region.read(0, length) == b"".join(parts)


@case("PSN-12", "PSN-05", targets=SIMULATED)
@over("bit", [pytest.param(10, marks=pytest.mark.smoke), 11, 12])
def test_a_request_behind_a_long_read_has_the_psn_behind_its_last_response(
    bench: Bench, bit: int
) -> None:
    qp, packets = bench.connect(path_mtu=MTU), 1 << bit
    region = qp.region(packets * qp.mtu, filled=True)
    qp.send(READ_REQUEST(psn=0, dmalen=region.size, **at(region)))
    qp.expect(*read_responses(qp, 0, region.read(0, region.size), msn=1))
    qp.fence(packets, msn=2)
