# SPDX-License-Identifier: BSD-2-Clause
"""Root findings: what cases share is told once, and no cause that a passing case contradicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from roceproof.conformance.runner.findings.discriminating_features import separate
from roceproof.conformance.runner.findings.observations import FEATURES
from roceproof.conformance.runner.findings.quantities import QUANTITIES
from roceproof.conformance.runner.findings.root import Root
from roceproof.conformance.runner.findings.root_findings import roots
from roceproof.conformance.runner.findings.unheeded import SAME
from roceproof.conformance.runner.findings.words.documents import documents
from roceproof.conformance.suite.reporting.failure import STRAY, CaseFailed
from roceproof.conformance.suite.reporting.failure_heads import (
    WITHOUT_A_PAUSE,
    head_of,
    without_place,
)
from roceproof.conformance.targets.interface import RESET_AMID_LIFE

USUAL = {
    "rest": 0,
    "empty": False,
    "packets": 1,
    "place": "only",
    "whole": False,
    "service": "RC",
    "mtu": 256,
    "op": "WRITE",
    "carries": "WRITE",
    "immediate": False,
    "ip": 4,
    "qp": 0,
    "life": False,
    "nth": 1,
    "offset": False,
    "solicited": False,
    "nak": False,
    "turn": False,
    "width": 64,
}
STOPS = NO_PACKET, NO_COMPLETION = "no packet", "no completion"


class Session:
    """Cases that somebody has run."""

    def __init__(self) -> None:
        self.cases: dict[str, dict[str, Any]] = {}
        self.seen: dict[str, dict[str, Any]] = {}

    def add(
        self,
        *rows: tuple[dict[str, Any], str],
        head: str = "",
        broken: tuple[str, ...] = (),
        differed: tuple[str, ...] = (),
        got: dict[str, str] | None = None,
        right: dict[str, list[int]] | None = None,
        frames: int = 9,
    ) -> None:
        """A case that saw these messages, each with what was wrong with it; the last stops it."""
        name = f"case {len(self.cases):02}"
        failed = any(trouble for _, trouble in rows) or bool(head)
        stop = rows[-1][1] if rows and rows[-1][1] in (NO_PACKET, NO_COMPLETION) else None
        outcome = "not_reached" if stop else "failed"
        self.cases[name] = {
            "case": name,
            "outcome": outcome if failed else "passed",
            "broken": list(broken),
            "differed": list(differed),
            "head": head,
            "capture": f"{name}.pcapng",
            "replay": "again",
        }
        self.seen[name] = {
            "rows": [_row(*row) for row in rows] + [_whole(f) for f, t in rows if t not in STOPS],
            "values": {field: {"want": ["7"], "got": [v]} for field, v in (got or {}).items()},
            "right": right or {},
            "stop": {"kind": stop, "fields": [], "words": f"{stop} of it"} if stop else None,
            "frames": frames,
        }

    def roots(self) -> list[Root]:
        return roots(self.cases, self.seen)

    def sentences(self) -> list[str]:
        return [each["sentence"] for each in documents(self.roots(), self.cases, self.seen)]


def _row(features: dict[str, Any], trouble: str) -> list[Any]:
    told = USUAL | features
    stage = {NO_COMPLETION: "completion", NO_PACKET: "message"}.get(trouble, "packet")
    return [
        [told[name] for name in FEATURES],
        stage,
        [trouble] if trouble else [],
        1,
        *_amounts(told),
    ]


def _whole(features: dict[str, Any]) -> list[Any]:
    told = USUAL | features
    return [[told[name] for name in FEATURES], "message", [], 1, *_amounts(told)]


def _amounts(told: dict[str, Any]) -> list[list[int]]:
    """The least and the most: of one message the same."""
    size = 0 if told["empty"] else told["mtu"] * (told["packets"] - 1) + 64 + told["rest"]
    given = {
        "mtu": told["mtu"],
        "queue pair": told["qp"],
        "alignment": min(size & -size, 256) if size else 256,
        "size": size,
        "open messages": 1,
        "open packets": told["packets"],
        "open of all": 1,
    }
    own = [told.get(name, given[name]) for name in QUANTITIES]
    return [own, own]


def broken_where(feature: dict[str, Any], trouble: str = NO_PACKET) -> Session:
    session = Session()
    for _ in range(4):
        session.add(({}, ""), ({"service": "UC"}, ""), ({"mtu": 1024, "nth": 2}, ""))
        session.add(({}, ""), ({"qp": 1, "op": "SEND", "carries": "SEND"}, ""))
        session.add(({}, ""), (feature, trouble), broken=("LIVE-01",))
        session.add(({"service": "UC"}, ""), (feature | {"service": "UC"}, trouble))
    return session


def test_the_smallest_conjunction_that_nothing_contradicts_is_found() -> None:
    failing = [frozenset("ab"), frozenset("abc"), frozenset("abd")]
    causes, left = separate(failing, [frozenset("a"), frozenset("bc")])
    assert [set(cause.features) for cause in causes] == [{"a", "b"}]
    assert not left


def test_what_passes_with_all_features_of_a_failure_forbids_any_cause() -> None:
    causes, left = separate([frozenset("ab")], [frozenset("ab")])
    assert causes == []
    assert left == {0}


def test_two_faults_are_two_causes_the_larger_one_first() -> None:
    failing = [frozenset("ax"), frozenset("ay"), frozenset("bx")]
    causes, left = separate(failing, [frozenset("x"), frozenset("y")])
    assert [cause.features for cause in causes] == [("a",), ("b",)]
    assert not left


def test_cases_that_stop_at_one_kind_of_message_are_one_finding() -> None:
    session = broken_where({"rest": 1})
    assert session.sentences() == [
        "stop at messages of a length that is no multiple of 4: no packet of it"
    ]
    assert len(session.roots()[0].cases) == 8


def test_a_message_of_the_kind_that_passes_takes_the_cause_away() -> None:
    session = broken_where({"rest": 1})
    for service in ("RC", "UC"):
        session.add(({"rest": 1, "service": service}, ""))
    (sentence,) = session.sentences()
    assert sentence == "stop: no packet of it"


def test_two_kinds_that_stop_cases_are_two_findings() -> None:
    session = broken_where({"rest": 1})
    for number in range(3):
        session.add(({}, ""), ({"mtu": 2048, "nth": number}, NO_PACKET))
    assert session.sentences() == [
        "stop at messages of a length that is no multiple of 4: no packet of it",
        "stop at messages at path MTU 2048: no packet of it",
    ]


def test_what_is_seen_in_two_cases_only_is_no_cause() -> None:
    session = Session()
    for _ in range(9):
        session.add(({}, ""))
    session.add(({"rest": 1}, NO_PACKET))
    session.add(({"rest": 1}, NO_PACKET))
    assert session.sentences() == ["stop: no packet of it"]


def test_a_value_that_is_right_by_chance_contradicts_nothing() -> None:
    session = Session()
    for number in range(4):
        session.add(({"nth": number}, "field ttl"), got={"ttl": "64"}, right={"ttl": [64]})
    session.add(({}, ""), right={"ttl": [64]})
    assert session.sentences() == ["show in every packet: ttl is always 64 (want 7 in the first)"]


def test_what_stops_cases_comes_before_what_more_cases_show() -> None:
    session = Session()
    for number in range(8):
        rows = [({"nth": number}, "field ttl")]
        rows += [({"rest": 1}, NO_PACKET)] if number < 4 else []
        session.add(*rows, got={"ttl": "64"}, right={"ttl": [9]})
    first, second = session.sentences()
    assert first.startswith("stop at messages of a length that is no multiple of 4")
    assert second.startswith("show in every packet: ttl")


@pytest.mark.parametrize(("many", "counts"), [(4, [4, 1]), (3, [1, 3])])
def test_what_stops_one_case_comes_behind_what_four_times_as_many_show(
    many: int, counts: list[int]
) -> None:
    session = Session()
    session.add(({}, NO_PACKET))
    for number in range(many):
        session.add(({}, ""), head=f"want READ_RESP_ONLY psn=+{number}; got nothing in time")
    session.add(({}, ""))
    assert [len(root.cases) for root in session.roots()] == counts


def test_an_assertion_of_a_cases_own_is_grouped_by_its_words_without_numbers() -> None:
    session = Session()
    session.add(({}, ""))
    for number in range(3):
        session.add(({}, ""), head=f"work {number} came too early", broken=("ACK-09",))
    assert session.sentences() == ["show: work 0 came too early"]
    assert len(session.roots()[0].cases) == 3


def test_failures_with_the_same_wrong_fields_are_alike_whatever_their_values() -> None:
    session = Session()
    session.add(head="payload: want 1[58], got 3[580000], pad: want 3, got 1")
    session.add(head="got WRITE psn=+0; pad: want 1, got 3; payload: want 3[d5..], got 1[d5]")
    session.add(head="want WRITE of 4; got 58; ip_checksum: want 1234, got 1235")
    session.add(head="want SEND of 8; got d5; ip_checksum: want 7777, got 7778")
    assert [len(root.cases) for root in session.roots()] == [2, 2]


def test_a_case_that_stops_at_what_a_finding_explains_is_one_of_its_cases() -> None:
    session = Session()
    for rest in (1, 2, 3):
        session.add(({}, ""), ({"rest": rest}, "field pad"), head="pad: want 3, got 1")
    session.add(head="payload: want 1[58], got 3[580000]; pad: want 3, got 1; icrc: want a, got b")
    session.add(head="pad: want 1, got 3; psn: want 4, got 5")
    session.add(head="icrc: want 12345678, got 87654321")
    pads, *others = session.roots()
    assert (pads.troubles, len(pads.cases)) == (["field pad"], 4)
    assert {root.head.partition(":")[0] for root in others} == {"icrc", "pad"}


def test_a_wrong_icrc_is_explained_where_all_are_wrong() -> None:
    session = Session()
    for op in ("WRITE", "SEND", "WRITE"):
        session.add(({"op": op}, "rule ICRC-02"), head="the observer says")
    session.add(head="icrc: want 12345678, got 87654321")
    (root,) = session.roots()
    assert len(root.cases) == 4


def test_deaths_are_alike_whenever_they_come_and_wherever_their_log_is() -> None:
    session = Session()
    session.add(head="the device died: ended in cycle 9 (log: /tmp/a1-rgob.log); tx changed")
    session.add(head="run(); the device died: ended in cycle 77 (log: /tmp/x.log); tx changed")
    session.add(head="the device died: ended in cycle 9 (log: /tmp/x.log); cpl changed")
    assert sorted(len(root.cases) for root in session.roots()) == [1, 2]


def test_of_a_death_the_assertion_is_told() -> None:
    session = Session()
    place = "%Error: sink.sv:93: Assertion failed in TOP.u_tx.KeepContiguous: port 0:"
    session.add(head=f"the device died: in cycle 9 (log: /tmp/a.log); [77] {place} tx_tkeep is odd")
    session.add(head=f"the device died: in cycle 8 (log: /tmp/b.log); [66] {place} tx_tkeep is odd")
    (sentence,) = session.sentences()
    assert sentence == "show: the device breaks its contract: tx_tkeep is odd"


def test_an_assertion_inside_the_device_is_told_behind_what_its_ports_show() -> None:
    session = Session()
    for time in (5, 7):
        place = f"[{time}] %Error: core.sv:9: Assertion failed in TOP.u_core.full:"
        session.add(head=f"an assertion inside the device fails: {place} it is full")
    session.add(head="want nothing; got WRITE_ONLY psn=+5")
    assert session.sentences() == [
        "show: want nothing; got WRITE_ONLY psn=+5",
        "show: an assertion inside the device fails: it is full",
    ]


def test_the_capture_of_a_finding_is_that_of_the_case_whose_words_it_tells() -> None:
    session = Session()
    session.add(head="want nothing; got WRITE_ONLY psn=+5")
    session.add(head="want nothing; got WRITE_ONLY psn=+7")
    session.seen["case 01"]["frames"] = 2
    (found,) = documents(session.roots(), session.cases, session.seen)
    assert "psn=+5" in found["sentence"]
    assert found["representative"]["capture"] == "case 00.pcapng"


def test_a_value_that_is_right_elsewhere_is_not_always_there() -> None:
    session = Session()
    for _ in range(4):
        session.add(({}, "field a"), got={"a": "0"})
        session.add(({}, ""), right={"a": [0, 1]})
    assert session.sentences() == ["show in every packet: a is wrong (want 7, got 0 in the first)"]


def test_a_flag_that_right_packets_do_not_have_is_not_always_there() -> None:
    session = Session()
    for _ in range(4):
        session.add(({}, "field se"), got={"se": "1"})
        session.add(({}, ""))
        session.seen[max(session.seen)]["shown"] = {"se": [0, 1]}
    (told,) = session.sentences()
    assert "se is wrong (want 7, got 1 in the first)" in told


def test_work_that_lacks_its_end_is_one_finding_whatever_the_error() -> None:
    session = Session()
    for error in ("rem_access_err", "rnr_retry_exc_err", "retry_exc_err"):
        owed = f"work 0x4 (SEND of 5 bytes, number 1) which ends with {error}"
        session.add(head=f"want a completion; got nothing in time; qp 0x12: {owed}")
    assert len(session.roots()) == 1


def test_a_loop_that_does_not_settle_is_one_finding_in_words() -> None:
    session = Session()
    for log in "ab":
        aborted = f"%Error: top.sv:10: Active region did not converge. (log: /tmp/{log}.log)"
        session.add(head=f"the device died: the simulation ended: {aborted}; Aborting...")
    (sentence,) = session.sentences()
    assert sentence == "show: a combinational loop of the device does not settle"


def test_the_same_words_at_another_place_in_another_storm_are_one_finding() -> None:
    session = Session()
    words = "(UC, 0x{:x}): want work 0x{:x} completed with success; got work 0x{:x}"
    for n, place in enumerate(["", "test_storm.py:111: storm.rage(answers=each); "]):
        told = words.format(17 + n, 18 + n, 19 + n)
        session.add(({}, ""), head=f"{place}qp{n} {told}; then: {n} messages in flight")
    (sentence,) = session.sentences()
    assert sentence == f"show: {words.format(17, 18, 19)}"


def test_lengths_are_explained_by_a_wrong_ip_length_of_another_case() -> None:
    session = Session()
    session.add(({}, "field ip_length"), broken=("IP-02",), got={"ip_length": "0x40"})
    storm = "want message 9; got SEND_ONLY; ip_length: want 0x3c, got 0x40; then: 400 messages"
    session.add(({}, ""), head=storm, broken=("LIVE-02", "ETH-07"))
    plan = "want SEND_ONLY; got SEND_ONLY; icrc: want 4[22], got 4[09]; udp_length: want 0x28, got"
    session.add(({}, ""), head=plan, broken=("ICRC-01", "IP-02"))
    (root,) = session.roots()
    assert (root.troubles, len(root.cases)) == (["field ip_length"], 3)


def test_a_long_head_is_cut() -> None:
    session = Session()
    session.add(({}, ""), head="it is not right " * 40)
    (sentence,) = session.sentences()
    assert len(sentence) < 310
    assert sentence.endswith(" ...")


def test_what_stops_cases_shows_how_the_streams_of_one_stood() -> None:
    session = broken_where({"empty": True})
    for name, seen in session.seen.items():
        seen["streams"] = [f"streams in cycle {name}"]
    (stop,) = documents(session.roots(), session.cases, session.seen)
    assert stop["stops"]
    assert stop["streams"] == [f"streams in cycle {stop['representative']['case']}"]
    shown = broken_where({"empty": True}, "field psn")
    for seen in shown.seen.values():
        seen |= {"streams": ["streams"], "values": {"psn": {"want": ["1"], "got": ["2"]}}}
    found = documents(shown.roots(), shown.cases, shown.seen)
    assert found
    assert not any(each["streams"] for each in found)


def test_the_line_of_a_case_is_no_part_of_what_was_wrong() -> None:
    failure = CaseFailed('test_it.py:55: fail(f"after {a} ns; T is {b} ns")\nafter 9 ns; T is 1 ns')
    assert without_place(head_of(failure)) == "after 9 ns; T is 1 ns"


def test_an_empty_line_is_no_part_of_a_sentence() -> None:
    told = head_of(CaseFailed("\nqueue pair 0\n\nwant  a\ngot  b\n"))
    assert told == "queue pair 0; want a; got b"


def test_other_bytes_are_told_with_what_only_frames_without_a_pause_do() -> None:
    session = Session()
    session.add(({}, ""), head=f"memory of queue pair RC holds other bytes; {WITHOUT_A_PAUSE}")
    for _ in range(3):
        session.add(({}, ""), head="memory holds what it may not")
    session.add(({}, ""), head="want  ACK psn=+0; got   nothing in time")
    first, second = session.sentences()
    assert WITHOUT_A_PAUSE in first
    assert "ACK" in second


def test_what_shows_only_while_a_stream_is_slowed_down_says_so() -> None:
    session = Session()

    def ends(words: str) -> list[bool]:
        return [
            each.endswith(f"; all of these cases stall tx{words}") for each in session.sentences()
        ]

    def add(*streams: str, head: str = "") -> None:
        session.add(({}, ""), head=head, broken=("ICRC-02",))
        session.seen[max(session.seen)]["disturbed"] = streams

    for more in ([], ["rx_gap"], ["wr_gap"]):
        add("tx_stall", *more, head="it came otherwise")
    for _ in range(19):
        add("wr_gap")
    assert ends(", and none of those that pass") == [True]
    add("tx_stall")
    assert ends(", and 1 of those that pass") == [True]
    add("tx_stall")
    assert ends("") == [False]
    assert "stall" not in session.sentences()[0]


@pytest.mark.parametrize(
    ("stream", "rules"),
    [("tx_stall", ["ETH-07", "LIVE-01"]), ("wr_gap", ["FUZZ-15", "LIVE-01"]), ("", ["LIVE-01"])],
)
def test_where_all_is_in_doubt_what_is_done_to_a_stream_goes_first(
    stream: str, rules: list[str]
) -> None:
    session = Session()
    for _ in range(3):
        session.add(({}, ""), head="no answer to ARP", broken=("LIVE-01",))
        session.seen[max(session.seen)]["disturbed"] = [stream] if stream else []
    for _ in range(30):
        session.add(({}, ""))
    (told,) = documents(session.roots(), session.cases, session.seen)
    assert told["rules"] == told["in_doubt"] == rules


def test_what_shows_behind_resets_alone_is_kin_and_accuses_nobody_for_sure() -> None:
    session = Session()

    def add(*, resets: bool, trouble: str = "", head: str = "") -> None:
        session.add(({}, trouble), head=head, broken=("ACK-08",))
        done = [RESET_AMID_LIFE] if resets else []
        session.seen[max(session.seen)]["disturbed"] = done

    for _ in range(4):
        add(resets=True, trouble=NO_COMPLETION, head="no completion of it")
    add(resets=True, head="want ACK psn=+0; got nothing in time")
    for _ in range(30):
        add(resets=False)
    first, second = documents(session.roots(), session.cases, session.seen)
    assert first["sentence"].endswith(
        "; all of these cases reset the device, and none of those that pass"
    )
    assert first["in_doubt"] == ["ACK-08"]
    assert first[SAME] == second[SAME] == "reset the device"


def test_what_had_to_be_dropped_and_was_answered_is_told_before_what_came_of_it() -> None:
    session, head = (
        Session(),
        "got ACK; answered is a packet that had to be dropped, of others",
    )
    for own in ("MSN-02", "ACK-12", "ACK-12"):
        session.add(({}, f"rule {own}"), head=head, broken=(own, "BTH-07"), differed=("BTH-07",))
        told = {"failures": [[head, ["BTH-07"]]], "rules": {own: "is broken"}}
        session.seen[max(session.seen)] |= told
    for _ in range(9):
        session.add(({}, ""))
    (told,) = documents(session.roots(), session.cases, session.seen)
    assert told["rules"][0] == "BTH-07"
    assert "BTH-07" not in told["in_doubt"]


@pytest.mark.parametrize(("cases_about", "doubt"), [(1, ["UC-11"]), (3, [])])
def test_a_rule_that_few_of_the_cases_are_about_is_in_doubt_though_none_of_it_passes(
    cases_about: int, doubt: list[str]
) -> None:
    session = Session()
    for number in range(4):
        head = "want receive done with success; got nothing"
        session.add(head=head, broken=("UC-01", "QPS-04"), differed=("UC-01",))
        about = ["UC-11"] if number < cases_about else ["IMM-01"]
        session.cases[max(session.cases)]["rules"] = about
    session.add(({}, ""))
    session.cases[max(session.cases)]["rules"] = ["IMM-01"]
    (told,) = documents(session.roots(), session.cases, session.seen)
    assert [rule for rule in told["in_doubt"] if rule == "UC-11"] == doubt


@pytest.mark.parametrize(
    ("differed", "first", "doubt"),
    [(("RTX-05", "ACK-08"), "ACK-08", ["RTX-05", "ACK-15"]), (("RTX-05", "RTX-05"), "RTX-05", [])],
)
def test_of_work_that_never_ends_what_was_seen_is_accused_if_its_cases_name_different_rules(
    differed: Sequence[str], first: str, doubt: list[str]
) -> None:
    session = Session()
    for rule in differed:
        broken = ("ACK-15",) if rule == "ACK-08" else ("NAK-09",)
        session.add(({}, NO_COMPLETION), broken=(*broken, "ACK-08"), differed=(rule,))
    (told,) = documents(session.roots(), session.cases, session.seen)
    assert told["rules"][0] == first
    assert [rule for rule in told["in_doubt"] if rule != first] == doubt


def test_packets_to_nobodys_qpn_are_one_finding_whatever_the_observer_says_of_addresses() -> None:
    session = Session()
    for turn in range(20):
        session.add(({}, ""), head="want ACK; got nothing", broken=("ACK-01",))
        seen = session.seen[max(session.seen)]
        seen["rules"] = {"IP-08": "IP-08 frame 2: expected a QPN of this address, got 0x7"}
        seen["failures"] = [[f"{STRAY}: ACK psn=+0", ["BTH-10"]]] if turn else []
    told = documents(session.roots(), session.cases, session.seen)
    assert [each["rules"][0] for each in told if "IP-08" in each["rules"]] == ["BTH-10"]


@pytest.mark.parametrize("turn", [0, 1])
def test_where_another_rule_is_named_what_is_done_to_inner_streams_goes_last(turn: int) -> None:
    session = Session()
    for _ in range(3):
        session.add(({}, ""), head="other bytes", broken=(("RETH-12", "LIVE-01")[turn],))
        session.seen[max(session.seen)]["disturbed"] = ["wr_gap"]
    for _ in range(30):
        session.add(({}, ""))
    (told,) = documents(session.roots(), session.cases, session.seen)
    assert told["rules"] == [["RETH-12", "FUZZ-15"], ["FUZZ-15", "LIVE-01"]][turn]


def test_a_psn_is_told_by_what_some_cases_know_of_it() -> None:
    session = Session()
    for turn in range(10):
        session.add(({}, ""), head="psn", differed=("PSN-02",) if turn else ("PSN-08",))
        session.seen[max(session.seen)]["rules"] = {"PSN-02": "PSN-02 frame 1"}
    (told,) = documents(session.roots(), session.cases, session.seen)
    assert told["rules"][0] == "PSN-02"
    for _ in range(3):
        session.add(({}, ""), head="psn", differed=("PSN-08",))
        session.seen[max(session.seen)]["rules"] = {"PSN-02": "PSN-02 frame 1"}
    (told,) = documents(session.roots(), session.cases, session.seen)
    assert told["rules"][0] == "PSN-08"


def test_the_life_that_all_cases_are_about_goes_before_what_is_in_doubt() -> None:
    session = Session()
    session.add(({}, ""), head="NAK came otherwise", broken=("QPS-04", "RETH-06", "NAK-07"))
    session.cases[max(session.cases)] |= {"rules": ["QPS-04", "RETH-06"], "differed": ["NAK-07"]}
    for _ in range(3):
        session.add(({}, ""))
        session.cases[max(session.cases)]["rules"] = ["RETH-06", "QPS-04"]
    (told,) = documents(session.roots(), session.cases, session.seen)
    assert told["rules"][0] == "QPS-04"


@pytest.mark.parametrize(("frames", "first"), [(35, "NAK-07"), (36, "RETH-06")])
def test_what_takes_far_fewer_frames_to_show_is_told_first(frames: int, first: str) -> None:
    session = Session()
    for rule, length, times in (("NAK-07", frames, 3), ("RETH-06", 9, 2)):
        for _ in range(times):
            head = f"want {rule}; got nothing"
            session.add(head=head, broken=(rule,), differed=(rule,), frames=length)
    roots = session.roots()
    assert [len(root.cases) for root in roots] == ([3, 2] if first == "NAK-07" else [2, 3])


def test_where_cases_agree_on_nothing_the_one_rule_of_the_shortest_is_accused() -> None:
    session = Session()
    head = "a completion came too early: work 0x7 completed with retry_exc_err, syndrome 0x60"
    session.add(head=head, broken=("NAK-13",), frames=4)
    for differed in ("ACK-09", "QPS-06", "RNR-05", "NAK-09"):
        session.add(head=head, broken=("QPS-06", "ACK-08"), differed=(differed,), frames=40)
    (told,) = documents(session.roots(), session.cases, session.seen)
    assert (told["rules"][0], told["frames"]) == ("NAK-13", 4)


@pytest.mark.parametrize(
    ("stops", "first"), [(3, "show: ICRC-02 is broken"), (4, "stop: no packet")]
)
def test_what_is_wrong_on_the_wire_comes_before_a_stop_of_no_more_cases(
    stops: int, first: str
) -> None:
    session = Session()
    for _ in range(3):
        session.add(({}, "rule ICRC-02"))
        session.add(({}, ""))
    for _ in range(stops):
        session.add(({}, NO_PACKET))
    assert session.sentences()[0].startswith(first)


@pytest.mark.parametrize(
    ("service", "shared", "rules", "doubt"),
    [
        ("RC", (), ["LIVE-01"], {"ICRC-07", "PSN-18", "ETH-07"}),
        ("UC", (), ["UC-01"], {"ICRC-07", "PSN-18", "ETH-07"}),
        ("RC", ("RNR-04",), ["RNR-04"], set()),
    ],
    ids=["RC", "UC", "one rule"],
)
def test_what_never_came_accuses_no_rule_of_a_few_of_its_cases(
    service: str, shared: tuple[str, ...], rules: list[str], doubt: set[str]
) -> None:
    session = Session()
    for own in ("ICRC-07", "PSN-18", "ETH-07"):
        session.add(({"service": service}, NO_PACKET), broken=shared or (own,))
        session.add(({"service": service}, ""))
    (told,) = documents(session.roots(), session.cases, session.seen)
    assert told["rules"][:1] == rules and {*told["in_doubt"]} <= doubt
    assert not {*told["rules"]} - {*rules, *told["in_doubt"]}


@pytest.mark.parametrize(
    ("head", "first"),
    [("want receive 0x7 done with success; got nothing", "RQ-01"), ("got nothing", "UC-01")],
    ids=["a receive", "work"],
)
def test_a_receive_that_never_completes_breaks_no_rule_of_a_requester(
    head: str, first: str
) -> None:
    session = Session()
    for number in range(3):
        uc = {"service": "UC", "nth": number}
        session.add((uc, NO_COMPLETION), head=head, broken=("LIVE-01",), differed=("UC-01",))
    (found,) = documents(session.roots(), session.cases, session.seen)
    assert found["rules"] == [first]


def test_of_a_payload_that_its_icrc_does_not_fit_the_icrc_is_told_first() -> None:
    session = Session()
    for value in ("7", "8"):
        session.add(({}, "field payload"), got={"payload": value})
        (_, _, troubles, *_), *_ = session.seen[max(session.seen)]["rows"]
        troubles.append("rule ICRC-02")
    (found,) = documents(session.roots(), session.cases, session.seen)
    assert found["rules"] == ["ICRC-02", "RETH-13"]
