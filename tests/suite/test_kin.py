# SPDX-License-Identifier: BSD-2-Clause
"""Findings that are sure of no rule are told behind one that is, if they speak of the same half."""

from __future__ import annotations

from typing import Any

import pytest

from roceproof.conformance.regression.findings import in_words
from roceproof.conformance.runner.findings.kin import MAY_BE, with_kin
from roceproof.conformance.runner.findings.root import STREAM
from roceproof.conformance.suite.memory import LATE

Document = dict[str, Any]


def finding(*sure: str, doubt: tuple[str, ...] = (), count: int = 1, **said: Any) -> Document:
    told = {"troubles": ["assertion"], "sentence": "show: something", "head": "", "cases": ["one"]}
    return {**told, "rules": [*sure, *doubt], "in_doubt": [*doubt], "count": count, **said}


def hosts(*findings: Document) -> list[int | None]:
    return [each[MAY_BE] for each in with_kin(findings)]


def test_work_that_never_completes_may_come_of_wrong_numbers() -> None:
    told = with_kin([finding("ACK-08", count=50), finding("IP-06"), finding("PSN-02")])
    assert [each["rules"] for each in told] == [["IP-06"], ["PSN-02"], ["ACK-08"]]
    assert [each[MAY_BE] for each in told] == [None, None, 2]
    assert in_words(told[-1]) == "perhaps 2 again: 50 cases show: something"


@pytest.mark.parametrize(
    "other",
    [
        finding("RETH-04"),
        finding("MSN-02"),
        finding("IP-06", doubt=("ACK-01",)),
        finding(doubt=("CM-05",)),
        finding("LIVE-01", troubles=["rule LIVE-01"]),
        finding("ACK-08", troubles=[STREAM]),
    ],
    ids=["another rule", "the other half", "sure", "around messages", "unreached", "a dead stream"],
)
def test_what_has_a_cause_of_its_own_is_told_by_itself(other: Document) -> None:
    assert hosts(finding("PSN-02"), other) == [None, None]


def test_what_hides_the_rest_comes_before_what_was_seen_beside_it() -> None:
    dead = finding("ACK-08", troubles=[STREAM], count=3)
    assert hosts(dead, finding("QPS-06", count=9)) == [None, 1]


def test_signs_of_what_may_be_a_sign_itself_go_to_the_same_finding() -> None:
    perhaps, vague = finding(doubt=("OPC-06", "LIVE-01")), finding("LIVE-02")
    assert hosts(vague, perhaps, finding("PSN-12"), finding("OPC-08")) == [None, 1, 1, 1]


def test_what_many_cases_accuse_is_no_sign_of_what_one_may() -> None:
    many, perhaps = finding(doubt=("ACK-08",), count=10), finding(doubt=("RTX-01",))
    assert hosts(many, perhaps) == [None, None]
    assert hosts({**many, "count": 9}, perhaps) == [None, 1]
    assert hosts(many, finding("RTX-01")) == [None, 1]
    assert hosts({**many, "rules": [], "in_doubt": []}, perhaps) == [None, 1]


def test_what_stops_many_cases_is_no_sign_of_what_one_has_seen_but_on_the_wire() -> None:
    stop = finding("ACK-08", count=32, stops=True)
    assert hosts(finding("RTX-18", head="a WRITE ended otherwise"), stop) == [None, None]
    assert hosts(finding("PSN-02", troubles=["rule PSN-02"]), stop) == [None, 1]


def test_what_came_says_as_much_as_what_a_few_cases_are_about() -> None:
    refused, about = finding(doubt=("NAK-09",), count=7), finding(doubt=("RNR-10",), count=3)
    assert hosts(refused, about) == [None, None]


def test_what_names_a_rule_in_three_times_as_many_cases_is_no_sign_of_another_answer() -> None:
    answer = finding("INV-02", head="NAK came where ACK was due; syndrome: want ACK, got 0x62")
    assert hosts(finding(doubt=("RETH-06",), count=3), answer) == [None, None]
    assert hosts(finding(doubt=("RETH-06",), count=2), answer) == [None, 1]
    numbered = finding("PSN-02", head="psn: want 2, got 1", count=1)
    assert hosts(finding(doubt=("ACK-01",), count=3), numbered)[0] is None


def test_nothing_is_put_behind_what_is_as_sure() -> None:
    assert hosts(finding("ACK-08"), finding("NAK-01")) == [None, None]
    assert with_kin([]) == []


def test_whoever_drops_what_it_must_take_lacks_it_on_either_half() -> None:
    assert hosts(finding(doubt=("BTH-07",)), finding("ACK-08"), finding("ACK-01")) == [None, 1, 1]


def test_a_field_that_is_wrong_is_sure_whatever_its_rule() -> None:
    assert hosts(finding("ACK-02", troubles=["field a"]), finding("ACK-08")) == [None, 1]


def test_what_may_follow_from_a_rule_stands_behind_the_finding_of_it() -> None:
    assert hosts(finding("OPC-01"), finding("MTU-01"), finding("PSN-01")) == [None, 1, None]


def test_findings_whose_requests_have_the_same_stand_behind_the_widest() -> None:
    wide, other = finding("RNR-09", count=9, request="a"), finding("NAK-01", request="b")
    assert hosts(finding("RNR-01", request="a"), other, wide) == [None, None, 2]


def test_what_accuses_the_same_stands_behind_the_first_of_it() -> None:
    doubtful = finding(doubt=("QPS-06",))
    assert hosts(doubtful, doubtful) == [None, 1]
    assert hosts(finding("PSN-01"), finding("PSN-01", doubt=("ACK-01",))) == [None, None]
    assert hosts(finding(), finding()) == [None, None]


def test_that_nothing_came_in_one_case_comes_of_what_stops_many() -> None:
    stop = finding("ACK-08", count=50, stops=True)
    silence = finding("MTU-08", head="want WRITE_FIRST psn=+0; got nothing in time")
    wrong = finding("MTU-08", head="dmalen: want 2, got 1")
    assert hosts(silence, stop) == [None, 1]
    assert with_kin([silence, stop])[0]["rules"] == ["ACK-08"]
    assert hosts(wrong, stop) == [None, 1]
    assert with_kin([wrong, stop])[0]["rules"] == ["MTU-08"]
    assert with_kin([silence, {**stop, "count": 5}])[0]["rules"] == ["MTU-08"]


def test_that_nothing_came_in_one_case_comes_of_what_does_not_come_in_many() -> None:
    rare = finding("DUP-01", head="want ACK psn=+0; got nothing in time", stops=True)
    often = finding(count=36, head="want READ_RESP_FIRST psn=+0; got nothing in time")
    assert hosts(rare, often) == [None, 1]
    assert with_kin([rare, often])[0]["count"] == 36
    assert with_kin([rare, {**often, "head": "msn: want 2, got 1"}])[0]["rules"] == ["DUP-01"]


def test_bytes_that_come_too_late_are_sure_to_be_why_others_are_there() -> None:
    other = finding(doubt=("RETH-06",))
    late = finding(doubt=("ACK-05",), head=f"ACKs are fine; {LATE}")
    assert hosts(other, late) == [None, 1]
    assert with_kin([other, late])[0]["rules"] == ["ACK-05"]


def test_what_a_far_shorter_case_shows_is_no_sign_of_what_takes_long() -> None:
    short, sure = finding(doubt=("ACK-08",), frames=25), finding("RTX-18", frames=99)
    assert hosts(short, sure) == [None, 1]
    assert hosts(short, {**sure, "frames": 100}) == [None, None]
