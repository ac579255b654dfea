# SPDX-License-Identifier: BSD-2-Clause
"""What the requests of one connection may mean, on streams built by hand."""

from __future__ import annotations

from dataclasses import replace

from explained import healthy, records

from roceproof.conformance.diagnosis.budget import Budget
from roceproof.conformance.diagnosis.observation import Station, observe
from roceproof.conformance.diagnosis.psn.carry import carry
from roceproof.conformance.diagnosis.psn.counted import Completed
from roceproof.conformance.diagnosis.psn.evidence import Cause, of_counting
from roceproof.conformance.diagnosis.psn.increment import besides, hypotheses
from roceproof.conformance.diagnosis.psn.neighbours import meet_neighbours
from roceproof.conformance.diagnosis.psn.pairing import pair_sides
from roceproof.conformance.diagnosis.psn.responder import constant_offset
from roceproof.conformance.diagnosis.psn.strays import Stray
from roceproof.conformance.diagnosis.psn.stream import Stream, streams_of
from roceproof.conformance.diagnosis.psn.timeline import (
    ACKNOWLEDGE,
    Key,
    Reply,
    Sent,
    Side,
    Suffered,
    sides_of,
)
from roceproof.conformance.diagnosis.result import LOST
from roceproof.conformance.wire.headers import Reth
from roceproof.conformance.wire.opcodes import OPCODES

SEND_MIDDLE, SEND_LAST, SEND_ONLY, READ = 0x01, 0x02, 0x04, 0x0C
UC_SEND_ONLY = 0x24
PEER, OWN = b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02"


def sent(number: int, psn: int, opcode: int = SEND_ONLY, *, read: int = 0, like: int = 0) -> Sent:
    reth = Reth(address=0, rkey=1, length=read) if read else None
    return Sent(
        number=number,
        time_ns=1_000 * number,
        psn=psn,
        reserved7=0,
        ack_req=False,
        row=OPCODES[opcode],
        body=64,
        size=64,
        content=like or number,
        reth=reth,
        damaged=False,
        on_the_way=False,
    )


def reply(number: int, psn: int) -> Reply:
    return Reply(number, 1_000 * number, psn, ACKNOWLEDGE, 31, 0, 1, heard=True)


def side(*requests: Sent, queue: int = 1, source: bytes = OWN, replies: tuple[Reply, ...] = ()):
    key = Key(0, source, PEER if source == OWN else OWN, queue)
    return Side(key, Station(0, source + bytes(2)), [*requests], [*replies])


def stream(*requests: Sent, replies: tuple[Reply, ...] = (), odd: bool = False) -> Stream:
    made = side(*requests, replies=replies)
    made.messages_are_odd = odd
    (found,) = streams_of(made, Budget())
    return found


def test_a_read_that_suffered_on_the_way_does_not_tell_how_far_it_goes() -> None:
    read = sent(2, 11, READ, read=2048)
    for suffered in (False, True):
        made = side(sent(1, 10), replace(read, damaged=suffered, on_the_way=suffered), sent(3, 12))
        made.path_mtu = 256
        (found,) = streams_of(made, Budget())
        assert bool(found.wrong) != suffered


def test_a_read_with_another_fault_than_its_sender_has_does_not_tell_it_either() -> None:
    read = replace(sent(2, 11, READ, read=2048), damaged=True)
    for known in (False, True):
        made = side(sent(1, 10), read, sent(3, 12))
        made.path_mtu, made.fault_is_known = 256, known
        (found,) = streams_of(made, Budget())
        assert bool(found.wrong) != known


def test_a_message_whose_first_packet_is_missing_was_torn_and_not_miscounted() -> None:
    requests = (sent(1, 10), sent(2, 12, SEND_MIDDLE), sent(3, 13, SEND_LAST))
    assert not stream(*requests).wrong
    assert stream(*requests, odd=True).wrong


def test_what_lies_between_the_psns_of_a_register_loaded_anew_is_not_its_own() -> None:
    other = [sent(1, 0xEA0000), sent(3, 0xEA0001), sent(5, 0x610000), sent(7, 0x610001)]
    for psn, belongs in ((0x94, False), (0xEA0001, True), (0x610000, True)):
        own = side(sent(2, 0x430000), replies=(reply(9, psn),))
        peer = side(*other, queue=2, source=PEER)
        pair_sides([own, peer], Budget())
        assert (own.counterpart is peer) == belongs


