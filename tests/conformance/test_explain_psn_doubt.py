# SPDX-License-Identifier: BSD-2-Clause
"""What looks like a fault of a PSN register in a connection, and need not be one."""

from __future__ import annotations

from dataclasses import replace

from test_explain_psn_streams import (
    PEER,
    READ,
    SEND_LAST,
    SEND_ONLY,
    UC_SEND_ONLY,
    reply,
    sent,
    side,
)

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.psn.evidence import Cause, Evidence
from roceproof.conformance.diagnosis.psn.increment import hypotheses
from roceproof.conformance.diagnosis.psn.responder import moved_by_damage
from roceproof.conformance.diagnosis.psn.start import Ends, judge_start
from roceproof.conformance.diagnosis.psn.stream import streams_of
from roceproof.conformance.diagnosis.psn.timeline import Reply, Sent
from roceproof.conformance.diagnosis.psn.weighing import best
from roceproof.conformance.diagnosis.result import LOST


def streams(*requests: Sent, start: int | None = None, replies: tuple[Reply, ...] = ()):
    made = side(*requests)
    made.start = start
    made.counterpart = side(queue=2, source=PEER, replies=replies)
    return streams_of(made, Budget())


def test_a_register_is_late_for_packets_close_behind_others_and_for_no_others() -> None:
    psns = (10, 11, 11, 13, 13, 15)
    for late, fits in ((500, True), (5_000, False)):
        pauses = (0, 1_000, late, 1_000, late, 1_000)
        requests = [sent(n, psn, UC_SEND_ONLY) for n, psn in enumerate(psns, 1)]
        timed = [replace(each, time_ns=sum(pauses[: each.number])) for each in requests]
        (found,) = streams(*timed)
        assert (hypotheses(found)[0] == "P14") == fits


def test_one_loss_may_make_repeats_look_like_a_late_register() -> None:
    def fits(*psns: int) -> set[str]:
        (found,) = streams(*(sent(n, psn, UC_SEND_ONLY) for n, psn in enumerate(psns, 1)))
        return {*hypotheses(found)} & {"P14", "P23"}

    assert fits(10, 11, 11, 13, 13, 15) == {"P14"}
    assert fits(10, 11, 11, 13, 14, 14) == {"P14", "P23"}


def test_a_stream_whose_first_message_lacks_its_beginning_did_not_begin_there() -> None:
    for opcode, wrong in ((SEND_ONLY, True), (SEND_LAST, False)):
        (found,) = streams(sent(1, 11, opcode), sent(2, 12), start=10)
        assert bool(judge_start(found, Ends([found]))) == wrong


def test_a_first_packet_that_suffered_does_not_tell_where_the_psns_begin() -> None:
    for psn in (11, 11 + (1 << 20)):
        first = replace(sent(1, psn), damaged=True)
        (found,) = streams(first, sent(2, 11), sent(3, 12), start=10)
        assert judge_start(found, Ends([found])) is None
        assert not found.wrong
    (found,) = streams(replace(sent(1, 11), damaged=True), start=10)
    assert judge_start(found, Ends([found])) is None
    (found,) = streams(replace(sent(1, 11), damaged=True), sent(2, 12), start=10)
    assert judge_start(found, Ends([found]))  # the next one bears its PSN out


def test_a_packet_that_suffered_is_no_new_life_of_its_queue_pair() -> None:
    far = replace(sent(2, 11 + (1 << 20)), damaged=True)
    found = streams(sent(1, 10), far, sent(3, 12))
    assert [each.requests[0].number for each in found] == [1]
    assert len(streams(sent(1, 10), replace(far, damaged=False), sent(3, 12))) == 3


def test_a_few_gaps_that_follow_acknowledgements_loosely_may_be_losses() -> None:
    key, station = side().key, side().station
    for frames, between, may_be in ((4, True, True), (8, True, False), (4, False, False)):
        gaps = Evidence(
            station,
            frozenset({key}),
            Cause.COUNTING,
            ("P06",),
            tuple(range(frames)),
            "",
            station,
            may_be_lost=between,
        )
        assert best([gaps]) == (("P06", LOST) if may_be else ("P06",))
        assert best([gaps._replace(ids=())], 0.6) == ()


def test_where_no_message_ever_ends_none_was_torn() -> None:
    first, middle, only = 0x20, 0x21, UC_SEND_ONLY
    for last, torn in ((first, False), (only, True)):
        requests = [sent(1, 10, first), sent(2, 11, middle), sent(3, 14, first), sent(4, 15, last)]
        (found,) = streams(*requests)
        assert bool(found.torn) == torn


def test_who_takes_all_requests_for_repeated_answers_reads_without_moving_on() -> None:
    bad = replace(sent(2, 11), damaged=True, on_the_way=True)
    answer = replace(reply(4, 12), opcode=0x10)
    for acknowledged, moves in ((10, True), (7, False)):
        made = side(sent(1, 10), bad, sent(3, 12, READ, read=8))
        made.counterpart = side(replies=(reply(2, acknowledged), answer))
        assert bool(moved_by_damage(made, Budget())) == moves
