# SPDX-License-Identifier: BSD-2-Clause
"""DUP: what an RC responder makes of requests that it has executed already."""

from __future__ import annotations

import pytest
from responder_bench import P, ResponderBench, pattern

from roceproof.conformance.model.responder.policy import (
    BeforeFirst,
    DuplicateAck,
    OddReread,
    PartialReread,
    PastRequest,
    ReplayMsn,
    ResponderPolicy,
    UnaskedDuplicate,
    UnsupportedDuplicate,
)
from roceproof.verbs.work import Op


def test_dup_01_a_repeated_send_is_acknowledged_and_not_delivered():
    rc = ResponderBench(receives=2)
    rc.asks("SEND ONLY", 0, b"data")
    assert rc.asks("SEND ONLY", 0, b"data") == ["ACK 0 msn=1"]
    assert len(rc.outcomes) == 1 and len(rc.queue) == 1


def test_dup_02_a_repeated_write_is_acknowledged_and_not_written():
    rc = ResponderBench()
    rc.asks("WRITE ONLY", 0, b"data")
    rc.region.write(0, b"mine")
    assert rc.asks("WRITE ONLY", 0, b"data") == ["ACK 0 msn=1"]
    assert rc.read(4) == b"mine"


def test_dup_03_the_ack_names_the_duplicate_and_no_read_behind_it():
    rc = ResponderBench()
    rc.asks("WRITE ONLY", 0)
    rc.asks("READ REQUEST", 1, length=2 * P)
    assert rc.asks("WRITE ONLY", 0) == ["ACK 0 msn=2"]


def test_dup_03_or_it_names_the_latest_send_or_write():
    rc = ResponderBench(policy=ResponderPolicy(duplicate_ack=DuplicateAck.LATEST))
    rc.asks("WRITE ONLY", 0)
    rc.asks("WRITE ONLY", 1)
    rc.asks("READ REQUEST", 2, length=2 * P)
    assert rc.asks("WRITE ONLY", 0) == ["ACK 1 msn=3"]


def test_dup_04_a_repeated_read_reads_memory_anew_and_repeats_its_psns():
    rc = ResponderBench()
    first = rc.model.receive(rc.request("READ REQUEST", 0, length=2 * P))
    rc.region.write(0, pattern(2 * P))
    again = rc.model.receive(rc.request("READ REQUEST", 0, length=2 * P))
    assert [one.bth for one in again] == [one.bth for one in first]
    assert b"".join(one.payload for one in again) == pattern(2 * P)


def test_dup_04_a_repeated_read_is_checked_anew():
    rc = ResponderBench()
    rc.asks("READ REQUEST", 0, length=4)
    rc.region.deregister()
    assert rc.asks("READ REQUEST", 0, length=4) == ["NAK 62 0 msn=1"]


@pytest.mark.parametrize(
    ("skipped", "places"),
    [(1, ["FIRST", "MIDDLE", "LAST"]), (2, ["FIRST", "LAST"]), (3, ["ONLY"])],
)
def test_dup_05_a_read_may_be_repeated_in_part(skipped: int, places: list[str]):
    rc = ResponderBench()
    rc.region.write(0, pattern(4 * P))
    rc.asks("READ REQUEST", 0, length=4 * P)
    asked = {"at": skipped * P, "length": (4 - skipped) * P}
    answers = rc.model.receive(rc.request("READ REQUEST", skipped, **asked))
    assert [rc.words(one).split()[1:3] for one in answers] == [
        [place, str(skipped + number)] for number, place in enumerate(places)
    ]
    assert b"".join(one.payload for one in answers) == pattern(4 * P)[skipped * P :]
    assert rc.asks("WRITE ONLY", 4) == ["ACK 4 msn=2"]


def test_dup_05_a_device_that_continues_the_old_numbering_can_be_played():
    rc = ResponderBench(policy=ResponderPolicy(partial_reread=PartialReread.CONTINUED))
    rc.asks("READ REQUEST", 0, length=4 * P)
    assert [one[:13] for one in rc.asks("READ REQUEST", 2, at=2 * P, length=2 * P)] == [
        "READ MIDDLE 2",
        "READ LAST 3 m",
    ]


@pytest.mark.parametrize(
    "asked",
    [
        {"at": -1, "length": 2 * P},
        {"at": 0, "length": 2 * P + 1},
        {"at": 1, "length": 2 * P},
        {"at": 0, "length": 2 * P, "key": 0x5EED},
    ],
)
def test_dup_06_a_repeated_read_may_not_ask_for_more(asked: dict[str, int]):
    rc = ResponderBench()
    rc.asks("READ REQUEST", 0, length=2 * P)
    assert rc.asks("READ REQUEST", 0, **asked) == []
    assert rc.asks("WRITE ONLY", 2) == ["ACK 2 msn=2"]


def test_dup_06_the_rest_of_a_read_ends_where_the_read_ended():
    rc = ResponderBench()
    rc.asks("READ REQUEST", 0, length=2 * P)
    assert rc.asks("READ REQUEST", 1, length=2 * P) == [], "its last PSN would be 2"


def test_dup_07_atom_06_a_repeated_atomic_has_the_same_answer_and_no_effect():
    rc = ResponderBench()
    add = rc.request("FETCH ADD", 0, add=5)
    first = rc.model.receive(add)
    rc.asks("WRITE ONLY", 1)
    assert rc.model.receive(add) == first
    assert rc.read(8) == (5).to_bytes(8, "little")


def test_dup_07_or_the_same_answer_but_for_the_msn():
    rc = ResponderBench(policy=ResponderPolicy(replay_msn=ReplayMsn.CURRENT))
    rc.asks("FETCH ADD", 0, add=5)
    rc.asks("WRITE ONLY", 1)
    assert rc.asks("FETCH ADD", 0, add=5) == ["ATOMIC 0 msn=2 found 0"]


