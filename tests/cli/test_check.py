# SPDX-License-Identifier: BSD-2-Clause
"""The check command as people and machines use it: verdict, exit code, and what it writes."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from corrupted_captures import (
    HEALTHY,
    UC,
    asks_for_ack,
    corrupt,
    middles,
    migrated,
    other_version,
    wrong_icrc,
)

from roceproof.conformance.capture.reader import read
from roceproof.conformance.check.groups import Groups
from roceproof.conformance.check.text import print_report
from roceproof.conformance.rules.table import RULES

CLEAN, FINDINGS, UNREADABLE = 0, 1, 2
SCHEMA = Path(__file__).parent / "junit.xsd"


@pytest.fixture(scope="module")
def broken(tmp_path_factory) -> tuple[Path, list[int]]:
    """Real traffic with two wrong ICRCs and a wrong partition key, and the frames they are in."""
    frames = middles(HEALTHY)
    first, second, third = frames[1], frames[3], frames[-1]
    path = tmp_path_factory.mktemp("broken") / "broken.pcapng"
    changes = {first: wrong_icrc, second: wrong_icrc, third: other_version}
    return corrupt(HEALTHY, path, changes), [first, second, third]


def test_real_traffic_is_clean(console) -> None:
    run = console.run("check", str(HEALTHY))
    assert (run.returncode, run.stderr) == (CLEAN, "")
    assert "no findings" in run.stdout
    assert str(HEALTHY) in run.stdout


def test_findings_are_listed_by_frame_with_what_was_expected_and_got(console, broken) -> None:
    path, (first, second, third) = broken
    run = console.run("check", "--all", str(path))
    assert run.returncode == FINDINGS
    lines = [line for line in run.stdout.splitlines() if line.startswith("must ")]
    assert [line.split()[1:4] for line in lines] == [
        ["ICRC-02", "frame", f"{first}:"],
        ["ICRC-02", "frame", f"{second}:"],
        ["BTH-04", "frame", f"{third}:"],
    ]
    assert all("expected " in line and ", got " in line for line in lines)
    assert lines[2].endswith(RULES["BTH-04"].sentence)
    assert "3 findings: 3 must" in run.stdout


def test_the_json_document_holds_everything(console, broken) -> None:
    path, (first, second, third) = broken
    run = console.run("check", "--json", str(path))
    assert run.returncode == FINDINGS
    document = json.loads(run.stdout)
    assert (document["schema"], document["file"]) == (1, str(path))
    assert document["frames"] == sum(1 for _ in read(path))
    assert document["roce_frames"] == sum(document["icrc"].values())
    assert document["icrc"]["bad"] == 2
    assert [row["frame"] for row in document["findings"]] == [first, second, third]
    assert document["rules"] == {"ICRC-02": 2, "BTH-04": 1}
    row = document["findings"][2]
    assert set(row) >= {"rule", "severity", "frame", "flow", "expected", "got", "message"}
    flow = document["flows"][row["flow"]]
    assert flow["service"] == "RC"
    back = document["flows"][flow["counterpart"]]
    assert (back["source"], back["destination"]) == (flow["destination"], flow["source"])
    assert (document["left_out"], document["error"]) == (0, None)


def test_several_files_make_one_document(console, broken) -> None:
    run = console.run("check", "--json", str(HEALTHY), str(broken[0]))
    assert run.returncode == FINDINGS
    document = json.loads(run.stdout)
    assert [each["file"] for each in document["files"]] == [str(HEALTHY), str(broken[0])]
    assert [len(each["findings"]) for each in document["files"]] == [0, 3]


@pytest.mark.parametrize(
    ("change", "source", "code", "severity"),
    [
        (other_version, HEALTHY, FINDINGS, "must"),
        (asks_for_ack, UC, FINDINGS, "should"),
        (migrated, HEALTHY, CLEAN, "info"),
    ],
    ids=["must", "should", "info"],
)
def test_the_exit_code_counts_what_has_weight(
    console, tmp_path, change, source, code, severity
) -> None:
    path = corrupt(source, tmp_path / "one.pcapng", {middles(source)[2]: change})
    run = console.run("check", "--json", str(path))
    assert {row["severity"] for row in json.loads(run.stdout)["findings"]} == {severity}
    assert run.returncode == code


def test_at_most_max_findings_are_kept_and_all_are_counted(console, broken) -> None:
    path, frames = broken
    run = console.run("check", "--json", "--max", "1", str(path))
    document = json.loads(run.stdout)
    assert [row["frame"] for row in document["findings"]] == frames[:1]
    assert document["left_out"] == 2
    assert document["rules"] == {"ICRC-02": 2, "BTH-04": 1}
    text = console.run("check", "--all", "--max", "1", str(path))
    assert "and 2 more" in text.stdout
    assert "3 findings: 3 must" in text.stdout


def test_a_capture_comes_through_stdin(console, broken) -> None:
    run = subprocess.run(
        [console.command, "check", "--json", "-"],
        env=console.environment,
        input=broken[0].read_bytes(),
        capture_output=True,
        check=False,
    )
    document = json.loads(run.stdout)
    assert (run.returncode, document["file"]) == (FINDINGS, "-")
    assert len(document["findings"]) == 3


def test_workers_change_nothing_but_the_time(console, broken) -> None:
    path = str(broken[0])
    one = console.run("check", "--json", path)
    two = console.run("check", "--json", "-j", "2", path)
    assert one.stdout == two.stdout


def test_quiet_prints_findings_only(console, broken) -> None:
    assert console.run("check", "-q", str(HEALTHY)).stdout == ""
    lines = console.run("check", "-q", str(broken[0])).stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [["must", "ICRC-02"]] * 2 + [["must", "BTH-04"]]


def test_configured_facts_show_what_a_capture_alone_cannot(console, tmp_path) -> None:
    document = json.loads(console.run("check", "--json", str(HEALTHY)).stdout)
    flow = next(row for row in document["flows"] if row["requests"])
    facts = {
        "service": "RC",
        "address": flow["destination"],
        "qpn": flow["qpn"],
        "remote_address": flow["source"],
        "remote_qpn": document["flows"][flow["counterpart"]]["qpn"],
        "remote_start_psn": 0xABCDEF,
    }
    path = tmp_path / "qps.json"
    path.write_text(json.dumps({"schema": 1, "qps": [facts]}))
    run = console.run("check", "--json", "--qps", str(path), str(HEALTHY))
    assert run.returncode == FINDINGS
    assert "PSN-01" in json.loads(run.stdout)["rules"]


def test_facts_that_are_none_are_refused(console, tmp_path) -> None:
    path = tmp_path / "qps.json"
    path.write_text("[1, 2")
    run = console.run("check", "--qps", str(path), str(HEALTHY))
    assert run.returncode == UNREADABLE
    assert str(path) in run.stderr
    assert "Traceback" not in run.stderr


def test_a_capture_without_roce_is_no_silent_success(console, tmp_path) -> None:
    frames = [record.number for record in read(HEALTHY)]
    path = corrupt(HEALTHY, tmp_path / "arp.pcapng", {n: lambda _: bytes(60) for n in frames})
    run = console.run("check", str(path))
    assert run.returncode == CLEAN
    assert f"no RoCE packets in {path}" in run.stderr


@pytest.mark.parametrize(
    "content", [b"", b"no capture at all", b"\x1f\x8b garbage"], ids=["empty", "text", "bad gzip"]
)
def test_what_is_no_capture_is_named_in_one_line(console, tmp_path, content) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(content)
    run = console.run("check", str(path))
    assert (run.returncode, run.stdout) == (UNREADABLE, "")
    assert run.stderr.startswith("roceproof: ")
    assert str(path) in run.stderr
    assert run.stderr.count("\n") == 1
    document = json.loads(console.run("check", "--json", str(path)).stdout)
    assert document["frames"] == 0
    assert document["error"]


def test_one_bad_file_does_not_hide_the_others(console, tmp_path, broken) -> None:
    run = console.run("check", "--json", str(tmp_path / "gone.pcap"), str(broken[0]))
    assert run.returncode == UNREADABLE
    bad, good = json.loads(run.stdout)["files"]
    assert "gone.pcap" in bad["error"]
    assert len(good["findings"]) == 3


def test_a_damaged_capture_is_judged_as_far_as_it_goes(console, tmp_path, broken) -> None:
    path = tmp_path / "damaged.pcapng"
    data = broken[0].read_bytes()
    path.write_bytes(data[:-7])
    run = console.run("check", str(path))
    assert run.returncode == UNREADABLE
    assert "ICRC-02" in run.stdout
    assert str(path) in run.stderr
    copy = tmp_path / "copy.pcapng"
    run = console.run("check", "--json", "--annotate", str(copy), str(path))
    document = json.loads(run.stdout)
    assert document["error"]
    assert document["icrc"]["bad"] == 2
    assert sum(1 for _ in read(copy)) == document["frames"]


@pytest.mark.parametrize("packed", [False, True], ids=["pcapng", "gzip"])
def test_an_annotated_copy_keeps_everything_and_adds_comments(
    console, tmp_path, broken, packed
) -> None:
    path, frames = broken
    source = corrupt(path, tmp_path / "commented.pcapng", {}, comment="seen before")
    if packed:
        source = tmp_path / "commented.pcapng.gz"
        source.write_bytes(gzip.compress((tmp_path / "commented.pcapng").read_bytes()))
    target = tmp_path / "annotated.pcapng"
    run = console.run("check", "-q", "--annotate", str(target), str(source))
    assert run.returncode == FINDINGS
    for before, after in zip(read(source), read(target), strict=True):
        assert after.comment.splitlines()[0] == "seen before"
        assert (after.frame, after.time_ns, after.flow) == (
            before.frame,
            before.time_ns,
            before.flow,
        )
        assert (after.interface, after.full_size) == (before.interface, before.full_size)
        added = after.comment.splitlines()[1:]
        assert bool(added) == (after.number in frames)
        assert all(line.startswith("roceproof: ") for line in added)
    rules = [
        line.split()[1:3] for record in read(target) for line in record.comment.splitlines()[1:]
    ]
    assert rules == [["ICRC-02", "must:"], ["ICRC-02", "must:"], ["BTH-04", "must:"]]


def test_tshark_shows_the_comments(console, tmp_path, broken) -> None:
    path, frames = broken
    target = tmp_path / "annotated.pcapng"
    console.run("check", "--annotate", str(target), str(path))
    shown = subprocess.run(
        ["tshark", "-r", target, "-Y", "frame.comment", "-T", "fields", "-e", "frame.number"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [int(line) for line in shown.stdout.split()] == frames


def test_a_junit_file_has_a_case_for_each_rule_of_an_observer(console, tmp_path, broken) -> None:
    path, _ = broken
    target = tmp_path / "junit.xml"
    assert console.run("check", "--junit", str(target), str(path), str(HEALTHY)).returncode == 1
    subprocess.run(["xmllint", "--noout", "--schema", SCHEMA, target], check=True)
    bad, good = ElementTree.parse(target).getroot()
    observed = [rule.id for rule in RULES.values() if rule.observable]
    for suite, failed in ((bad, ["ICRC-02", "BTH-04"]), (good, [])):
        assert [case.get("name") for case in suite.iter("testcase")] == observed
        cases = [case for case in suite.iter("testcase") if case.find("failure") is not None]
        assert [case.get("name") for case in cases] == failed
        assert (suite.get("tests"), suite.get("failures")) == (str(len(observed)), str(len(failed)))
        named = {each.get("name") for each in suite.iter("property")}
        assert set(observed) <= named
    assert "2 findings" in next(bad.iter("failure")).get("message", "")


def test_a_junit_file_names_a_capture_that_could_not_be_read(console, tmp_path) -> None:
    target = tmp_path / "junit.xml"
    console.run("check", "--junit", str(target), str(tmp_path / "gone.pcap"))
    subprocess.run(["xmllint", "--noout", "--schema", SCHEMA, target], check=True)
    (suite,) = ElementTree.parse(target).getroot()
    assert suite.get("errors") == "1"
    assert "gone.pcap" in next(suite.iter("error")).get("message", "")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["-i", "lo", "x.pcap"],
        ["--duration", "1", "x.pcap"],
        ["-i", "lo", "--duration", "0"],
        ["-i", "lo", "--duration", "nan"],
        ["--annotate", "out.pcapng", "a.pcap", "b.pcap"],
        ["--annotate", "out.pcapng", "-"],
        ["--max", "-1", "x.pcap"],
        ["-j", "0", "x.pcap"],
    ],
    ids=" ".join,
)
def test_nonsense_is_a_usage_error(console, arguments) -> None:
    run = console.run("check", *arguments)
    assert (run.returncode, run.stdout) == (UNREADABLE, "")
    assert run.stderr.startswith("roceproof: ") and run.stderr.count("\n") == 1
    assert "see: roceproof check --help" in run.stderr


def test_an_annotated_copy_never_replaces_its_source(console, tmp_path, broken) -> None:
    path = tmp_path / "own.pcapng"
    path.write_bytes(broken[0].read_bytes())
    run = console.run("check", "--annotate", str(path), str(path))
    assert run.returncode == UNREADABLE
    assert path.read_bytes() == broken[0].read_bytes()


def test_nothing_is_annotated_where_nothing_could_be_read(console, tmp_path) -> None:
    target = tmp_path / "annotated.pcapng"
    run = console.run("check", "--annotate", str(target), str(tmp_path / "gone.pcap"))
    assert run.returncode == UNREADABLE
    assert not target.exists()


def test_a_long_table_of_flows_is_cut_to_those_with_findings(console, capsys) -> None:
    document = json.loads(console.run("check", "--json", str(HEALTHY)).stdout)
    document["flows"] = [{**document["flows"][0], "qpn": 0x1000 + i} for i in range(500)]
    groups = Groups()
    row = {"rule": "BTH-03", "severity": "info", "frame": 1, "expected": "x", "got": "y"}
    groups.add({**row, "flow": 499})
    document["groups"] = groups.documents(document["flows"])
    print_report(document, each=False, quiet=False)
    text = capsys.readouterr().out
    assert "0x11f3" in text
    assert "... of 500 flows" in text
    assert len(text.splitlines()) < 60
