# SPDX-License-Identifier: BSD-2-Clause
"""The rule of what differed first: from the words of a failure, and from what a small plan says."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from roceproof.conformance.stimulus.plan import Plan, Step
from roceproof.conformance.stimulus.shrinking.naming import rules_of_plan
from roceproof.conformance.suite.memory import otherwise, unless_late
from roceproof.conformance.suite.reporting.divergence import named, on_services
from roceproof.conformance.suite.reporting.ends import (
    NO_TIMER,
    ended,
    rules_of_end,
    wrong_syndrome,
)
from roceproof.conformance.suite.reporting.failure import CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import (
    AS_ANOTHER,
    head_of,
    in_short,
    likeness,
)
from roceproof.conformance.targets.interface import Target
from roceproof.verbs.queue_pair import QpSpec
from roceproof.verbs.work import Outcome

NO_SUCH = "want  no such completion on qp 0x11; owed: work 0x1; got   work 0x1 completed with"
OWED = "want  a completion; got   nothing in time; qp 0x11: work 0x1 (SEND of 1 bytes, number 0)"
DIED = "the device died: Assertion failed in TOP.top.port: port 0:"

WAITS = NO_SUCH.replace("0x1;", "0x1 (SEND of 1 bytes, number 0) which waits for an answer;")

NOT_SENT = "want  no such completion on qp 0x1"
FLUSHED = (
    "owed: work 0x2f (SEND of 8 bytes, number 45) which was not sent; "
    "got   work 0x2f completed with wr_flush_err, syndrome 0xff"
)


@pytest.mark.parametrize(
    ("head", "rules"),
    [
        ("want  RNR psn=+0 syndrome=RNR; got   nothing in time", ["RNR-01"]),
        (
            "(UD, 0x11): want  work 0x1 (message 1) completed with success; "
            "got   work 0x1 completed with loc_len_err, syndrome 0xff",
            ["UD-04"],
        ),
        ("want  NAK psn=+1 syndrome=0x60 msn=1; got   nothing in time", ["NAK-01"]),
        ("want  NAK psn=+1 syndrome=0x62; got   nothing in time", ["NAK-07"]),
        ("want  ACK psn=+0 syndrome=ACK msn=1; got   nothing in time", ["ACK-01"]),
        ("want  ACK psn=+0 syndrome=ACK msn=1; got   ACK psn=+0 syndrome=0x00 msn=2", ["MSN-02"]),
        ("want  RNR psn=+0 syndrome=0x21; got   RNR psn=+0 syndrome=0x22", ["RNR-02"]),
        (
            "NAK came where ACK was due; psn: want +0|+1, got +5, syndrome: want ACK, got 0x60",
            ["NAK-02"],
        ),
        (
            "want  READ_RESP_ONLY psn=+2 msn=2; got   NAK psn=+2 syndrome=0x60 msn=1; "
            "opcode: want READ_RESP_ONLY, got NAK; msn: want 2, got 1",
            ["NAK-02"],
        ),
        (
            "want  receives completed: 7 success 65537 None; got   7 success 1 None",
            ["IMM-04"],
        ),
        (
            "queue pair 0 (UC) at rest; more receives than were due have completed; "
            "want  receives completed: none; got   7 success 1 None",
            ["UC-04"],
        ),
        (
            "queue pair 0 (RC) at rest; more receives than were due have completed; "
            "want  receives completed: none; got   7 success 1 None",
            ["DUP-01"],
        ),
        (
            "queue pair 0 (UC) at rest; fewer receives than were due have completed; "
            "want  receives completed: 7 success 1 None; got   none",
            ["UC-03"],
        ),
        (
            "queue pair 0 (RC) at rest; fewer receives than were due have completed; "
            "want  receives completed: 7 wr_flush_err None None; 8 wr_flush_err None None; "
            "got   none",
            ["QPS-03"],
        ),
        (
            "want  nothing more; got   NAK psn=+2 syndrome=0x60 msn=2; to 5 frames; in all came "
            "NAK psn=+2 syndrome=0x61 msn=2, NAK psn=+2 syndrome=0x60 msn=2",
            ["NAK-08"],
        ),
        (
            "want  receives completed: 7 success 1 2; got   7 success 1 2 invalidates 0x1",
            ["INV-01"],
        ),
        (
            "want  ATOMIC_ACK psn=+2 msn=2; got   NAK psn=+2 syndrome=0x62 msn=1; "
            "opcode: want ATOMIC_ACK, got NAK",
            ["RETH-07"],
        ),
        (
            "want  READ_RESP_FIRST psn=+2 msn=2; got   NAK psn=+2 syndrome=0x61 msn=1; "
            "opcode: want READ_RESP_FIRST, got NAK",
            ["READ-06"],
        ),
        (
            "got NAK psn=+0 syndrome=0x61 msn=0 payload=0; opcode: want ATOMIC_ACK, got NAK; "
            "msn: want 1, got 0; original: want 0x102030405060708, got absent",
            ["READ-06", "ATOM-03"],
        ),
        ("want  NAK psn=+0 syndrome=0x61; got   READ_RESP_ONLY psn=+0 payload=0[]", ["NAK-07"]),
        ("a receive completed otherwise; byte_len: want 385, got 129", []),
        ("want  nothing more; got   NAK psn=+1 syndrome=0x60 msn=0", ["NAK-02"]),
        (
            "want  nothing more; got   NAK psn=+1 syndrome=0x60; in all came RNR psn=+0",
            ["RNR-06", "NAK-02"],
        ),
        (
            "want  NAK psn=+0 syndrome=0x62 msn=0; got   NAK psn=+0 syndrome=0x61 msn=1",
            ["NAK-07"],
        ),
        ("want  NAK psn=+0 syndrome=0x62; got   ACK psn=+4 syndrome=0x1f", ["NAK-07"]),
        ("want  READ_RESP_ONLY psn=+0 payload=0; got   nothing in time", ["READ-02"]),
        (
            "want  READ_RESP_LAST psn=+1 msn=1 payload=8[00]; "
            "got   READ_RESP_LAST psn=+1 msn=1 payload=8[01]",
            ["READ-02"],
        ),
        ("want  work 0x1 completed with wr_flush_err; got   nothing", ["NAK-09"]),
        ("want  work 0x1 completed with rnr_retry_exc_err; got   nothing", ["RNR-05"]),
        ("want work 0x1 completed with success; got work 0x1 completed with rnr_retry_exc_err", []),
        (f"{NO_SUCH} success, syndrome 0x7f (reserved)", ["AETH-05"]),
        (f"{NO_SUCH} retry_exc_err, syndrome 0xff: {NO_TIMER}", ["RTX-07"]),
        (f"{NO_SUCH} retry_exc_err, syndrome 0x21", ["RNR-05"]),
        (f"{WAITS} retry_exc_err, syndrome 0x60", ["NAK-13"]),
        ("frame 0 of the device is wrong; pad bytes: want 00, got a5", ["PAD-02"]),
        (f"{NO_SUCH} success, syndrome 0x21", ["RNR-05"]),
        (f"{NOT_SENT}, which nothing has failed; {FLUSHED}", ["QPS-06"]),
        (f"{NOT_SENT}; {FLUSHED}", ["QPS-06", "NAK-09"]),
        (f"{NO_SUCH} wr_flush_err, syndrome 0xff", ["NAK-09"]),
        (f"{OWED} which is flushed", ["NAK-09"]),
        (f"{OWED} which is acknowledged", ["ACK-08"]),
        (f"{OWED} which has left", ["UC-01"]),
        ("at rest; want  other bytes from 0 on in the region of key 0x7", ["RETH-12"]),
        (
            "at rest; want  other bytes from 0 on in the region of key 0x7, where a request was to "
            "write",
            ["PSN-12"],
        ),
        (
            "at rest; want  other bytes from 0 on in the region of key 0x7, where an atomic was to "
            "store",
            ["ATOM-04"],
        ),
        (
            "queue pair 0 (UD) at rest; want  other bytes from 20 on in the region of key 0x7, in "
            "front of a datagram",
            ["GID-03"],
        ),
        ("want  SEND_ONLY psn=+1; got   SEND_ONLY psn=+1; icrc: want 4[0], got 4[1]", ["ICRC-02"]),
        (
            "got NAK psn=+0 syndrome=0x60 msn=1; opcode: want READ_RESP_ONLY, got NAK; "
            "msn: want 2, got 1",
            ["NAK-02"],
        ),
        (
            "got RNR psn=+0 syndrome=0x21 msn=0; psn: want +5, got +0; "
            "syndrome: want ACK, got 0x21; msn: want 1, got 0",
            ["RNR-01"],
        ),
        (
            "got NAK psn=-9 syndrome=0x60 msn=0; psn: want +0, got -9; "
            "syndrome: want ACK, got 0x60",
            ["NAK-02"],
        ),
        (
            "want  NAK psn=+3 syndrome=0x60 msn=3; got   NAK psn=+2 syndrome=0x60 msn=3; "
            "psn: want +3, got +2",
            ["NAK-01"],
        ),
        (
            "want  NAK psn=+3 syndrome=0x62; got   NAK psn=+2 syndrome=0x62; psn: want +3, got +2",
            ["NAK-07"],
        ),
        ("want  RNR psn=+2; got   RNR psn=+0 syndrome=0x21; psn: want +2, got +0", ["RNR-01"]),
        (
            "want  READ_RESP_ONLY psn=+1; got   ACK psn=+4 syndrome=0x1f; "
            "opcode: want READ_RESP_ONLY, got ACK; psn: want +1, got +4",
            ["READ-02"],
        ),
        (
            "want  ATOMIC_ACK psn=+1; got   READ_RESP_ONLY psn=+2 syndrome=0x1f; "
            "opcode: want ATOMIC_ACK, got READ_RESP_ONLY; psn: want +1, got +2",
            ["ATOM-05"],
        ),
        (
            "want  READ_RESP_ONLY psn=+5; got   READ_RESP_FIRST psn=+0 syndrome=0x1f; "
            "opcode: want READ_RESP_ONLY, got READ_RESP_FIRST; psn: want +5, got +0",
            [],
        ),
        ("want  ATOMIC_ACK psn=+4 msn=3; got   nothing in time", ["ATOM-05"]),
        (
            "got ATOMIC_ACK psn=+0 syndrome=0x1f msn=1; opcode: want NAK, got ATOMIC_ACK; "
            "syndrome: want 0x62, got 0x1f",
            ["AETH-02"],
        ),
        (
            "want  NAK psn=+0 syndrome=0x62; got   ATOMIC_ACK psn=+0 syndrome=0x1f; "
            "opcode: want NAK, got ATOMIC_ACK; syndrome: want 0x62, got 0x1f",
            ["NAK-07"],
        ),
        (f"{WAITS} retry_exc_err, syndrome 0xff: {NO_TIMER}; {AS_ANOTHER} 0x7", ["QPS-06"]),
        (f"{DIED} tx_valid fell before ready rose", ["ETH-07"]),
        (f"{DIED} tx changed while it waited for ready", ["ETH-07"]),
        (f"{DIED} mwd changed while it waited for ready", ["RETH-12"]),
        (f"{DIED} mrc changed while it waited for ready", ["READ-02"]),
        (f"{DIED} cpl_valid fell before ready rose", []),
        (f"{DIED} a read of tag 0, as one that has no answer yet", ["READ-02"]),
        ("nobody knows what this means", []),
    ],
)
def test_what_differed_first_names_its_rule(head: str, rules: list[str]) -> None:
    assert list(named(head)) == rules


@pytest.mark.parametrize(
    ("services", "told"),
    [
        ({"RC"}, "ACK-08 ACK-05"),
        ({"UC"}, "UC-01"),
        ({"RC", "UC"}, "ACK-08 ACK-05"),
        (set(), "ACK-08 ACK-05"),
    ],
)
def test_what_holds_of_another_service_is_not_accused(services: set[str], told: str) -> None:
    assert on_services(["ACK-08", "ACK-05"], services) == tuple(told.split())


def test_work_that_no_answer_has_ended_tells_of_a_timer_where_there_is_none() -> None:
    late = Outcome(wr_id=1, status="retry_exc_err", syndrome=0xFF)
    spec = cast("QpSpec", SimpleNamespace(ack_timeout=0))
    assert ended(late, spec) == f"retry_exc_err, syndrome 0xff: {NO_TIMER}"
    assert rules_of_end(late, spec) == ("RTX-07",)
    words = f"work 0x1 completed with {ended(late, spec)}"
    head = f"not dropped: bit 0; a completion came too early: {words}"
    assert in_short(head) == words
    assert in_short(f"want  work 0x1 completed with success; got   {words}") == words
    assert likeness(head) == likeness(f"the queue pair ended with {ended(late, spec)}") == NO_TIMER
    assert rules_of_end(late, cast("QpSpec", SimpleNamespace(ack_timeout=9))) == ()
    assert rules_of_end(replace(late, syndrome=0x60), spec) == ()
    assert rules_of_end(late, spec, asks_data=True) == ()
    assert ended(late, spec, asks_data=True) == "retry_exc_err, syndrome 0xff"
    misplaced = replace(late, status="loc_prot_err")
    assert rules_of_end(misplaced, spec) == ()
    assert rules_of_end(misplaced, spec, asks_data=True) == ("READ-10",)
    assert ended(misplaced, spec, asks_data=True) == "loc_prot_err, syndrome 0xff"
    assert ended(replace(late, status="success", syndrome=0x64), spec) == "success, syndrome 0x64"
    reserved = replace(late, status="success", syndrome=0xC7)
    assert ended(reserved, spec) == "success, syndrome 0xc7 (reserved)"


@pytest.mark.parametrize(
    ("status", "syndrome", "rule"),
    [
        ("retry_exc_err", 0x1F, "RTX-05"),
        ("rnr_retry_exc_err", 0x60, "RNR-05"),
        ("rem_access_err", 0x61, "NAK-09"),
        ("rnr_retry_exc_err", 0xFF, "RNR-05"),
        ("rem_op_err", 0xFF, "NAK-09"),
        ("wr_flush_err", 0x00, "NAK-09"),
        *(("retry_exc_err", each, None) for each in (0x60, 0xFF, None)),
        ("rnr_retry_exc_err", 0x3F, None),
        *(("success", each, None) for each in (0x00, 0x60, 0xFF)),
    ],
)
def test_work_ends_with_the_syndrome_of_a_response_that_ends_it_so(
    status: str, syndrome: int | None, rule: str | None
) -> None:
    wrong = wrong_syndrome(Outcome(wr_id=1, status=status, syndrome=syndrome))
    assert (wrong and wrong[1]) == rule


@pytest.mark.parametrize(
    ("step", "text", "rules"),
    [
        (Step("answer", {"key": 0, "brink": 2}), f"{OWED} which is acknowledged", "IP-11 ACK-08"),
        (Step("answer", {"key": 0, "ttl": 1}), f"{OWED} which is acknowledged", "IP-09 ACK-08"),
        (Step("salvo", {"flaws": [("alias", 3)]}), f"{NO_SUCH} success, syndrome 0x00", "BTH-11"),
        (Step("request", {"op": "SEND", "more": 4}), "want  NAK psn=+0 syndrome=0x61; got   nothing"
         " in time", "RETH-11 NAK-07"),
        (Step("connect", {"key": 0, "access": ["remote_write"]}), "want  NAK psn=+0 syndrome=0x61; "
         "got   READ_RESP_ONLY psn=+0", "OPC-13 NAK-07"),
        (Step("request", {"op": "SEND", "key_mask": 4}), "queue pair 0 (UC) at rest; want  other "
         "bytes from 0 on in the region of key 0x1, where a request was to write", "UC-09 UC-03"),
        (Step("raw", {"value": 8}), "queue pair 0 (UD) at rest; want  other bytes from 0 on in the "
         "region of key 0x1, where a request was to write", "UD-05"),
        (Step("flawed", {"flaw": "marked"}), "queue pair 0 (RC) at rest; want  nothing more; got   "
         "ACK psn=-9; in all came NAK psn=+1 syndrome=0x61 msn=0, ACK psn=-9", "NAK-08 ICRC-13"),
        (Step("turn", {"qp": 0}), "want  RNR psn=+0; got   nothing in time", "RNR-01"),
        (Step("power_on", {}), f"{NO_SUCH} wr_flush_err, syndrome 0xff", "QPS-04 NAK-09"),
    ],
)  # fmt: skip
def test_what_a_small_plan_still_says_is_what_the_device_trips_over(
    step: Step, text: str, rules: str
) -> None:
    found = rules_of_plan(Plan(steps=(step,)), CaseFailed(text.replace("; ", "\n")))
    assert found[: len(rules.split())] == tuple(rules.split())


def test_a_field_that_a_plan_shows_wrong_is_all_that_it_accuses() -> None:
    plan = Plan(steps=(Step("answer", {"key": 0, "ttl": 1}),))
    assert rules_of_plan(plan, CaseFailed("want", rules=["PSN-02"])) == ("PSN-02",)


def test_a_plan_that_ends_a_simulation_accuses_what_broke_the_contract() -> None:
    failure = CaseFailed(
        f"{DIED} a read of tag 0, as one that has no answer yet", rules=["LIVE-01"]
    )
    assert rules_of_plan(Plan(steps=()), failure) == ("READ-02",)
    assert rules_of_plan(Plan(steps=()), CaseFailed("ping is lost", rules=["LIVE-01"])) == (
        "LIVE-01",
    )


@pytest.mark.parametrize(
    ("got", "told"),
    [
        (b"\0abcdefg", ", 1 byte too late"),
        (b"cdefgh\0\0", ", 2 bytes too early"),
        (b"abcdefgX", "want 68, got 58 from 7 on"),
    ],
)
def test_bytes_in_another_place_are_told_by_how_far_they_moved(got: bytes, told: str) -> None:
    assert str(otherwise(b"abcdefgh", got, bytes(8))).endswith(told)
    assert otherwise(b"abcdefgh", got, got) is None


class _Remembering:
    def __init__(self, *, is_late: bool) -> None:
        self._is_late = is_late

    def memory_is_late(self) -> bool:
        return self._is_late


def test_bytes_that_come_later_are_told_as_late_and_not_as_others() -> None:
    failure = CaseFailed("test_x.py:9: assert region.read(0, 2) == b'ab'\nother bytes")
    late = unless_late(cast(Target, _Remembering(is_late=True)), failure)
    assert late.rules == ("LIVE-02",)
    assert head_of(late).startswith("test_x.py:9: ") and "before its bytes were in memory" in str(
        late
    )
    assert unless_late(cast(Target, _Remembering(is_late=False)), failure) is failure


@pytest.mark.parametrize(
    ("want", "got", "rules", "told"),
    [
        ("wr_flush_err None None", "success 0 None", ("QPS-03",), "status: want wr_flush_err"),
        ("success 5 None", "loc_len_err None None", (), "status: want success"),
        ("success 5 None", "success 6 None", ("IMM-04",), "byte_len: want 5, got 6"),
    ],
)
def test_of_a_receive_that_ended_otherwise_only_the_status_says_why(
    want: str, got: str, rules: tuple[str, ...], told: str
) -> None:
    head = f"want receives completed: 0x1 {want}; 0x2 {want}; got 0x1 {got}; 0x2 {got}"
    assert named(head) == rules
    assert told in in_short(head) and in_short(head).count("want") == 1
