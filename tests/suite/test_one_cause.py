# SPDX-License-Identifier: BSD-2-Clause
"""One cause is one finding: what is true of every case goes first, and hides nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from test_root_findings import NO_PACKET, Session

from roceproof.conformance.runner.findings.feature_words import KINDS, in_words
from roceproof.conformance.runner.findings.plan_findings import with_plans
from roceproof.conformance.runner.findings.received import FACTS
from roceproof.conformance.runner.findings.words.documents import documents
from roceproof.conformance.suite.reporting.failure_heads import (
    in_short,
    likeness,
    refused_with,
    wrong_fields,
)

MULTIPLE = "[limits] length_multiple = 4"
LOW, GONE = [0, True, False], [3, False, False]
STANDING = {"qpc": GONE, "wr": GONE, "pl": GONE, "rx": GONE, "tx": GONE, "cpl": GONE}


def also(session: Session, **seen: Any) -> None:
    """What else the last case has seen."""
    session.seen[max(session.seen)] |= seen


def told(session: Session) -> list[dict[str, Any]]:
    return documents(session.roots(), session.cases, session.seen)


def test_a_stream_that_never_moved_is_all_that_is_told() -> None:
    session = Session()
    for number in range(4):
        session.add(({"mtu": 256 << number}, NO_PACKET), broken=("LIVE-01",))
        also(session, standing=STANDING | {"wr": LOW})
    session.add(({}, "field rkey"), got={"rkey": "7"}, head="rkey: want 1", broken=("RETH-04",))
    also(session, standing=STANDING | {"wr": LOW})
    (finding,) = told(session)
    assert finding["rules"] == ["LIVE-01"]
    assert finding["sentence"] == (
        "stop: no work request was ever taken: wr_ready_o is low in all 5 cases"
    )


def test_work_that_completes_twice_explains_completions_out_of_turn_in_other_cases() -> None:
    session = Session()
    late = "want work 0x2 (message 2) completed with success; got work 0x1 completed with success"
    for number in range(3):
        session.add(({"nth": number}, ""), head=late)
        also(session, failures=[[late, []]])
        beats = [1 + (number > 0), False, False]
        also(session, standing=STANDING | {"wr": [1, False, False], "cpl": beats})
    (finding,) = told(session)
    assert (finding["count"], finding["sentence"]) == (
        3,
        "stop: more work completes than was taken: cpl_o tells some twice, or what a reset ended",
    )


def test_a_stream_that_moved_in_one_case_is_no_fact() -> None:
    session = Session()
    session.add(({}, NO_PACKET))
    also(session, standing=STANDING | {"wr": LOW})
    session.add(({}, ""))
    also(session, standing=STANDING)
    assert session.sentences() == ["stop: no packet of it"]


def test_what_was_never_answered_goes_first_and_hides_nothing() -> None:
    session = Session()
    lost = ["the device does not answer ARP and ping behind the case: ARP is lost", ["LIVE-01"]]
    for number in range(4):
        own = [["want a NAK; got nothing", ["NAK-01"]]] if number < 2 else []
        session.add(({"nth": number}, ""), head="lost", broken=("LIVE-01",))
        also(session, lost="ARP", failures=[*own, lost])
    first, second = told(session)
    assert first["sentence"] == "show: ARP was never answered in all 4 cases"
    assert (second["sentence"], second["count"]) == ("show: want a NAK; got nothing", 2)


def test_what_is_answered_wrongly_each_time_is_told_so() -> None:
    session, lost = Session(), "ping is answered wrongly; icmp checksum: want 0x1, got 0x2"
    for _ in range(3):
        session.add(({}, ""), head="lost", broken=("LIVE-01",))
        rx = STANDING | {"rx": [9, False, False]}
        also(session, lost=lost, failures=[[f"{lost} behind the case", ["LIVE-01"]]], standing=rx)
    assert session.sentences() == [f"show: {lost} in all 3 cases"]


def test_a_device_that_takes_frames_and_answers_nobody_is_told_where_to_look() -> None:
    session = Session()
    for _ in range(3):
        session.add(({}, ""), head="lost", broken=("LIVE-01",))
        lost = ["the device does not answer ARP and ping: ARP is lost", ["LIVE-01"]]
        also(session, lost="ARP", failures=[lost], standing=STANDING | {"rx": [9, False, False]})
    (sentence,) = session.sentences()
    assert sentence.startswith("show: ARP was never answered in all 3 cases, though frames are")
    assert "rx_tkeep_i" in sentence


def test_a_device_that_has_answered_others_before_it_answers_nobody_is_not_called_deaf() -> None:
    session = Session()
    own = ["want READ_RESP_ONLY psn=+9 payload=1[2d]; got nothing", ["READ-02"]]
    lost = ["the device does not answer ARP and ping behind the case: ARP is lost", ["LIVE-01"]]
    for _ in range(2):
        session.add(({}, ""), head="lost", broken=("READ-02",))
        streams = STANDING | {"rx": [9, False, False], "left": [9, False, False], "wr": LOW}
        also(session, lost="ARP", failures=[own, lost], standing=streams)
    assert not [each for each in session.sentences() if "never answered" in each]


@pytest.mark.parametrize(
    ("hops", "rules", "where"),
    [(1, ["IP-09"], "a TTL of 1"), (64, ["RNR-01"], None)],
    ids=["told", "not alone"],
)
def test_what_only_the_refused_requests_have_is_told_with_its_rule(
    hops: int, rules: list[str], where: str | None
) -> None:
    session, head = Session(), "want ACK psn=+1; got NAK psn=+1 syndrome=0x61"
    place = [fact.words for fact in FACTS].index("a TTL of {}")
    right = [64 if number == place else None for number in range(len(FACTS))]
    for _ in range(3):
        session.add(({}, ""), head=head, broken=("RNR-01",))
        row = [hops if number == place else None for number in range(len(FACTS))]
        also(session, failures=[[head, ["RNR-01"]]], asked={"heeded": [], "unheeded": [row]})
    session.add(({}, ""))
    also(session, asked={"heeded": [right] * 30, "unheeded": []})
    (finding,) = told(session)
    assert finding["rules"] == rules
    assert finding["in_doubt"] == ([] if where else rules)
    assert (f"that was served rightly, have {where}" in finding["sentence"]) == bool(where)


def test_a_refusal_that_did_not_come_is_of_the_rule_that_its_cases_name() -> None:
    session, head = Session(), "want NAK psn=+1 syndrome=0x61; got ACK psn=+1 syndrome=0x1f"
    place = [fact.words for fact in FACTS].index("a TTL of {}")
    right, alone = ([n if at == place else None for at in range(len(FACTS))] for n in (64, 1))
    for _ in range(3):
        session.add(({}, ""), head=head, broken=("MTU-06",), differed=("NAK-07",))
        also(session, failures=[[head, ["MTU-06"]]], asked={"heeded": [], "unheeded": [alone]})
    session.add(({}, ""))
    also(session, asked={"heeded": [right] * 30, "unheeded": []})
    (finding,) = told(session)
    assert "have a TTL of 1" in finding["sentence"]
    assert finding["rules"] == ["MTU-06"]


def test_a_length_that_is_wrong_in_every_packet_explains_what_is_found_by_it() -> None:
    session = Session()
    for number in range(9):
        session.add(({"nth": number}, "field udp_length"), got={"udp_length": "0x34"}, head="wrong")
        with_troubles(session, *["field payload"] * (number < 3))
        also(session, failures=[])
    head = "test_a.py:7: assert answers[0].udp_length == 28; assert 48 == 28"
    session.add(({}, ""), head=head, broken=("ACK-07",))
    (sentence,) = session.sentences()
    assert "udp_length is" in sentence


def test_a_field_that_is_wrong_in_every_packet_is_one_finding_with_what_the_observer_says() -> None:
    session = Session()
    for number in range(4):
        session.add(({"nth": number}, "field fecn"), got={"fecn": "1"}, head="fecn: want 7, got 1")
        also(session, failures=[], rules={"BTH-08": "frame 1: FECN"})
    session.add(head="the observer says: BTH-08", broken=("BTH-08",))
    also(session, failures=[], rules={"BTH-08": "frame 9: FECN"})
    session.add(({}, "field fecn"), got={"fecn": "1"}, head="want a; got b")
    also(session, failures=[["want a; got b", []]], rules={"BTH-08": "frame 1: FECN"})
    field, other = told(session)
    assert field["sentence"].startswith("show in every packet: fecn is always 1")
    assert (field["count"], field["only"]) == (6, 5)
    assert (other["sentence"], other["count"]) == ("show: want a; got b", 1)


def test_two_fields_that_have_each_others_value_are_swapped() -> None:
    session = Session()
    for number in range(3):
        row = ({"immediate": True, "op": "WRITE_IMM", "nth": number}, "field imm")
        session.add(row, ({"nth": number}, "field rkey"), head="rkey")
        values = {"imm": {"want": ["0x12345678"], "got": ["0x9abcdef0"]}}
        values["rkey"] = {"want": ["0x9abcdef0"], "got": ["0x12345678"]}
        also(session, values=values, failures=[])
    (sentence,) = session.sentences()
    assert "imm and rkey are swapped (want 0x12345678, got 0x9abcdef0)" in sentence


def with_troubles(session: Session, *troubles: str) -> None:
    """Add to what was wrong with the first packet of the last case."""
    session.seen[max(session.seen)]["rows"][0][2].extend(troubles)


def test_bits_that_are_wrong_together_by_chance_are_not_swapped() -> None:
    session = Session()
    exchanged = {"a": {"want": ["1"], "got": ["0"]}, "pad": {"want": ["0"], "got": ["1"]}}
    otherwise = {"a": {"want": ["1"], "got": ["0"]}, "pad": {"want": ["3"], "got": ["0"]}}
    for number, values in enumerate([exchanged] * 3 + [otherwise]):
        session.add(({"nth": number}, "field a"), head="wrong")
        with_troubles(session, "field pad")
        also(session, values=values, failures=[])
    assert "swapped" not in session.sentences()[0]
    del session.seen[max(session.seen)]
    assert "a and pad are swapped" in session.sentences()[0]


@pytest.mark.parametrize(("right", "count"), [(3, 1), (2, 2)])
def test_what_is_wrong_only_where_the_opcode_is_goes_with_it(right: int, count: int) -> None:
    session = Session()
    for number in range(9):
        got = {"a": "0", "opcode": "SEND_LAST"}
        session.add(({"nth": number}, "field opcode"), got=got, head="wrong")
        with_troubles(session, *["field a"] * (number < 3))
        also(session, failures=[])
    for _ in range(right):
        session.add(({}, ""))
    assert len(session.sentences()) == count
    assert session.sentences()[0].split(": ")[1].startswith("opcode is ")


def test_what_is_wrong_behind_a_packet_with_a_wrong_opcode_goes_with_it() -> None:
    session = Session()
    for _ in range(3):
        rows = [({"nth": number}, "field payload") for number in range(2)]
        session.add(({}, "field opcode"), *rows, got={"opcode": "SEND_LAST"}, head="wrong")
        with_troubles(session, "field payload", "field a", "field imm", "field pad")
        also(session, failures=[])
        session.add(({}, ""))
    (sentence,) = session.sentences()
    assert sentence.endswith("(want 7, got SEND_LAST in the first), and with it 4 other fields")
    assert told(session)[0]["rules"] == ["OPC-01"]
    session.add(({}, "field payload"), got={"payload": "9"}, head="wrong")
    also(session, failures=[])
    assert len(session.sentences()) == 2


def test_sizes_that_do_not_fit_behind_a_wrong_opcode_are_not_broken_lengths() -> None:
    session = Session()
    for _ in range(3):
        session.add(({}, "field opcode"), got={"opcode": "SEND_MIDDLE"}, head="wrong")
        with_troubles(session, "rule OPC-01", "rule MTU-03", "rule RETH-02")
        session.add(({}, ""))
    assert told(session)[0]["rules"] == ["OPC-01", "MTU-03"]


def test_two_fields_that_are_wrong_in_all_packets_are_two_findings() -> None:
    session = Session()
    for number in range(3):
        features = {"nth": number}
        session.add((features, "field fecn"), got={"fecn": "1", "ttl": "9"}, head="wrong")
        session.seen[max(session.seen)]["rows"][0][2].append("field ttl")
        also(session, failures=[])
    assert sorted(sentence.split()[4] for sentence in session.sentences()) == ["fecn", "ttl"]


def test_few_that_pass_without_a_feature_are_no_evidence_for_it() -> None:
    session = Session()
    for _ in range(9):
        session.add(({"rest": 1, "mtu": 1024}, NO_PACKET))
    session.add(({}, ""))
    session.add(({}, ""))
    assert session.sentences() == ["stop: no packet of it"]
    session.add(({}, ""))
    assert session.sentences() == [
        "stop at messages of a length that is no multiple of 4: no packet of it"
    ]


def test_three_kinds_of_packets_are_no_sentence() -> None:
    session = Session()
    for feature in ({"mtu": 1024}, {"service": "UC"}, {"ip": 6}):
        for _ in range(3):
            session.add((feature, "field psn"), ({}, ""), got={"psn": "3"}, head="psn")
            also(session, failures=[])
    (sentence,) = session.sentences()
    assert sentence == "show: psn is always 3 (want 7 in the first)"


def test_what_explain_names_in_most_cases_is_told() -> None:
    session = Session()
    for number in range(5):
        session.add(({"nth": number}, "rule PSN-03"), head="observer")
        also(session, failures=[], rules={"PSN-03": "it wraps"})
        session.cases[max(session.cases)]["explained"] = ["P04" if number else "P07=P08"]
    (finding,) = told(session)
    assert finding["explained"] == "P04: the PSN counter has 16 bits"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([["S26=S66"], ["S26"], ["S26=S66"]], "S26: "),
        ([["S25=S27"], ["S25=S27"]], "S25 (or S27): "),
        ([["P04", "S26"], ["P04", "S26"]], "P04: "),
        ([["undecided=S57"], ["undecided=S57"], ["S26"]], None),
    ],
    ids=["one leaves another open", "both are open", "two of them", "undecided"],
)
def test_what_most_cases_leave_open_names_the_finding(
    names: list[list[str]], told: str | None
) -> None:
    session = Session()
    for each in names:
        session.add(({}, "rule ICRC-02"))
        session.cases[max(session.cases)]["explained"] = each
    (finding,) = documents(session.roots(), session.cases, session.seen)
    assert finding["explained"] is None if told is None else finding["explained"].startswith(told)


@pytest.mark.parametrize(
    ("row", "got", "lines"),
    [
        (({"rest": 3}, "field pad"), {"pad": "0"}, [MULTIPLE]),
        (({"nth": 2}, "field ttl"), {"ttl": "0x40"}, ["[fixed] hop_limit = 64"]),
        (({"nth": 2}, "field fecn"), {"fecn": "1"}, []),
    ],
)
def test_lines_of_a_manifest_that_would_make_it_a_limit(row, got, lines: list[str]) -> None:
    session = Session()
    for _ in range(3):
        session.add(row, got=got, head="wrong", right={"ttl": [9]})
        also(session, failures=[])
        if row[0].get("rest"):
            session.add(({}, ""))
    (finding,) = told(session)
    assert finding["manifest"] == lines


def test_a_pad_that_is_wrong_for_one_rest_is_told_of_the_packet_that_ends() -> None:
    session = Session()
    for places in (["only"], ["first", "last"]) * 3:
        wrong = ({"place": places[-1], "packets": len(places), "rest": 3}, "field pad")
        session.add(wrong, got={"pad": "3"}, head="pad: want 1, got 3")
        also(session, failures=[])
        for rest in (0, 1, 2, 3):
            for place in [*places, "middle"]:
                row = {"place": place, "packets": len(places), "rest": rest}
                if rest != 3 or place in ("first", "middle"):
                    session.add((row, ""))
    (finding,) = told(session)
    assert finding["sentence"].startswith(
        "show in the packet that ends messages of a length of 4n+3 bytes: pad is always 3"
    )
    assert finding["manifest"] == [MULTIPLE]


def test_a_plan_that_shows_what_cases_show_is_no_finding_of_its_own() -> None:
    session = Session()
    for number in range(3):
        session.add(({"nth": number}, "field ttl"), got={"ttl": "64"}, head="ttl: want 7, got 64")
        also(session, failures=[])
    plans = [
        {"case": "a.py", "head": "want a; got b; ttl: want 9, got 64; icrc: want 4[a], got 4[b]"},
        {"case": "b.py", "head": "play.connect(key=0); play.finish(); got 1 frame too many"},
        {"case": "c.py", "head": "play.finish(); got 7 frame too many"},
    ]
    found = with_plans(
        told(session),
        [{"rules": [], "story": "", "replay": f"run {plan['case']}", **plan} for plan in plans],
    )
    assert [(each["count"], each["plans"]) for each in found] == [
        (3, ["a.py"]),
        (0, ["b.py", "c.py"]),
    ]
    assert found[1]["sentence"] == "show: got 1 frame too many"
    assert [each["plan_replay"] for each in found] == ["run a.py", "run b.py"]


def test_work_that_ends_otherwise_than_refused_is_alike_whatever_the_refusal() -> None:
    heads = [
        f"want work 0x1 completed with {status}; got work 0x1 completed with wr_flush_err"
        for status in ("rem_access_err", "rem_op_err")
    ]
    assert {likeness(head) for head in heads} == {"rem_err: wr_flush_err"}


def test_a_finding_of_plans_alone_has_the_name_that_explain_gives_it() -> None:
    plan = {
        "case": "a.py",
        "head": "icrc: want 1, got 2",
        "rules": ["ICRC-02"],
        "story": "",
        "replay": "",
    }
    (named,) = with_plans([], [{**plan, "explained": ["corrupt", "S25=S27"]}])
    assert named["explained"].startswith("S25 (or S27): ")
    assert with_plans([], [plan])[0]["explained"] is None


@pytest.mark.parametrize("trouble", ["", NO_PACKET])
def test_packets_to_nobody_explain_what_is_missed_and_accused_with_them(trouble: str) -> None:
    session = Session()
    stray = ["a packet to a QPN that nobody has: ACK psn=+0 qpn=0x77", ["BTH-10"]]
    for number in range(3):
        session.add(({"nth": number}, trouble), head="want ACK psn=+0; got nothing in time")
        missed = ["want ACK psn=+0; got nothing in time", []]
        also(session, failures=[missed, stray], rules={"IP-08": "frame 2"})
    (finding,) = told(session)
    assert finding["sentence"] == f"show: {stray[0]}"
    assert (finding["count"], finding["rules"][0]) == (3, "BTH-10")


def test_a_completion_of_nobody_explains_the_one_that_is_missed() -> None:
    session = Session()
    for _ in range(3):
        session.add(({}, ""), head="want work 0x7 completed with success; got nothing")
        missed = ["want work 0x7 completed with success; got nothing", []]
        stray = ["a completion of a QPN that has no such work: work 0x7; look at qpn of cpl_o", []]
        also(session, failures=[missed, stray])
    (finding,) = told(session)
    assert finding["sentence"] == f"show: {stray[0]}"


def test_the_rule_of_a_number_is_that_which_most_cases_saw_first() -> None:
    session = Session()
    for number in range(4):
        wrong = f"psn: want {number}, got {number + 1}"
        session.add(({}, ""), head=wrong, broken=("PSN-02",))
    for rule in ("PSN-01", "PSN-18"):
        session.add(({}, ""), head="psn: want 8, got 9", broken=("PSN-02", rule))
        also(session, rules={rule: "frame 1"})
    for case in session.cases.values():
        case["differed"] = ["PSN-02"]
    (finding,) = told(session)
    assert (finding["count"], finding["rules"]) == (6, ["PSN-02"])
    assert finding["sentence"].startswith("show: PSN-02 is broken")


def test_of_a_broken_rule_is_told_what_was_expected_and_what_came() -> None:
    session = Session()
    for number in (7, 8):
        session.add(({}, "rule MSN-02"), broken=("MSN-02",))
        said = f"MSN-02 frame 9 (sent by the DUT): expected MSN {number}, got 5. MSN counts."
        also(session, rules={"MSN-02": said})
    (finding,) = told(session)
    assert finding["sentence"].endswith("(expected MSN 7, got 5 in the first)")


@pytest.mark.parametrize(("passing", "first"), [(97, "QPS-04"), (3, "BTH-10")])
def test_a_blank_packet_is_named_by_what_the_few_cases_are_about(passing: int, first: str) -> None:
    """Not by its headers, unless every packet may be so."""
    session = Session()
    stray = ["a packet to a QPN that nobody has: SEND_FIRST psn=+0 qpn=0x0", ["BTH-10"]]
    blank = dict.fromkeys(("BTH-10", "ETH-05", "IP-06", "MTU-01", "OPC-03"), "frame 2")
    for _ in range(3):
        session.add(({}, ""), head=stray[0])
        also(session, failures=[stray], rules=blank)
        [*session.cases.values()][-1]["rules"] = ["QPS-04", "RTX-02"]
    for _ in range(passing):
        session.add(({}, ""))
    (finding,) = told(session)
    assert finding["rules"][0] == first and "BTH-10" in finding["rules"]


def test_one_packet_to_nobody_takes_nothing_that_other_cases_show() -> None:
    session = Session()
    for number in range(4):
        session.add(({"nth": number}, "field fecn"), got={"fecn": "1"}, head="fecn: want 7, got 1")
        also(session, failures=[], rules={"BTH-08": "frame 1"})
    stray = ["a packet to a QPN that nobody has: ACK psn=+0 qpn=0x77", ["BTH-10"]]
    also(session, failures=[stray])
    assert [each["count"] for each in told(session)] == [4, 1]


def test_the_same_field_of_answers_is_one_finding_however_it_is_told() -> None:
    session = Session()
    heads = [
        "want ACK syndrome=ACK msn=1; got ACK syndrome=0x1f msn=0; msn: want 1, got 0",
        "want for frame 0: RC ACKNOWLEDGE psn=+0 msn=1 or RC ACKNOWLEDGE psn=+0 msn=2; "
        "got in all, to 1 frames: RC ACKNOWLEDGE psn=+0 msn=0 (0 bytes)",
        "the observer says",
    ]
    for head in heads:
        session.add(({}, ""), head=head)
        also(session, failures=[[head, []]] if "want" in head else [], rules={"MSN-04": "no"})
    session.add(({}, ""), head=heads[0])
    also(session, failures=[[heads[0], []]])
    (finding,) = told(session)
    assert finding["sentence"].startswith("show: MSN-04 is broken")
    assert finding["count"] == 4


def test_bytes_that_are_not_those_sent_are_alike_whatever_they_are() -> None:
    session = Session()
    for got, want in (("b'\\x00a'", "b'ab'"), ('b"x\'"', "b'y'")):
        session.add(({}, ""), head=f"assert {got} == {want}; At index 0 diff: {got[:4]} != b'a'")
    session.add(({}, ""), head="at rest; want other bytes from 7 on in the region of key 0x7")
    (sentence,) = session.sentences()
    assert sentence == "show: other bytes than are due: want b'ab', got b'\\x00a'"
    shortened = "assert b'ab...yz' == b'ab...yz'; At index 9 diff: b'c' != b'd'"
    assert in_short(shortened).endswith("due from byte 9 on: want b'd', got b'c'")


def test_answers_that_never_come_are_alike_by_the_packet_that_was_wanted() -> None:
    session = Session()
    for head in (
        "want ACK psn=+0 msn=1",
        "not dropped: TVer 1; want ACK psn=+3",
        "want NAK psn=+1",
    ):
        session.add(({}, ""), head=f"{head}; got nothing in time")
    assert [len(root.cases) for root in session.roots()] == [2, 1]


def test_of_a_field_that_is_absent_no_line_of_a_manifest_is_proposed() -> None:
    session = Session()
    for got in ("absent", "absent", "absent"):
        session.add(({}, "field imm"), got={"imm": got})
    assert told(session)[0]["manifest"] == []


def test_questions_that_are_not_answered_are_alike_whatever_they_carry() -> None:
    few, many = (f"no answer to an echo request with {n} of data" for n in ("1 byte", "300 bytes"))
    assert likeness(few) == likeness(f"queue pair 0 (RC) at rest; {many}")
    assert likeness(few) != likeness("no answer to an ARP request to its own MAC")


@pytest.mark.parametrize("said", ["0x61..0x63", "0x1f)", "0x"])
def test_a_syndrome_that_a_case_of_ones_own_writes_otherwise_is_told_as_it_is(said: str) -> None:
    assert likeness(f"want NAK syndrome={said}; got nothing") == f"no NAK {said}"


@pytest.mark.parametrize("before", ["", "7 success 1 0; "])
def test_what_is_wrong_with_any_receive_of_several_is_told_by_its_field(before: str) -> None:
    head = f"want  receives completed: {before}8 success 0 None; got   {before}8 success 1 None"
    alone = "a receive completed otherwise; byte_len: want 13, got 21"
    assert likeness(head) == likeness(alone) == "byte_len"


def test_what_completes_again_is_alike_in_cases_and_plans() -> None:
    head = "receive 0x1f completed 2 times, and may only once: success, then success"
    assert likeness(head) == likeness(f"queue pair 0 (RC) at rest; {head}")


@pytest.mark.parametrize("before", ["", "1 success 5 None; ", "1 loc_len_err None None; "])
def test_receives_that_are_not_flushed_are_alike_whatever_ended_before(before: str) -> None:
    came = before.removesuffix("; ") or "none"
    head = (
        "fewer receives than were due have completed; "
        f"want  receives completed: {before}7 wr_flush_err None None; got   {came}"
    )
    assert (
        likeness(head) == likeness(f"queue pair 0 (RC) at rest; {head}") == "receives not flushed"
    )


def test_of_several_rules_of_one_counter_those_are_told_that_most_cases_show() -> None:
    session = Session()
    for number in range(9):
        session.add(({}, ""), head="the observer says")
        rare = {"MSN-03": "frame 3"} if number == 1 else {}
        also(
            session, failures=[], rules={"MSN-01": "no"} if not number else {"MSN-02": "no"} | rare
        )
    (finding,) = told(session)
    assert finding["rules"] == ["MSN-02"]
    assert finding["sentence"].startswith("show: MSN-02 is broken")


def test_what_a_case_and_the_observer_tell_of_the_same_rule_is_one_finding() -> None:
    session = Session()
    for _ in range(3):
        session.add(({}, ""), head="the observer says")
        also(session, failures=[], rules={"IP-05": "frame 1"})
    for head in ("a wrong answer; ip checksum: want 1, got 2", "another one; ip checksum: want 3"):
        session.add(({}, ""), head=head, broken=("IP-05",))
    (finding,) = told(session)
    assert (finding["rules"], finding["count"]) == (["IP-05"], 5)


def test_a_rule_that_another_brings_with_it_is_not_accused_beside_it() -> None:
    session = Session()
    for number in range(4):
        session.add(({}, ""), head="the observer says")
        also(session, failures=[], rules={"MSN-05" if number % 2 else "MSN-02": "no"})
    assert told(session)[0]["rules"] == ["MSN-02"]


def test_a_finding_accuses_what_its_cases_share_and_not_what_each_is_about() -> None:
    session = Session()
    about = ["ACK-09", "GID-02", "ICRC-14", "IP-11", "BTH-05", "UDP-09"]
    for rule in about:
        session.add(({}, ""), head="work 7 came too early", broken=("LIVE-02", rule, "ACK-08"))
    (finding,) = told(session)
    assert finding["rules"] == ["ACK-08"]
    assert set(finding["any_rules"]) == {"LIVE-02", "ACK-08", *about}


@pytest.mark.parametrize(("passing", "count"), [(1, 1), (4, 3)])
def test_what_only_frames_with_a_wrong_icrc_bring_about_is_one_finding(
    passing: int, count: int
) -> None:
    session = Session()
    told_of = {
        "ICRC-14": "a completion came too early",
        "ACK-08": "want no such completion",
        "NAK-07": "no NAK of it",
    }
    for rule, head in told_of.items():
        session.add(({}, ""), head=head, broken=(rule,))
        also(session, tempted=["ICRC-14"])
    for _ in range(passing):
        session.add(({}, ""))
        also(session, tempted=["ICRC-14"])
    found = told(session)
    assert len(found) == count
    if count == 1:
        assert found[0]["sentence"] == "show: frames are heeded that have a wrong ICRC"
        assert found[0]["rules"] == ["ICRC-14"]


def test_good_requests_that_are_refused_are_one_finding_and_other_codes_are_not() -> None:
    session = Session()
    for head in (
        "want  ACK psn=+0 msn=1; got  NAK psn=+0 syndrome=0x63 msn=0; syndrome: want ACK, got 0x63",
        "want  ACK psn=+0 msn=1; got  NAK psn=+0 syndrome=0x62 msn=0; syndrome: want ACK, got 0x62",
        "want receive 0x1 done with success; got receive 0x1 done with loc_prot_err",
        "want  NAK psn=+1 syndrome=0x61; got  NAK psn=+0 syndrome=0x63; psn: want +1, got +0, "
        "syndrome: want 0x61, got 0x63",
        "want  NAK psn=+1 syndrome=0x60; got  NAK psn=+1 syndrome=0x61",
    ):
        session.add(({}, ""), head=head, broken=("PSN-12",))
    assert sorted(finding["count"] for finding in told(session)) == [1, 4]


@pytest.mark.parametrize(
    ("cause", "sign"),
    [
        (
            "NAK came where ACK was due; syndrome: want ACK, got 0x62",
            "NAK came otherwise; psn: want +1, got +0, msn: want 1, got 0",
        ),
        (
            "NAK came where ACK was due; syndrome: want ACK, got 0x62",
            "want receive 0x4 done with success; got receive 0x4 done with wr_flush_err",
        ),
        (
            "RNR came where ACK was due; syndrome: want ACK, got 0x21",
            "RNR came otherwise; psn: want +16, got +0, msn: want 16, got 0",
        ),
        (
            "want receive 0x4 done with success; got nothing",
            "ACK came where RNR was due; syndrome: want RNR, got 0x1f",
        ),
        (
            "want receive 0x4 done with success; got nothing",
            "fewer receives than were due have completed; want receives completed: 16 success 5 7; "
            "15 success 9 8; got 16 success 9 8",
        ),
    ],
)
def test_what_is_only_a_sign_of_another_finding_goes_with_it(cause: str, sign: str) -> None:
    def count(*heads: str) -> int:
        session = Session()
        for head in heads:
            session.add(({}, ""), head=head, broken=("PSN-12",))
        return len(session.sentences())

    assert count(cause, cause, sign) == 1
    assert count(sign, sign) == 1
    assert count(sign, sign, "want  ACK psn=+0; got   nothing in time") == 2
    session = Session()
    for head, rule in ((cause, "IMM-04"), (cause, "IMM-04"), (sign, "UC-04"), (sign, "UC-04")):
        session.add(({}, ""), head=head, broken=(rule,))
    (merged,) = told(session)
    assert (merged["count"], merged["rules"]) == (4, ["IMM-04"])
    finding = {**told(one_of(cause))[0], "head": cause}
    plan = {"head": sign, "rules": ["IMM-02"], "case": "a.py", "story": "", "replay": ""}
    assert [len(each["plans"]) for each in with_plans([finding], [plan])] == [1]


def test_a_plan_that_shows_more_wrong_fields_goes_with_the_cases_that_show_fewer() -> None:
    session = one_of("want receive 0x4; a receive completed otherwise; byte_len: want 8, got 7")
    plan = {
        "head": "a receive completed otherwise; byte_len: want 0, got 9; immediate: want 9, got 0",
        **{"rules": ["IMM-02"], "case": "a.py", "story": "", "replay": ""},
    }
    assert [len(each["plans"]) for each in with_plans(told(session), [plan])] == [1]


def test_a_count_of_packets_is_wrong_with_their_psn() -> None:
    finding = {**told(one_of("x"))[0], "head": "", "troubles": ["rule PSN-01"], "any_rules": []}

    def with_it(fields: str) -> int:
        head = f"SEND_ONLY came otherwise; {fields}"
        plan = {"head": head, "rules": ["LIVE-02"], "case": "a.py", "story": "", "replay": ""}
        return len(with_plans([finding], [plan])[0]["plans"])

    assert with_it("psn: want 0, got 1; ident: want 0, got 1") == 1
    assert with_it("ident: want 0, got 1") == 0


def one_of(head: str) -> Session:
    session = Session()
    session.add(({}, ""), head=head, broken=("PSN-12",))
    return session


@pytest.mark.parametrize(
    "heads",
    [
        (
            "want a completion; got nothing in time; qp 0x80: work 0x77 (SEND of 5 bytes, "
            "number 51) which ends with rem_inv_req_err",
            "want no such completion on qp 0x80; owed: work 0x4c (SEND of 5 bytes, number 32) "
            "which ends with rem_inv_req_err; got work 0x4c completed with rnr_retry_exc_err",
            "want work 0x100 completed with rem_inv_req_err; got nothing",
        ),
        (
            "an answer to something else completed a WRITE: ATOMIC_ACK",
            "an answer to something else completed a WRITE: READ_RESP_LAST",
        ),
    ],
)
def test_one_fault_in_other_words_is_one_finding(heads: Sequence[str]) -> None:
    session = Session()
    for head in heads:
        session.add(({}, ""), head=head, broken=("PSN-12",))
    assert len(session.sentences()) == 1


def test_a_device_that_breaks_its_contract_is_accused_of_no_rule_of_the_wire() -> None:
    session = Session()
    session.add(
        head="callee.ready(reply); the device died: the simulation ended: the device breaks its "
        "contract: cme_o tells of queue pair 0x0 step 1 at path MTU 0: expected path_mtu_e",
        broken=("LIVE-01",),
    )
    also(session, stop={"kind": "death", "fields": [], "words": ""})
    (finding,) = told(session)
    assert finding["sentence"].endswith(
        ": the device breaks its contract: cme_o tells of queue pair 0x0 step 1 at path MTU 0: "
        "expected path_mtu_e"
    )
    assert finding["rules"] == []


def test_sequence_naks_that_were_not_due_are_one_finding_of_the_rule_that_tells_of_them() -> None:
    session = Session()
    for head, differed in (
        ("want  ACK psn=+1; got  NAK psn=+1 syndrome=0x60; syndrome: want ACK, got 0x60", "NAK-02"),
        ("queue pair 0 (RC) at rest; want nothing more; got NAK psn=+1 syndrome=0x60", "NAK-02"),
        ("queue pair 0 (RC) at rest; want nothing more; got RNR psn=+1 syndrome=0x20", "RNR-06"),
    ):
        session.add(({}, ""), head=head, broken=("NAK-01",))
        session.cases[max(session.cases)] |= {"rules": ["NAK-01"], "differed": [differed]}
    session.add(({}, ""), head="the observer says")
    also(session, failures=[], rules={"NAK-02": "frame 9"})
    plan = {"head": "want nothing more; got NAK psn=+0 syndrome=0x60", "rules": ["IMM-02"]}
    first, *others = with_plans(
        told(session), [{**plan, "case": "a.py", "story": "", "replay": ""}]
    )
    assert (first["count"], first["plans"], len(others)) == (3, ["a.py"], 1)
    assert (first["rules"], first["in_doubt"]) == (["NAK-01", "NAK-02"], ["NAK-01"])


def test_an_answer_of_another_kind_is_told_by_what_came() -> None:
    head = "want  ACK psn=+1; got  NAK psn=+1 syndrome=0x60; syndrome: want ACK, got 0x60"
    assert in_short(head) == "NAK came where ACK was due; syndrome: want ACK, got 0x60"
    session = Session()
    session.add(({}, ""), head="want  NAK psn=+0 syndrome=0x61; got  ACK psn=+0 syndrome=0x1f")
    fields = [["syndrome", "0x61", "0x1f"]]
    also(session, stop={"kind": "wrong packet", "fields": fields})
    session.seen[max(session.seen)]["failures"] = [[session.cases[max(session.cases)]["head"], []]]
    (finding,) = told(session)
    assert finding["sentence"].startswith("show: ACK came where NAK was due; syndrome: want 0x61")
    seen = session.seen[max(session.seen)]
    seen["failures"] = [["want  RNR psn=+0 syndrome=0x2c; got  RNR psn=+0 syndrome=0x20", []]]
    seen["stop"]["fields"] = [["syndrome", "0x2c", "0x20"]]
    assert told(session)[0]["sentence"].startswith("show: RNR came otherwise; syndrome: want 0x2c")


def test_receives_of_other_cases_that_do_not_complete_either_are_the_same_stream() -> None:
    session = Session()
    taken = STANDING | {"rcv": GONE, "rcp": [0, False, False]}
    for stop in ("no completion", None):
        session.add(({}, ""), head=f"a receive did not complete ({stop})", broken=("LIVE-01",))
        also(session, standing=taken, stop=stop and {"kind": stop, "fields": []})
    (finding,) = told(session)
    assert (finding["count"], "rcp_valid_o is low" in finding["sentence"]) == (2, True)


def test_completions_of_other_numbers_are_one_finding_that_names_the_field() -> None:
    session = Session()
    for status in ("success", "rem_op_err"):
        words = f"want work 0x7 completed with {status}; got work 0x70 completed with {status}"
        session.add(({}, ""), head=words, broken=("ACK-08",))
    (finding,) = told(session)
    assert finding["sentence"] == "show: wr_id of a completion: want 0x7, got 0x70; look at cpl_o"


def test_a_sequence_nak_that_was_not_due_is_told_by_what_the_cases_are_about() -> None:
    session = Session()
    head = "NAK came where ACK was due; psn: want +0, got +5, syndrome: want ACK, got 0x60"
    for _ in range(2):
        session.add(({}, ""), head=head, broken=("PSN-15",))
        session.cases[max(session.cases)]["differed"] = ["NAK-02"]
    assert told(session)[0]["rules"] == ["PSN-15"]


def test_memory_that_has_other_bytes_is_one_trouble_in_all_words() -> None:
    heads = (
        "3 bytes were sent, and what lies 0 behind their end was written; want 62; got 00",
        "beside what was addressed 172 bytes differ, the first at 6 of the region",
        "memory of queue pair RC holds other bytes than are due: want 67, got 00 from 34 on",
        "queue pair 0 (RC) at rest; want other bytes from 5 on in the region of key 0xbe000002",
    )
    assert {likeness(head) for head in heads} == {"other bytes"}


def test_completions_that_came_too_early_are_alike_in_all_words() -> None:
    heads = (
        "a completion came too early: work 0x4 completed with success, syndrome 0x1f",
        "work 0x7 completed with success, syndrome 0x16, which is message 14, without an answer",
        "ACKNOWLEDGE 0x00 at +1: SEND at +1 completed with success, and has no answer",
    )
    assert {likeness(head) for head in heads} == {"completed too early"}


def test_a_rule_is_in_doubt_unless_all_cases_share_it_and_no_more_that_are_about_it_pass() -> None:
    session = Session()
    about = (["PSN-14", "NAK-01"], ["PSN-14", "ACK-06"], ["PSN-14"])
    for rules in about:
        session.add(({}, ""), head="it came otherwise", broken=tuple(rules))
        session.cases[max(session.cases)]["rules"] = rules
    (finding,) = told(session)
    assert (finding["rules"][0], finding["in_doubt"]) == ("PSN-14", [])
    for _ in about:
        session.add(({}, ""))
        session.cases[max(session.cases)]["rules"] = ["PSN-14"]
    assert told(session)[0]["in_doubt"] == []
    session.add(({}, ""))
    session.cases[max(session.cases)]["rules"] = ["PSN-14"]
    assert told(session)[0]["in_doubt"] == ["PSN-14"]


@pytest.mark.parametrize(("rule", "doubt"), [("RTX-07", []), ("RQ-01", []), ("RTX-05", ["RTX-05"])])
def test_what_can_be_seen_broken_for_no_other_reason_is_not_in_doubt(
    rule: str, doubt: list[str]
) -> None:
    session = Session()
    for _ in range(2):
        session.add(({}, ""), head="it came otherwise", broken=(rule,))
    assert told(session)[0]["in_doubt"] == doubt


@pytest.mark.parametrize(
    ("head", "differed"),
    [
        ("want  ACK psn=+1; got   NAK", ["ACK-01"]),
        ("want  receive 0x8 done with success; got nothing", []),
    ],
)
def test_a_receive_is_not_seen_to_be_wrong_where_nothing_comes(
    head: str, differed: list[str]
) -> None:
    session = Session()
    session.add(({}, ""), head=head, broken=("RQ-01",))
    session.cases[max(session.cases)]["differed"] = differed
    assert told(session)[0]["in_doubt"] == ["RQ-01"]


def test_what_one_plan_accuses_is_in_doubt_unless_it_is_a_field() -> None:
    plan = {"case": "a.py", "rules": ["RNR-06"], "story": "", "replay": ""}
    (one,) = with_plans([], [{**plan, "head": "want nothing more; got RNR psn=+2"}])
    (other,) = with_plans([], [{**plan, "head": "ttl: want 9, got 64"}])
    assert (one["in_doubt"], other["in_doubt"]) == (["RNR-06"], [])


def test_a_plan_that_needs_a_frame_which_is_wrongly_heeded_shows_that() -> None:
    session = Session()
    for rule in ("ICRC-14", "ACK-08", "NAK-07"):
        session.add(({}, ""), head=f"other words of {rule}", broken=(rule,))
        also(session, tempted=["ICRC-14"])
    plan = {"head": "want nothing more; got RNR", "rules": ["RNR-06"], "story": "", "replay": ""}
    plans = [{**plan, "case": "a.py", "tempted": ["ICRC-14"]}, {**plan, "case": "b.py"}]
    found = with_plans(told(session), plans)
    assert [each["plans"] for each in found] == [["a.py"], ["b.py"]]


def test_other_words_of_one_rule_are_one_finding_if_it_is_of_a_single_behaviour() -> None:
    session = Session()
    for rule in ("RNR-06", "NAK-07"):
        for head in ("want nothing; got something else", "it came otherwise"):
            session.add(({}, ""), head=f"{head} ({rule})", broken=(rule,))
    assert sorted(finding["count"] for finding in told(session)) == [1, 1, 2]


def test_an_answer_is_left_out_where_that_to_a_later_packet_comes() -> None:
    said = "want  ACK psn=+0 syndrome=ACK msn=3{}; got   {} psn=+4 syndrome={} msn=3"
    assert likeness(said.format("", "RNR", "0x3e")) == "no ACK"
    assert likeness(said.format(" or ACK psn=+3 syndrome=ACK msn=3", "NAK", "0x61")) == "no ACK"
    assert (
        likeness(said.format(" or ACK psn=+4 syndrome=ACK", "NAK", "0x61")) == "want ACK, got NAK"
    )
    refused = "want  NAK psn=+0 syndrome=0x62; got   RNR psn=+4 syndrome=0x21"
    assert likeness(refused) == "want NAK, got RNR"


def test_an_answer_too_many_is_alike_whatever_came_before_but_an_rnr_nak() -> None:
    said = "qp 0 at rest; want  nothing more; got   NAK psn=+{} syndrome=0x60 msn=0; to {} frames"
    assert likeness(said.format(0, 2)) == likeness(said.format(7, 9)) == "surplus NAK 0x60"
    behind = "; in all came RNR psn=+0 syndrome=0x21 msn=0, NAK psn=+0 syndrome=0x60 msn=0"
    assert likeness(said.format(0, 2) + behind) == "surplus NAK 0x60 behind an RNR NAK"


def test_of_the_rules_of_a_case_those_are_accused_that_what_differed_names() -> None:
    session = Session()
    session.add(({}, ""), head="pad bytes: want 00, got a5", broken=("PAD-01", "PAD-02", "PAD-03"))
    session.cases[max(session.cases)]["differed"] = ["PAD-02"]
    assert told(session)[0]["rules"] == ["PAD-02"]


def test_what_a_case_is_about_is_accused_before_an_answer_of_many_meanings() -> None:
    session = Session()
    for rules in (("RETH-07", "NAK-07"), ("NAK-07", "RETH-07")):
        session.add(({}, ""), head="no NAK 0x62 came", broken=rules)
        session.cases[max(session.cases)]["differed"] = ["NAK-07"]
    assert told(session)[0]["rules"] == ["RETH-07"]


def test_rules_of_the_count_of_messages_are_one_finding_whatever_cases_show_them() -> None:
    session = Session()
    for rule in ("MSN-01", "MSN-03"):
        session.add(({}, ""), head="the observer says")
        also(session, failures=[], rules={rule: "frame 2"})
    assert [root.accuses for root in session.roots()] == [{"MSN-01", "MSN-03"}]


def test_a_packet_that_a_wrong_length_ends_has_no_other_fault() -> None:
    session = Session()
    for _ in range(3):
        rows = ({}, "rule UDP-02"), ({}, "field udp_length")
        session.add(*rows, got={"udp_length": "0x29"}, head="wrong")
        with_troubles(session, "field payload")
        also(session, failures=[["frame 1 of the device, icrc: want one, got malformed", []]])
        session.add(({}, ""))
    (sentence,) = session.sentences()
    assert "udp_length is always 0x29" in sentence or "udp_length is wrong" in sentence


def test_words_of_a_packet_end_where_the_next_part_begins() -> None:
    head = "want  SEND_ONLY psn=+0 se=1; got   SEND_ONLY psn=+0 se=1; its fields are right"
    assert wrong_fields(head) == set()


def test_where_receives_are_taken_and_none_is_there_their_stream_is_named() -> None:
    session = Session()
    head = "want  ACK psn=+0; got   RNR psn=+0 syndrome=0x21; syndrome: want ACK, got 0x21"
    for _ in range(10):
        session.add(({}, ""), head=head)
        receives = {"rcv": [3, False, False]}
        also(session, failures=[[head, ["RNR-01"]]], standing=STANDING | receives)
    assert told(session)[0]["sentence"].endswith("look at rcv_valid_i, and qpn and srq of rcv_i")


@pytest.mark.parametrize(("cases", "is_told"), [(9, False), (10, True)])
def test_a_port_is_named_where_good_requests_are_refused_in_many_cases(
    cases: int, is_told: bool
) -> None:
    session = Session()
    head = "want  ACK psn=+0; got   NAK psn=+0 syndrome=0x61; syndrome: want ACK, got 0x61"
    for _ in range(cases):
        session.add(({}, ""), head=head)
        also(session, failures=[[head, ["ACK-01"]]], standing=STANDING)
    (finding,) = told(session)
    assert ("look at path_mtu and service of qpc_i" in finding["sentence"]) is is_told


def test_what_a_plan_tells_of_all_answers_is_not_the_one_that_is_wrong() -> None:
    head = (
        "queue pair 0 (RC) at rest; want ACK psn=+0 syndrome=ACK msn=1; "
        "got ACK psn=+0 syndrome=0x1f msn=0; to frame 0 of 7, RC WRITE ONLY at +0; "
        "in all came ACK psn=+0 syndrome=0x1f msn=0, NAK psn=+3 syndrome=0x61 msn=1"
    )
    assert wrong_fields(head) == {"msn"}
    assert in_short(head) == "ACK came otherwise; msn: want 1, got 0"


def test_what_a_random_case_shows_by_the_same_nak_goes_with_the_case_that_says_why() -> None:
    session = Session()
    heads = (
        ("RNR came otherwise; syndrome: want RNR, got 0x61", ["QPS-04"]),
        ("want ACK psn=+0 msn=1; got NAK psn=+0 syndrome=0x61 msn=0", ["FUZZ-16", "LIVE-03"]),
        ("want ACK psn=+0 msn=1; got RNR psn=+0 syndrome=0x21 msn=0", ["FUZZ-16", "LIVE-03"]),
    )
    for head, rules in heads:
        session.add(({}, ""), head=head)
        also(session, failures=[[head, rules]])
        session.cases[max(session.cases)]["rules"] = rules
    first, second = told(session)
    assert (first["count"], second["count"]) == (2, 1)
    assert first["sentence"] == "show: RNR came otherwise; syndrome: want RNR, got 0x61"


def test_a_nak_that_does_not_come_is_the_same_whatever_comes_instead() -> None:
    said = "NAK came otherwise; psn: want +3, got -7, syndrome: want 0x60, got 0x1f"
    at_rest = "want NAK psn=+0 syndrome=0x60 msn=0; got nothing in time; to frame 0 of 1"
    assert refused_with(said) == refused_with(at_rest) == "no 0x60"
    assert refused_with("want NAK psn=+0 syndrome=0x61 msn=0; got nothing") == "no 0x61"
    assert refused_with("want ACK psn=+0; got NAK psn=+0 syndrome=0x61 msn=0") == "got 0x61"


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (
            "test_a.py:6: assert load(region) == before; assert 1230066625199609624 == 7; "
            "+ where 1230066625199609624 = load(<memory.Region object at 0x7f6c64c2a7d0>)",
            "load(region): want 7, got 0x1112131415161718",
        ),
        ("test_a.py:6: assert a in b; assert [1] in ([], [2])", "a: want ([], [2]), got [1]"),
        ("test_a.py:6: assert acks <= 8, text; 9 ACKs for 8; assert 9 <= 8", "9 ACKs for 8"),
        ("test_a.py:6: assert a.hex() == b; assert '012' == '01'", "a.hex(): want '01', got '012'"),
    ],
)
def test_a_comparison_of_a_case_is_told_as_what_was_wanted_and_what_came(
    head: str, words: str
) -> None:
    assert in_short(head) == words


@pytest.mark.parametrize(
    ("own", "differed", "first"),
    [
        (("QPS-04", "MSN-07", "RNR-01"), "ACK-01", "ACK-01"),
        (("QPS-04", "QPS-04", "RNR-01"), "ACK-01", "QPS-04"),
        (("QPS-04", "MSN-07", "RNR-01"), "NAK-07", "MSN-07"),
        (("QPS-04", "MSN-07", "RNR-01"), "FUZZ-16", "MSN-07"),
    ],
)
def test_cases_about_many_things_accuse_what_all_of_them_saw_first(
    own: tuple[str, ...], differed: str, first: str
) -> None:
    session = Session()
    for rule in own:
        session.add(({}, ""), head="want ACK psn=+0; got nothing in time", broken=(rule,))
    for case in session.cases.values():
        case["differed"] = [differed]
    (finding,) = told(session)
    assert finding["rules"][0] == first


def test_what_names_nothing_is_told_behind_what_does() -> None:
    session = Session()
    session.add(({}, ""), head="queue pair 0 at rest", broken=("FUZZ-16",))
    session.add(({}, ""), head="want NAK psn=+0; got nothing in time", broken=("OPC-13",))
    session.add(({}, ""), head="a storm of words", broken=("LIVE-03",))
    assert told(session)[0]["rules"] == ["OPC-13"]


def test_what_a_case_says_goes_before_what_the_observer_makes_of_it() -> None:
    session = Session()
    session.add(({}, ""), head="not dropped: ACK", broken=("IP-11", "ACK-12"))
    also(session, failures=[["not dropped: ACK", []]], rules={"ACK-12": "frame 2"})
    (finding,) = told(session)
    assert finding["rules"] == ["IP-11", "ACK-12"]


def test_a_packet_and_messages_of_one_packet_are_told_apart() -> None:
    by_words = {kind.words: kind for kind in KINDS}
    one, only = by_words["of one packet"], by_words["an ONLY packet"]
    assert in_words((one,)) == "messages of one packet"
    assert in_words((only,)) == "an ONLY packet"
    assert in_words((one, only)) == "an ONLY packet of messages of one packet"
