# SPDX-License-Identifier: BSD-2-Clause
"""A habit is one line, however often it is seen; what may follow from a fault stands beneath it."""

from __future__ import annotations

import json
from ipaddress import ip_address
from typing import Any

from corrupted_captures import HEALTHY, bth_bits, corrupt, middles

from roceproof.conformance.capture.pcapng_writer import write_pcapng
from roceproof.conformance.capture.reader import read
from roceproof.conformance.check.group_text import Told, told
from roceproof.conformance.check.groups import MOST_GROUPS, Groups
from roceproof.conformance.check.report import gather
from roceproof.conformance.check.run import check_file
from roceproof.conformance.rules.consequences import CAUSES_OF, NEAR_FRAMES
from roceproof.conformance.wire.framing import UDP_BYTES, locate

SCREEN = 24
Row = dict[str, Any]
reserved_bit = bth_bits(4, 0x40)  # BTH-08


def finding(
    rule: str, frame: int, *, flow: int | None = 0, expected: str = "1", got: str = "2"
) -> Row:
    return {
        "type": "finding",
        "rule": rule,
        "severity": "must",
        "frame": frame,
        "flow": flow,
        "expected": expected,
        "got": got,
    }


def flow(counterpart: int | None) -> Row:
    return {"type": "flow", "counterpart": counterpart}


def summary(total: int) -> Row:
    severities = {"must": total, "should": 0, "info": 0}
    return {"type": "summary", "severities": severities, "error": None}


def document(*rows: Row, keep: int | None = None) -> Row:
    found = sum(row["type"] == "finding" for row in rows)
    return gather("x.pcap", [*rows, summary(found)], keep=keep)


def lines(*rows: Row) -> list[Told]:
    return told(document(*rows)["groups"])


def test_a_habit_is_one_line_with_its_frames_and_what_all_have_in_common() -> None:
    (line,) = lines(*(finding("BTH-08", frame) for frame in (3, 4, 5, 9, 12, 13, 20, 40)))
    assert line.text.startswith(
        "BTH-08 8 times in flow 0, frames 3-5, 9, 12-13, ... 40: expected 1, got 2 in all 8. The"
    )


def test_the_one_thing_that_differs_is_told() -> None:
    (few,) = lines(*(finding("BTH-08", frame, got=str(frame % 2)) for frame in range(1, 6)))
    assert "expected 1 in all 5, got 1 (3) and 0 (2)." in few.text
    (many,) = lines(*(finding("BTH-08", frame, got=str(frame)) for frame in range(1, 60)))
    assert "expected 1 in all 59, got 1 in frame 1, more than 8 values in all." in many.text
    rows = [finding("ICRC-02", n, expected=str(n), got=str(-n)) for n in range(1, 60)]
    (both,) = lines(*rows)
    assert "expected 1, got -1 in frame 1; both differ from frame to frame." in both.text


def test_what_many_flows_do_alike_is_one_line() -> None:
    (line,) = lines(*(finding("BTH-08", frame, flow=frame % 34) for frame in range(1, 69)))
    assert "68 times in 34 flows (0, 1, 2, ...), frames 1-68: expected 1, got 2 in all 68" in (
        line.text
    )


def test_frames_told_late_take_their_place() -> None:
    (group,) = document(*(finding("PSN-02", frame) for frame in (90, 95, 7)))["groups"]
    assert group["frames"] == [[7, 7], [90, 90], [95, 95]]
    assert (group["first_frame"], group["last_frame"]) == (7, 95)


def test_one_path_mtu_that_changes_is_one_cause() -> None:
    rows = [
        finding("MTU-01", 10 * frame, expected="1024", got="4096 bytes") for frame in range(1, 21)
    ]
    rows += [finding("MTU-02", row["frame"] + n) for row in rows for n in (1, 2, 3)]
    rows += [finding("READ-02", 500, flow=1)]
    rows.sort(key=lambda row: row["frame"])
    (line,) = lines(*rows, flow(1), flow(0))
    assert line.text.startswith("MTU-01 20 times")
    assert [(each.rule, each.count) for each in line.beneath] == [("MTU-02", 60), ("READ-02", 1)]
    assert "May follow from the finding above: sizes are judged by" in line.beneath[0].text


def test_what_follows_a_packet_that_is_not_whole_stands_beneath_it() -> None:
    broken = finding("UDP-02", 100)
    near, far = finding("OPC-01", 101), finding("OPC-01", 101 + NEAR_FRAMES)
    elsewhere, earlier = finding("OPC-01", 102, flow=2), finding("OPC-01", 99)
    found = lines(broken, near, elsewhere, far, earlier)
    (head,) = (line for line in found if line.rule == "UDP-02")
    assert [line.first_frame for line in head.beneath] == [101]
    assert sum(line.count for line in found) == 4  # two of flow 0 are no consequence, nor flow 2's


