# SPDX-License-Identifier: BSD-2-Clause
"""READs and atomics: data in order, checked, placed by PSN, and asked for again when lost."""

from __future__ import annotations

from typing import Any

import pytest
from requester_bench import (
    T_NS,
    ack,
    atomic_ack,
    drain,
    nak,
    plain,
    psns,
    read_response,
    requester,
    statuses,
    work,
)
from responder_bench import pattern

from roceproof.conformance.model.memory import Memory, Region
from roceproof.conformance.model.requester.policy import (
    RequesterPolicy,
    Reread,
    ResponseGap,
    Unexpected,
)
from roceproof.conformance.model.requester.rc import RcRequester
from roceproof.conformance.model.segment import Segment
from roceproof.conformance.wire.headers import Reth
from roceproof.verbs.queue_pair import State
from roceproof.verbs.work import Op

P = 256
SIZE = 3 * P + 5
DATA = pattern(SIZE, 99)
LATE = 100_000
FIRST, MIDDLE, LAST, ONLY = 0x0D, 0x0E, 0x0F, 0x10
PLACES = (FIRST, MIDDLE, MIDDLE, LAST)


def reading(**fields: Any) -> tuple[RcRequester, Region]:
    """A READ of four responses into guarded memory, and a WRITE behind it; both have left."""
    region = Memory().register(SIZE + 32)
    region.write(0, b"\xee" * region.size)
    read = work(Op.READ, SIZE, wr_id=1, into=region, into_offset=16)
    return requester(read, work(wr_id=2), now_ns=0, **fields), region


def answer(offset: int, opcode: int | None = None) -> Segment:
    """The response at that offset of an answer to the whole READ."""
    data = DATA[offset * P : (offset + 1) * P]
    return read_response(PLACES[offset] if opcode is None else opcode, offset, data)


def is_placed(region: Region) -> bool:
    return region.read(0, region.size) == b"\xee" * 16 + DATA + b"\xee" * 16


def asked(segment: Segment) -> tuple[int, int]:
    """Offsets in packets and bytes at which a READ request asks for the rest."""
    reth = segment.extension(Reth)
    assert reth is not None and reth.length == SIZE - (reth.address - 0x10_0000_1003)
    return psns([segment])[0], reth.address - 0x10_0000_1003


def test_responses_in_order_place_their_data_and_complete_the_read() -> None:
    model, region = reading()
    for offset in range(4):
        assert model.outcomes == []
        model.receive(answer(offset), LATE)
    assert statuses(model) == [(1, "success")]
    assert is_placed(region)


def test_a_read_of_nothing_completes_with_one_empty_response() -> None:
    model = requester(work(Op.READ, 0), now_ns=0)
    model.receive(read_response(ONLY, 0, b""), LATE)
    assert statuses(model) == [(1, "success")]


@pytest.mark.parametrize("lost", range(4))
@pytest.mark.parametrize("reread", Reread)
def test_after_a_timeout_the_rest_is_asked_for_or_all_and_the_data_are_right(
    lost: int, reread: Reread
) -> None:
    model, region = reading(policy=RequesterPolicy(reread=reread))
    for offset in range(lost):
        model.receive(answer(offset), LATE)
    model.expire(20 * T_NS)
    copies = drain(model, 20 * T_NS)
    start = lost if reread is Reread.REST else 0
    assert asked(copies[0]) == (start, start * P)
    assert psns(copies) == [start, 4]
    for offset in range(start, 4):
        opcode = ONLY if start == 3 else FIRST if offset == start else PLACES[offset]
        model.receive(answer(offset, opcode), 21 * T_NS)
    assert statuses(model) == [(1, "success")]
    assert is_placed(region)


@pytest.mark.parametrize("lost", range(3))
def test_a_response_ahead_of_the_next_is_discarded_and_asks_for_the_missing_one(lost: int) -> None:
    model, region = reading()
    for offset in (*range(lost), *range(lost + 1, 4)):
        model.receive(answer(offset), LATE)
    assert model.outcomes == []
    copies = drain(model, LATE)
    assert asked(copies[0]) == (lost, lost * P)
    assert psns(copies) == [lost, 4]
    for offset in range(lost, 4):
        model.receive(answer(offset, FIRST if offset == lost else None), 2 * LATE)
    assert is_placed(region)
    assert statuses(model) == [(1, "success")]


def test_a_requester_may_leave_it_to_the_timeout() -> None:
    model, _ = reading(policy=RequesterPolicy(response_gap=ResponseGap.WAIT))
    model.receive(answer(1), LATE)
    assert drain(model, LATE) == []
    model.expire(20 * T_NS)
    assert psns(drain(model, 20 * T_NS)) == [0, 4]


def test_an_acknowledgement_beyond_a_read_without_its_data_asks_for_them() -> None:
    model, _ = reading()
    model.receive(answer(0), LATE)
    model.receive(ack(4), LATE)
    assert model.outcomes == []
    assert psns(drain(model, LATE)) == [1, 4]


