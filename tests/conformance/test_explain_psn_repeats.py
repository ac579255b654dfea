# SPDX-License-Identifier: BSD-2-Clause
"""What a requester does after a loss, on streams built by hand: P11, P17, P18, P19."""

from __future__ import annotations

from dataclasses import replace

from test_explain_psn_streams import PEER, READ, reply, sent, side

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.psn.evidence import of_recovery, of_restarts
from roceproof.conformance.diagnosis.psn.recovery import (
    Restart,
    new_psns,
    new_psns_unanswered,
    restarts_wrongly,
    wrong_returns,
)
from roceproof.conformance.diagnosis.psn.steps import Recovery, Step
from roceproof.conformance.diagnosis.psn.stream import Stream, streams_of
from roceproof.conformance.diagnosis.psn.timeline import SEQUENCE_NAK, Reply, Sent
from roceproof.conformance.diagnosis.result import LOST


def nak(number: int, psn: int) -> Reply:
    return replace(reply(number, psn), syndrome=SEQUENCE_NAK)


def answered(requests: list[Sent], *replies: Reply) -> Stream:
    """The stream of requests that the peer has answered so."""
    own, peer = side(*requests), side(queue=2, source=PEER, replies=replies)
    own.counterpart, peer.counterpart = peer, own
    (found,) = streams_of(own, Budget())
    return found


def test_what_goes_on_with_packets_that_are_all_alike_is_no_repetition() -> None:
    for kinds, told in (((1, 2, 3), True), ((1, 1, 1), False)):
        first = [sent(n, 10 + n, like=kinds[n]) for n in range(3)]
        again = [sent(10 + n, 13 + n, like=kinds[n]) for n in range(3)]
        found = answered([*first, *again], nak(5, 10))
        assert bool(new_psns(found.side, Budget())) == told


def test_what_was_sent_before_under_that_psn_takes_no_new_one() -> None:
    first = [sent(n, 10 + n, like=n % 2 + 1) for n in range(4)]
    again = [sent(10 + n, 12 + n, like=n % 2 + 1) for n in range(2)]
    assert not new_psns(answered([*first, *again], nak(5, 10)).side, Budget())


def test_where_nobody_answers_a_repetition_under_new_psns_comes_after_a_pause() -> None:
    first = [sent(n, 10 + n, like=n + 1) for n in range(4)]
    for pause, psn, told in ((900_000, 14, True), (4_000, 14, False), (900_000, 10, False)):
        again = [
            replace(sent(4 + n, psn + n, like=n + 1), time_ns=pause + 1_000 * n) for n in range(4)
        ]
        (found,) = streams_of(side(*first, *again), Budget())
        assert bool(new_psns_unanswered(found)) == told


def test_copies_that_moved_the_register_are_counted_though_reads_take_more_psns() -> None:
    first = [sent(1, 10), sent(2, 11, 0x0C, read=1000), sent(3, 15), sent(4, 16)]
    again = [replace(each, number=10 + n) for n, each in enumerate(first)]
    for onward, wrong in ((17, False), (21, True), (24, True), (11, True), (18, False)):
        made = side(*first, *again, sent(20, onward))
        made.path_mtu = 256
        (found,) = streams_of(made, Budget())
        assert bool(wrong_returns(found)) == wrong, onward


def restart(beside: int | None, *, is_first: bool = False, doubtful: bool = False) -> Restart:
    jump = sent(9, 10 + (beside if beside is not None else 5))
    return Restart(nak(8, 10), jump, 3, beside, doubtful=doubtful, is_first=is_first)


def test_restarts_in_front_of_what_is_asked_for_are_a_habit_even_if_nothing_stood_in_front_once():
    assert restarts_wrongly([restart(-1), restart(-1), restart(0, is_first=True)])
    assert not restarts_wrongly([restart(-1), restart(-1), restart(0)])
    assert restarts_wrongly([restart(-1)] * 5 + [restart(0)])
    assert not restarts_wrongly([restart(0, is_first=True)])


def test_one_doubtful_restart_is_no_habit_beside_those_that_could_not_be_wrong() -> None:
    right = [restart(0, is_first=True)] * 2
    assert restarts_wrongly([restart(1, is_first=True), *right])
    assert not restarts_wrongly([restart(1, is_first=True, doubtful=True), *right])