def test_acknowledgements_are_counted_on_both_sides_of_a_read_of_unknown_length() -> None:
    requests = (sent(1, 10), sent(3, 12), sent(4, 13, READ, read=3072), sent(5, 16), sent(6, 17))
    found = stream(*requests, replies=(reply(2, 0x900),))
    assert len(found.wrong) == 1
    assert "P06" in besides(found)


def test_alike_packets_may_carry_the_psn_before_instead_of_being_repeats() -> None:
    requests = [sent(1, 10, like=1), sent(2, 11, like=1), sent(4, 13, like=1), sent(5, 14, like=1)]
    assert "P14" not in besides(stream(*requests))
    repeated = sent(3, 11, like=1)
    assert "P14" in besides(stream(*requests[:2], repeated, *requests[2:]))


def test_where_messages_do_not_tell_their_ends_the_psn_may_count_them() -> None:
    psns = (10, 10, 10, 11, 12, 12, 12)
    requests = [sent(n, psn, UC_SEND_ONLY) for n, psn in enumerate(psns, 1)]
    assert "P03" not in hypotheses(stream(*requests))
    assert "P03" in hypotheses(stream(*requests, odd=True))


def test_a_uc_psn_behind_one_just_received_may_be_the_peers() -> None:
    psns = (10, 10, 10, 11, 12, 12, 12)
    requests = [sent(2 * n, psn, UC_SEND_ONLY) for n, psn in enumerate(psns, 1)]
    found = stream(*requests)
    assert "P25" not in hypotheses(found)
    found.side.counterpart = side(sent(3, 9, UC_SEND_ONLY), queue=2, source=PEER)
    assert "P25" in hypotheses(found)


def test_a_uc_requester_that_goes_back_does_neither_repeat_nor_skip() -> None:
    psns = (100, 101, 90, 91, 91, 95)
    requests = [sent(n, psn, UC_SEND_ONLY) for n, psn in enumerate(psns, 1)]
    assert hypotheses(stream(*requests)) == []


def test_what_was_sent_with_a_wrong_icrc_has_not_suffered() -> None:
    frames = healthy(1, connections=1)
    wrong = 6
    frames[wrong - 1] = frames[wrong - 1][:-1] + bytes([frames[wrong - 1][-1] ^ 1])
    seen = [*observe(records(frames))]
    for as_sent in (frozenset[int](), frozenset({wrong})):
        sides = sides_of(seen, None, Suffered(frozenset(), as_sent))
        damaged = {each.number for side in sides for each in side.requests if each.damaged}
        assert damaged == {wrong} - as_sent


def test_what_changed_on_the_way_is_damaged_from_the_first_packet_on() -> None:
    frames = healthy(1, connections=1)
    first = next(n for n, seen in enumerate(observe(records(frames)), 1) if seen.bth.psn)
    frames[first - 1] = frames[first - 1][:-1] + bytes([frames[first - 1][-1] ^ 1])
    sides = sides_of([*observe(records(frames))], None, Suffered(frozenset({first})))
    assert {each.number for side in sides for each in side.requests if each.damaged} == {first}


def test_a_packet_that_changed_on_the_way_is_not_missing_elsewhere() -> None:
    found = stream(sent(1, 100, UC_SEND_ONLY), sent(4, 103, UC_SEND_ONLY))
    (step,) = found.steps
    one, two = 101, 102 ^ 1 << 20
    for strays, excused in (
        ({}, False),
        ({one: [Stray(2, False)], two: [Stray(1, False)]}, False),  # one came before
        ({one: [Stray(2, False)], two: [Stray(3, False)]}, True),
        ({one: [Stray(2, True)]}, True),  # it may have been a READ
    ):
        found.side.strays = strays
        assert found.excused(step) == excused
    assert not found.torn