def test_an_answer_to_what_cannot_be_followed_stands_beneath_it() -> None:
    rows = [finding("BTH-01", 5), finding("ACK-06", 6, flow=1), finding("ACK-06", 4, flow=3)]
    (asked, alone) = sorted(
        lines(*rows, flow(1), flow(0), flow(3), flow(2)), key=lambda line: line.rule, reverse=True
    )
    assert [line.rule for line in asked.beneath] == ["ACK-06"]
    assert (alone.rule, alone.beneath) == ("ACK-06", [])


def test_no_group_is_its_own_cause_whatever_comes() -> None:
    rules = [*CAUSES_OF, *{each.cause for several in CAUSES_OF.values() for each in several}]
    rows = [finding(rule, n, flow=n % 2) for n, rule in enumerate(rules * 9, start=1)]
    found = document(*rows, flow(1), flow(0))["groups"]
    for start in range(len(found)):
        seen, number = set(), start
        while number is not None:
            assert number not in seen
            seen.add(number)
            number = found[number]["cause"]
    shown = told(found)
    for line in shown:
        shown += line.beneath
    assert sum(line.count for line in shown) == len(rows)


def test_150_000_findings_are_counted_whole_and_fit_on_a_screen() -> None:
    rows = (finding("BTH-08", frame, flow=frame % 2) for frame in range(1, 150_001))
    found = gather("x.pcap", [*rows, flow(1), flow(0), summary(150_000)], keep=0)
    assert [group["count"] for group in found["groups"]] == [75_000, 75_000]
    assert not any(group["frames_complete"] for group in found["groups"])
    assert (found["findings"], found["ungrouped"]) == ([], 0)
    (line,) = told(found["groups"])
    assert "150,000 times in 2 flows (0, 1), frames 1-128, ... 150000" in line.text


def test_flows_beyond_all_bounds_share_a_group_of_no_flow() -> None:
    groups = Groups()
    for number in range(MOST_GROUPS + 50):
        groups.add(finding("BTH-08", number + 1, flow=number))
    found = groups.documents([flow(None)] * (MOST_GROUPS + 50))
    assert len(found) == MOST_GROUPS + 1
    assert (found[-1]["flow"], found[-1]["count"]) == (None, 50)


def test_a_habit_in_a_capture_is_one_line_and_json_keeps_each_finding(console, tmp_path) -> None:
    requests = [record.number for record in read(HEALTHY) if locate(record.frame) is not None]
    path = corrupt(HEALTHY, tmp_path / "habit.pcapng", dict.fromkeys(requests, reserved_bit))
    shown = console.run("check", "-q", str(path)).stdout.splitlines()
    assert len(shown) == 1
    assert f" {len(requests)} times in 2 flows " in shown[0]
    assert len(console.run("check", str(path)).stdout.splitlines()) < SCREEN
    found = json.loads(console.run("check", "--json", str(path)).stdout)
    assert [row["frame"] for row in found["findings"]] == requests
    for row in found["findings"]:
        assert found["groups"][row["group"]]["flow"] == row["flow"]
    assert len(console.run("check", "-q", "--all", str(path)).stdout.splitlines()) == len(requests)


def test_an_unknown_opcode_that_took_a_psn_is_told_above_what_it_brought(tmp_path) -> None:
    flows = check_file(HEALTHY)["flows"]
    asks = next(row for row in flows if row["requests"])
    source = ip_address(asks["source"]).packed
    sent = [
        record
        for record in read(HEALTHY)
        if (at := locate(record.frame)) is not None and record.frame[at.ip + 12 :][:4] == source
    ]
    opcode = sent[0].frame[locate(sent[0].frame).udp + UDP_BYTES]
    unknown = sent[0]._replace(frame=bth_bits(0, opcode ^ 0x19)(sent[0].frame))
    write_pcapng(tmp_path / "unknown.pcapng", [unknown, *sent[1:]])
    facts = {
        "service": "RC",
        "address": asks["source"],
        "qpn": flows[asks["counterpart"]]["qpn"],
        "remote_address": asks["destination"],
        "remote_qpn": asks["qpn"],
        "start_psn": asks["first_psn"],
    }
    (tmp_path / "qps.json").write_text(json.dumps({"schema": 1, "qps": [facts]}))
    found = told(check_file(tmp_path / "unknown.pcapng", qps=tmp_path / "qps.json")["groups"])
    assert [line.rule for line in found] == ["BTH-01"]
    assert [line.rule for line in found[0].beneath] == ["PSN-01"]


def test_what_else_is_said_of_a_wrong_icrc_stands_beneath_it(tmp_path) -> None:
    number = middles(HEALTHY)[2]
    path = corrupt(HEALTHY, tmp_path / "zeros.pcapng", {number: lambda f: f[:-4] + bytes(4)})
    (line,) = told(check_file(path)["groups"])
    assert (line.rule, [each.rule for each in line.beneath]) == ("ICRC-02", ["ICRC-22"])