def test_a_requester_that_may_be_deaf_may_repeat_what_is_acknowledged() -> None:
    def said(begin: int, *, deaf: bool) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        last = 0xFFFFFF
        requests = [sent(n, psn) for n, psn in enumerate((last - 1, last, 0, 1), 1)]
        for start in (20, 30, 40):
            requests += [
                replace(each, number=start + n) for n, each in enumerate(requests[begin:4])
            ]
        replies = [reply(5, last - 1), reply(6, 1)]
        found = of_recovery(answered(requests, *replies), Budget(), deaf=deaf)
        return [(each.ids, each.weak) for each in found]

    assert said(0, deaf=False) == [(("P19",), ())]
    assert said(0, deaf=True) == [((), ("P19",))]
    assert said(1, deaf=True) == [((), ("P19",))]


def test_what_only_seems_to_have_been_sent_before_is_no_repetition_to_return_from() -> None:
    before = sent(2, 12)
    (found,) = streams_of(side(sent(1, 11), before), Budget())
    for back, wrong in ((11, True), (13, False)):
        repeats = [sent(3, back), sent(4, back + 1)]
        onward = Step(before, sent(5, 15), 1)
        found.recoveries = [
            Recovery(repeats[0], before, 13, repeats, sends_again=True, resumed=onward)
        ]
        assert bool(wrong_returns(found)) == wrong


def test_packets_that_overtook_each_other_are_no_recovery_to_return_from() -> None:
    psns = (10, 12, 11, 15, 13, 14, 16)
    (found,) = streams_of(side(*(sent(n, psn) for n, psn in enumerate(psns, 1))), Budget())
    assert found.recoveries and not wrong_returns(found)


def test_new_packets_that_were_lost_behind_the_repeats_and_came_later_are_no_wrong_return() -> None:
    requests = [sent(n, 9 + n) for n in range(1, 4)]
    requests += [sent(n, 7 + n, like=n - 2) for n in (4, 5)]
    for late in ([], [sent(7, 13), sent(8, 14)]):
        (found,) = streams_of(side(*requests, sent(6, 15), *late, sent(9, 16)), Budget())
        assert bool(wrong_returns(found)) != bool(late)


def test_a_repeat_among_others_that_was_changed_unseen_is_no_wrong_return() -> None:
    requests = [sent(n, 9 + n) for n in range(1, 5)]
    again = [replace(each, number=each.number + 4) for each in requests]
    again[1] = replace(again[1], content=99)
    for count, wrong in ((2, True), (4, False)):
        (found,) = streams_of(side(*requests, *again[:count]), Budget())
        assert bool(wrong_returns(found)) == wrong


def test_nobody_knows_where_to_go_on_behind_a_read_of_unknown_length() -> None:
    for read in (200, 2048):
        requests = [sent(1, 10), sent(2, 11), sent(3, 12, READ, read=read)]
        requests += [replace(each, number=each.number + 3) for each in requests[1:]]
        (found,) = streams_of(side(*requests, sent(6, 15)), Budget())
        assert found.path_mtu is None
        assert bool(wrong_returns(found)) == (read == 200)


def test_the_first_packets_of_a_few_resends_may_have_been_lost() -> None:
    def said(*begins: int) -> list[tuple[str, ...]]:
        requests = [sent(n, 9 + n) for n in range(1, 5)]
        replies = []
        for start, begin in zip((20, 30, 40), begins, strict=False):
            replies.append(replace(nak(start - 1, 11), time_ns=1_000 * start - 1_000))
            requests += [
                replace(each, number=start + n) for n, each in enumerate(requests[begin:4])
            ]
        found = of_restarts([answered(requests, *replies)], Budget())
        return [each.ids for each in found]

    assert said(2) == [("P17", LOST)]
    assert said(2, 2) == [("P17", LOST)] * 2
    assert said(2, 2, 2) == said(0, 0, 0) == [("P17",)] * 3


def test_one_packet_again_at_once_may_be_a_late_register() -> None:
    requests = [sent(1, 11), sent(2, 12), sent(3, 13)]
    for back, ids in ((2, ()), (1, ("P18", "lost"))):
        again = [replace(each, number=10 + n) for n, each in enumerate(requests[back:])]
        onward = sent(20, 14 + len(again))
        found = of_recovery(answered([*requests, *again, onward]), Budget(), deaf=False)
        assert [each.ids for each in found] == [ids]