def test_an_acknowledgement_at_a_read_is_not_its_data() -> None:
    model, _ = reading()
    model.receive(ack(3), LATE)
    assert model.outcomes == []
    assert psns(drain(model, LATE)) == [0, 4]
    model, _ = reading(policy=RequesterPolicy(unexpected=Unexpected.BAD_RESPONSE))
    model.receive(ack(3), LATE)
    assert statuses(model) == [(1, "bad_resp_err"), (2, "wr_flush_err")]


def test_data_beyond_an_atomic_without_its_answer_ask_for_it() -> None:
    atomic = work(Op.FETCH_ADD, wr_id=1, swap_or_add=5)
    model = requester(atomic, work(Op.READ, 1, wr_id=2))
    originals = drain(model, 0)
    model.receive(read_response(ONLY, 1, b"x"), LATE)
    copies = drain(model, LATE)
    assert list(map(plain, copies)) == list(map(plain, originals))
    assert model.outcomes == []


def test_one_restart_is_enough_for_many_signs_of_one_loss() -> None:
    model, _ = reading()
    for offset in (1, 2, 3):
        model.receive(answer(offset), LATE)
    model.receive(ack(4), LATE)
    sent = drain(model, LATE)
    model.receive(answer(2), 2 * LATE)
    sent += drain(model, 2 * LATE)
    assert psns(sent) == [0, 4]


def test_a_fatal_nak_behind_a_read_without_its_data_first_asks_for_them() -> None:
    model, _ = reading()
    model.receive(nak(4, 2), LATE)
    assert model.state is State.RTS
    assert psns(drain(model, LATE)) == [0, 4]


def test_responses_that_came_before_are_ignored() -> None:
    model, region = reading()
    model.receive(answer(0), LATE)
    model.receive(read_response(FIRST, 0, bytes(P)), LATE)
    for offset in range(1, 4):
        model.receive(answer(offset), LATE)
    assert is_placed(region)


BAD = {
    "a LAST too early": read_response(LAST, 1, bytes(P)),
    "a second FIRST": read_response(FIRST, 1, bytes(P)),
    "an ONLY": read_response(ONLY, 1, bytes(P)),
    "a MIDDLE too short": read_response(MIDDLE, 1, bytes(P - 4)),
    "a MIDDLE too long": read_response(MIDDLE, 1, bytes(P + 4)),
}
BAD_ENDS = {
    "a MIDDLE at the end": read_response(MIDDLE, 3, DATA[-5:]),
    "a byte too many": read_response(LAST, 3, bytes(6)),
    "a byte too few": read_response(LAST, 3, bytes(4)),
    "a NAK syndrome": read_response(LAST, 3, DATA[-5:], 0x62),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_response_that_does_not_fit_its_place_ends_the_queue_pair(bad: Segment) -> None:
    model, region = reading()
    model.receive(answer(0), LATE)
    model.receive(bad, LATE)
    assert statuses(model) == [(1, "bad_resp_err"), (2, "wr_flush_err")]
    assert region.read(16 + P, P) == b"\xee" * P
    assert drain(model, LATE) == []


@pytest.mark.parametrize("bad", BAD_ENDS.values(), ids=BAD_ENDS)
def test_a_last_response_that_does_not_fit_ends_the_queue_pair(bad: Segment) -> None:
    model, region = reading()
    for offset in range(3):
        model.receive(answer(offset), LATE)
    model.receive(bad, LATE)
    assert statuses(model) == [(1, "bad_resp_err"), (2, "wr_flush_err")]
    assert region.read(16 + 3 * P, 21) == b"\xee" * 21


def test_after_a_partial_request_responses_of_either_answer_fit() -> None:
    model, region = reading()
    model.receive(answer(0), LATE)
    model.receive(answer(2), LATE)
    drain(model, LATE)
    model.receive(answer(1), LATE)
    model.receive(answer(2), LATE)
    model.receive(answer(3), LATE)
    assert is_placed(region)


def test_an_atomic_places_what_it_found() -> None:
    region = Memory().register(24)
    atomic = work(Op.CMP_SWAP, into=region, into_offset=8)
    model = requester(atomic, now_ns=0)
    model.receive(atomic_ack(0, 0x0102030405060708), LATE)
    assert statuses(model) == [(1, "success")]
    assert region.read(0, 24) == bytes(8) + bytes(range(8, 0, -1)) + bytes(8)


@pytest.mark.parametrize("syndrome", [0x60, 0x62, 0x20, 0x40, 0x80])
def test_an_answer_to_an_atomic_with_another_syndrome_than_ack_does_not_complete_it(
    syndrome: int,
) -> None:
    model = requester(work(Op.CMP_SWAP), now_ns=0)
    model.receive(atomic_ack(0, 1, syndrome), LATE)
    assert model.outcomes == []
