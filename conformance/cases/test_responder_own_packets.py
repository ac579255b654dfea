# SPDX-License-Identifier: BSD-2-Clause
"""What a responder puts around the packets that it makes itself: their seals and their numbers."""

from roceproof.conformance.suite.bench import Bench
from roceproof.conformance.suite.case import RESPONDER, case
from roceproof.conformance.suite.checks.frame_integrity import (
    header_checksums_are_right,
    idents_that_carry_twice,
)
from roceproof.conformance.suite.checks.responses import read_responses
from roceproof.conformance.suite.intent import OUT_OF_SEQUENCE
from roceproof.conformance.suite.memory import at
from roceproof.conformance.suite.pattern import (
    ACK,
    ATOMIC_ACK,
    FETCH_ADD,
    NAK,
    READ_REQUEST,
    RNR,
    SEND_ONLY,
    SEQUENCE_ERROR,
    WRITE_ONLY,
)
from roceproof.conformance.wire.icrc import Judgement, check
from roceproof.verbs.work import Op

pytestmark = RESPONDER


@case("ICRC-18", smoke=True, breaks=OUT_OF_SEQUENCE)
def test_acks_naks_and_data_are_sealed_like_requests(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(filled=True)
    data = region.read(0, 2 * qp.mtu + 188)
    qp.send(WRITE_ONLY(psn=0, a=1), WRITE_ONLY(psn=3))
    qp.expect(ACK(psn=0), NAK(SEQUENCE_ERROR, psn=1))
    psn = 1
    if qp.executes(Op.READ):
        qp.send(READ_REQUEST(psn=psn, dmalen=len(data), **at(region)))
        qp.expect(*(responses := read_responses(qp, psn, data)))
        psn += len(responses)
    if qp.executes(Op.FETCH_ADD):
        qp.send(FETCH_ADD(psn=psn, **at(region)))
        qp.expect(ATOMIC_ACK(psn=psn))
        psn += 1
    if qp.executes(Op.SEND):
        qp.send(SEND_ONLY(psn=psn, payload=8))
        qp.expect(RNR(psn=psn))
    wrong = [f.hex() for f in bench.frames_sent() if check(f).judgement is not Judgement.OK]
    assert not wrong, f"sealed wrongly: {wrong}"


@case("IP-05", smoke=True)
def test_the_header_checksum_of_an_answer_carries_twice_where_it_must(bench: Bench) -> None:
    qp = bench.connect(ip_id=0)
    qp.fence(0)
    for ident in idents_that_carry_twice(bench):
        qp.reconnect(ip_id=ident)
        qp.fence(0)
    header_checksums_are_right(bench)


@case("PSN-20", smoke=True)
def test_data_are_numbered_from_the_psn_of_their_request(bench: Bench) -> None:
    qp = bench.connect()
    region = qp.region(filled=True)
    qp.send(WRITE_ONLY(psn=0), WRITE_ONLY(psn=1))
    psn = 2
    for length in (5, 2 * qp.mtu + 188, qp.mtu):
        qp.send(READ_REQUEST(psn=psn, dmalen=length, **at(region)))
        psn += len(qp.expect(*read_responses(qp, psn, region.read(0, length))))
