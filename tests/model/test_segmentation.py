# SPDX-License-Identifier: BSD-2-Clause
"""A work request becomes the packets of the opcode table, with consecutive PSNs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from requester_bench import opcodes, oversized, qp, work
from responder_bench import OWN_QPN, PEER_QPN, START, pattern

from roceproof.conformance.model.segment import Segment
from roceproof.conformance.model.segmentation import LONGEST_MESSAGE, Message, refusal
from roceproof.conformance.wire.headers import AtomicEth, Deth, Ieth, ImmDt, Reth
from roceproof.conformance.wire.opcodes import OPCODES
from roceproof.verbs.service import Service
from roceproof.verbs.work import Op

P = 256
POSITIONS = {0: "O", 1: "O", P - 1: "O", P: "O", P + 1: "FL", 2 * P: "FL", 2 * P + 1: "FML"}
CODES = {
    Op.SEND: {"F": 0x00, "M": 0x01, "L": 0x02, "O": 0x04},
    Op.SEND_IMM: {"F": 0x00, "M": 0x01, "L": 0x03, "O": 0x05},
    Op.SEND_INV: {"F": 0x00, "M": 0x01, "L": 0x16, "O": 0x17},
    Op.WRITE: {"F": 0x06, "M": 0x07, "L": 0x08, "O": 0x0A},
    Op.WRITE_IMM: {"F": 0x06, "M": 0x07, "L": 0x09, "O": 0x0B},
}
LENGTHS = (0, 1, 2, 3, 4, 5, P - 1, P, P + 1, 2 * P - 1, 2 * P, 2 * P + 1, 3 * P)


def packets(op: Op, length: int, service: Service = Service.RC, **fields: Any) -> list[Segment]:
    message = Message(qp(service), work(op, length, **fields), START)
    return [message.request(offset) for offset in range(message.packets)]


@pytest.mark.parametrize("op", CODES)
def test_a_message_is_only_or_first_middle_last_with_variants_at_its_end(op: Op) -> None:
    expected = {n: [CODES[op][each] for each in places] for n, places in POSITIONS.items()}
    assert {length: opcodes(packets(op, length)) for length in POSITIONS} == expected
    if op is not Op.SEND_INV:
        unreliable = {length: opcodes(packets(op, length, Service.UC)) for length in POSITIONS}
        assert unreliable == {n: [code | 0x20 for code in codes] for n, codes in expected.items()}


@pytest.mark.parametrize("op", CODES)
def test_all_packets_but_the_last_are_full_and_together_carry_the_message(
    op: Op, subtests: pytest.Subtests
) -> None:
    for length in LENGTHS:
        with subtests.test(length=length):
            sent = packets(op, length)
            assert b"".join(segment.payload for segment in sent) == pattern(length, 1)
            assert all(len(segment.payload) == P for segment in sent[:-1])
            assert all(
                segment.row is not None and segment.row.payload.admits(len(segment.payload), P)
                for segment in sent
            )


def test_the_pad_count_fills_each_packet_to_whole_words() -> None:
    found = {n: [segment.bth.pad_count for segment in packets(Op.SEND, n)] for n in LENGTHS}
    payloads = {n: [len(segment.payload) for segment in packets(Op.SEND, n)] for n in LENGTHS}
    assert found == {n: [-size % 4 for size in sizes] for n, sizes in payloads.items()}


@pytest.mark.parametrize("op", CODES)
@pytest.mark.parametrize("length", [0, 1, 3 * P])
def test_headers_are_those_of_the_opcode_and_say_what_the_work_says(op: Op, length: int) -> None:
    sent = packets(op, length, immediate=0x01020304, invalidate=0x0A0B0C0D)
    for segment in sent:
        assert segment.row is not None
        assert tuple(map(type, segment.extensions)) == segment.row.headers
    if op in (Op.WRITE, Op.WRITE_IMM):
        assert sent[0].extension(Reth) == Reth(0x10_0000_1003, 0x5EED, length)
    if op in (Op.SEND_IMM, Op.WRITE_IMM):
        assert sent[-1].extension(ImmDt) == ImmDt(0x01020304)
    if op is Op.SEND_INV:
        assert sent[-1].extension(Ieth) == Ieth(0x0A0B0C0D)


@pytest.mark.parametrize("op", CODES)
def test_solicited_event_is_on_the_packet_that_completes_a_receive_and_only_on_wish(op: Op) -> None:
    wished = packets(op, 3 * P, solicited=True)
    takes_receive = op is not Op.WRITE
    assert [segment.bth.solicited for segment in wished] == [False, False, takes_receive]
    assert not any(segment.bth.solicited for segment in packets(op, 3 * P))


@pytest.mark.parametrize("op", CODES)
def test_the_last_packet_asks_for_an_ack_on_rc_and_none_does_on_uc(op: Op) -> None:
    asked = [segment.bth.ack_req for segment in packets(op, 3 * P)]
    assert asked == [False, False, True]
    if op is not Op.SEND_INV:
        assert not any(segment.bth.ack_req for segment in packets(op, 3 * P, Service.UC))


@pytest.mark.parametrize("start", [0, 0x7FFFFF, 0xFFFFFE, 0xFFFFFF])
def test_psns_follow_each_other_modulo_2_to_the_24(start: int) -> None:
    message = Message(qp(), work(Op.WRITE, 3 * P), start)
    found = [message.request(offset).bth.psn for offset in range(3)]
    assert found == [start, (start + 1) % (1 << 24), (start + 2) % (1 << 24)]
    assert message.end == (start + 3) % (1 << 24)


@pytest.mark.parametrize(
    ("length", "span"), [(0, 1), (1, 1), (P, 1), (P + 1, 2), (5 * P, 5), (LONGEST_MESSAGE, 1 << 23)]
)
def test_a_read_is_one_packet_without_payload_and_uses_the_psns_of_its_responses(
    length: int, span: int
) -> None:
    message = Message(qp(), work(Op.READ, length), START)
    request = message.request(0)
    assert (message.packets, message.span) == (1, span)
    assert (request.bth.opcode, request.payload, request.bth.pad_count) == (0x0C, b"", 0)
    assert request.extension(Reth) == Reth(0x10_0000_1003, 0x5EED, length)


def test_a_read_is_asked_for_again_from_any_of_its_responses_for_the_rest() -> None:
    message = Message(qp(), work(Op.READ, 3 * P + 5), START)
    for offset in range(4):
        request = message.request(offset)
        assert request.bth.psn == START + offset
        rest = 3 * P + 5 - offset * P
        assert request.extension(Reth) == Reth(0x10_0000_1003 + offset * P, 0x5EED, rest)


@pytest.mark.parametrize(("op", "opcode"), [(Op.CMP_SWAP, 0x13), (Op.FETCH_ADD, 0x14)])
def test_an_atomic_is_one_packet_with_its_operands_in_their_places(op: Op, opcode: int) -> None:
    request = packets(op, 8, compare=0x1111, swap_or_add=0x2222)[0]
    assert (request.bth.opcode, request.payload) == (opcode, b"")
    assert request.extensions == (AtomicEth(0x10_0000_1003, 0x5EED, 0x2222, 0x1111),)


@pytest.mark.parametrize(("op", "opcode"), [(Op.SEND, 0x64), (Op.SEND_IMM, 0x65)])
def test_a_datagram_goes_where_the_work_says_and_names_its_source(op: Op, opcode: int) -> None:
    fields: dict[str, Any] = {"datagram_qpn": 0x0D0D, "datagram_qkey": 0x1234, "immediate": 7}
    request = packets(op, P, Service.UD, **fields)[0]
    assert (request.bth.opcode, request.bth.dest_qpn) == (opcode, 0x0D0D)
    assert request.extension(Deth) == Deth(0x1234, OWN_QPN)
    assert request.row == OPCODES[opcode]
    assert not request.bth.ack_req


def test_a_datagram_whose_work_has_a_q_key_with_the_top_bit_carries_the_queue_pairs() -> None:
    request = packets(Op.SEND, 5, Service.UD, datagram_qkey=0x80000001)[0]
    assert request.extension(Deth) == Deth(0x11111111, OWN_QPN)


def test_the_rest_of_the_base_header_is_what_every_request_carries() -> None:
    for op in Op:
        header = packets(op, 8)[0].bth
        assert (header.dest_qpn, header.version, header.pkey) == (PEER_QPN, 0, 0xFFFF)
        assert not (header.fecn or header.becn or header.reserved6 or header.reserved7)


def test_work_that_the_service_cannot_do_or_that_is_too_long_is_refused() -> None:
    assert refusal(qp(), replace(oversized(), length=LONGEST_MESSAGE)) is None
    assert refusal(qp(), oversized()) == "loc_len_err"
    for op in (Op.READ, Op.CMP_SWAP, Op.FETCH_ADD, Op.SEND_INV):
        assert refusal(qp(), work(op)) is None
        assert refusal(qp(Service.UC), work(op)) == "loc_qp_op_err"
    assert refusal(qp(max_rd_atomic=0), work(Op.READ)) == "loc_qp_op_err"
    assert refusal(qp(Service.UD), work(Op.WRITE)) == "loc_qp_op_err"
    assert refusal(qp(Service.UD), work(Op.SEND, P + 1)) is None