def test_what_stands_alone_with_a_wrong_icrc_may_belong_to_another_queue_pair() -> None:
    frames = healthy(1, connections=1)
    number, seen = next((n, s) for n, s in enumerate(observe(records(frames)), 1) if s.bth.psn)
    frame = bytearray(frames[number - 1])
    frame[seen.bth_at + 6] ^= 1  # the QPN
    frames[number - 1] = bytes(frame)
    sides = sides_of(observe(records(frames)), None)
    stray = Stray(number, False)
    mac = frames[number - 1][6:12]
    assert all((stray in s.strays.get(seen.bth.psn, ())) == (s.station.mac == mac) for s in sides)
    proven = {s.key.qpn: s.is_proven for s in sides}
    assert not proven.pop(seen.bth.dest_qpn ^ 1 << 8)
    assert all(proven.values())


def shared(psns: list[tuple[int, int]], *, proven: bool = False) -> list[Stream]:
    """The streams of two queue pairs that take turns, met with each other."""
    queues: dict[int, list[Sent]] = {1: [], 2: []}
    for number, (queue, psn) in enumerate(psns, 1):
        queues[queue].append(sent(number, psn))
    made = [streams_of(side(*requests, queue=n), Budget())[0] for n, requests in queues.items()]
    for each in made:
        each.side.is_proven = proven
    meet_neighbours(made)
    return made


def test_a_register_that_queue_pairs_share_gives_no_psn_twice() -> None:
    own = shared([(1, 10), (2, 11), (1, 12), (2, 13), (2, 14), (1, 15)])
    assert all("P09" in hypotheses(each) for each in own)
    twice = shared([(1, 10), (2, 10), (1, 11), (2, 11), (1, 13), (2, 13)])
    assert not any("P09" in [*hypotheses(each), *besides(each)] for each in twice)


def test_a_single_packet_may_have_been_sent_to_another_queue_pair() -> None:
    psns = [(1, 10), (2, 11), (1, 12), (1, 13)]
    own, _ = shared(psns)
    assert "P09" not in [*hypotheses(own), *besides(own)]
    own, _ = shared(psns, proven=True)
    assert "P09" in hypotheses(own)


def test_a_damaged_packet_may_have_taken_a_psn_of_a_shared_register() -> None:
    lost = replace(sent(2, 11), damaged=True)
    whole = [side(sent(1, 10), sent(3, 12), sent(4, 13)), side(lost, sent(5, 14), queue=2)]
    made = [stream for each in whole for stream in streams_of(each, Budget())]
    meet_neighbours(made)
    assert "P09" in hypotheses(made[0])


def test_repeated_requests_tell_nothing_of_a_shared_register() -> None:
    first = [(1, 10), (2, 11), (1, 12), (2, 13)]
    own = shared([*first, *[(1, 10), (1, 12)], *[(2, 11), (2, 13)]])
    again = [[replace(each, content=each.psn) for each in stream.requests] for stream in own]
    made = [streams_of(side(*each, queue=n), Budget())[0] for n, each in enumerate(again, 1)]
    meet_neighbours(made)
    assert all("P09" in hypotheses(each) for each in made)


def test_a_lost_packet_does_not_hide_how_the_psn_is_counted() -> None:
    requests = [sent(n, psn, UC_SEND_ONLY) for n, psn in enumerate((10, 10, 10, 11), 1)]
    empty = [replace(each, size=0) if n < 2 else each for n, each in enumerate(requests)]
    assert hypotheses(stream(*empty))[0] == "P13"
    behind_a_loss = [*empty, sent(5, 13, UC_SEND_ONLY)]
    assert hypotheses(stream(*behind_a_loss)) == ["P13"]
    assert "P13" not in hypotheses(stream(*empty, sent(5, 9, UC_SEND_ONLY)))


