# SPDX-License-Identifier: BSD-2-Clause
"""Step 3 and 4: what an RC responder makes of the PSN, and of what lies ahead."""

from __future__ import annotations

import pytest
from responder_bench import P, ResponderBench, pattern

from roceproof.conformance.model.responder.policy import HalfSpace, ResponderPolicy

HALF = 1 << 23


def test_psn_12_the_expected_psn_is_executed_and_the_next_one_expected():
    rc = ResponderBench()
    assert rc.asks("WRITE ONLY", 0, b"abcd") == ["ACK 0 msn=1"]
    assert rc.asks("WRITE ONLY", 1, b"efgh", at=4) == ["ACK 1 msn=2"]
    assert rc.read(8) == b"abcdefgh"


@pytest.mark.parametrize("back", [1, 2, 100, HALF - 1])
def test_psn_13_a_psn_behind_is_a_duplicate_and_does_not_move_the_expected_one(back: int):
    rc = ResponderBench()
    rc.asks("WRITE ONLY", 0, b"abcd")
    assert rc.asks("WRITE ONLY", 1 - back, b"wxyz") == [f"ACK {1 - back} msn=1"]
    assert rc.read(4) == b"abcd"
    assert rc.asks("WRITE ONLY", 1, b"efgh") == ["ACK 1 msn=2"]


@pytest.mark.parametrize("steps", [1, 2, 1000, HALF - 1])
def test_psn_14_nak_01_a_psn_ahead_is_refused_in_the_name_of_the_expected_one(steps: int):
    rc = ResponderBench()
    rc.asks("WRITE ONLY", 0, b"abcd")
    assert rc.asks("WRITE ONLY", 1 + steps, b"wxyz") == ["NAK 60 1 msn=1"]
    assert rc.read(4) == b"abcd"


def test_the_psn_half_the_space_away_goes_to_whom_the_policy_says():
    assert ResponderBench(policy=ResponderPolicy(half_space=HalfSpace.AHEAD)).asks(
        "WRITE ONLY", HALF
    ) == ["NAK 60 0 msn=0"]
    duplicate = ResponderBench()
    duplicate.asks("WRITE ONLY", 0)
    assert duplicate.asks("WRITE ONLY", 1 - HALF) == [f"ACK {1 - HALF} msn=1"]


def test_psn_15_regions_hold_across_the_wrap():
    rc = ResponderBench(start=0xFFFFFE)
    for psn in range(5):
        assert rc.asks("WRITE ONLY", psn, b"abcd") == [f"ACK {psn} msn={psn + 1}"]
    assert rc.asks("WRITE ONLY", 1) == ["ACK 1 msn=5"], "0xFFFFFF is behind 0x000003"
    wrapping = ResponderBench(start=0xFFFFFE)
    assert wrapping.asks("WRITE ONLY", 3) == ["NAK 60 0 msn=0"], "0x000001 is ahead of 0xFFFFFE"


def test_psn_04_a_message_without_payload_uses_one_psn():
    rc = ResponderBench(receives=1)
    assert rc.asks("WRITE ONLY", 0) == ["ACK 0 msn=1"]
    assert rc.asks("SEND ONLY", 1) == ["ACK 1 msn=2"]
    assert rc.asks("READ REQUEST", 2) == ["READ ONLY 2 msn=3 0 bytes"]
    assert rc.asks("WRITE ONLY", 3) == ["ACK 3 msn=4"]


@pytest.mark.parametrize("length", [0, 1, P, P + 1, 5 * P])
def test_psn_05_a_read_uses_as_many_psns_as_it_has_responses(length: int):
    rc = ResponderBench()
    count = len(rc.asks("READ REQUEST", 0, length=length))
    assert count == max(1, -(-length // P))
    assert rc.asks("WRITE ONLY", count) == [f"ACK {count} msn=2"]


def test_nak_02_one_gap_raises_one_nak():
    rc = ResponderBench()
    later = [rc.request("WRITE ONLY", psn) for psn in range(1, 101)]
    assert rc.hears(*later) == ["NAK 60 0 msn=0"]


def test_nak_03_another_gap_raises_another_nak():
    rc = ResponderBench()
    assert rc.asks("WRITE ONLY", 1) == ["NAK 60 0 msn=0"]
    assert rc.asks("WRITE ONLY", 0) == ["ACK 0 msn=1"]
    assert rc.asks("WRITE ONLY", 2) == ["NAK 60 1 msn=1"]


def test_nak_04_the_expected_request_is_welcome_however_late_it_comes():
    rc = ResponderBench()
    rc.asks("WRITE ONLY", 5)
    assert rc.asks("WRITE ONLY", 5) == []
    assert rc.asks("WRITE ONLY", 0) == ["ACK 0 msn=1"]


def test_nak_05_duplicates_are_served_while_a_nak_is_pending():
    rc = ResponderBench()
    rc.region.write(0, pattern(4))
    rc.asks("WRITE ONLY", 0, b"")
    rc.asks("READ REQUEST", 1, length=4)
    assert rc.asks("WRITE ONLY", 5) == ["NAK 60 2 msn=2"]
    assert rc.asks("WRITE ONLY", 0) == ["ACK 0 msn=2"]
    assert rc.asks("READ REQUEST", 1, length=4) == ["READ ONLY 1 msn=2 4 bytes"]
    assert rc.asks("WRITE ONLY", 6) == [], "the NAK is still pending"


def test_nak_08_after_a_fatal_nak_the_queue_pair_is_silent():
    rc = ResponderBench()
    assert rc.asks("WRITE ONLY", 0, b"abcd", key=1) == ["NAK 62 0 msn=0"]
    assert rc.asks("WRITE ONLY", 0, b"abcd") == []
    assert rc.asks("READ REQUEST", 1, length=4) == []
    assert rc.read(4) == bytes(4)


def test_ack_04_requests_that_do_not_ask_are_covered_by_the_next_ack():
    rc = ResponderBench()
    quiet = [rc.request("WRITE ONLY", psn, b"abcd", at=4 * psn, a=False) for psn in range(10)]
    assert rc.hears(*quiet) == []
    assert rc.asks("WRITE ONLY", 10, b"last", at=40) == ["ACK 10 msn=11"]
    assert rc.read(44) == b"abcd" * 10 + b"last"