def test_dup_08_an_atomic_that_is_not_kept_any_more_is_dropped():
    rc = ResponderBench(max_dest_rd_atomic=2)
    for psn in range(3):
        rc.asks("FETCH ADD", psn, add=1)
    assert rc.asks("FETCH ADD", 0, add=1) == []
    assert rc.asks("FETCH ADD", 1, add=1) == ["ATOMIC 1 msn=2 found 1"]
    assert rc.read(8) == (3).to_bytes(8, "little")


def test_dup_08_an_atomic_that_never_was_is_dropped():
    rc = ResponderBench()
    rc.asks("FETCH ADD", 0)
    rc.asks("WRITE ONLY", 1)
    assert rc.asks("FETCH ADD", 1) == [] == rc.asks("CMP SWAP", 0)


def test_atom_08_a_repeated_atomic_write_does_not_write_again():
    rc = ResponderBench()
    rc.asks("ATOMIC WRITE", 0, b"one word", length=8)
    rc.region.write(0, b"WORD two")
    assert rc.asks("ATOMIC WRITE", 0, b"one word", length=8) == ["READ ONLY 0 msn=1 0 bytes"]
    assert rc.read(8) == b"WORD two"


def test_dup_10_a_duplicate_that_does_not_ask_is_acknowledged_or_dropped():
    usual, silent = (
        ResponderBench(policy=ResponderPolicy(unasked_duplicate=choice))
        for choice in (UnaskedDuplicate.ACKNOWLEDGED, UnaskedDuplicate.DROPPED)
    )
    for rc in (usual, silent):
        rc.asks("WRITE ONLY", 0)
    assert usual.asks("WRITE ONLY", 0, a=False) == ["ACK 0 msn=1"]
    assert silent.asks("WRITE ONLY", 0, a=False) == []
    assert silent.asks("WRITE ONLY", 0) == ["ACK 0 msn=1"]


def test_dup_11_each_duplicate_has_one_ack():
    rc = ResponderBench()
    rc.asks("WRITE ONLY", 0)
    repeats = [rc.request("WRITE ONLY", 0)] * 1000
    assert rc.hears(*repeats) == ["ACK 0 msn=1"] * 1000


def test_dup_12_before_the_first_request_no_psn_is_acknowledged_but_the_one_before_it():
    assert ResponderBench().asks("WRITE ONLY", -1) == []
    rc = ResponderBench(policy=ResponderPolicy(before_first=BeforeFirst.ACKNOWLEDGED))
    assert rc.asks("WRITE ONLY", -1) == ["ACK -1 msn=0"]
    assert rc.asks("SEND ONLY", -7) == ["ACK -1 msn=0"]
    assert rc.asks("READ REQUEST", -1, length=4) == []


def test_dup_12_or_none_is_acknowledged_until_there_is_a_send_or_write_to_name():
    rc = ResponderBench(policy=ResponderPolicy(before_first=BeforeFirst.UNNAMED))
    assert rc.asks("WRITE ONLY", -1) == []
    rc.asks("READ REQUEST", 0, length=4)
    assert rc.asks("WRITE ONLY", -9) == []
    rc.asks("WRITE ONLY", 1)
    assert rc.asks("WRITE ONLY", 1) == ["ACK 1 msn=2"]


@pytest.mark.parametrize("choice", ["ANSWERED", "DROPPED"])
def test_dup_05_a_reread_whose_place_is_not_that_of_its_psn_may_be_dropped(choice: str):
    rc = ResponderBench(policy=ResponderPolicy(odd_reread=OddReread[choice]))
    rc.asks("READ REQUEST", 0, length=2 * P)
    odd = [{"at": 3, "length": P}, {"length": 7}]
    for said in odd:
        answers = rc.model.receive(rc.request("READ REQUEST", 0, **said))
        assert len(answers) == (choice == "ANSWERED")
    assert len(rc.model.receive(rc.request("READ REQUEST", 1, at=P, length=P))) == 1


@pytest.mark.parametrize(("past", "answers"), [("FORGOTTEN", 0), ("REMEMBERED", 1)])
def test_dup_04_what_a_later_read_has_replaced_may_be_remembered(past: str, answers: int):
    rc = ResponderBench(
        max_dest_rd_atomic=1, policy=ResponderPolicy(past_request=PastRequest[past])
    )
    for psn in (0, 1):
        rc.asks("READ REQUEST", psn, length=4)
    assert len(rc.model.receive(rc.request("READ REQUEST", 0, length=4))) == answers


@pytest.mark.parametrize(
    ("choice", "answers"), [("ACKNOWLEDGED", ["ACK 0 msn=1"]), ("DROPPED", [])]
)
def test_opc_13_nothing_that_it_lacks_was_ever_executed(choice: str, answers: list[str]):
    policy = ResponderPolicy(unsupported_duplicate=UnsupportedDuplicate[choice])
    rc = ResponderBench(policy=policy)
    rc.model.executes = [Op.WRITE]
    rc.asks("WRITE ONLY", 0)
    assert rc.asks("WRITE ONLY IMM", 0) == answers


def test_duplicates_hold_across_the_wrap():
    rc = ResponderBench(start=0xFFFFFE)
    rc.region.write(0, pattern(4 * P))
    rc.asks("READ REQUEST", 0, length=4 * P)
    answers = rc.model.receive(rc.request("READ REQUEST", 3, at=3 * P, length=P))
    assert [one.payload for one in answers] == [pattern(4 * P)[3 * P :]]