def test_what_follows_acknowledgements_by_chance_does_not_hide_what_is_exact() -> None:
    psn, requests, replies = 10, [], []
    for n in range(1, 25, 4):
        lost = int(n == 9)
        requests += [replace(sent(n, psn), size=0), sent(n + 1, psn + 2 + lost)]
        replies.append(replace(reply(n + 2, psn), msn=n // 2 + 1))
        psn += 3 + lost
    made = side(*requests)
    made.counterpart = side(queue=2, source=PEER, replies=tuple(replies))
    (found,) = streams_of(made, Budget())
    assert hypotheses(found) == ["P06", "P12"]


def test_gaps_between_messages_may_be_losses_whatever_else_fits() -> None:
    requests = [sent(n, psn) for n, psn in enumerate((10, 12, 13, 15, 16, 18, 19, 21), 1)]
    made = side(*(replace(each, number=2 * each.number) for each in requests))
    replies = tuple(replace(reply(4 * n + 1, 9), heard=False) for n in range(4))
    made.counterpart = side(queue=2, source=PEER, replies=replies)
    (found,) = streams_of(made, Budget())
    (gaps,) = [each for each in of_counting(found) if each.cause is Cause.COUNTING]
    assert gaps.ids == ("P06", LOST, "P12", "P16")


def test_a_packet_whose_psn_cannot_be_believed_was_not_lost() -> None:
    def steps(*, damaged: bool) -> list[bool]:
        between = replace(sent(2, 99, UC_SEND_ONLY), damaged=damaged)
        around = sent(1, 10, UC_SEND_ONLY), sent(3, 12, UC_SEND_ONLY)
        return [step.wrong for step in stream(around[0], between, around[1]).steps]

    assert steps(damaged=True) == [False]
    assert any(steps(damaged=False))


def test_a_late_register_is_seen_through_steps_that_losses_would_excuse() -> None:
    psns = (10, 11, 11, 13, 13, 15)
    found = stream(*(sent(n, psn) for n, psn in enumerate(psns, 1)))
    assert "P14" in hypotheses(found)


def test_a_gap_inside_a_message_that_lacks_no_byte_is_the_senders() -> None:
    first = replace(sent(1, 10, 0x06), size=256, reth=Reth(address=0, rkey=1, length=320))
    last = replace(sent(2, 12, 0x08), size=64)
    assert stream(first, last).wrong
    torn = replace(first, reth=Reth(address=0, rkey=1, length=576))
    assert not stream(torn, last).wrong


def test_who_answers_whom_is_told_by_the_count_of_messages_where_psns_are_alike() -> None:
    for more in (0, 1):
        many = [sent(1, 10), sent(3, 11), sent(5, 12)]
        few = [replace(each, number=each.number + 1, row=OPCODES[0x01]) for each in many[:2]]
        few.append(replace(many[2], number=6))
        own = side(replies=tuple(replace(reply(7 + n, 10 + n), msn=n + 1) for n in range(3)))
        ones = side(*many, queue=2, source=PEER)
        others = side(*few, queue=3, source=PEER)
        pair_sides([own, *([ones, others] if more else [others, ones])], Budget())
        assert own.counterpart is ones


def test_a_responder_that_counts_a_message_too_few_from_the_start_on_is_seen() -> None:
    requests = [sent(n, 10 + n) for n in range(4)]
    for lag, told in ((0, 0), (1, 1)):
        answers = [replace(reply(10 + n, 10 + n), msn=n + 1 - lag) for n in range(4)]
        assert Completed(requests, answers).uncounted == told
    answers[3] = replace(answers[3], msn=4)
    assert Completed(requests, answers).uncounted is None


def test_a_bit_beside_ackreq_that_was_set_on_the_way_is_no_carry() -> None:
    marked = replace(sent(4, 0, UC_SEND_ONLY), reserved7=1)
    for damaged in (False, True):
        requests = [sent(n, 0xFFFFFC + n, UC_SEND_ONLY) for n in range(4)]
        made = side(*requests, replace(marked, damaged=damaged))
        (found,) = streams_of(made, Budget())
        assert bool(carry(found)) != damaged


def test_acknowledgements_that_are_late_by_one_are_not_beside_what_is_asked() -> None:
    for numbers, first, beside in (((1, 2, 4, 6, 8), 10, False), ((1, 4, 6, 8), 9, True)):
        requests = [replace(sent(n, 10 + k), ack_req=True) for k, n in enumerate(numbers)]
        replies = tuple(reply(n, first + k) for k, n in enumerate((3, 5, 7, 9)))
        made = side(*requests)
        made.counterpart = side(queue=2, source=PEER, replies=replies)
        (found,) = streams_of(made, Budget())
        assert bool(constant_offset(found, Budget())) == beside
