# SPDX-License-Identifier: BSD-2-Clause
"""Wrong steps whose place tells what made them, on streams built by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_explain_psn_streams import PEER, SEND_LAST, SEND_MIDDLE, reply, sent, side, stream

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.psn.early_wrap import wraps_early
from roceproof.conformance.diagnosis.psn.evidence import of_counting
from roceproof.conformance.diagnosis.psn.increment import hypotheses
from roceproof.conformance.diagnosis.psn.loss import Gap, Messages
from roceproof.conformance.diagnosis.psn.start import Ends, judge_start
from roceproof.conformance.diagnosis.psn.stream import streams_of
from roceproof.conformance.diagnosis.psn.timeline import Sent
from roceproof.conformance.diagnosis.result import LOST
from roceproof.conformance.wire.headers import Reth

UC_SEND_ONLY, UC_SEND_ONLY_IMM, SEND_ONLY_IMM = 0x24, 0x25, 0x05
WRITE_FIRST, WRITE_MIDDLE = 0x06, 0x07


def told(*requests: Sent) -> list[str]:
    (found,) = of_counting(stream(*requests))
    return [*found.ids]


def skipping(*behind: int, opcodes: tuple[int, ...], first: int = 100) -> list[Sent]:
    """Requests of these opcodes, with a PSN left out behind some places."""
    made, psn = [], first
    for place, opcode in enumerate(opcodes):
        made.append(sent(place + 1, psn % (1 << 24), opcode))
        psn += 2 if place in behind else 1
    return made


@pytest.mark.parametrize(
    ("plain", "immediate"), [(UC_SEND_ONLY, UC_SEND_ONLY_IMM), (0x04, SEND_ONLY_IMM)]
)
def test_steps_that_go_wrong_behind_one_kind_of_packet_are_no_losses(
    plain: int, immediate: int
) -> None:
    opcodes = (plain, immediate, plain, plain, immediate, immediate, plain, immediate, plain)
    every = skipping(1, 4, 5, 7, opcodes=opcodes)
    assert told(*every)[0] == "PSN-02"
    assert told(*skipping(1, 4, 5, opcodes=opcodes))[0] == LOST
    assert "PSN-02" not in told(*skipping(0, 1, 4, 5, 7, opcodes=opcodes))


def test_what_goes_wrong_at_the_end_of_the_range_may_be_the_counter() -> None:
    opcodes = (UC_SEND_ONLY,) * 6
    ids = told(*skipping(3, opcodes=opcodes, first=0xFFFFFC))
    assert ids[:2] == [LOST, "PSN-03"], "one packet may be lost there, too"
    assert "PSN-03" not in told(*skipping(2, opcodes=opcodes, first=0xFFFFF0))


@pytest.mark.parametrize("bits", [17, 20, 23])
def test_a_counter_of_fewer_bits_begins_no_new_life(bits: int) -> None:
    high = (1 << bits) - 3
    psns = [high, high + 1, high + 2, 0, 1, 2]
    requests = [sent(n, psn, UC_SEND_ONLY) for n, psn in enumerate(psns, 1)]
    (found,) = streams_of(side(*requests), Budget())
    (evidence,) = of_counting(found)
    assert evidence.ids == ("PSN-03",)


def test_a_counter_of_24_bits_does_not_wrap_early() -> None:
    assert not wraps_early(0xFFFFFF, 0)
    assert not wraps_early(0x7FFFFF, 0x800000)
    assert not wraps_early(0x7FFFFE, 0)
    assert wraps_early(0x7FFFFF, 0)
    assert not wraps_early(0x0D, 0x0E, 0x100001)  # a READ of one PSN, whose length suffered
    assert wraps_early(0xC3FFFF, 0xC00000)


def test_beats_are_counted_with_the_headers_that_a_bus_carries() -> None:
    sizes, psn, requests = (64, 200, 20, 300, 4, 64), 10, []
    for number, size in enumerate(sizes, 1):
        requests.append(replace(sent(number, psn, UC_SEND_ONLY), size=size, body=size))
        psn += -(-(54 + size + 4) // 32)
    assert "P07" in hypotheses(stream(*requests))
    requests[3] = replace(requests[3], size=332, body=332)
    assert "P07" not in hypotheses(stream(*requests))


def test_a_message_that_lost_its_end_does_not_borrow_that_of_the_next() -> None:
    def write(number: int, psn: int, opcode: int, length: int = 0) -> Sent:
        made = sent(number, psn, opcode)
        return replace(made, reth=Reth(0, 1, length)) if length else made

    first, middle = write(1, 10, WRITE_FIRST, 320), write(2, 12, WRITE_MIDDLE)
    after = [write(3, 15, WRITE_FIRST, 192), write(4, 16, WRITE_MIDDLE), write(5, 17, 0x08)]
    messages = Messages([first, middle, *after])
    assert messages.judge_gap(first, middle) is Gap.BETWEEN
    whole = [first, middle, write(3, 13, WRITE_MIDDLE), write(4, 14, WRITE_MIDDLE)]
    whole.append(write(5, 15, 0x08))
    assert Messages(whole).judge_gap(first, middle) is Gap.WHOLE


def test_a_count_that_never_moves_says_nothing_of_the_first_psn() -> None:
    for msns, wrong in (((0, 1, 2), True), ((0, 0, 0), False)):
        replies = [replace(reply(10 + n, 10 + n), msn=msn) for n, msn in enumerate(msns)]
        own = side(*(sent(n, 9 + n) for n in range(1, 4)))
        own.counterpart = side(queue=2, source=PEER, replies=tuple(replies))
        (found,) = streams_of(own, Budget())
        assert (judge_start(found, Ends([found])) is not None) == wrong


def test_a_packet_missing_within_a_message_of_send_may_be_lost() -> None:
    requests = [sent(1, 10, 0x00), sent(2, 12, SEND_MIDDLE), sent(3, 13, SEND_LAST)]
    assert LOST in told(*requests)
